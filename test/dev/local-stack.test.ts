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
import { least } from '../config/support.ts';

const api = { host: '127.0.0.1', port: 8080, keys: [], maxRps: 1, trustProxy: [] };

it('the embedded server gets the namespace that the worker and the API are told', () => {
  const env = {
    TEMPORAL_NAMESPACE: 'shop',
    TEMPORAL_PORT: '17233',
    TEMPORAL_UI_PORT: '18233',
    DATA_DIR: 'x',
  };
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
