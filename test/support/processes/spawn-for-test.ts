import { onTestFinished } from 'vitest';
import { type SpawnedProcess, type SpawnOptions, spawnProcess } from './spawn-process.ts';

/** `spawnProcess` for one test: the process is killed when the test is over. */
export async function spawnForTest(script: string, options: SpawnOptions = {}): Promise<SpawnedProcess> {
  const spawned = await spawnProcess(script, options);
  onTestFinished(async () => {
    spawned.kill('SIGKILL');
    await spawned.ended;
  });
  return spawned;
}
