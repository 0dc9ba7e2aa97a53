import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { API_WITHOUT_TEMPORAL, freePort, spawnForTest } from '../support/index.ts';

describe('npm run api', () => {
  it('listens without Temporal, says that it is not ready, and ends on SIGTERM', async () => {
    const port = await freePort();
    const api = await spawnForTest('src/api.ts', {
      env: { ...API_WITHOUT_TEMPORAL, API_PORT: String(port) },
      readyWhen: /Server listening/,
    });
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(503);
    api.kill('SIGTERM');
    expect(await api.ended).toBe(0);
  }, 30_000);

  it('names port and variable when the port is taken', async () => {
    const other = createServer();
    onTestFinished(() => void other.close());
    const port = await new Promise<number>((resolve) => {
      other.listen(0, '127.0.0.1', () => {
        const address = other.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
    const api = await spawnForTest('src/api.ts', {
      env: { ...API_WITHOUT_TEMPORAL, API_PORT: String(port) },
    });
    expect(await api.ended).toBe(1);
    expect(api.output()).toContain(`API_PORT: port ${port} is taken`);
  }, 30_000);

  it('names the variable when its address is not one of the machine', async () => {
    const api = await spawnForTest('src/api.ts', {
      env: {
        ...API_WITHOUT_TEMPORAL,
        API_HOST: '192.0.2.1',
        API_PORT: '0',
        API_KEYS: 'shop:a-key-of-the-shop',
      },
    });
    expect(await api.ended).toBe(1);
    expect(api.output()).toContain('API_HOST: 192.0.2.1 is not an address of this machine');
  }, 30_000);

  it('refuses to start with every fault of its settings', async () => {
    const api = await spawnForTest('src/api.ts', {
      env: { ...API_WITHOUT_TEMPORAL, SCREENING_BASE_URL: undefined, API_HOST: '0.0.0.0', API_PORT: 'x' },
    });
    expect(await api.ended).toBe(1);
    expect(api.output()).toMatch(/3 errors/);
    for (const variable of ['SCREENING_BASE_URL', 'API_PORT', 'API_KEYS'])
      expect(api.output()).toContain(variable);
  }, 30_000);
});
