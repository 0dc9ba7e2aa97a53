/** A worker, an API, and both in one process, that can't start say why, and which variable to correct. */
import { expect, it } from 'vitest';
import { API_WITHOUT_TEMPORAL, freePort, listen, spawnForTest, withTestServer } from '../../support/index.ts';
import { aNamespace } from '../cli/doctor-support.ts';

const server = withTestServer();

it.each<[string, () => Promise<NodeJS.ProcessEnv>, RegExp]>([
  [
    'the namespace does not exist',
    async () => ({ TEMPORAL_NAMESPACE: 'nowhere' }),
    /TEMPORAL_NAMESPACE: the namespace nowhere does not exist: run npm run setup:temporal/,
  ],
  [
    'the namespace is not set up',
    async () => ({ TEMPORAL_NAMESPACE: await aNamespace(server.connection) }),
    /TEMPORAL_NAMESPACE: .* lacks the search attributes ScreeningPhase, .*setup:temporal/,
  ],
  [
    'the port of its metrics is taken',
    async () => ({ METRICS_PORT: String(await listen()) }),
    /METRICS_PORT: metrics can't be served on port \d+/,
  ],
  [
    'Temporal does not answer',
    async () => ({ TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` }),
    /TEMPORAL_ADDRESS: Temporal doesn't answer at 127/,
  ],
  [
    'Temporal is reached by TLS, and the machine has no certificates of authorities',
    async () => ({ TEMPORAL_TLS: 'true', SSL_CERT_FILE: '/nowhere', SSL_CERT_DIR: '/nowhere' }),
    /TEMPORAL_TLS: .*install ca-certificates/,
  ],
])('does not start, and says why, when %s', async (_what, faulty, words) => {
  const env = await faulty();
  for (const script of ['src/worker.ts', 'src/serve.ts']) {
    const service = await spawnForTest(script, {
      env: {
        TEMPORAL_ADDRESS: server.address,
        SCREENING_API_KEY: 'a-key',
        SCREENING_BASE_URL: 'http://127.0.0.1:1/test',
        SCREENING_PORTAL_BASE_URL: 'http://127.0.0.1:1/portal/api/v1/transaction-update',
        API_PORT: String(await freePort()),
        METRICS_PORT: String(await freePort()),
        ...env,
      },
    });
    expect(await service.ended).toBe(1);
    expect(service.output()).toMatch(words);
  }
});

it('an API process does not start, and says why, when its port is taken', async () => {
  const API_PORT = String(await listen());
  const api = await spawnForTest('src/api.ts', { env: { ...API_WITHOUT_TEMPORAL, API_PORT } });
  expect(await api.ended).toBe(1);
  expect(api.output()).toContain(`API_PORT: port ${API_PORT} is taken`);
});

it('an API process starts without Temporal, and is not ready', async () => {
  const port = await freePort();
  const env = { ...API_WITHOUT_TEMPORAL, API_PORT: String(port) };
  await spawnForTest('src/api.ts', { env, readyWhen: /Server listening/ });
  expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(503);
});
