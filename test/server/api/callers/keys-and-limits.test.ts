import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { hashedKey } from '../../../../src/config/index.ts';
import { expectProblem } from '../../../fuzz/expect-harmless.ts';
import { anApi } from '../fake-order-screening.ts';

const url = '/v1/orders/order-1';
const apiKeys = [
  hashedKey('shop', 'the-key-of-the-shop'),
  hashedKey('ops', 'the-key-of-ops'),
  hashedKey('ops', 'the-key-of-ops-that-is-new'),
];

it('the name of a key, which its old and its new key share, is in the line of each request, and no key is', async () => {
  const { app, logged, withoutAudit } = await anApi({ apiKeys });
  for (const key of ['the-key-of-ops', 'the-key-of-ops-that-is-new', 'a-wrong-key']) {
    await app.inject({ url, headers: { authorization: `Bearer ${key}` } });
  }
  const lines = withoutAudit();
  expect(lines).toMatchObject([
    { key: 'ops', status: 200 },
    { key: 'ops', status: 200 },
    { status: 401, code: 'unauthorized' },
  ]);
  expect(lines[2]).not.toHaveProperty('key');
  expect(logged()).not.toMatch(/the-key-of|a-wrong-key/);
});

describe('the limit of requests a second', () => {
  it('is over all routes, answered by a problem with Retry-After, logged, and each key has its own', async () => {
    const { app, orderScreening, logged } = await anApi({ apiKeys, maxRps: 2 });
    const ask = (at: string, key = 'the-key-of-the-shop') =>
      app.inject({ url: at, headers: { authorization: `Bearer ${key}` } });
    // Eight at once, in one second or in two; and one with another key.
    const ofShop = [url, '/v1/orders', url, '/v1/orders', url, '/v1/orders', url, url].map((at) => ask(at));
    const ofOps = ask(url, 'the-key-of-ops');
    const responses = await Promise.all(ofShop);
    expect((await ofOps).statusCode).toBe(200);
    const limited = responses.filter(({ statusCode }) => statusCode === 429);
    expect(limited.length).toBeGreaterThanOrEqual(4);
    for (const response of limited) {
      expectProblem(response);
      expect(response.json()).toMatchObject({ type: '/problems/too-many-requests', status: 429 });
      expect(response.headers['retry-after']).toBe('1');
    }
    const { get, list } = orderScreening;
    expect(get.mock.calls.length + list.mock.calls.length).toBe(9 - limited.length);
    expect(logged()).toMatch(/"status":429,.*"code":"too-many-requests","key":"shop"/);
  });

  it('is ten for lists, whatever API_MAX_RPS says', async () => {
    const { app, orderScreening } = await anApi({ apiKeys, maxRps: 1_000 });
    const headers = { authorization: 'Bearer the-key-of-the-shop' };
    const asked = Array.from({ length: 40 }, () => app.inject({ url: '/v1/orders', headers }));
    const statuses = (await Promise.all(asked)).map(({ statusCode }) => statusCode);
    // In one second or in two.
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(20);
    expect(orderScreening.list.mock.calls.length).toBe(statuses.filter((status) => status === 200).length);
    expect((await app.inject({ url, headers })).statusCode).toBe(200);
  });

  /** Clocks that stand still until they are moved. */
  const stopClocks = () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
  };

  it('is ten for all pages that list or count orders together', async () => {
    stopClocks();
    const { app } = await anApi({ apiKeys });
    const headers = { authorization: 'Bearer the-key-of-the-shop' };
    const statuses: number[] = [];
    for (let count = 0; count < 6; count += 1)
      for (const page of ['/', '/days']) statuses.push((await app.inject({ url: page, headers })).statusCode);
    expect(statuses).toEqual([...Array(10).fill(200), 429, 429]);
  });

  it('forgets a second that is over, also after the clock was set back', async () => {
    stopClocks();
    const { app } = await anApi({ apiKeys, maxRps: 1 });
    const headers = { authorization: 'Bearer the-key-of-the-shop' };
    const ask = async () => (await app.inject({ url, headers })).statusCode;
    expect([await ask(), await ask()]).toEqual([200, 429]);
    vi.setSystemTime(Date.now() - 600_000);
    vi.advanceTimersByTime(999);
    expect(await ask()).toBe(429);
    vi.advanceTimersByTime(1);
    expect([await ask(), await ask()]).toEqual([200, 429]);
  });

  it('holds neither for webhooks nor for health, metrics and documentation', async () => {
    const { app } = await anApi({ apiKeys, maxRps: 1 });
    const webhook = { method: 'POST', url: '/v1/webhooks/default/webhook-secret-1', body: {} } as const;
    for (const request of [webhook, '/healthz', '/readyz', '/metrics', '/openapi.json']) {
      for (let count = 0; count < 3; count += 1) {
        expect((await app.inject(request)).statusCode, JSON.stringify(request)).toBeLessThan(300);
      }
    }
  });

  it('is none without keys, where only callers on this machine are heard', async () => {
    const { app } = await anApi({ maxRps: 1 });
    for (let count = 0; count < 4; count += 1) expect((await app.inject(url)).statusCode).toBe(200);
  });
});

describe('security headers', () => {
  it.each([url, '/nowhere'])('let nothing be loaded by an answer, and nothing be kept: %s', async (at) => {
    const { app } = await anApi();
    const { headers } = await app.inject(at);
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    if (at === url) expect(headers['cache-control']).toBe('no-store');
    // Left to the proxy that ends TLS.
    expect(headers).not.toHaveProperty('strict-transport-security');
  });

  it('let /docs load what it is made of, from here only', async () => {
    const { app } = await anApi();
    const page = await app.inject('/docs/');
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("script-src 'self'; style-src 'self';");
    expect(policy).not.toMatch(/unsafe|https:|upgrade-insecure/);
    const loaded = [...page.body.matchAll(/<(?:script|link)[^>]*?(?:src|href)="([^"]+)"/g)];
    expect(loaded.length).toBeGreaterThanOrEqual(4);
    for (const [, address = ''] of loaded) {
      expect(address).not.toMatch(/^(?:https?:)?\/\//);
      const asset = await app.inject(new URL(address, 'http://localhost/docs/').pathname);
      expect(asset.statusCode, address).toBe(200);
    }
    // Whatever stood in the page itself, the policy would refuse.
    expect(page.body).not.toMatch(/<script(?![^>]*src=)|<style|\sstyle=|\son\w+=/);
  });
});
