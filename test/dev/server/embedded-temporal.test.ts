import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  type EmbeddedTemporal,
  type EmbeddedTemporalOptions,
  startEmbeddedTemporal,
} from '../../../src/dev/embedded-temporal.ts';
import { freePort } from '../../../src/dev/guarded-child.ts';
import { findTemporalBinary } from '../../../src/dev/temporal-binary.ts';
import { missingSearchAttributes } from '../../../src/temporal/namespace.ts';
import { eventually } from '../../support/index.ts';
import { environmentWith, scratchFolder } from '../fake-commands.ts';

async function start(options: Partial<EmbeddedTemporalOptions> = {}): Promise<EmbeddedTemporal> {
  const server = await startEmbeddedTemporal({ port: 0, ...options });
  onTestFinished(server.stop);
  return server;
}

async function clientOf({ address, namespace }: EmbeddedTemporal): Promise<Client> {
  const connection = await Connection.connect({ address });
  onTestFinished(() => connection.close());
  return new Client({ connection, namespace });
}

async function startWorkflow(server: EmbeddedTemporal, workflowId: string): Promise<void> {
  const client = await clientOf(server);
  await client.workflow.start('anything', { workflowId, taskQueue: 'nobody' });
}

async function statusOf(server: EmbeddedTemporal, workflowId: string): Promise<string> {
  const client = await clientOf(server);
  return (await client.workflow.getHandle(workflowId).describe()).status.name;
}

test('a started server answers, with the namespace set up and its UI served', async () => {
  const server = await start({ uiPort: 0, namespace: 'shop' });

  const { connection } = await clientOf(server);
  expect(await missingSearchAttributes(connection, 'shop')).toEqual([]);
  expect(server.uiUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  await eventually(async () => (await fetch(server.uiUrl ?? '')).ok);
});

test('the UI decrypts by an address with a token, which no argument of any process shows', async () => {
  const dataDir = join(await scratchFolder(), 'data');
  const token = randomBytes(16).toString('hex');
  const { uiUrl = '' } = await start({
    uiPort: 0,
    dataDir,
    codecEndpoint: `http://127.0.0.1:8080/codec/${token}`,
  });

  const settings = await eventually(async () => (await fetch(`${uiUrl}/api/v1/settings`)).text());
  expect(settings).toContain(token);
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = (pid: string) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const all = await Promise.all(processes.map(read));
  expect(all.some((line) => line.includes(dataDir))).toBe(true);
  expect(all.filter((line) => line.includes(token))).toEqual([]);
  expect((await stat(join(dataDir, 'temporal-options.json'))).mode & 0o777).toBe(0o600);
});

test('a workflow started before the server was killed is there afterwards', async () => {
  const dataDir = join(await scratchFolder(), 'data');
  const first = await start({ dataDir });
  await startWorkflow(first, 'order:default:1001');
  first.kill('SIGKILL');
  expect(await first.ended).toBe('SIGKILL');

  const second = await start({ dataDir });

  expect(await statusOf(second, 'order:default:1001')).toBe('RUNNING');
});

test('a taken port is refused before anything is started, naming the variable that changes it', async () => {
  const port = await freePort();
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());

  await expect(startEmbeddedTemporal({ port })).rejects.toThrow(
    `Port ${port} is in use by another program. Stop it, or set TEMPORAL_PORT`,
  );
  await expect(startEmbeddedTemporal({ port: 0, uiPort: port })).rejects.toThrow(
    `Port ${port} is in use by another program. Stop it, or set TEMPORAL_UI_PORT`,
  );
});

test('a port that the server picked for itself and did not get does not keep it from starting', async () => {
  const real = await findTemporalBinary();
  const once = join(await scratchFolder(), 'once');
  const { PATH } = await environmentWith({
    temporal: `if [ "$1" = server ] && [ ! -e ${once} ]; then
  : > ${once}
  echo 'listen tcp 127.0.0.1:37599: bind: address already in use'
  exit 1
fi
exec ${real} "$@"`,
  });
  vi.stubEnv('PATH', PATH);
  onTestFinished(() => void vi.unstubAllEnvs());

  const server = await start();

  expect(existsSync(once)).toBe(true);
  const { connection } = await clientOf(server);
  expect(await missingSearchAttributes(connection, server.namespace)).toEqual([]);
});

test('a server that ends while starting is reported with the end of its log', async () => {
  const dataDir = await scratchFolder();
  await writeFile(
    join(dataDir, 'temporal.db'),
    'not a database, but as long as the header of one would be'.repeat(9),
  );

  const started = startEmbeddedTemporal({ port: 0, dataDir });

  await expect(started).rejects.toThrow(/ended while starting \(exit code 1\)\. Its log ends with:\n.+/s);
  expect(await readFile(join(dataDir, 'temporal.log'), 'utf8')).not.toBe('');
});
