import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { localPayloadKeys, localSecrets } from '../../src/platform/local.ts';
import { least } from '../config/support.ts';
import { scratchFolder } from './fake-commands.ts';

test('secrets are made once, by many that start together, in files that only their owner reads', async () => {
  const dataDir = join(await scratchFolder(), 'data');
  const [made, ...others] = await Promise.all([1, 2, 3].map(() => localSecrets(dataDir)));
  expect(made?.payloadKeys).toHaveLength(1);
  for (const file of ['payload-keys', 'codec-token']) {
    expect((await stat(join(dataDir, file))).mode & 0o777).toBe(0o600);
  }
  for (const same of [...others, await localSecrets(dataDir)]) expect(same).toEqual(made);
  const elsewhere = await localSecrets(await scratchFolder());
  expect(elsewhere.codecToken).not.toBe(made?.codecToken);
  expect(elsewhere.payloadKeys[0]?.id).not.toBe(made?.payloadKeys[0]?.id);
});

test('the keys of a folder are read by another process, and PAYLOAD_KEYS takes them; none are made there', async () => {
  const dataDir = await scratchFolder();
  expect(await localPayloadKeys(dataDir)).toEqual([]);
  const { payloadKeys } = await localSecrets(dataDir);
  expect(await localPayloadKeys(dataDir)).toEqual(payloadKeys);
  const PAYLOAD_KEYS = (await readFile(join(dataDir, 'payload-keys'), 'utf8')).trim();
  expect(loadConfig({ ...least, PAYLOAD_KEYS }).payloadKeys).toEqual(payloadKeys);
});

test.each([
  ['payload-keys', ''],
  ['payload-keys', 'a:do-not-print-me'],
  ['codec-token', 'do-not-print-me'],
])('a %s file that holds something else is refused by its name, and not replaced', async (name, content) => {
  const file = join(await scratchFolder(), name);
  await writeFile(file, content);
  const refused = localSecrets(join(file, '..'));
  await expect(refused).rejects.toThrow(file);
  await expect(refused).rejects.not.toThrow('do-not-print-me');
  expect(await readFile(file, 'utf8')).toBe(content);
});
