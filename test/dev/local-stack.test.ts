import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fastify } from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import {
  codecEndpoint,
  embeddedOptions,
  startLocalStack,
  webhookUrl,
  withChosenPorts,
} from '../../src/dev/local-stack.ts';
import { screenSampleOrders } from '../../src/dev/welcome.ts';
import { localPayloadKeys, localSecrets } from '../../src/platform/local.ts';
import { least } from '../config/support.ts';
import { scratchFolder } from './fake-commands.ts';

const api = { host: '127.0.0.1', port: 8080, keys: [], maxRps: 1, trustProxy: [] };

it('the embedded server gets the namespace that the worker and the API are told', () => {
  const ports = { TEMPORAL_PORT: '17233', TEMPORAL_UI_PORT: '18233' };
  const env = { ...ports, TEMPORAL_NAMESPACE: 'shop', DATA_DIR: 'x' };
  const config = loadConfig({ ...least, ...env });
  expect(config.temporal).toMatchObject({ embedded: true, namespace: 'shop' });
  expect(embeddedOptions(config)).toEqual({ port: 17233, uiPort: 18233, dataDir: 'x', namespace: 'shop' });
});

it('the workers take no version from the environment, since nothing makes one current here', async () => {
  const taken = fastify();
  onTestFinished(() => taken.close());
  const SANDBOX_PORT = new URL(await taken.listen({ port: 0, host: '127.0.0.1' })).port;
  const { TEMPORAL_CONFIG_FILE } = least;
  const started = startLocalStack({ TEMPORAL_CONFIG_FILE, SANDBOX_PORT, WORKER_BUILD_ID: 'v2' });
  await expect(started).rejects.toThrow('SANDBOX_PORT');
  const version = { WORKER_DEPLOYMENT_NAME: 'orders', WORKER_BUILD_ID: 'v2' };
  expect(loadConfig({ ...least, ...version }, 'start').workerVersion).toBeUndefined();
});

it.each([
  ['127.0.0.1', 'http://127.0.0.1:8080'],
  ['localhost', 'http://localhost:8080'],
  ['0.0.0.0', 'http://127.0.0.1:8080'],
  ['192.0.2.7', 'http://192.0.2.7:8080'],
  ['::1', 'http://[::1]:8080'],
  ['::', 'http://[::1]:8080'],
])('the addresses of the parts lead to an API that listens on %s', async (host, origin) => {
  const codec = { origins: [], token: 'token' };
  expect(codecEndpoint({ api: { ...api, host }, codec })).toBe(`${origin}/codec/token`);
  const secret = 'a+b/c%d?e=f#g';
  const url = webhookUrl({ api: { ...api, host }, webhookSecrets: [secret] });
  expect(url.startsWith(`${origin}/v1/webhooks/default/`)).toBe(true);
  expect(decodeURIComponent(url.slice(`${origin}/v1/webhooks/default/`.length))).toBe(secret);
});

it('a port 0 is a free one that every part is told', async () => {
  const { SANDBOX_PORT, API_PORT } = await withChosenPorts({ SANDBOX_PORT: '0', API_PORT: '18080' });
  expect(Number(SANDBOX_PORT)).toBeGreaterThan(1024);
  expect(API_PORT).toBe('18080');
});

it('a sample order that is refused does not stop the others', async () => {
  const app = fastify();
  onTestFinished(() => app.close());
  app.post<{ Params: { orderId: string } }>('/v1/orders/:orderId/screening', async ({ params }, reply) => {
    if (params.orderId === 'sample-fail') return reply.code(409).send({ type: '/problems/attempt-mismatch' });
    return { decision: 'pass', action: 'proceed', phase: 'decided' };
  });
  const apiUrl = await app.listen({ port: 0, host: '127.0.0.1' });
  const shown = await screenSampleOrders({ apiUrl, apiKey: undefined });
  for (const name of ['pass', 'review', 'fraudulent', 'error', 'pre-gateway']) {
    expect(shown).toMatch(new RegExp(`sample-${name} .* pass .* proceed .* ms`));
  }
  expect(shown).toMatch(/Not screened: .*sample-fail.* 409: .*attempt-mismatch/);
});

it('secrets are made once, by many that start together, in files that only their owner reads', async () => {
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

it('the keys of a folder are read by another process, and PAYLOAD_KEYS takes them; none are made there', async () => {
  const dataDir = await scratchFolder();
  expect(await localPayloadKeys(dataDir)).toEqual([]);
  const { payloadKeys } = await localSecrets(dataDir);
  expect(await localPayloadKeys(dataDir)).toEqual(payloadKeys);
  const PAYLOAD_KEYS = (await readFile(join(dataDir, 'payload-keys'), 'utf8')).trim();
  expect(loadConfig({ ...least, PAYLOAD_KEYS }).payloadKeys).toEqual(payloadKeys);
});

it.each([
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
