import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../src/config/index.ts';
import type { FaultPlanInput } from '../../src/sandbox/fault-plan.ts';
import { OrderScreeningError } from '../../src/starter.ts';
import { aClient } from '../client/fake-temporal.ts';
import { created, startSandbox, TEST_KEY } from '../sandbox/support.ts';
import { anApi, TRANSACTION_ID } from './fake-order-screening.ts';

const KEY = 'the-key-of-the-shop-alone';

describe('GET transactions', () => {
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

  it('logs no id', async () => {
    const { app, orderScreening, logged } = await anApi();
    orderScreening.getTransaction.mockRejectedValue(new OrderScreeningError('unknown-transaction', 'No.'));
    await app.inject(`/v1/transactions/${TRANSACTION_ID}`);
    expect(logged()).toContain('"route":"/v1/transactions/:idOrInvoice","status":404');
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
