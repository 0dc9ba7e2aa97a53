/** What the holder of a key of one integration can reach of another's orders and transactions: nothing, by any documented route. */
import { describe, expect, it } from 'vitest';
import { hashedKey, type Scope } from '../../src/config/index.ts';
import { aClient, described, failed, gone, listing } from '../client/fake-temporal.ts';
import { created, decidedAs, startSandbox, TEST_KEY } from '../sandbox/support.ts';
import { anApi, aPortalAnswer } from '../server/api/fake-order-screening.ts';
import { bodyOf, documentedOperations } from '../server/api/operations.ts';

/** The integration `other` has this order. Both integrations share an account of the screening service. */
const THEIRS = 'their-order-7';
const OURS = 'our-order-1';
const KEYS: Record<string, Scope[]> = {
  'without-the-scope-ops': ['screen', 'read', 'act'],
  'with-all-scopes-there-are': ['screen', 'read', 'act', 'ops'],
};

interface Attempt {
  /** Path parameters, in turn. */
  path?: string[];
  query?: Record<string, string>;
  body?: object;
}

const TO_THEIRS: Attempt[] = [
  { path: [THEIRS, '1'], query: { integration: 'other' } },
  // An order of that id in an integration that the key is for.
  { path: [THEIRS, '1'], query: { integration: 'shop' } },
];
const QUERIES: Record<string, string>[] = [{ integration: 'other' }, { integration: 'shop' }, {}];
const inTheBody: Attempt[] = QUERIES.flatMap((query) =>
  [THEIRS, OURS].map((order) => ({ path: [order], query, body: { integration: 'other' } })),
);

/** How a documented operation could name another integration's order or transaction, where there are more ways than `TO_THEIRS`. */
const WAYS: Record<string, (transactionId: string) => Attempt[]> = {
  'POST /v1/orders/{orderId}/screening': () => [
    { path: [THEIRS], query: { integration: 'other' } },
    ...inTheBody,
  ],
  'POST /v1/orders/{orderId}/adopt': (transactionId) => [
    ...TO_THEIRS.map((attempt) => ({ ...attempt, body: { transactionId } })),
    ...inTheBody,
    { path: [OURS], query: { integration: 'shop' }, body: { transactionId } },
    {
      path: [OURS],
      query: { integration: 'shop' },
      body: { transactionId: transactionId.toUpperCase(), force: true },
    },
  ],
  'GET /v1/orders/{orderId}': () => [
    ...TO_THEIRS,
    { path: [THEIRS], query: { integration: 'other', view: 'full' } },
  ],
  'GET /v1/orders': (transactionId) => [
    { query: { integration: 'other' } },
    ...[THEIRS, transactionId, `order:other:${THEIRS}`, "' OR 'a' = 'a"].map((find) => ({ query: { find } })),
    { query: {} },
  ],
  'POST /v1/card-refs': () => [
    { query: { integration: 'other' } },
    { query: { integration: 'shop' }, body: { integration: 'other' } },
    { body: { integration: 'other' } },
  ],
  ...Object.fromEntries(
    ['cancel', 'report-fraud', 'chargebacks', 'customer-code'].map((action) => [
      `POST /v1/orders/{orderId}/${action}`,
      (transactionId: string) => [
        ...TO_THEIRS,
        ...[OURS, THEIRS, 'our-ended-order'].flatMap((order) =>
          [transactionId, transactionId.toUpperCase()].map((id) => ({
            path: [order],
            query: { integration: 'shop' },
            body: { transactionId: id },
          })),
        ),
      ],
    ]),
  ),
  'GET /v1/transactions/{idOrInvoice}': (transactionId) =>
    [transactionId, transactionId.toUpperCase(), 'their-invoice', '#their-invoice'].flatMap((id) =>
      ['shop', 'other'].map((integration) => ({ path: [id], query: { integration } })),
    ),
};

