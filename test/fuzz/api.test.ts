import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../src/config/index.ts';
import { POSTS } from '../server/api/operations.ts';
import { aFuzzedApi, ask } from './expect-harmless.ts';
import { CANARY, CARD_CANARY, hostileText, mutated, PATIENCE_MS, runs } from './hostile.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

function callsOf(orderScreening: Awaited<ReturnType<typeof aFuzzedApi>>['orderScreening']): number {
  return Object.values(orderScreening).reduce((sum, method) => sum + method.mock.calls.length, 0);
}

/** In a path: everything encoded, except what encodeURIComponent can't. */
const inPath = fc.oneof(
  hostileText.filter((text) => !/\p{Cs}/u.test(text)).map(encodeURIComponent),
  fc.constantFrom('%', '%ff', '%c0%af', '%ed%a0%80', '%00', '..', '.', '%2e%2e', '%2F', '__proto__'),
  fc.constantFrom('%', '%zz', '%e2%82').map((bad) => `${bad}${CANARY}`),
);

/** Not a body that any operation takes. */
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array)),
  hostileText.map((text) => Buffer.from(text)),
  hostileText.map((text) => Buffer.from(`{"reason":${text}`)),
  fc.constantFrom('5', 'null', 'true', '"x"', '[]', '{"a":1}{"a":1}').map((text) => Buffer.from(text)),
  fc.constant(Buffer.alloc(1_048_577, '{')),
);
const contentTypes = fc.constantFrom(
  ...[undefined, 'application/json', 'application/json; charset=utf-16', 'text/json', '%', 'a/b;c'],
  ...['application/x-www-form-urlencoded', 'multipart/form-data', `text/${CANARY}`],
);

describe('the API', () => {
  // The others' bodies go all the way to Temporal in `started-orders.test.ts`.
  const others = POSTS.filter(({ calls }) => calls === 'putCard' || calls === 'redeliver');
  it.each(others)('stands any body at $path', { timeout: PATIENCE_MS }, async ({ path, body, calls }) => {
    const api = await aFuzzedApi();
    await fc.assert(
      fc.asyncProperty(mutated(body), async (changed) => {
        const before = callsOf(api.orderScreening);
        const payload = JSON.stringify(changed) ?? 'null';
        const response = await ask(api, { method: 'POST', url: path, headers: JSON_TYPE, payload });
        if (response.statusCode < 300) expect(api.orderScreening[calls]).toHaveBeenCalled();
        else expect(callsOf(api.orderScreening)).toBe(before);
      }),
      runs(100),
    );
  });

  it('stands bytes that are no JSON', { timeout: PATIENCE_MS }, async () => {
    const api = await aFuzzedApi();
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...POSTS), contentTypes, bytes, async ({ path }, type, payload) => {
        fc.pre(payload.toString().trim() !== '');
        const headers = type === undefined ? {} : { 'content-type': type };
        const response = await ask(api, { method: 'POST', url: path, headers, payload });
        expect([400, 404, 413, 414, 415, 422]).toContain(response.statusCode);
      }),
      runs(500),
    );
    expect(callsOf(api.orderScreening)).toBe(0);
  });

  it('stands any path and any query', { timeout: PATIENCE_MS }, async () => {
    const api = await aFuzzedApi();
    const path = fc.oneof(
      fc
        .tuple(fc.constantFrom('/v1/orders/*', '/v1/orders/*/cancel', '/v1/transactions/*', '/*'), inPath)
        .map(([place, part]) => place.replace('*', () => part)),
      inPath.map((part) => `/v1/orders/order-1/actions/${part}`),
      fc.constantFrom('/v1/orders', '/v1/orders/', '//v1/orders', '/v1/orders//cancel', '/v1/card-refs'),
    );
    const names = ['integration', 'phase', 'attention', 'cursor', 'limit', '__proto__', CARD_CANARY];
    const query = fc.array(fc.tuple(fc.constantFrom(...names), inPath), { maxLength: 3 });
    const methods = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE');
    await fc.assert(
      fc.asyncProperty(methods, path, query, async (method, at, pairs) => {
        const url = `${at}?${pairs.map((pair) => pair.join('=')).join('&')}`;
        if (method === 'HEAD') {
          expect((await api.app.inject({ method, url })).statusCode).toBeLessThan(500);
          return;
        }
        const response = await ask(api, { method: method as 'GET', url });
        const taken = method === 'GET' || method === 'POST' || (method === 'DELETE' && /actions/.test(at));
        if (!taken) expect(response.statusCode).toBeGreaterThanOrEqual(400);
      }),
      runs(500),
    );
  });

  it('stands any header', { timeout: PATIENCE_MS }, async () => {
    const api = await aFuzzedApi({ apiKeys: [hashedKey('shop', 'the-key')] });
    const name = fc.constantFrom(
      ...['idempotency-key', 'x-actor', 'authorization', 'accept', 'accept-version', 'x-forwarded-for'],
      'content-type',
    );
    const value = hostileText.map((text) => text.replace(/[^\x20-\x7e\x80-\xff]/g, '').slice(0, 2_000));
    const posts = fc.constantFrom(...POSTS);
    await fc.assert(
      // Many wrong keys of one address would be answered late.
      fc.asyncProperty(posts, name, value, fc.ipV4(), async ({ path, body }, header, sent, remoteAddress) => {
        const headers = { ...JSON_TYPE, authorization: 'Bearer the-key', [header]: sent };
        const payload = JSON.stringify(body);
        await ask(api, { method: 'POST', url: path, remoteAddress, headers, payload });
      }),
      runs(300),
    );
  });

  it('writes no order id to the log that is none', async () => {
    const { app, lines } = await aFuzzedApi();
    await app.inject(`/v1/orders/${CANARY.padEnd(65, 'x')}`);
    expect(lines.join()).not.toContain(CANARY);
    await app.inject('/v1/orders/order-77');
    expect(lines.join()).toContain('order-77');
  });
});
