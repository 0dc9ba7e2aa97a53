/** What each operation hands to the client library, how it is answered, and what of a request is refused. */
import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../../src/config/index.ts';
import { anApi, aPortalAnswer } from './fake-order-screening.ts';
import { OPERATIONS, POSTS } from './operations.ts';

const order = { orderId: 'order-1', integration: 'shop' };
const by = { key: 'ops', actor: 'ada@example.com' };
const keyed = { idempotencyKey: 'key-1', ifAction: 'hold', by } as const;

type Called = (typeof OPERATIONS)[number]['calls'];

const anAction = (body?: object): unknown[] => [order, body, keyed];
/** What the library is asked with a body; who asks is told wherever it stands on the record. */
const ASKED: Record<Called, (body?: object) => unknown[]> = {
  screen: (body) => [{ ...order, ...body }],
  adopt: (body) => [{ ...order, ...body }, { by }],
  putCard: (body) => [{ ...order, ...body }],
  recordGatewayResult: (body) => [order, body],
  cancel: anAction,
  reportFraud: anAction,
  attachCustomerCode: anAction,
  submitChargeback: anAction,
  override: anAction,
  acknowledge: anAction,
  note: anAction,
  assign: anAction,
  snooze: anAction,
  withdraw: () => [order, { number: 2 }, keyed],
  redeliver: () => [order, { sequence: 2 }, { by }],
  recheck: () => [order],
  get: () => [order, { view: 'record' }],
  getTransaction: () => [{ idOrInvoice: 'order-1', integration: 'shop' }],
};

describe('an operation', () => {
  it.each(OPERATIONS)(
    'hands path, query, body, Idempotency-Key and who asks to the library: $method $path',
    async ({ method, path, body, calls }) => {
      const ops = hashedKey('ops', 'the-key-of-ops', { scopes: ['screen', 'read', 'act', 'ops'] });
      const { app, orderScreening } = await anApi({ apiKeys: [ops] });
      const headers = {
        authorization: 'Bearer the-key-of-ops',
        'idempotency-key': keyed.idempotencyKey,
        'if-action': keyed.ifAction,
        'x-actor': by.actor,
        // As many programs send it, also without a body.
        'content-type': 'application/json',
      };
      const url = `${path}?integration=shop`;
      const response = await app.inject({ method, url, headers, ...(body && { payload: body }) });
      expect(response.statusCode).toBe(calls === 'putCard' ? 201 : calls === 'recheck' ? 202 : 200);
      expect(orderScreening[calls]).toHaveBeenCalledExactlyOnceWith(...ASKED[calls](body));
      const told: unknown = await orderScreening[calls].mock.results[0]?.value;
      expect(response.json()).toEqual(JSON.parse(JSON.stringify(told)));
    },
  );

  it.each([
    ['cancel', 'cancel'],
    ['report-fraud', 'reportFraud'],
    ['customer-code', 'attachCustomerCode'],
    ['chargebacks', 'submitChargeback'],
    ['actions/2', 'withdraw'],
    ['events/2/redeliver', 'redeliver'],
  ] as const)('%s is answered 202 while it goes on', async (name, calls) => {
    const { app, orderScreening } = await anApi();
    const requested = { ...order, sequence: 2, type: 'order.closed', status: 'requested' } as const;
    if (calls === 'redeliver') orderScreening.redeliver.mockResolvedValue(requested);
    else orderScreening[calls].mockResolvedValue(aPortalAnswer({ status: 'requested' }));
    const url = `/v1/orders/order-1/${name}`;
    const payload = POSTS.find(({ path }) => path === url)?.body;
    const sent = payload ? ({ method: 'POST', payload } as const) : ({ method: 'DELETE' } as const);
    const response = await app.inject({ url, ...sent });
    expect([response.statusCode, response.json().status]).toEqual([202, 'requested']);
  });

  it('lists orders by every filter', async () => {
    const { app, orderScreening } = await anApi();
    orderScreening.list.mockResolvedValue({ orders: [], cursor: 'next' });
    const filters = 'phase=review&decision=review&attention=false&integration=outlet&cursor=abc&limit=100';
    const found = 'find=INV-1&amountFrom=10.5&amountTo=20&dueBefore=2026-12-24T18:00:00Z';
    const started = 'startedFrom=2026-12-01T00:00:00%2B01:00';
    const response = await app.inject(`/v1/orders?${filters}&${found}&${started}`);
    expect(response.json()).toEqual({ orders: [], cursor: 'next' });
    expect(orderScreening.list).toHaveBeenCalledWith({
      ...{ phase: 'review', decision: 'review', attention: false, integration: 'outlet' },
      ...{ find: 'INV-1', cursor: 'abc', limit: 100 },
      amount: { from: 10.5, until: 20 },
      started: { from: '2026-11-30T23:00:00.000Z' },
      open: true,
      cancelBy: { until: '2026-12-24T18:00:00.000Z' },
    });
  });
});

