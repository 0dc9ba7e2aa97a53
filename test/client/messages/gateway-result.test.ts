/** The payment gateway's result of an order that has ended. */
import { describe, expect, it } from 'vitest';
import { aClosedOrder, aPolicy } from '../../fixtures/orders.ts';
import { created, startSandbox, TEST_KEY, transaction } from '../../sandbox/support.ts';
import { aClient, described, gone, refused } from '../fake-temporal.ts';

const order = { orderId: 'order-1' };
type Closed = Parameters<typeof aClosedOrder>;

/** The client library with an ended pre-gateway order, whose transaction a sandbox has. */
async function ended([attempt, state, settings = {}]: [
  Closed[0]?,
  Closed[1]?,
  Parameters<typeof aClient>[0]?,
]) {
  const sandbox = await startSandbox();
  const id = await created(sandbox, transaction());
  const { orderScreening, temporal } = aClient({
    baseUrl: sandbox.testBaseUrl,
    apiKey: () => TEST_KEY,
    ...settings,
  });
  const workflow = 'pre-gateway' as const;
  const policy = aPolicy({ workflow });
  const endedAt = '2026-03-06T10:00:00.000Z';
  temporal.executeUpdate.mockRejectedValue(gone);
  temporal.describe.mockResolvedValue(described('COMPLETED'));
  temporal.result.mockImplementation(async () =>
    aClosedOrder(attempt, { workflow, policy, endedAt, ...state }, { id }),
  );
  const sent = () => sandbox.control.transactions(id)[0]?.gatewayResponses;
  return { orderScreening, temporal, sent, id };
}

describe('a gateway’s result after the order’s end', () => {
  it.each([
    ['after the window', {}, 'pass', 'proceed'],
    ['after the window', {}, 'fail', 'decline'],
    [
      'after the cancel of an order that failed meanwhile',
      { phase: 'canceled', action: 'cancel' },
      'pass',
      'cancel',
    ],
  ] as const)('is sent on %s, with what follows', async (_when, state, result, action) => {
    const { orderScreening, sent, id } = await ended([{}, state]);
    const request = { result, authcode: 'A1', transactionId: 'g-1' };
    const answer = await orderScreening.recordGatewayResult(order, request);
    expect(answer).toMatchObject({ ...order, attempt: 1, result, action, transactionId: id });
    expect(sent()).toMatchObject([{ result, authcode: 'A1', transactionId: 'g-1' }]);
  });

  it('replaces an error', async () => {
    const gateway = { result: 'error', at: '2026-03-01T10:00:00.000Z', sent: 'recorded' } as const;
    const { orderScreening, sent } = await ended([{ gateway }, { action: 'hold' }]);
    expect(await orderScreening.recordGatewayResult(order, { result: 'pass' })).toMatchObject({
      action: 'proceed',
    });
    expect(sent()).toMatchObject([{ result: 'pass' }]);
  });

  it('is sent on, too, while the order still delivers its last events', async () => {
    const { orderScreening, sent, temporal } = await ended([]);
    temporal.executeUpdate.mockRejectedValue(refused('order-closed'));
    expect(await orderScreening.recordGatewayResult(order, { result: 'pass' })).toMatchObject({
      result: 'pass',
    });
    expect(sent()).toMatchObject([{ result: 'pass' }]);
  });

  const passed = { result: 'pass', at: '2026-03-01T10:00:00.000Z', sent: 'recorded' } as const;
  it('that is recorded is confirmed, and not sent again', async () => {
    const { orderScreening, sent } = await ended([{ gateway: passed }]);
    expect(await orderScreening.recordGatewayResult(order, { result: 'pass' })).toMatchObject({
      result: 'pass',
    });
    expect(sent()).toEqual([]);
  });

  it.each<[string, Closed[0], Closed[1], string]>([
    ['contradicts the recorded one', { gateway: passed }, {}, 'order-closed'],
    ['belongs to a declined order', {}, { action: 'decline' }, 'order-closed'],
    ['comes after acceptance', {}, { workflow: 'post-acceptance' }, 'order-closed'],
  ])('that %s is refused in words that say what to do', async (_what, attempt, state, code) => {
    const { orderScreening, sent } = await ended([attempt, state]);
    const reported = orderScreening.recordGatewayResult(order, { result: 'fail' });
    await expect(reported).rejects.toMatchObject({ code, message: expect.stringContaining('refund') });
    expect(sent()).toEqual([]);
  });

  it.each([
    ['nobody listens', { baseUrl: 'http://127.0.0.1:1/test' }],
    ['the API key is wrong', { apiKey: () => 'x' }],
    ['this process has no API key', { apiKey: () => undefined }],
  ])('may be repeated when %s', async (_what, settings) => {
    const { orderScreening } = await ended([{}, {}, settings]);
    const reported = orderScreening.recordGatewayResult(order, { result: 'pass' });
    await expect(reported).rejects.toMatchObject({ code: 'screening-service-unavailable' });
  });
});
