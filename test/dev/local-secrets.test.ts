import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { localPayloadKeys, localSecrets } from '../../src/process/local.ts';
import { scratchFolder } from './fake-commands.ts';

const FILES = ['payload-keys', 'codec-token'];

test('secrets are made in files that only their owner reads, and kept', async () => {
  const dataDir = join(await scratchFolder(), 'data');
  const made = await localSecrets(dataDir);
  expect(made.payloadKeys).toHaveLength(1);
  for (const file of FILES) expect((await stat(join(dataDir, file))).mode & 0o777).toBe(0o600);
  expect(await localSecrets(dataDir)).toEqual(made);
});

test('secrets are made once by many that start together', async () => {
  const dataDir = await scratchFolder();
  const [first, ...others] = await Promise.all([1, 2, 3].map(() => localSecrets(dataDir)));
  for (const other of others) expect(other).toEqual(first);
});

test('secrets differ from folder to folder', async () => {
  const [one, two] = [await localSecrets(await scratchFolder()), await localSecrets(await scratchFolder())];
  expect(one.codecToken).not.toBe(two.codecToken);
  expect(one.payloadKeys[0]?.id).not.toBe(two.payloadKeys[0]?.id);
});

test('the file of keys is what PAYLOAD_KEYS takes', async () => {
  const dataDir = await scratchFolder();
  const { payloadKeys } = await localSecrets(dataDir);
  const PAYLOAD_KEYS = (await readFile(join(dataDir, 'payload-keys'), 'utf8')).trim();
  const least = {
    TEMPORAL_CONFIG_FILE: join(dataDir, 'none.toml'),
    SCREENING_API_KEY: 'key',
    SCREENING_BASE_URL: 'http://127.0.0.1:8090/test',
    SCREENING_PORTAL_BASE_URL: 'http://127.0.0.1:8090/portal',
  };
  expect(loadConfig({ ...least, PAYLOAD_KEYS }).payloadKeys).toEqual(payloadKeys);
});

test.each([
  ['payload-keys', ''],
  ['payload-keys', 'a:do-not-print-me'],
  ['codec-token', 'do-not-print-me'],
])('a %s file that holds something else is refused by its name, and not replaced', async (name, content) => {
  const dataDir = await scratchFolder();
  const file = join(dataDir, name);
  await writeFile(file, content);
  const refused = localSecrets(dataDir);
  await expect(refused).rejects.toThrow(file);
  await expect(refused).rejects.not.toThrow('do-not-print-me');
  expect(await readFile(file, 'utf8')).toBe(content);
});

test('the keys of a folder are read by another process, and none are made there', async () => {
  const dataDir = await scratchFolder();
  expect(await localPayloadKeys(dataDir)).toEqual([]);
  const { payloadKeys } = await localSecrets(dataDir);
  expect(await localPayloadKeys(dataDir)).toEqual(payloadKeys);
});
