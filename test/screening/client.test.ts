import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type CallOptions,
  createScreeningClient,
  type Dialect,
  type ScreeningClient,
  ScreeningError,
} from '../../src/screening/index.ts';
import { aTransaction, TEST_CARD } from '../fixtures/transactions.ts';
import { stubService } from './stub-service.ts';

const KEY = 'sk/canary key+0123456789';
const ID = '3f2c1a00-1b2c-4d5e-8f90-0123456789ab';
const CREATE = { transaction: aTransaction(), card: TEST_CARD, enrich: true, invoiceNumber: '1001' };
const CHARGEBACK = { transactionId: ID, reason_code: '4837', due_date: '2026-07-01' };

let service: Awaited<ReturnType<typeof stubService>>;

beforeAll(async () => {
  service = await stubService();
});
afterAll(() => service.close());
beforeEach(() => {
  service.seen.length = 0;
});

function client(dialect: Dialect = 'definition', address = service.url): ScreeningClient {
  return createScreeningClient({
    baseUrl: `${address}/test/`,
    portalBaseUrl: `${address}/portal/api/v1/transaction-update`,
    apiKey: KEY,
    dialect,
  });
}

/** The error a call ends with, after making sure that it shows neither key nor card. */
async function failureOf(call: Promise<unknown>): Promise<ScreeningError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ScreeningError)) throw new Error(`not a ScreeningError: ${inspect(error)}`);
  const shown = [
    inspect(error, { depth: 10, showHidden: true }),
    error.stack,
    error.message,
    JSON.stringify(error),
  ];
  for (const secret of [
    'canary',
    TEST_CARD.cardNumber,
    TEST_CARD.expirationDate,
    '127.0.0.1',
    '@example.com',
  ]) {
    expect(shown.join('\n')).not.toContain(secret);
  }
  expect(error.cause).toBeUndefined();
  return error;
}

const OPERATIONS: [name: string, call: (to: ScreeningClient, options?: CallOptions) => Promise<unknown>][] = [
  ['create-transaction', (to, options) => to.createTransaction(CREATE, options)],
  ['gateway-response', (to, options) => to.gatewayResponse({ transactionId: ID, result: 'pass' }, options)],
  ['status', (to, options) => to.status('1001', options)],
  ['status-by-url', (to, options) => to.statusById(ID, options)],
  ['status-by-invoice', (to, options) => to.statusByInvoice('1001', options)],
  [
    'customer-code',
    (to, options) => to.customerCode({ customerCode: 'c', email: 'pass@example.com' }, options),
  ],
  ['report-fraud', (to, options) => to.reportFraud({ transactionId: ID }, options)],
  ['cancel-transaction', (to, options) => to.cancelTransaction({ transactionId: ID }, options)],
  ['submit-chargeback', (to, options) => to.submitChargeback(CHARGEBACK, options)],
];
const PORTAL = OPERATIONS.slice(5);

