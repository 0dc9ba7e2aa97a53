/** The memory of a process after garbage collection. */
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.ts';
import type { SpawnedProcess } from '../../test/support/processes/spawn-process.ts';
import { residentMb } from './processes.ts';

/** Options of Node for a process whose memory is measured. */
export const MEMORY_NODE_ARGS = ['--expose-gc', '--import', './bench/measure/collect-garbage.mjs'];

const COLLECTIONS = 3;
const WITHIN_MS = 60_000;

export interface Held {
  /** Resident set in megabytes; absent without `/proc`. */
  residentMb?: number;
  /** JavaScript heaps of all threads in megabytes. */
  heapMb: number;
}

/** Collects the process's garbage a few times, then measures. */
export async function held(process: SpawnedProcess): Promise<Held> {
  let found: Held = { heapMb: 0 };
  for (let times = 0; times < COLLECTIONS; times += 1) {
    const from = process.output().length;
    process.kill('SIGUSR2');
    const heapMb = await eventually(() => heapsIn(process.output().slice(from)), { timeoutMs: WITHIN_MS });
    // Pages return to the system a moment later.
    await sleep(1_000);
    const resident = residentMb(process.pid);
    found = { heapMb, ...(resident !== undefined && { residentMb: resident }) };
  }
  return found;
}

/** @returns the sum over the main thread and the workflow thread, or false while one is missing */
function heapsIn(output: string): number | false {
  const heaps = [...output.matchAll(/^collected (main|thread) ([\d.]+)$/gm)];
  const threads = new Set(heaps.map(([, thread]) => thread));
  return threads.size < 2 ? false : heaps.reduce((sum, [, , mb]) => sum + Number(mb), 0);
}
