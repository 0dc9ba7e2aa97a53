/** The memory of a process after garbage collection. */
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.ts';
import type { SpawnedProcess } from '../../test/support/processes/spawn-process.ts';
import { residentMb } from './processes.ts';

/** Options of Node for a process whose memory is measured. */
export const MEMORY_NODE_ARGS = ['--expose-gc', '--import', './bench/measure/collect-garbage.mjs'];

const COLLECTIONS = 3;
const WITHIN_MS = 60_000;

/**
 * Collects the process's garbage a few times, in the main thread and the workflow thread, then measures.
 * @returns its resident set in megabytes; undefined without `/proc`
 */
export async function residentAfterCollection(process: SpawnedProcess): Promise<number | undefined> {
  for (let times = 0; times < COLLECTIONS; times += 1) {
    const from = process.output().length;
    const collected = () =>
      ['main', 'thread'].every((one) => process.output().includes(`collected ${one}\n`, from));
    process.kill('SIGUSR2');
    await eventually(collected, { timeoutMs: WITHIN_MS });
    // Pages return to the system a moment later.
    await sleep(1_000);
  }
  return residentMb(process.pid);
}
