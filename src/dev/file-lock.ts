import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../error-code.ts';

const RETRY_MS = 250;

/**
 * Runs `work` while no other process runs work under the same lock file; waits for the other one otherwise.
 *
 * A lock left behind by a process that died is taken over. Two processes that take over the same dead lock in
 * the same instant may both run, so `work` must put its result in place by a rename.
 *
 * @param onWait called once, when another process holds the lock
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, onWait?: () => void): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  let told = false;
  while (!(await tryLock(path))) {
    if (!told) {
      told = true;
      onWait?.();
    }
    await sleep(RETRY_MS);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function tryLock(path: string): Promise<boolean> {
  const mine = `${path}.${randomUUID()}`;
  await writeFile(mine, String(process.pid));
  try {
    // The lock has its holder's id from its first moment: an empty one would be anybody's, for ever.
    await link(mine, path);
    return true;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    await rm(mine, { force: true });
  }
  const holder = await readFile(path, 'utf8').catch(() => undefined);
  if (holder !== undefined && !isAlive(Number(holder))) await rm(path, { force: true });
  return false;
}

function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
