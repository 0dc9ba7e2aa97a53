import { spawnSync } from 'node:child_process';
import { readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../dev/fake-commands.ts';
import { eventually } from '../index.ts';
import { withFileLock } from './file-lock.ts';

test('work under one lock runs one after another, a waiting caller hears of it once, and nothing is left', async () => {
  const folder = await scratchFolder();
  const heard: number[] = [];
  let running = 0;
  const work = async () => {
    running += 1;
    // The first one holds the lock until the others have met it.
    await eventually(() => expect(heard.length).toBe(2));
    expect(running).toBe(1);
    running -= 1;
  };
  const lock = join(folder, 'lock');
  await Promise.all([0, 1, 2].map((caller) => withFileLock(lock, work, () => void heard.push(caller))));
  expect(new Set(heard).size).toBe(2);
  expect(await readdir(folder)).toEqual([]);
});

test('the lock is released when the work fails', async () => {
  const folder = await scratchFolder();
  const failed = withFileLock(join(folder, 'lock'), () => Promise.reject(new Error('broken')));
  await expect(failed).rejects.toThrow('broken');
  expect(await readdir(folder)).toEqual([]);
});

test('a lock of a process that died is taken over', async () => {
  const lock = join(await scratchFolder(), 'lock');
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  await symlink(String(pid), lock);
  expect(await withFileLock(lock, async () => 'done')).toBe('done');
});
