import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type EmbeddedTemporalOptions, startEmbeddedTemporal } from '../../../src/dev/embedded-temporal.ts';
import { findTemporalBinary } from '../../../src/dev/temporal-binary.ts';
import { missingSearchAttributes } from '../../../src/platform/namespace.ts';
import { eventually, listen } from '../../support/index.ts';
import { environmentWith, scratchFolder } from '../fake-commands.ts';

/** A server that answers, with its namespace set up. */
async function start(options: Partial<EmbeddedTemporalOptions> = {}) {
  const server = await startEmbeddedTemporal({ port: 0, ...options });
  onTestFinished(server.stop);
  const connection = await Connection.connect({ address: server.address });
  onTestFinished(() => connection.close());
  expect(await missingSearchAttributes(connection, server.namespace)).toEqual([]);
  return server;
}

test('the UI decrypts by an address with a token, which no argument of any process shows', async () => {
  const dataDir = join(await scratchFolder(), 'data');
  const token = randomBytes(16).toString('hex');
  const codecEndpoint = `http://127.0.0.1:8080/codec/${token}`;
  const { uiUrl, namespace } = await start({ uiPort: 0, dataDir, codecEndpoint, namespace: 'shop' });

  expect([namespace, uiUrl]).toEqual(['shop', expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/)]);
  const settings = await eventually(async () => (await fetch(`${uiUrl}/api/v1/settings`)).text());
  expect(settings).toContain(token);
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = (pid: string) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const all = await Promise.all(processes.map(read));
  expect(all.some((line) => line.includes(dataDir))).toBe(true);
  expect(all.filter((line) => line.includes(token))).toEqual([]);
  expect((await stat(join(dataDir, 'temporal-options.json'))).mode & 0o777).toBe(0o600);
});

test('a taken port is refused before anything is started, naming the variable that changes it', async () => {
  const port = await listen();
  const words = `Port ${port} is in use by another program. Stop it, or set`;
  await expect(startEmbeddedTemporal({ port })).rejects.toThrow(`${words} TEMPORAL_PORT`);
  await expect(startEmbeddedTemporal({ port: 0, uiPort: port })).rejects.toThrow(`${words} TEMPORAL_UI_PORT`);
});

test('a folder that another server uses is refused, and can be used once that one has ended', async () => {
  const dataDir = await scratchFolder();
  const first = await start({ dataDir });
  const port = first.address.split(':')[1];
  const words = `${dataDir} is in use by the Temporal server on port ${port}. Stop it, or set DATA_DIR`;
  await expect(startEmbeddedTemporal({ port: 0, dataDir })).rejects.toThrow(words);
  await first.stop();
  await start({ dataDir });
});

test('a port that the server picked for itself and did not get does not keep it from starting', async () => {
  const once = join(await scratchFolder(), 'once');
  const { PATH } = await environmentWith({
    temporal: `if [ "$1" = server ] && [ ! -e ${once} ]; then
  : > ${once}
  echo 'listen tcp 127.0.0.1:37599: bind: address already in use'
  exit 1
fi
exec ${await findTemporalBinary()} "$@"`,
  });
  vi.stubEnv('PATH', PATH);
  onTestFinished(() => void vi.unstubAllEnvs());
  await start();
  expect(existsSync(once)).toBe(true);
});

test('a server that ends while starting is reported with the end of its log', async () => {
  const dataDir = await scratchFolder();
  const header = 'not a database, but as long as the header of one would be';
  await writeFile(join(dataDir, 'temporal.db'), header.repeat(9));
  const started = startEmbeddedTemporal({ port: 0, dataDir });
  await expect(started).rejects.toThrow(/ended while starting \(exit code 1\)\. Its log ends with:\n.+/s);
  expect(await readFile(join(dataDir, 'temporal.log'), 'utf8')).not.toBe('');
});
