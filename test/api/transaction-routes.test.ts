import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../src/config/index.ts';
import type { FaultPlanInput } from '../../src/sandbox/fault-plan.ts';
import { OrderScreeningError } from '../../src/starter.ts';
import { aClient } from '../client/fake-temporal.ts';
import { created, startSandbox, TEST_KEY } from '../sandbox/support.ts';
import { anApi, aTransactionStatus, TRANSACTION_ID } from './fake-order-screening.ts';

const KEY = 'the-key-of-the-shop-alone';

describe('GET transactions', () => {
  it('answers what the screening service says now, and the order that owns the transaction', async () => {
    const { app, orderScreening } = await anApi();
    const status = aTransactionStatus({ decision: 'fail', message: 'Sorry' });
    orderScreening.getTransaction.mockResolvedValue(status);
    const response = await app.inject(`/v1/transactions/${TRANSACTION_ID}?integration=outlet`);
    expect([response.statusCode, response.json()]).toEqual([200, status]);
    expect(response.headers['cache-control']).toBe('no-store');
    const asked = { idOrInvoice: TRANSACTION_ID, integration: 'outlet' };
    expect(orderScreening.getTransaction).toHaveBeenCalledExactlyOnceWith(asked);
  });

  it('answers also when no order owns it', async () => {
    const { app, orderScreening } = await anApi();
    orderScreening.getTransaction.mockResolvedValue({ id: TRANSACTION_ID, decision: 'error' });
    const { statusCode, body } = await app.inject('/v1/transactions/a%2Fb');
    expect([statusCode, JSON.parse(body)]).toEqual([200, { id: TRANSACTION_ID, decision: 'error' }]);
    expect(orderScreening.getTransaction).toHaveBeenCalledWith({ idOrInvoice: 'a/b' });
  });

  it.each([
    [200, 'owned by an order of that integration', { order: { integration: 'shop', orderId: '1001' } }],
    [200, 'without an order', {}],
    [403, 'owned by another integration’s order', { order: { integration: 'default', orderId: '1001' } }],
  ])('answers %i to a key of one integration for a transaction %s', async (status, _case, owned) => {
    const { app, orderScreening } = await anApi({
      apiKeys: [hashedKey('shop', KEY, { scopes: ['read'], integrations: ['shop'] })],
    });
    orderScreening.getTransaction.mockResolvedValue({
      id: TRANSACTION_ID,
      decision: 'fail',
      message: 'Sorry',
      ...owned,
    });
    const headers = { authorization: `Bearer ${KEY}` };
    const response = await app.inject({ url: '/v1/transactions/1001?integration=shop', headers });
    expect(response.statusCode).toBe(status);
    if (status === 200) return;
    expect(response.json()).toMatchObject({ type: '/problems/other-integration' });
    expect(response.body).not.toMatch(/Sorry|fail|1001/);
  });

  it.each([
    ['unknown-transaction', 404],
    ['unknown-integration', 404],
    ['transaction-without-decision', 409],
    ['screening-service-unavailable', 503],
    ['temporal-unavailable', 503],
  ] as const)('answers %s with %i, and logs no id', async (code, status) => {
    const { app, orderScreening, logged } = await anApi();
    orderScreening.getTransaction.mockRejectedValue(new OrderScreeningError(code, 'In words.'));
    const response = await app.inject(`/v1/transactions/${TRANSACTION_ID}`);
    expect(response.json()).toMatchObject({ type: `/problems/${code}`, status, detail: 'In words.' });
    expect(response.headers['retry-after']).toBe(status === 503 ? '2' : undefined);
    expect(logged()).toContain(`"route":"/v1/transactions/:idOrInvoice","status":${status}`);
    expect(logged()).not.toContain(TRANSACTION_ID);
  });
});

it('the API key of the screening service is in no answer, log or metric, whatever the screening service does', async () => {
  const sandbox = await startSandbox();
  const id = await created(sandbox);
  const { orderScreening } = aClient({ baseUrl: sandbox.testBaseUrl, apiKey: () => TEST_KEY });
  const { app, logged } = await anApi({ orderScreening });
  const answers: string[] = [];
  const read = async (kind?: FaultPlanInput['faults'][number]['kind']) => {
    sandbox.control.setFaults({ faults: kind === undefined ? [] : [{ operation: 'status', kind }] });
    const { statusCode, body, headers } = await app.inject(`/v1/transactions/${id}`);
    answers.push(body, JSON.stringify(headers));
    return statusCode;
  };
  expect(await read()).toBe(200);
  for (const kind of ['403', '429', '5xx-before-commit', 'reset-before-commit', 'malformed-body'] as const) {
    expect(await read(kind), kind).toBe(503);
  }
  expect(await read('unknown-decision')).toBe(409);
  answers.push((await app.inject('/metrics')).body, logged());
  expect(answers.join('\n')).not.toMatch(/sandbox-test-key|\/status\//);
});