describe('a request is refused with every fault of path, query, header and body', () => {
  const each = (path: string, fault: string, values: string[]): [string, object, string[]][] =>
    values.map((value) => [path.replace('*', value), {}, [fault]]);

  it.each<[request: string, body: object, faults: string[]]>([
    [
      'POST orders/order-1/cancel',
      { reason: 7, transactionId: 'x', extra: 1 },
      ['extra', 'reason', 'transactionId'],
    ],
    ['POST orders/order-1/cancel', [], ['']],
    ['POST orders/order-1/acknowledge', { reason: '  ' }, ['reason']],
    ['POST orders/order-1/note', { text: 'x'.repeat(1_001), by: 'me' }, ['by', 'text']],
    ['POST orders/order-1/note', { text: ' ' }, ['text']],
    ['POST orders/order-1/assign', {}, ['assignee']],
    ['POST orders/order-1/assign', { assignee: 'x'.repeat(101) }, ['assignee']],
    ['POST orders/order-1/snooze', { until: '2030-01-31 12:00' }, ['note', 'until']],
    ['POST orders/order-1/recheck', { x: 1 }, ['x']],
    [
      'POST orders/order-1/override',
      { action: 'hold', reason: 'x'.repeat(501), by: 'me' },
      ['action', 'by', 'reason'],
    ],
    ['POST orders/order-1/gateway-result', { result: 'pass', attempt: 4_000_056_655_665_556 }, ['attempt']],
    ['POST orders/order-1/screening', { transaction: {}, attempt: 4_000_056_655_665_556 }, ['attempt']],
    // The path names it.
    ['POST orders/order-1/screening', { orderId: 'x', transaction: {} }, ['orderId']],
    [
      'POST orders/%23/gateway-result?integration=a:b&x=1',
      { result: 'approved', attempt: 0, authCode: 'A1' },
      ['attempt', 'authCode', 'integration', 'orderId', 'result', 'x'],
    ],
    ...each('POST orders/order-1/events/*/redeliver', 'sequence', ['0', '1.5', 'two']),
    ...each('GET transactions/*', 'idOrInvoice', ['%23', 'a%0a', 'x'.repeat(65)]),
    ...each('GET orders/*', 'orderId', ['%23', encodeURIComponent('注'.repeat(65))]),
    ['GET orders/1?integration=a:b&view=some&x=1', {}, ['integration', 'view', 'x']],
    ...each('DELETE orders/order-1/actions/*', 'number', ['0', '1.5', '01', '-1', '12345678901']),
    ['GET orders?phase=x&decision=x&attention=yes&open=1', {}, ['attention', 'decision', 'open', 'phase']],
    ['GET orders?find=&dueBefore=tomorrow&startedTo=x', {}, ['dueBefore', 'find', 'startedTo']],
    ['GET orders?amountFrom=-1&amountTo=1e3&sort=amount', {}, ['amountFrom', 'amountTo', 'sort']],
    ...each('GET orders?limit=*', 'limit', ['0', '101', '1&limit=2']),
  ])('%s %j', async (request, body, faults) => {
    const { app, orderScreening, logged } = await anApi();
    const [method, path] = request.split(' ');
    const response = await app.inject({
      method: method === 'GET' || method === 'DELETE' ? method : 'POST',
      url: `/v1/${path}`,
      ...(method === 'POST' && { payload: body }),
    });
    expect(response.statusCode).toBe(422);
    const { errors } = response.json<{ errors: { path: string; message: string }[] }>();
    expect(errors.map((fault) => fault.path).sort()).toEqual(faults);
    for (const { message } of errors) expect(message).not.toMatch(/Invalid|expected|received/);
    for (const asked of Object.values(orderScreening)) expect(asked).not.toHaveBeenCalled();
    // An attempt that is a card number.
    expect(response.body + logged()).not.toContain('4000056655665556');
  });

  it('a time whose + the query lost, with advice to write %2B', async () => {
    const { app, orderScreening } = await anApi();
    for (const time of ['2026-11-27T10:00:00 02:00', '2026-11-27T10:00:00+02:00']) {
      const response = await app.inject(`/v1/orders?startedFrom=${time.replace(' ', '%20')}`);
      expect(response.statusCode).toBe(422);
      const message = expect.stringContaining('%2B');
      expect(response.json()).toMatchObject({ errors: [{ path: 'startedFrom', message }] });
    }
    expect(orderScreening.list).not.toHaveBeenCalled();
  });

  it.each([
    ['Idempotency-Key', 'k'.repeat(129)],
    ['If-Action', 'approve'],
  ])('a header that is not valid among them: %s', async (name, value) => {
    const { app } = await anApi();
    const headers = { [name]: value };
    const response = await app.inject({ method: 'POST', url: '/v1/orders/order-1/cancel', headers });
    expect(response.statusCode).toBe(422);
    expect(response.json()).toMatchObject({ errors: [{ path: name }] });
  });
});
