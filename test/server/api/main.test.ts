import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { API_WITHOUT_TEMPORAL, freePort, spawnForTest } from '../../support/index.ts';

it('listens without Temporal, says that it is not ready, and ends on SIGTERM', {
  timeout: 30_000,
}, async () => {
  const port = await freePort();
  const api = await spawnForTest('src/api.ts', {
    env: { ...API_WITHOUT_TEMPORAL, API_PORT: String(port) },
    readyWhen: /Server listening/,
  });
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(503);
  api.kill('SIGTERM');
  expect(await api.ended).toBe(0);
});

it('names the port and its variable when the port is taken', { timeout: 30_000 }, async () => {
  const port = await freePort();
  const other = createServer().listen(port, '127.0.0.1');
  onTestFinished(() => void other.close());
  const env = { ...API_WITHOUT_TEMPORAL, API_PORT: String(port) };
  const api = await spawnForTest('src/api.ts', { env });
  expect(await api.ended).toBe(1);
  expect(api.output()).toContain(`API_PORT: port ${port} is taken`);
});
