import type { FastifyInstance } from 'fastify';
import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../src/config/index.ts';
import { expectProblem } from '../fuzz/expect-harmless.ts';
import { anApi } from './fake-order-screening.ts';

const url = '/v1/orders/order-1';
const apiKeys = [hashedKey('shop', 'the-key-of-the-shop'), hashedKey('ops', 'the-key-of-ops')];
const SHOP = { authorization: 'Bearer the-key-of-the-shop' };
const OPS = { authorization: 'Bearer the-key-of-ops' };

describe('the name of a key', () => {
  it('stands in the line of each request, and the key stands nowhere', async () => {
    const { app, logged } = await anApi({ apiKeys });
    await app.inject({ url, headers: OPS });
    await app.inject({ url, headers: { authorization: 'Bearer a-wrong-key' } });
    const lines = logged()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toMatchObject([
      { key: 'ops', status: 200 },
      { status: 401, code: 'unauthorized' },
    ]);
    expect(lines[1]).not.toHaveProperty('key');
    expect(logged()).not.toMatch(/the-key-of|a-wrong-key/);
  });

  it('is shared by its old and its new key', async () => {
    const both = [hashedKey('shop', 'the-old-key'), hashedKey('shop', 'the-new-key')];
    const { app, logged } = await anApi({ apiKeys: both });
    for (const key of ['the-old-key', 'the-new-key']) {
      const response = await app.inject({ url, headers: { authorization: `Bearer ${key}` } });
      expect(response.statusCode).toBe(200);
    }
    expect(logged().match(/"key":"shop"/g)).toHaveLength(2);
  });
});

describe('the limit of requests a second', () => {
  /** Sends at once, so that all fall into one second, or two. */
  const statuses = async (app: FastifyInstance, count: number, headers: Record<string, string>) =>
    Promise.all(Array.from({ length: count }, async () => (await app.inject({ url, headers })).statusCode));

  it('is answered by a problem with Retry-After, logged with the name of the key, and reaches no order', async () => {
    const { app, orderScreening, logged } = await anApi({ apiKeys, maxRps: 2 });
    const responses = await Promise.all(Array.from({ length: 6 }, () => app.inject({ url, headers: SHOP })));
    const limited = responses.filter(({ statusCode }) => statusCode === 429);
    expect(limited.length).toBeGreaterThanOrEqual(2);
    for (const response of limited) {
      expectProblem(response);
      expect(response.json()).toMatchObject({ type: '/problems/too-many-requests', status: 429 });
      expect(response.headers['retry-after']).toBe('1');
    }
    expect(orderScreening.get).toHaveBeenCalledTimes(6 - limited.length);
    expect(logged()).toMatch(/"status":429,.*"code":"too-many-requests","key":"shop"/);
  });

  it('is over all routes, and each key has its own', async () => {
    const { app } = await anApi({ apiKeys, maxRps: 1 });
    const list = () => app.inject({ url: '/v1/orders', headers: SHOP });
    const ofShop = (await Promise.all(Array.from({ length: 3 }, list))).map(({ statusCode }) => statusCode);
    ofShop.push(...(await statuses(app, 3, SHOP)));
    // Six requests in one second, or in two.
    expect(ofShop.filter((status) => status === 200).length).toBeLessThanOrEqual(2);
    expect(await statuses(app, 1, OPS)).toEqual([200]);
  });

  it('holds neither for webhooks nor for health, metrics and documentation', async () => {
    const { app } = await anApi({ apiKeys, maxRps: 1 });
    const webhook = { method: 'POST', url: '/v1/webhooks/default/webhook-secret-1', body: {} } as const;
    for (const request of [webhook, '/healthz', '/readyz', '/metrics', '/docs/', '/openapi.json']) {
      for (let count = 0; count < 4; count += 1) {
        expect((await app.inject(request)).statusCode, JSON.stringify(request)).toBeLessThan(300);
      }
    }
  });

  it('is none without keys, where only callers on this machine are heard', async () => {
    const { app } = await anApi({ maxRps: 1 });
    expect(await statuses(app, 5, {})).toEqual([200, 200, 200, 200, 200]);
  });
});

describe('security headers', () => {
  it('let nothing be loaded by an answer, and nothing be kept of an order', async () => {
    const { app } = await anApi();
    const { headers } = await app.inject(url);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect((await app.inject('/nowhere')).headers['content-security-policy']).toContain("default-src 'none'");
  });

  it('leave HSTS to the proxy that ends TLS', async () => {
    const { app } = await anApi();
    for (const at of [url, '/', '/docs/'])
      expect((await app.inject(at)).headers).not.toHaveProperty('strict-transport-security');
  });

  it('let /docs load what it is made of, from here only', async () => {
    const { app } = await anApi();
    const page = await app.inject('/docs/');
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("script-src 'self'; style-src 'self';");
    expect(policy).not.toMatch(/unsafe|https:|upgrade-insecure/);
    const loaded = [...page.body.matchAll(/<(?:script|link)[^>]*?(?:src|href)="([^"]+)"/g)].map(
      ([, at]) => at,
    );
    expect(loaded.length).toBeGreaterThanOrEqual(4);
    for (const address of loaded) {
      expect(address).not.toMatch(/^(?:https?:)?\/\//);
      const asset = await app.inject(new URL(String(address), 'http://localhost/docs/').pathname);
      expect(asset.statusCode, address).toBe(200);
    }
    // Whatever stood in the page itself, the policy would refuse.
    expect(page.body).not.toMatch(/<script(?![^>]*src=)|<style|\sstyle=|\son\w+=/);
  });
});