/** The API over the client library, a Temporal that has only their order, and a screening service that has their transaction. */
async function twoIntegrations() {
  const sandbox = await startSandbox();
  const { orderScreening, temporal, handles } = aClient({
    name: 'shop',
    baseUrl: sandbox.testBaseUrl,
    portalBaseUrl: sandbox.portalBaseUrl,
    apiKey: () => TEST_KEY,
  });
  const transactionId = await created(
    sandbox,
    decidedAs('review', { order: { invoiceNumber: 'their-invoice' } }),
  );
  temporal.describe.mockImplementation(async (id: string) => {
    if (id !== 'order:shop:our-ended-order') throw gone;
    return described('COMPLETED');
  });
  temporal.result.mockRejectedValue(failed());
  temporal.listWorkflowExecutions.mockImplementation(async ({ query }: { query: string }) =>
    query.includes("ScreeningIntegration = 'shop'") ? listing() : listing(`order:other:${THEIRS}`),
  );
  const apiKeys = Object.entries(KEYS).map(([name, scopes]) =>
    hashedKey(name, name, { scopes, integrations: ['shop'] }),
  );
  apiKeys.push(hashedKey('unlimited', 'a-key-without-limits', { scopes: ['read', 'act'] }));
  const { app, audit } = await anApi({ apiKeys, maxRps: 100_000, orderScreening });
  const send = (operation: string, key: string, { path = [], query = {}, body = {} }: Attempt) => {
    const [method, pattern = ''] = operation.split(' ') as ['GET' | 'POST' | 'DELETE', string];
    const parameters = [...path];
    const url = pattern.replace(/\{\w+\}/g, () => encodeURIComponent(parameters.shift() ?? '1'));
    const payload = { ...bodyOf(url), transactionId: undefined, ...body };
    return app.inject({
      method,
      url: `${url}?${new URLSearchParams(query)}`,
      headers: { authorization: `Bearer ${key}` },
      ...(method === 'POST' && { payload }),
    });
  };
  /** Everything that was sent to Temporal and is no read, and the calls of portal actions. */
  const done = () => {
    const { start, startUpdate, executeUpdate, executeUpdateWithStart, signal, signalWithStart } = temporal;
    const sent = [start, executeUpdateWithStart, signalWithStart].flatMap(({ mock }) => mock.calls);
    const acts = [startUpdate, executeUpdate, signal].flatMap(({ mock }) => mock.calls);
    return { sent: JSON.stringify(sent), acts: acts.length };
  };
  return { app, sandbox, temporal, handles, transactionId, send, done, audit };
}

describe("another integration's orders and transactions", () => {
  it('are out of reach for a key of one integration, by every route of the API document', async () => {
    const { app, handles, transactionId, send, done, sandbox } = await twoIntegrations();
    const operations = (await documentedOperations(app)).map(({ method, path }) => `${method} ${path}`);
    expect(operations).toEqual(expect.arrayContaining(Object.keys(WAYS)));
    const known = [THEIRS, transactionId, 'their-invoice'];
    for (const operation of operations) {
      for (const key of Object.keys(KEYS)) {
        for (const attempt of WAYS[operation]?.(transactionId) ?? TO_THEIRS) {
          const where = `${operation} ${JSON.stringify(attempt)} ${key}`;
          const response = await send(operation, key, attempt);
          if (operation === 'GET /v1/orders' && response.statusCode === 200) {
            expect(response.json(), where).toEqual({ orders: [] });
          } else if (Object.hasOwn(attempt.body ?? {}, 'integration')) {
            expect(response.statusCode, where).toBe(403);
          } else expect([403, 404, 409], `${where}: ${response.body}`).toContain(response.statusCode);
          const given = JSON.stringify(attempt).toLowerCase();
          for (const canary of [...known, 'review'].filter((one) => !given.includes(one)))
            expect(response.body.toLowerCase(), where).not.toContain(canary);
        }
      }
    }
    expect(handles.filter((id) => id.startsWith('order:other:'))).toEqual([]);
    expect(done().sent.toLowerCase()).not.toContain(transactionId);
    expect(sandbox.control.ledger().map(({ operation }) => operation)).not.toContain('report-fraud');
  });
});

