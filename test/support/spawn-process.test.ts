import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchFolder } from '../dev/fake-commands.ts';
import { spawnForTest } from './spawn-for-test.ts';

async function script(source: string): Promise<string> {
  const path = join(await scratchFolder(), 'script.mts');
  await writeFile(path, source);
  return path;
}

test('a process counts as ready when its line appears, and SIGKILL ends it', async () => {
  const path = await script("console.log('ready, ' + process.env.NAME); setInterval(() => {}, 1000);");

  const spawned = await spawnForTest(path, { env: { NAME: 'worker' }, readyWhen: /ready/ });

  expect(spawned.output()).toBe('ready, worker\n');
  spawned.kill('SIGKILL');
  expect(await spawned.ended).toBe('SIGKILL');
});

test('a process that ends before it is ready fails the test with what it wrote', async () => {
  const path = await script("console.error('port taken'); process.exitCode = 3;");

  await expect(spawnForTest(path, { readyWhen: /ready/ })).rejects.toThrow(
    /ended with 3 before it was ready; it wrote:\nport taken/,
  );
});

test('a process that is not ready in time is killed', async () => {
  const path = await script('setInterval(() => {}, 1000);');

  await expect(spawnForTest(path, { readyWhen: /ready/, readyWithinMs: 200 })).rejects.toThrow(
    'was not ready within 200 ms',
  );
});
