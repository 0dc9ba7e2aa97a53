/** Whether a key does what it may, and nothing else: every operation of the OpenAPI document, with every scope. */
import type { FastifyInstance, InjectOptions } from 'fastify';
import { describe, expect, it } from 'vitest';
import { hashedKey, SCOPES, type Scope } from '../../src/config/index.ts';
import { anApi, aPortalAnswer } from '../api/fake-order-screening.ts';
import { POSTS } from '../api/operations.ts';

const keyOf = (scope: string) => `the-key-with-the-scope-${scope}`;
const KEYS = SCOPES.map((scope) => hashedKey(scope, keyOf(scope), { scopes: [scope] }));
/** One that may do everything, of one integration. */
const OF_THE_SHOP = hashedKey('shop', 'the-key-of-the-shop-alone', {
  scopes: ['screen', 'read', 'act', 'ops'],
  integrations: ['shop'],
});

/** What each operation is called with, so that it is done: by the end of its address. */
const BODIES: Record<string, object> = Object.fromEntries(
  POSTS.map(({ path, body }) => [path.split('/').at(-1), body]),
);

interface Operation {
  method: 'GET' | 'POST' | 'DELETE';
  url: string;
  scope: Scope;
}

/** Every operation with the scope that the document says, and what the document leaves out: pages and codec. */
async function operationsOf(app: FastifyInstance): Promise<Operation[]> {
  await app.ready();
  const { paths = {} } = app.swagger() as unknown as {
    paths: Record<string, Record<string, { security: Record<string, Scope[]>[]; responses: object }>>;
  };
  const documented = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { security, responses }]): Operation => {
      const [scope, ...more] = security.flatMap(({ key = [] }) => key);
      if (scope === undefined || more.length > 0) throw new Error(`${path} doesn't name its scope`);
      expect(Object.keys(responses), path).toContain('403');
      const url = path
        .replace(/\{(?:orderId|idOrInvoice)\}/, 'order-1')
        .replace(/\{(?:number|sequence)\}/, '1');
      return { method: method.toUpperCase() as Operation['method'], url, scope };
    }),
  );
  const pages = ['/', '/orders/order-1', '/transactions/order-1'].map(
    (url): Operation => ({ method: 'GET', url, scope: 'read' }),
  );
  const buttons = ['cancel', 'recheck', 'actions/1/withdraw'].flatMap((name): Operation[] =>
    (['GET', 'POST'] as const).map((method) => ({ method, url: `/orders/order-1/${name}`, scope: 'act' })),
  );
  const codec = ['decode', 'encode'].map(
    (name): Operation => ({ method: 'POST', url: `/codec/${name}`, scope: 'codec' }),
  );
  return [...documented, ...pages, ...buttons, ...codec];
}

const isPage = (url: string) => url === '/' || /^\/(?:orders|transactions)\//.test(url);

function requestOf({ method, url }: Operation, key: string, integration?: string): InjectOptions {
  const name = url.split('/').at(-1) ?? '';
  const form = isPage(url) && method === 'POST';
  return {
    method,
    url: integration === undefined ? url : `${url}?integration=${integration}`,
    headers: {
      authorization: `Bearer ${key}`,
      ...(form && {
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'same-origin',
      }),
    },
    ...(method === 'POST' && { payload: form ? '' : (BODIES[name] ?? {}) }),
  };
}

const codec = {
  codec: { encode: async () => [], decode: async () => [] },
  origins: ['http://127.0.0.1:8233'],
};

async function anApiWithScopes() {
  const api = await anApi({ apiKeys: [...KEYS, OF_THE_SHOP], codec, maxRps: 10_000 });
  api.orderScreening.withdraw.mockResolvedValue(aPortalAnswer({ number: 1, status: 'withdrawn' }));
  const calls = () =>
    Object.values(api.orderScreening).reduce((sum, method) => sum + method.mock.calls.length, 0);
  return { ...api, calls, operations: await operationsOf(api.app) };
}

