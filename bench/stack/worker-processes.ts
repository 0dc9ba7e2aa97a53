import { type SpawnedProcess, spawnProcess } from '../../test/support/spawn-process.ts';

/** Several processes start at once, on few cores. */
export const READY_WITHIN_MS = 120_000;

/**
 * @param env of the next process
 * @returns the worker processes of a way, none yet, and what starts one more
 */
export function workerProcesses(
  script: string,
  nodeArgs: string[],
  env: () => Promise<NodeJS.ProcessEnv>,
): { workers: SpawnedProcess[]; startWorker: () => Promise<SpawnedProcess> } {
  const workers: SpawnedProcess[] = [];
  return {
    workers,
    startWorker: async () => {
      const worker = await spawnProcess(script, {
        env: await env(),
        nodeArgs,
        readyWhen: /worker is ready/,
        readyWithinMs: READY_WITHIN_MS,
      });
      workers.push(worker);
      return worker;
    },
  };
}