describe('what is sent', () => {
  it('creates a transaction at /transaction in the definition dialect', async () => {
    service.answerJson(200, { id: ID, decision: 'pass' });
    expect(await client().createTransaction(CREATE)).toEqual({ id: ID, decision: 'pass' });
    const [request] = service.seen;
    expect(request).toMatchObject({ method: 'POST', url: '/test/transaction' });
    expect(request?.headers['content-type']).toBe('application/json');
    expect(JSON.parse(request?.body ?? '')).toMatchObject({
      'nf-token': KEY,
      enrich: true,
      order: { invoiceNumber: '1001' },
      payment: { creditCard: TEST_CARD },
    });
  });

  it('creates a transaction at the root in the sample dialect', async () => {
    service.answerJson(200, { id: ID, decision: 'review' });
    await client('sample').createTransaction(CREATE);
    expect(service.seen[0]?.url).toBe('/test/');
    expect(JSON.parse(service.seen[0]?.body ?? '')).toMatchObject({ nfToken: KEY, currencyCode: 'USD' });
  });

  it("sends the gateway's result", async () => {
    service.answerJson(200, { Status: 'OK' });
    const result = {
      transactionId: ID,
      result: 'fail',
      authcode: 'A1',
      gatewayTransactionId: 'g-1',
    } as const;
    await client().gatewayResponse(result);
    expect(service.seen[0]?.url).toBe('/test/gateway_response');
    expect(JSON.parse(service.seen[0]?.body ?? '')).toEqual({
      'nf-token': KEY,
      'nf-id': ID,
      'gateway-response': { result: 'fail', authcode: 'A1', 'transaction-id': 'g-1' },
    });
  });

  it('encodes every part of a status address and removes a leading #', async () => {
    service.answerJson(200, { id: ID, decision: 'pass' });
    const key = 'sk%2Fcanary%20key%2B0123456789';
    await client().status(`#a/b?c`);
    await client().statusById(ID);
    await client().statusByInvoice('#10#01/ü');
    expect(service.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `GET /test/status/${key}/a%2Fb%3Fc`,
      `GET /test/status_by_url/${key}/${ID}`,
      `GET /test/status_by_invoice/${key}/10%2301%2F%C3%BC`,
    ]);
  });

  it.each(['', '#', '.', '..', '\ud800'])(
    'never asks for "%s", which would be another address',
    async (invoice) => {
      const error = await failureOf(client().statusByInvoice(invoice));
      expect(error).toMatchObject({
        outcome: 'refused',
        reason: 'bad-request',
        operation: 'status-by-invoice',
      });
      expect(service.seen).toEqual([]);
    },
  );

  it('sends the four portal actions', async () => {
    service.answerJson(200, { code: 200, message: 'done' });
    for (const [, call] of PORTAL) await call(client());
    const path = '/portal/api/v1/transaction-update';
    expect(service.seen.map(({ url, body }) => [url, JSON.parse(body)])).toEqual([
      [`${path}/customer-code`, { nf_token: KEY, customer_code: 'c', email: 'pass@example.com' }],
      [`${path}/report-fraud`, { nf_token: KEY, transaction_id: ID }],
      [`${path}/cancel-transaction`, { nf_token: KEY, transaction_id: ID }],
      [
        `${path}/submit-chargeback`,
        { nf_token: KEY, transaction_id: ID, reason_code: '4837', due_date: '2026-07-01' },
      ],
    ]);
  });

  it('uses one connection for calls one after another, of any client', async () => {
    service.answerJson(200, { id: ID, decision: 'pass' });
    await client().statusById(ID);
    const before = service.connections();
    for (let call = 0; call < 5; call += 1) await client().statusById(ID);
    expect(service.connections()).toBe(before);
  });

  it.each(['ftp://host', 'host', '', 'http://user:canary@host'])(
    'refuses the address "%s" at once, unshown',
    (baseUrl) => {
      const make = () =>
        createScreeningClient({ baseUrl, portalBaseUrl: service.url, apiKey: KEY, dialect: 'sample' });
      expect(make).toThrow('baseUrl must be an http or https address without a user name');
    },
  );
});

describe('a good reply', () => {
  it.each([
    ['definition', { account_mode: 'test', passive_mode: false, sub_status: 'x' }],
    ['sample', { accountMode: 'test', passiveMode: false, subStatus: 'x' }],
  ])('is read in the %s spelling, enriched', async (_dialect, fields) => {
    const insights = { risk: { 1: { name: 'n', description: 'd', kind: 'k', impact: 'high' } }, neutral: {} };
    service.answerJson(200, { id: ID, decision: 'fail', message: 'Sorry', ...fields, insights });
    expect(await client().statusById(ID)).toEqual({
      ...{ id: ID, decision: 'fail', message: 'Sorry' },
      ...{ accountMode: 'test', passiveMode: false, subStatus: 'x', insights },
    });
  });

  it('is good whatever else does not fit the document', async () => {
    service.answerJson(200, {
      id: ID,
      decision: 'pass',
      message: null,
      account_mode: 'gold',
      insights: [],
      new: 1,
    });
    expect(await client().statusById(ID)).toEqual({ id: ID, decision: 'pass' });
  });

  it.each([200, '200'])('of the portal has code %j, number or string', async (code) => {
    service.answerJson(200, { code, message: 'customer code created successfully' });
    const reply = await client().customerCode({ customerCode: 'c', email: 'pass@example.com' });
    expect(reply).toEqual({ code: 200, message: 'customer code created successfully' });
  });

  it('of submit-chargeback echoes the fields', async () => {
    const chargeback = { transaction_id: ID, reason_code: '4837', nf_token: KEY, inquiry: 'false' };
    service.answerJson(200, { code: '200', chargeback });
    expect(await client().submitChargeback(CHARGEBACK)).toEqual({
      code: 200,
      chargeback: { transaction_id: ID, reason_code: '4837', inquiry: 'false' },
    });
  });
});

