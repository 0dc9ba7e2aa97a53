/** Whether a key does what it may, and nothing else: every operation of the OpenAPI document, with every scope. */
import type { FastifyInstance, InjectOptions } from 'fastify';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { hashedKey, SCOPES, type Scope } from '../../src/config/index.ts';
import { anApi } from '../server/api/fake-order-screening.ts';
import { bodyOf, documentedOperations, type Method } from '../server/api/operations.ts';

const keyOf = (name: string) => `the-key-of-${name}-alone`;
const KEYS = [
  ...SCOPES.map((scope) => hashedKey(scope, keyOf(scope), { scopes: [scope] })),
  hashedKey('short', keyOf('short')),
  // One that may do everything, of one integration.
  hashedKey('shop', keyOf('shop'), { scopes: ['screen', 'read', 'act', 'ops'], integrations: ['shop'] }),
];

interface Operation {
  method: Method;
  url: string;
  scope: Scope;
}

/** What the document leaves out: pages and codec. */
const UNDOCUMENTED = (
  [
    ['read', ['GET'], ['/', '/orders/order-1', '/transactions/order-1', '/queue.csv', '/days', '/news']],
    ['read', ['GET'], ['/orders/order-1/running']],
    ['read', ['GET'], ['/orders/order-1/proceed', '/orders/order-1/actions/1/withdraw']],
    ['act', ['POST'], ['/orders/order-1/cancel', '/orders/order-1/recheck']],
    ['act', ['POST'], ['/orders/order-1/actions/1/withdraw', '/orders/order-1/events/1/redeliver']],
    ['ops', ['POST'], ['/orders/order-1/proceed']],
    ['codec', ['POST'], ['/codec/decode', '/codec/encode']],
  ] as const
).flatMap(([scope, methods, urls]) =>
  urls.flatMap((url) => methods.map((method): Operation => ({ method, url, scope }))),
);
const isPage = ({ url }: Operation) => !/^\/(?:v1|codec)\//.test(url);
/** What is shown or done is not of one order. */
const OF_MANY = ['/', '/v1/orders', '/queue.csv', '/days', '/news'];

/** Every operation, with the scope that the document says. */
async function operationsOf(app: FastifyInstance): Promise<Operation[]> {
  const documented = (await documentedOperations(app)).map((one): Operation => {
    const { method, path, security, responses } = one;
    const [scope, ...more] = security.flatMap(({ key = [] }) => key);
    if (scope === undefined || more.length > 0) throw new Error(`${path} doesn't name its scope`);
    expect(Object.keys(responses), path).toContain('403');
    const url = path.replace(/\{(?:orderId|idOrInvoice)\}/, 'order-1').replace(/\{\w+\}/, '1');
    return { method, url, scope };
  });
  return [...documented, ...UNDOCUMENTED];
}

function requestOf(operation: Operation, key: string, integration?: string): InjectOptions {
  const { method, url } = operation;
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
  const body = isPage(operation) ? 'reason=card+shown' : bodyOf(url);
  return {
    method,
    url: integration === undefined ? url : `${url}?integration=${integration}`,
    headers: { authorization: `Bearer ${keyOf(key)}`, ...(method === 'POST' && isPage(operation) && form) },
    ...(method === 'POST' && { payload: body }),
  };
}

async function anApiWithScopes() {
  const codec = { codec: { encode: async () => [], decode: async () => [] }, origins: [] };
  const api = await anApi({ apiKeys: KEYS, codec, maxRps: 10_000 });
  const calls = () =>
    Object.values(api.orderScreening).reduce((sum, method) => sum + method.mock.calls.length, 0);
  return { ...api, calls, operations: await operationsOf(api.app) };
}

describe('a key', () => {
  it.each<[name: string, may: readonly Scope[]]>([
    ...SCOPES.map((scope): [string, Scope[]] => [scope, [scope]]),
    ['short', ['screen', 'read', 'act']],
  ])(
    'of the scope or form "%s" does what is for it, and nothing else of the whole API',
    async (name, may) => {
      const { app, operations, calls } = await anApiWithScopes();
      expect(operations.filter(({ scope }) => may.includes(scope)).length).toBeGreaterThan(0);
      for (const operation of operations) {
        const where = `${operation.method} ${operation.url}`;
        const before = calls();
        const response = await app.inject(requestOf(operation, name));
        if (may.includes(operation.scope)) {
          expect(response.statusCode, `${where}: ${response.body}`).toBeLessThan(400);
          continue;
        }
        expect(response.statusCode, where).toBe(403);
        expect(calls(), where).toBe(before);
        if (isPage(operation)) expect(response.body).toContain(`lacks the scope “${operation.scope}”`);
        else expect(response.json(), where).toMatchObject({ scope: operation.scope });
      }
    },
  );

  it('of one integration is refused in every other, and in none of its own, and lists no other orders', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { app, operations, orderScreening, calls } = await anApiWithScopes();
    for (const operation of operations.filter(({ scope }) => scope !== 'codec')) {
      // A second for each, since a key may ask for ten lists in one.
      vi.advanceTimersByTime(1_000);
      const where = `${operation.method} ${operation.url}`;
      const ask = (integration?: string) => app.inject(requestOf(operation, 'shop', integration));
      const isOfMany = OF_MANY.includes(operation.url);
      for (const own of isOfMany ? ['shop', undefined] : ['shop'])
        expect((await ask(own)).statusCode, where).toBeLessThan(400);
      const before = calls();
      for (const other of isOfMany ? ['default', 'other'] : [undefined, 'other']) {
        const response = await ask(other);
        expect(response.statusCode, `${where} of ${other}`).toBe(403);
        expect(response.body).toMatch(/other-integration|is for other integrations/);
      }
      expect(calls(), where).toBe(before);
    }
    const { list, rows, queue, count } = orderScreening;
    const lists = [list, rows, queue, count].flatMap((method) => [...method.mock.calls]);
    for (const [asked = {}] of lists) expect(asked.integrations ?? [asked.integration]).toEqual(['shop']);
  });
});