describe('a key', () => {
  it.each(SCOPES)('with the scope %s does what is for it, and nothing else of the whole API', async (own) => {
    const { app, operations, calls } = await anApiWithScopes();
    expect(operations.length).toBeGreaterThan(20);
    expect(operations.some(({ scope }) => scope === own)).toBe(true);
    for (const operation of operations) {
      const where = `${operation.method} ${operation.url}`;
      const before = calls();
      const response = await app.inject(requestOf(operation, keyOf(own)));
      if (operation.scope === own) {
        expect(response.statusCode, `${where}: ${response.body}`).toBeLessThan(400);
        continue;
      }
      expect(response.statusCode, where).toBe(403);
      expect(calls(), where).toBe(before);
      if (isPage(operation.url)) expect(response.body).toContain('The API key may not do this');
      else {
        expect(response.json(), where).toMatchObject({
          type: '/problems/missing-scope',
          scope: operation.scope,
        });
      }
    }
  });

  it('of the short form screens, reads and acts, and is no key of ops or of the codec', async () => {
    const { app } = await anApi({ apiKeys: [hashedKey('shop', 'a-key-of-the-short-form')], codec });
    for (const operation of await operationsOf(app)) {
      const { statusCode } = await app.inject(requestOf(operation, 'a-key-of-the-short-form'));
      const refused = operation.scope === 'ops' || operation.scope === 'codec';
      expect(statusCode === 403, `${operation.method} ${operation.url}: ${statusCode}`).toBe(refused);
    }
  });

  it('of one integration is refused in every other, and in none of its own', async () => {
    const { app, operations, calls } = await anApiWithScopes();
    const ofOrders = operations.filter(({ scope, url }) => scope !== 'codec' && url !== '/');
    for (const operation of ofOrders) {
      const where = `${operation.method} ${operation.url}`;
      const ask = (integration?: string) =>
        app.inject(requestOf(operation, 'the-key-of-the-shop-alone', integration));
      expect((await ask('shop')).statusCode, where).toBeLessThan(400);
      const before = calls();
      for (const other of operation.url === '/v1/orders' ? ['default', 'other'] : [undefined, 'other']) {
        const response = await ask(other);
        expect(response.statusCode, `${where} of ${other}`).toBe(403);
        expect(response.body).toMatch(/other-integration|is for other integrations/);
      }
      expect(calls(), where).toBe(before);
    }
  });

  it('of one integration gets into no other by the body either', async () => {
    const { app, calls } = await anApiWithScopes();
    for (const [url, body] of [
      ['/v1/orders/order-1/screening', BODIES.screening],
      ['/v1/orders/order-1/adopt', BODIES.adopt],
      ['/v1/card-refs', BODIES['card-refs']],
    ] as const) {
      for (const query of ['', '?integration=shop', '?integration=other']) {
        const response = await app.inject({
          method: 'POST',
          url: url + query,
          headers: { authorization: 'Bearer the-key-of-the-shop-alone' },
          payload: { ...body, integration: 'other' },
        });
        expect(response.statusCode, url + query).toBe(403);
      }
    }
    expect(calls()).toBe(0);
  });

  it('of one integration lists its own orders and no others, by API and page', async () => {
    const { app, orderScreening } = await anApiWithScopes();
    const headers = { authorization: 'Bearer the-key-of-the-shop-alone' };
    for (const url of ['/v1/orders', '/']) {
      orderScreening.list.mockClear();
      expect((await app.inject({ url, headers })).statusCode).toBe(200);
      expect(orderScreening.list.mock.calls.length).toBeGreaterThan(0);
      for (const [asked] of orderScreening.list.mock.calls) {
        expect(asked, url).toMatchObject({ integrations: ['shop'] });
      }
    }
    expect((await app.inject({ url: '/?integration=other', headers })).statusCode).toBe(403);
  });
});
