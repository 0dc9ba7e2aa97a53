import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

it('a process that starts ends after an uncaught error, without printing its message', () => {
  const starts = `import { endOnSignalOrError } from './src/platform/parts.ts';
    endOnSignalOrError();
    Promise.reject(new TypeError('quotes a-secret'));
    setTimeout(() => undefined, 60_000);`;
  const args = ['--import', './bin/typescript.mjs', '--input-type=module', '-e', starts];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringMatching(/^\{"type":"TypeError".*\}\n$/),
  });
  expect(stderr).not.toContain('a-secret');
}, 30_000);