describe('a transaction without an order', () => {
  const report = 'POST /v1/orders/{orderId}/report-fraud';
  const body = { transactionId: '3f2c1a5e-8d4b-4c6f-9a7e-2b1d0c9f8e7a' };
  const attempt = { path: [OURS], query: { integration: 'shop' }, body };

  it('is acted on with the scope ops only, and the audit log names it', async () => {
    const { send, temporal, done, audit } = await twoIntegrations();
    temporal.listWorkflowExecutions.mockResolvedValue(listing());
    for (const key of ['without-the-scope-ops', 'a-key-without-limits']) {
      const refused = await send(report, key, attempt);
      expect(refused.json()).toMatchObject({ type: '/problems/missing-scope', scope: 'ops' });
    }
    expect(done()).toMatchObject({ sent: '[]' });
    temporal.result.mockResolvedValue(aPortalAnswer({ kind: 'report-fraud' }));
    expect((await send(report, 'with-all-scopes-there-are', attempt)).statusCode).toBe(200);
    expect(audit()).toMatchObject([
      { status: 403, code: 'missing-scope', transactionId: body.transactionId },
      { status: 403, transactionId: body.transactionId },
      { status: 200, transactionId: body.transactionId },
    ]);
  });

  it('is refused when an order of a different integration owns it, without its name', async () => {
    const { send, transactionId, audit, done } = await twoIntegrations();
    const theirs = { ...attempt, body: { transactionId } };
    const refused = await send(report, 'with-all-scopes-there-are', theirs);
    expect(refused.json()).toMatchObject({ type: '/problems/other-integration', status: 403 });
    expect(refused.body).not.toContain(THEIRS);
    expect(done()).toMatchObject({ sent: '[]' });
    expect(audit()).toMatchObject([{ code: 'other-integration', transactionId }]);
  });

  it('is refused when a different order of the integration owns it', async () => {
    const { send, temporal, transactionId } = await twoIntegrations();
    temporal.listWorkflowExecutions.mockResolvedValue(listing('order:shop:our-order-2'));
    const ours = { ...attempt, body: { transactionId } };
    const refused = await send(report, 'with-all-scopes-there-are', ours);
    expect(refused.json()).toMatchObject({ type: '/problems/transaction-taken' });
    expect(refused.body).toContain('our-order-2');
  });

  it('is told from none at all neither by its id nor by its invoice number', async () => {
    const { send, transactionId, sandbox } = await twoIntegrations();
    const read = (key: string, id: string) =>
      send('GET /v1/transactions/{idOrInvoice}', key, { path: [id], query: { integration: 'shop' } });
    for (const key of Object.keys(KEYS)) {
      const none = await read(key, 'no-such-invoice');
      for (const theirs of ['their-invoice', transactionId]) {
        const refused = await read(key, theirs);
        expect([refused.statusCode, refused.body]).toEqual([none.statusCode, none.body]);
        sandbox.control.setFaults({ faults: [{ operation: 'status', kind: 'unknown-decision' }] });
        const undecided = await read(key, theirs);
        expect([undecided.statusCode, undecided.body]).toEqual([none.statusCode, none.body]);
        sandbox.control.clearFaults();
      }
    }
  });

  it('is read with a key of one integration only with the scope ops, since nobody knows whose it is', async () => {
    const { send, temporal, transactionId, audit } = await twoIntegrations();
    temporal.listWorkflowExecutions.mockResolvedValue(listing());
    const read = (key: string) =>
      send('GET /v1/transactions/{idOrInvoice}', key, {
        path: [transactionId],
        query: { integration: 'shop' },
      });
    const refused = await read('without-the-scope-ops');
    expect(refused.json()).toMatchObject({ type: '/problems/missing-scope', scope: 'ops' });
    expect((await read('with-all-scopes-there-are')).statusCode).toBe(200);
    expect((await read('a-key-without-limits')).statusCode).toBe(200);
    expect(audit()).toMatchObject([{ status: 403, transactionId }]);
  });
});
