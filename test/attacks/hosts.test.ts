import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../src/config/index.ts';
import { send, startSandbox } from '../sandbox/support.ts';
import { anApi } from '../server/api/fake-order-screening.ts';

/**
 * A page at http://evil.example:8080 whose name is made to mean this machine once it is loaded: to its browser what is
 * asked here is of the page's own origin.
 */
const REBOUND = {
  host: 'evil.example:8080',
  origin: 'http://evil.example:8080',
  'sec-fetch-site': 'same-origin',
};

describe('a page whose name was made to mean this machine', () => {
  it.each([
    ['GET', '/v1/orders/order-1'],
    ['POST', '/v1/orders/order-1/cancel'],
    ['GET', '/'],
    ['GET', '/orders/order-1'],
    ['POST', '/orders/order-1/cancel'],
    ['GET', '/docs/'],
    ['GET', '/metrics'],
    ['GET', '/nowhere'],
  ] as const)('gets nothing from an API without keys: %s %s', async (method, url) => {
    const { app, orderScreening } = await anApi();
    const response = await app.inject({ method, url, headers: REBOUND });
    expect(response.statusCode).toBe(401);
    expect(response.body).toContain('to a host name other than localhost, need an API key');
    for (const asked of Object.values(orderScreening)) expect(asked).not.toHaveBeenCalled();
  });

  it('gets nothing from the sandbox’s control plane', async () => {
    const { url } = await startSandbox();
    const { port } = new URL(url);
    const foreign = [REBOUND.host, `localhost.evil.example:${port}`];
    const own = [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`];
    for (const host of [...foreign, ...own]) {
      const { status } = await send('GET', `${url}/_sandbox/transactions`, undefined, { headers: { host } });
      expect(status, host).toBe(foreign.includes(host) ? 403 : 200);
    }
  });
});

describe('without keys an API', () => {
  const OWN = ['localhost', 'localhost:8080', 'LOCALHOST:80', '127.0.0.1:8080', '127.8.9.10', '[::1]:8080'];
  const OTHERS = [
    ...['evil.example', 'localhost.evil.example', 'evil.example:127', '127.0.0.1.evil.example'],
    ...['localhost@evil.example', 'evil.example/localhost', '192.168.0.7:8080', '0.0.0.0:8080'],
    ...['[::ffff:c0a8:7]', 'order-screening:8080'],
  ];

  it.each([...OWN, ...OTHERS])('serves the names of its machine and no other: %s', async (host) => {
    const { app } = await anApi();
    const { statusCode } = await app.inject({ url: '/v1/orders/order-1', headers: { host } });
    expect(statusCode).toBe(OWN.includes(host) ? 200 : 401);
  });

  it.each(['x-forwarded-for', 'X-Forwarded-Host', 'Forwarded'])('serves no proxy: %s', async (header) => {
    const { app } = await anApi();
    const headers = { host: '127.0.0.1:8080', [header]: 'for=203.0.113.8' };
    expect((await app.inject({ url: '/v1/orders/order-1', headers })).statusCode).toBe(401);
  });

  it('takes webhooks by any name, which have a secret of their own', async () => {
    const { app, orderScreening } = await anApi();
    const headers = { host: 'tunnel.example', 'x-forwarded-for': '203.0.113.8' };
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
