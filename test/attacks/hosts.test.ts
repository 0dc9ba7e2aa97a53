import { request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hashedKey } from '../../src/config/index.ts';
import { createSandbox } from '../../src/sandbox/create-sandbox.ts';
import { anApi } from '../api/fake-order-screening.ts';

/**
 * A page at http://evil.example:8080 whose name is made to mean this machine once it is loaded: to its browser what is
 * asked here is of the page's own origin.
 */
const REBOUND = {
  host: 'evil.example:8080',
  origin: 'http://evil.example:8080',
  'sec-fetch-site': 'same-origin',
};

const EVERYTHING = [
  ['GET', '/v1/orders'],
  ['GET', '/v1/orders/order-1'],
  ['POST', '/v1/orders/order-1/cancel'],
  ['GET', '/'],
  ['GET', '/orders/order-1'],
  ['POST', '/orders/order-1/cancel'],
  ['GET', '/docs/'],
  ['GET', '/openapi.json'],
  ['GET', '/metrics'],
  ['GET', '/readyz'],
  ['GET', '/nowhere'],
] as const;

describe('a page whose name was made to mean this machine', () => {
  it.each(EVERYTHING)('gets nothing from an API without keys: %s %s', async (method, url) => {
    const { app, orderScreening } = await anApi();
    const response = await app.inject({ method, url, headers: REBOUND });
    expect(response.statusCode).toBe(401);
    expect(response.body).toContain('Requests to a host name other than localhost need an API key');
    for (const asked of Object.values(orderScreening)) expect(asked).not.toHaveBeenCalled();
  });

  it('gets nothing from the sandbox’s control plane', async () => {
    const sandbox = await createSandbox({ port: 0 });
    onTestFinished(() => sandbox.close());
    const { port } = new URL(sandbox.url);
    for (const host of [REBOUND.host, `localhost.evil.example:${port}`]) {
      expect(await statusOf(port, host), host).toBe(403);
    }
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
      expect(await statusOf(port, host), host).toBe(200);
    }
  });
});

/** `fetch` sets the name itself. */
async function statusOf(port: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', path: '/_sandbox/transactions', headers: { host } });
    asked.on('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on('error', reject);
    asked.end();
  });
}

describe('without keys an API', () => {
  const url = '/v1/orders/order-1';
  const statusBy = async (host: string) => {
    const { app } = await anApi();
    return (await app.inject({ url, headers: { host } })).statusCode;
  };

  it.each(['localhost', 'localhost:8080', 'LOCALHOST:80', '127.0.0.1:8080', '127.8.9.10', '[::1]:8080'])(
    'serves the names of its machine: %s',
    async (host) => expect(await statusBy(host)).toBe(200),
  );

  it.each([
    'evil.example',
    'localhost.evil.example',
    'evil.example:127',
    '127.0.0.1.evil.example',
    'localhost@evil.example',
    'evil.example/localhost',
    '192.168.0.7:8080',
    '0.0.0.0:8080',
    '[::ffff:c0a8:7]',
    'order-screening:8080',
  ])('serves no other: %s', async (host) => expect(await statusBy(host)).toBe(401));

  it('takes webhooks by any name, which have a secret of their own', async () => {
    const { app, orderScreening } = await anApi();
    const headers = { host: 'tunnel.example' };
    const webhook = { method: 'POST', url: '/v1/webhooks/default/webhook-secret-1', headers } as const;
    expect((await app.inject({ ...webhook, payload: {} })).statusCode).toBe(202);
    expect(orderScreening.hint).toHaveBeenCalledOnce();
  });
});

it('an API with keys serves any name', async () => {
  const { app } = await anApi({ apiKeys: [hashedKey('shop', 'the-key-of-the-shop')] });
  const headers = { host: 'orders.example', authorization: 'Bearer the-key-of-the-shop' };
  expect((await app.inject({ url: '/v1/orders/order-1', headers })).statusCode).toBe(200);
});
