/** CPU and memory of other processes, from `/proc`; elsewhere nothing is known. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Kernel ticks a second: 100 on every Linux that Node runs on. */
const TICKS = 100;
const QUIET_CORES = 0.15;
const LOOK_EVERY_MS = 500;

/** @returns whether this system tells about processes */
export const canMeasureProcesses = readStat(process.pid) !== undefined;

/**
 * @param pids processes; a negative one is a process group, as in `kill`
 * @returns seconds of CPU that they have used so far, or undefined where that can't be known
 */
export function cpuSeconds(pids: readonly number[]): number | undefined {
  if (!canMeasureProcesses) return undefined;
  const all = pids.flatMap((pid) => (pid < 0 ? statsWhere(({ group }) => group === -pid) : [readStat(pid)]));
  return all.reduce((sum, stat) => sum + (stat?.ticks ?? 0), 0) / TICKS;
}

/**
 * Begins to count.
 * @param groups processes by a name of theirs
 * @returns what tells how many seconds of CPU each group has used since; a group without processes, or of unknown ones, is left out
 */
export function cpuSince(groups: Record<string, readonly number[]>): () => Map<string, number> {
  const used = () =>
    new Map(
      Object.entries(groups).map(([name, pids]) => [name, pids.length > 0 ? cpuSeconds(pids) : undefined]),
    );
  const before = used();
  return () =>
    new Map(
      [...used()].flatMap(([name, now]) => {
        const was = before.get(name);
        return now === undefined || was === undefined ? [] : [[name, now - was]];
      }),
    );
}

/** @returns the same of a process and its children, also of those that have ended */
export function familyCpuSeconds(parent: number): number | undefined {
  const own = readStat(parent);
  if (own === undefined) return undefined;
  const children = statsWhere((one) => one.parent === parent);
  return children.reduce((sum, { ticks }) => sum + ticks, own.ticks + own.endedTicks) / TICKS;
}

/** @returns megabytes of memory that a process holds (resident set), or undefined where that can't be known */
export function residentMb(pid: number): number | undefined {
  const line = read(`/proc/${pid}/status`)?.match(/^VmRSS:\s+(\d+) kB$/m)?.[1];
  return line === undefined ? undefined : Number(line) / 1_024;
}

/** Waits until the processes have next to nothing left to do, for two looks in a row. @throws Error when they don't rest */
export async function untilQuiet(pids: readonly number[], withinMs = 300_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  let before = cpuSeconds(pids);
  let quiet = 0;
  while (quiet < 2) {
    await sleep(LOOK_EVERY_MS);
    const now = cpuSeconds(pids);
    if (before === undefined || now === undefined) return;
    quiet = now - before < (QUIET_CORES * LOOK_EVERY_MS) / 1_000 ? quiet + 1 : 0;
    before = now;
    if (Date.now() > deadline)
      throw new Error(`the processes were not done with their work after ${withinMs} ms`);
  }
}

interface Stat {
  parent: number;
  group: number;
  ticks: number;
  /** Of its children that have ended. */
  endedTicks: number;
}

function statsWhere(wanted: (stat: Stat) => boolean): Stat[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => readStat(Number(pid)) ?? [])
    .filter(wanted);
}

function readStat(pid: number): Stat | undefined {
  const stat = read(`/proc/${pid}/stat`);
  // The name in parentheses may hold spaces. After it: state, parent, group, …, and from 11 on user and system ticks, then those of
  // its children that have ended.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined) return undefined;
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15).map(Number);
  return {
    parent: Number(fields[1]),
    group: Number(fields[2]),
    ticks: user + system,
    endedTicks: endedUser + endedSystem,
  };
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
