import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../src/config/index.ts';
import { POSTS } from '../api/operations.ts';
import { aFuzzedApi, ask } from './expect-harmless.ts';
import {
  CANARY,
  CARD_CANARY,
  deepJson,
  hostileText,
  hostileValue,
  mutated,
  PATIENCE_MS,
  runs,
} from './hostile.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const badRequest = [400, 404, 413, 414, 415, 422];

function callsOf(orderScreening: Awaited<ReturnType<typeof aFuzzedApi>>['orderScreening']): number {
  return Object.values(orderScreening).reduce((sum, method) => sum + method.mock.calls.length, 0);
}

/** In a path: everything encoded, except what encodeURIComponent can't. */
const inPath = fc.oneof(
  hostileText.filter((text) => !/\p{Cs}/u.test(text)).map(encodeURIComponent),
  fc.constantFrom(
    '%',
    '%ff',
    '%c0%af',
    '%ed%a0%80',
    '%00',
    '..',
    '.',
    '%2e%2e',
    '%2F',
    '__proto__',
    'constructor',
  ),
  fc.constantFrom('%', '%zz', '%e2%82').map((bad) => `${bad}${CANARY}`),
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

  it.each(POSTS)(
    'stands a body too deep or too broad for a careless reader at $path',
    async ({ path, body }) => {
      const api = await aFuzzedApi();
      const [field = 'x'] = Object.keys(body);
      const names = Array.from({ length: 80_000 }, (_, index) => `"k${index}":1`).join(',');
      const list = `[${Array.from({ length: 200_000 }, () => '{}').join(',')}]`;
      for (const value of [deepJson(400_000, 'lists'), deepJson(150_000, 'objects'), `{${names}}`, list]) {
        for (const payload of [value, `{"${field}":${value}}`]) {
          await ask(api, { method: 'POST', url: path, headers: JSON_TYPE, payload });
        }
      }
    },
  );

  it('stands bytes that are no JSON', { timeout: PATIENCE_MS }, async () => {
    const api = await aFuzzedApi();
    const types = fc.oneof(
      fc.constantFrom(
        undefined,
        'application/json',
        'application/json; charset=utf-16',
        'text/json',
        '%',
        'a/b;c',
      ),
      fc.constantFrom('application/x-www-form-urlencoded', 'multipart/form-data', `text/${CANARY}`),
    );
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array)),
      hostileText.map((text) => Buffer.from(text)),
      hostileText.map((text) => Buffer.from(`{"reason":${text}`)),
      fc
        .constantFrom('5', 'null', 'true', '"x"', '[]', '\ufeff{}', '{"a":1}{"a":1}')
        .map((text) => Buffer.from(text)),
      fc.constant(Buffer.alloc(1_048_577, '{')),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...POSTS), types, bytes, async ({ path }, type, payload) => {
        const before = callsOf(api.orderScreening);
        const headers = type === undefined ? {} : { 'content-type': type };
        const response = await ask(api, { method: 'POST', url: path, headers, payload });
        if (payload.length > 0 && payload.toString().trim() !== '{}' && payload.toString() !== '\ufeff{}') {
          expect(badRequest).toContain(response.statusCode);
          expect(callsOf(api.orderScreening)).toBe(before);
        }
      }),
      runs(500),
    );
  });

  it('stands any path and any query', { timeout: PATIENCE_MS }, async () => {
    const api = await aFuzzedApi();
    const requests = fc.record({
      method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE'),
      path: fc.oneof(
        inPath.map((part) => `/v1/orders/${part}`),
        inPath.map((part) => `/v1/orders/${part}/cancel`),
        inPath.map((part) => `/v1/transactions/${part}`),
        inPath.map((part) => `/v1/orders/order-1/actions/${part}`),
        inPath.map((part) => `/${part}`),
        fc.constantFrom('/v1/orders', '/v1/orders/', '//v1/orders', '/v1/orders//cancel', '/v1/card-refs'),
      ),
      query: fc.array(
        fc.tuple(
          fc.constantFrom(
            'integration',
            'phase',
            'decision',
            'attention',
            'cursor',
            'limit',
            '__proto__',
            CARD_CANARY,
          ),
          inPath,
        ),
        { maxLength: 3 },
      ),
    });
    await fc.assert(
      fc.asyncProperty(requests, async ({ method, path, query }) => {
        const url = `${path}?${query.map(([name, value]) => `${name}=${value}`).join('&')}`;
        if (method === 'HEAD') {
          expect((await api.app.inject({ method, url })).statusCode).toBeLessThan(500);
          return;
        }
        const response = await ask(api, { method: method as 'GET', url });
        const taken = method === 'GET' || method === 'POST' || (method === 'DELETE' && /actions/.test(path));
        if (!taken) expect(response.statusCode).toBeGreaterThanOrEqual(400);
      }),
      runs(500),
    );
  });

  it('stands any header', { timeout: PATIENCE_MS }, async () => {
    const api = await aFuzzedApi({ apiKeys: [hashedKey('shop', 'the-key')] });
    const names = [
      'idempotency-key',
      'x-actor',
      'authorization',
      'accept',
      'accept-version',
      'x-forwarded-for',
      'content-type',
    ];
    const value = hostileText.map((text) => text.replace(/[^\x20-\x7e\x80-\xff]/g, '').slice(0, 2_000));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...POSTS),
        fc.constantFrom(...names),
        value,
        // Many wrong keys of one address would be answered late.
        fc.ipV4(),
        async (post, name, sent, remoteAddress) => {
          const headers = { ...JSON_TYPE, authorization: 'Bearer the-key', [name]: sent };
          const payload = JSON.stringify(post.body);
          await ask(api, { method: 'POST', url: post.path, remoteAddress, headers, payload });
        },
      ),
      runs(300),
    );
  });

  it('lists at most 100 faults and says that there may be more', async () => {
    const api = await aFuzzedApi();
    const body = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`k${index}`, CANARY]));
    const response = await ask(api, { method: 'POST', url: '/v1/orders/order-1/cancel', payload: body });
    expect(response.json()).toMatchObject({
      detail: 'The request has 100 or more errors; the first 100 are listed',
    });
    expect(response.json<{ errors: unknown[] }>().errors).toHaveLength(100);
  });

  it('writes no order id to the log that is none', async () => {
    const { app, lines } = await aFuzzedApi();
    await app.inject(`/v1/orders/${CANARY.padEnd(65, 'x')}`);
    expect(lines.join()).not.toContain(CANARY);
    await app.inject('/v1/orders/order-77');
    expect(lines.join()).toContain('order-77');
  });

  it('refuses any value that is no object as the body of a recheck', { timeout: PATIENCE_MS }, async () => {
    const api = await aFuzzedApi();
    const noObject = hostileValue.filter((value) => typeof value !== 'object' || value === null);
    await fc.assert(
      fc.asyncProperty(noObject, async (value) => {
        const url = '/v1/orders/order-1/recheck';
        const response = await ask(api, {
          method: 'POST',
          url,
          headers: JSON_TYPE,
          payload: JSON.stringify(value),
        });
        expect([400, 422]).toContain(response.statusCode);
        expect(api.orderScreening.recheck).not.toHaveBeenCalled();
      }),
      runs(100),
    );
  });
});
