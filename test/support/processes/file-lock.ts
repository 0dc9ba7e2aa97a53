import { mkdir, readlink, rm, symlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../../../src/config/values.ts';

const LOCK_RETRY_MS = 250;

/**
 * Runs `work` while no other process runs work under the same lock.
 *
 * A lock whose process has ended is taken over. Two processes that take it over in the same instant may both run, so `work`
 * must put its result in place by a rename.
 *
 * @param onWait called once when another process holds the lock
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, onWait?: () => void): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  for (let attempt = 1; !(await tryLock(path)); attempt++) {
    if (attempt === 1) onWait?.();
    await sleep(LOCK_RETRY_MS);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

/** The lock is a symbolic link to the holder's process id: it is created atomically and is never empty. */
async function tryLock(path: string): Promise<boolean> {
  try {
    await symlink(String(process.pid), path);
    return true;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
  const holder = await readlink(path).catch(() => undefined);
  if (holder !== undefined && !isAlive(Number(holder))) await rm(path, { force: true });
  return false;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