describe('a reply that says no', () => {
  const status: [number, Record<string, string>, object][] = [
    [400, {}, { outcome: 'refused', reason: 'bad-request' }],
    [401, {}, { outcome: 'refused', reason: 'forbidden' }],
    [403, {}, { outcome: 'refused', reason: 'forbidden' }],
    [404, {}, { outcome: 'refused', reason: 'not-found' }],
    [408, {}, { outcome: 'unknown', reason: 'http-other' }],
    [422, {}, { outcome: 'refused', reason: 'bad-request' }],
    [429, {}, { outcome: 'not-done', reason: 'rate-limited' }],
    [429, { 'retry-after': '7' }, { outcome: 'not-done', reason: 'rate-limited', retryAfterMs: 7000 }],
    [500, {}, { outcome: 'unknown', reason: 'http-5xx' }],
    [503, { 'retry-after': '1' }, { outcome: 'unknown', reason: 'http-5xx', retryAfterMs: 1000 }],
    [302, { location: '/elsewhere' }, { outcome: 'unknown', reason: 'redirect' }],
  ];
  describe.each(OPERATIONS)('%s', (operation, call) => {
    it.each(status)('with HTTP %i %j is %j', async (code, headers, expected) => {
      service.answerJson(code, { Errors: ['In words'] }, headers);
      const error = await failureOf(call(client()));
      expect(error).toMatchObject({ operation, status: code, words: ['In words'], ...expected });
      expect(service.seen).toHaveLength(1);
    });
  });

  it('obeys a Retry-After that is a date', async () => {
    service.answerJson(429, {}, { 'retry-after': new Date(Date.now() + 60_000).toUTCString() });
    const { retryAfterMs } = await failureOf(client().statusById(ID));
    expect(retryAfterMs).toBeGreaterThan(50_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  it.each(['soon', '-5', '1.5e'])('knows no waiting time from Retry-After "%s"', async (header) => {
    service.answerJson(429, {}, { 'retry-after': header });
    const error = await failureOf(client().statusById(ID));
    expect(error.retryAfterMs === undefined || error.retryAfterMs === 0).toBe(true);
  });

  it('is no "not found" of a transaction when the service did not say the words', async () => {
    service.answerJson(404, '<html>default backend</html>');
    expect(await failureOf(client().statusByInvoice('1'))).toMatchObject({
      outcome: 'unknown',
      reason: 'malformed-reply',
    });
    expect(await failureOf(client().status('1'))).toMatchObject({ outcome: 'refused', reason: 'not-found' });
  });

  it.each([
    [403, { outcome: 'refused', reason: 'portal-refused', code: 403 }],
    ['404', { outcome: 'refused', reason: 'portal-refused', code: 404 }],
    [302, { outcome: 'refused', reason: 'portal-refused', code: 302 }],
    [429, { outcome: 'not-done', reason: 'rate-limited', code: 429 }],
    ['500', { outcome: 'unknown', reason: 'portal-5xx', code: 500 }],
    [503, { outcome: 'unknown', reason: 'portal-5xx', code: 503 }],
    ['fine', { outcome: 'unknown', reason: 'malformed-reply' }],
    [undefined, { outcome: 'unknown', reason: 'malformed-reply' }],
  ])('of the portal with HTTP 200 and code %j is %j', async (code, expected) => {
    service.answerJson(200, { code, message: 'In words' });
    for (const [operation, call] of PORTAL) {
      expect(await failureOf(call(client()))).toMatchObject({
        ...{ operation, status: 200, words: ['In words'] },
        ...expected,
      });
    }
  });

  it('shows bounded words without key, card, addresses and e-mail addresses', async () => {
    const echo = JSON.stringify({ ...CREATE, key: KEY });
    const words = [
      echo,
      `code 123, not 1234, ${encodeURIComponent(KEY)} 4111-1111 1111 1111`,
      'x'.repeat(5000),
    ];
    service.answerJson(400, {
      Errors: [...words, `see https://host/status/${KEY}`, ...Array(50).fill('more')],
    });
    const error = await failureOf(client().createTransaction(CREATE));
    expect(error.words).toHaveLength(10);
    expect(error.words?.every((word) => word.length <= 300)).toBe(true);
    expect(error.words?.[1]).toBe('code [removed], not 1234, [removed] [removed]');
  });
});

describe('a decision that can not be used', () => {
  it.each([
    { id: ID },
    { id: ID, decision: 'PASS' },
    { id: ID, decision: 'approved' },
    { id: ID, decision: null },
  ])('as in %j keeps the id', async (body) => {
    service.answerJson(200, body);
    expect(await failureOf(client().createTransaction(CREATE))).toMatchObject({
      ...{ outcome: 'unknown', reason: 'unknown-decision', transactionId: ID, status: 200 },
    });
  });

  it.each([
    {},
    { decision: 'pass' },
    { id: '', decision: 'pass' },
    { id: 7, decision: 'pass' },
    { Errors: ['In words'] },
  ])('as in %j has no id', async (body) => {
    service.answerJson(200, body);
    const error = await failureOf(client().createTransaction(CREATE));
    expect(error).toMatchObject({ outcome: 'unknown', reason: 'missing-id' });
    expect(error.transactionId).toBeUndefined();
  });
});

describe.each(OPERATIONS)('%s', (operation, call) => {
  it.each(['', 'null', '[]', '"pass"', '{"id":', '<html></html>'])(
    'with HTTP 200 and body %j is malformed',
    async (body) => {
      service.answerJson(200, body);
      expect(await failureOf(call(client()))).toMatchObject({
        ...{ operation, outcome: 'unknown', reason: 'malformed-reply', status: 200 },
      });
    },
  );

  it('is unknown when the reply is cut short', async () => {
    service.answerWith((response) => {
      response.writeHead(200, { 'content-length': '500' });
      response.write('{"id":"', () => response.destroy());
    });
    expect(await failureOf(call(client()))).toMatchObject({
      operation,
      outcome: 'unknown',
      reason: 'truncated',
    });
  });

  it('is unknown when the connection is reset before a reply', async () => {
    service.answerWith((response) => response.socket?.resetAndDestroy());
    expect(await failureOf(call(client()))).toMatchObject({ operation, outcome: 'unknown', reason: 'reset' });
  });

  it('is unknown when no reply comes in time', async () => {
    service.answerWith(() => undefined);
    const error = await failureOf(call(client(), { timeoutMs: 30 }));
    expect(error).toMatchObject({ operation, outcome: 'unknown', reason: 'timeout' });
  });

  it('is unknown when the body does not end in time', async () => {
    service.answerWith((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"id":');
    });
    const error = await failureOf(call(client(), { timeoutMs: 60 }));
    expect(error).toMatchObject({ operation, outcome: 'unknown', reason: 'timeout' });
  });

  it('is unknown when the caller gives up while it runs, and not done when before', async () => {
    const abort = new AbortController();
    service.answerWith(() => abort.abort());
    const error = await failureOf(call(client(), { signal: abort.signal }));
    expect(error).toMatchObject({ operation, outcome: 'unknown', reason: 'aborted' });
    const after = await failureOf(call(client(), { signal: abort.signal }));
    expect(after).toMatchObject({ operation, outcome: 'not-done', reason: 'aborted' });
    expect(service.seen).toHaveLength(1);
  });

  it('is unknown when the reply is far too large', async () => {
    service.answerJson(200, JSON.stringify({ id: ID, decision: 'pass', message: 'x'.repeat(600_000) }));
    expect(await failureOf(call(client()))).toMatchObject({
      operation,
      outcome: 'unknown',
      reason: 'too-large',
    });
  });

  it('is not done when nobody listens', async () => {
    const free = createServer();
    await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
    const { port }: { port?: number } = Object(free.address());
    await new Promise((resolve) => free.close(resolve));
    const error = await failureOf(call(client('definition', `http://127.0.0.1:${port}`)));
    expect(error).toMatchObject({ operation, outcome: 'not-done', reason: 'connection-refused' });
  });
});

it('a host name that does not exist is not done', async () => {
  const error = await failureOf(
    client('definition', 'http://no-such-host.invalid').createTransaction(CREATE),
  );
  expect(error).toMatchObject({ outcome: 'not-done', reason: 'dns' });
});

it('an https address that does not speak TLS is not done', async () => {
  const error = await failureOf(
    client('definition', service.url.replace('http:', 'https:')).createTransaction(CREATE),
  );
  expect(error).toMatchObject({ outcome: 'not-done', reason: 'tls' });
  expect(service.seen).toEqual([]);
});

it('a refusal stays one when its words are cut short', async () => {
  service.answerWith((response) => {
    response.writeHead(403, { 'content-length': '500' });
    response.write('{"Errors":["Not', () => response.destroy());
  });
  expect(await failureOf(client().createTransaction(CREATE))).toMatchObject({
    outcome: 'refused',
    reason: 'forbidden',
  });
});
