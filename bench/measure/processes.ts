/** CPU time and memory of other processes, from `/proc`. Without `/proc` they are unknown. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Kernel ticks per second: 100 on every Linux that Node runs on. */
const TICKS = 100;
const QUIET_CORES = 0.15;
const LOOK_EVERY_MS = 500;
const QUIET_WITHIN_MS = 300_000;

/** Whether this system has `/proc`. */
export const canMeasureProcesses = readStat(process.pid) !== undefined;

/**
 * @param pids processes; a negative one is a process group, as in `kill`
 * @returns seconds of CPU time that they have used so far; undefined without `/proc`
 */
export function cpuSeconds(pids: readonly number[]): number | undefined {
  if (!canMeasureProcesses) return undefined;
  const all = pids.flatMap((pid) => (pid < 0 ? groupStats(-pid) : [readStat(pid)]));
  return all.reduce((sum, stat) => sum + (stat?.ticks ?? 0), 0) / TICKS;
}

/** @returns a process's resident set in megabytes; undefined without `/proc` */
export function residentMb(pid: number): number | undefined {
  const line = read(`/proc/${pid}/status`)?.match(/^VmRSS:\s+(\d+) kB$/m)?.[1];
  return line === undefined ? undefined : Number(line) / 1_024;
}

/** Waits until the processes are idle at two looks in a row. @throws Error when they are still busy after five minutes */
export async function untilQuiet(pids: readonly number[]): Promise<void> {
  const deadline = Date.now() + QUIET_WITHIN_MS;
  let before = cpuSeconds(pids);
  let quiet = 0;
  while (quiet < 2) {
    await sleep(LOOK_EVERY_MS);
    const now = cpuSeconds(pids);
    if (before === undefined || now === undefined) return;
    quiet = now - before < (QUIET_CORES * LOOK_EVERY_MS) / 1_000 ? quiet + 1 : 0;
    before = now;
    if (Date.now() > deadline) throw new Error(`the processes are still busy after ${QUIET_WITHIN_MS} ms`);
  }
}

interface Stat {
  group: number;
  ticks: number;
}

function groupStats(group: number): Stat[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => readStat(Number(pid)) ?? [])
    .filter((stat) => stat.group === group);
}

function readStat(pid: number): Stat | undefined {
  const stat = read(`/proc/${pid}/stat`);
  // The name in parentheses may hold spaces. After it: state, parent, group, …, and from 11 on user and system ticks.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined) return undefined;
  const [user = 0, system = 0] = fields.slice(11, 13).map(Number);
  return { group: Number(fields[2]), ticks: user + system };
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
