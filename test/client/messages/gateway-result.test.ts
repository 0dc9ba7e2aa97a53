/** The payment gateway's result of an order that has ended. */
import { describe, expect, it } from 'vitest';
import type { LateDecision } from '../../../src/contract/order/order.ts';
import { LATE_DECISIONS } from '../../../src/order/after-end.ts';
import { aClosedOrder, aPolicy } from '../../fixtures/orders.ts';
import { created, startSandbox, TEST_KEY, transaction } from '../../sandbox/support.ts';
import { aClientOf, failed } from '../fake-temporal.ts';

const order = { orderId: 'order-1' };
type Closed = Parameters<typeof aClosedOrder>;

/** The client library with an ended pre-gateway order, whose transaction a sandbox has. */
async function ended(
  attempt: Closed[0] = {},
  state: Closed[1] = {},
  settings: Parameters<typeof aClientOf>[3] = {},
  status: Parameters<typeof aClientOf>[1] = 'COMPLETED',
  ...late: Pick<LateDecision, 'decision' | 'action'>[]
) {
  const sandbox = await startSandbox();
  const id = await created(sandbox, transaction());
  const workflow = 'pre-gateway';
  const ofGateway = { workflow, policy: aPolicy({ workflow }) } as const;
  // An order that was terminated records no end.
  const end = status === 'COMPLETED' && { endedAt: '2026-03-06T10:00:00.000Z' };
  const record = aClosedOrder(attempt, { ...ofGateway, ...end, ...state }, { id });
  const found = late.map((one) => ({ ...one, transactionId: id, attempt: 1, at: 'then' }));
  const memo = { [LATE_DECISIONS]: found };
  const atSandbox = { baseUrl: sandbox.testBaseUrl, apiKey: () => TEST_KEY, ...settings };
  const { orderScreening, temporal } = aClientOf(record, status, { memo }, atSandbox);
  if (status !== 'COMPLETED') temporal.result.mockRejectedValue(failed());
  const sent = () => sandbox.control.transactions(id)[0]?.gatewayResponses;
  return { orderScreening, sent, id };
}

describe('a gateway’s result after the order’s end', () => {
  const at = '2026-03-01T10:00:00.000Z';
  const canceled = { phase: 'canceled', action: 'cancel' } as const;
  const error = { result: 'error', at, sent: 'not-sent' } as const;
  it.each<[string, Closed[0], Closed[1], result: 'pass' | 'fail', action: string]>([
    ['after the window', {}, {}, 'pass', 'proceed'],
    ['after the window', {}, {}, 'fail', 'decline'],
    ['after the cancel of an order that failed meanwhile', {}, canceled, 'pass', 'cancel'],
    ['after an error that is recorded', { gateway: error }, { action: 'hold' }, 'pass', 'proceed'],
  ])('is sent on %s, with what follows', async (_when, attempt, state, result, action) => {
    const { orderScreening, sent, id } = await ended(attempt, state);
    const request = { result, authcode: 'A1', transactionId: 'g-1' };
    const answer = await orderScreening.recordGatewayResult(order, request);
    expect(answer).toMatchObject({ ...order, attempt: 1, result, action, transactionId: id });
    expect(sent()).toMatchObject([{ result, authcode: 'A1', transactionId: 'g-1' }]);
  });

  it('is answered by the decision that was read after the end', async () => {
    const failed = { decision: 'fail', action: 'cancel' } as const;
    const { orderScreening, sent } = await ended({}, {}, {}, 'COMPLETED', failed);
    const answer = await orderScreening.recordGatewayResult(order, { result: 'pass' });
    expect(answer).toMatchObject(failed);
    expect(sent()).toMatchObject([{ result: 'pass' }]);
  });

  const passed = { ...error, result: 'pass', sent: at } as const;
  it('that is recorded is confirmed, and not sent again', async () => {
    const { orderScreening, sent } = await ended({ gateway: passed });
    const answer = await orderScreening.recordGatewayResult(order, { result: 'pass' });
    expect(answer).toMatchObject({ result: 'pass' });
    expect(sent()).toEqual([]);
  });

  it('that the screening service did not take is sent again', async () => {
    const { orderScreening, sent } = await ended({ gateway: { ...passed, sent: 'not-sent' } });
    const request = { result: 'pass', authcode: 'A2' } as const;
    expect(await orderScreening.recordGatewayResult(order, request)).toMatchObject({ result: 'pass' });
    expect(sent()).toMatchObject([request]);
  });

  it.each<[string, Closed[0]]>([
    ['not recorded', {}],
    ['recorded and not sent', { gateway: { result: 'pass', at, authcode: 'A1', transactionId: 'g-1' } }],
  ])('that a terminated order has %s is sent', async (_how, attempt) => {
    const { orderScreening, sent } = await ended(attempt, {}, {}, 'TERMINATED');
    const request = { result: 'pass', authcode: 'A1', transactionId: 'g-1' } as const;
    expect(await orderScreening.recordGatewayResult(order, request)).toMatchObject({ result: 'pass' });
    expect(sent()).toMatchObject([request]);
  });

  it('that contradicts the result of a terminated order is refused', async () => {
    const { orderScreening, sent } = await ended({ gateway: passed }, {}, {}, 'TERMINATED');
    const reported = orderScreening.recordGatewayResult(order, { result: 'fail' });
    await expect(reported).rejects.toMatchObject({ code: 'order-closed' });
    expect(sent()).toEqual([]);
  });

  it.each<[string, Closed[0], Closed[1]]>([
    ['contradicts the recorded one', { gateway: passed }, {}],
    ['belongs to a declined order', {}, { action: 'decline' }],
    ['comes after acceptance', {}, { workflow: 'post-acceptance' }],
  ])('that %s is refused in words that say what to do', async (_what, attempt, state) => {
    const { orderScreening, sent } = await ended(attempt, state);
    const reported = orderScreening.recordGatewayResult(order, { result: 'fail' });
    const refused = { code: 'order-closed', message: expect.stringContaining('refund') };
    await expect(reported).rejects.toMatchObject(refused);
    expect(sent()).toEqual([]);
  });

  it.each([
    ['nobody listens', { baseUrl: 'http://127.0.0.1:1/test' }],
    ['the API key is wrong', { apiKey: () => 'x' }],
    ['this process has no API key', { apiKey: () => undefined }],
  ])('may be repeated when %s', async (_what, settings) => {
    const { orderScreening } = await ended({}, {}, settings);
    const reported = orderScreening.recordGatewayResult(order, { result: 'pass' });
    await expect(reported).rejects.toMatchObject({ code: 'screening-service-unavailable' });
  });
});
