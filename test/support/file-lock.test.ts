import { spawnSync } from 'node:child_process';
import { readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchFolder } from '../dev/fake-commands.ts';
import { withFileLock } from './file-lock.ts';

test('work under one lock runs one after another', async () => {
  const lock = join(await scratchFolder(), 'lock');
  let running = 0;
  const work = async () => {
    running += 1;
    expect(running).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
  };

  await Promise.all([withFileLock(lock, work), withFileLock(lock, work), withFileLock(lock, work)]);
});

test('the lock is released when the work fails', async () => {
  const folder = await scratchFolder();

  const failed = withFileLock(join(folder, 'lock'), () => Promise.reject(new Error('broken')));

  await expect(failed).rejects.toThrow('broken');
  expect(await readdir(folder)).toEqual([]);
});

test('a caller that waits hears of it once', async () => {
  const lock = join(await scratchFolder(), 'lock');
  let waited = 0;
  let release: () => void = () => {};
  let first: Promise<void> | undefined;
  await new Promise<void>((held) => {
    first = withFileLock(lock, () => {
      held();
      return new Promise<void>((resolve) => (release = resolve));
    });
  });
  const second = withFileLock(
    lock,
    async () => 'done',
    () => {
      waited += 1;
      release();
    },
  );

  await first;

  expect(await second).toBe('done');
  expect(waited).toBe(1);
});

test('a lock of a process that died is taken over', async () => {
  const lock = join(await scratchFolder(), 'lock');
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  await symlink(String(pid), lock);

  expect(await withFileLock(lock, async () => 'done')).toBe('done');
});

test('nothing is left beside the lock', async () => {
  const folder = await scratchFolder();
  const lock = join(folder, 'lock');

  await Promise.all([1, 2, 3].map(() => withFileLock(lock, async () => {})));

  expect(await readdir(folder)).toEqual([]);
});
