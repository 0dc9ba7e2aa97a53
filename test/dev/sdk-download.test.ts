import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { sdkDownload, userCacheDir } from '../../src/dev/go-build.ts';
import { environmentWith } from './fake-commands.ts';
import { quiet } from './quiet-progress.ts';

const { version } = z
  .object({ version: z.string() })
  .parse(createRequire(import.meta.url)('@temporalio/common/package.json'));

test('what was downloaded for this version of the SDK is taken from the cache, without the network', async () => {
  const env = await environmentWith({});
  const cached = join(userCacheDir(env), `sdk-${version}`, 'dev-server');
  await mkdir(dirname(cached), { recursive: true });
  await writeFile(cached, '');

  expect(await sdkDownload('dev-server', quiet, env)).toBe(cached);
});

test('a network without a way out is said in words, with nothing left in the cache', async () => {
  const env = await environmentWith({});

  const refused = sdkDownload('dev-server', quiet, { ...env, HTTPS_PROXY: 'http://127.0.0.1:9' });

  await expect(refused).rejects.toThrow('the download site cannot be reached');
  expect(await readdir(join(userCacheDir(env), `sdk-${version}`))).toEqual([]);
});
