import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LateDecision } from '../../../src/contract/order/order.ts';
import { LATE_DECISIONS, type ReadAfterEndInput } from '../../../src/order/after-end.ts';
import { aClosedOrder, CLOSED_TRANSACTION } from '../../fixtures/orders.ts';
import { aClient, described, failed, gone, unavailable } from '../fake-temporal.ts';

const order = { orderId: 'order-1' };
const REPORT = `portal:default:report-fraud:${CLOSED_TRANSACTION}`;
const hint = { ...order, source: 'webhook' };

/** A client of one closed order. @param found the decisions in the memo of earlier reads; undefined: there were none */
function aClosed(record = aClosedOrder(), found?: unknown) {
  const client = aClient();
  const { temporal } = client;
  temporal.signal.mockRejectedValue(gone);
  temporal.result.mockResolvedValue(record);
  temporal.describe.mockImplementation(async (workflowId: string) => {
    if (workflowId.startsWith('order:')) return described('COMPLETED');
    if (found === undefined || workflowId.startsWith('portal:')) throw gone;
    return { ...described('COMPLETED'), memo: { [LATE_DECISIONS]: found } };
  });
  const started = () =>
    temporal.signalWithStart.mock.calls.map((call) => {
      const [type, options] = call as unknown as [string, object];
      return { type, ...options };
    });
  return { ...client, started };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a hint or a recheck for a closed order', () => {
  it('starts a read of its status, which goes on from what earlier reads found', async () => {
    const late: LateDecision = {
      decision: 'fail',
      transactionId: CLOSED_TRANSACTION,
      attempt: 1,
      action: 'cancel',
      at: '2026-03-07T11:00:00.000Z',
      event: { sequence: 3, status: 'delivered' },
    };
    const { orderScreening, started } = aClosed(aClosedOrder(), [late]);
    expect(await orderScreening.recheck(order)).toEqual({ status: 'requested' });
    expect(started()).toMatchObject([
      {
        type: 'readAfterEnd',
        workflowId: 'after:default:order-1',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        args: [{ orderId: 'order-1', decisions: [late] }],
        memo: { [LATE_DECISIONS]: [late] },
      },
    ]);
  });

  it.each([
    ['that is running', 'RUNNING', undefined, true],
    ['that an operator ended', 'TERMINATED', failed(), true],
    ['whose outcome is unknown', 'FAILED', failed('outcome-unknown'), true],
    ['that was refused', 'FAILED', failed('refused-by-screening-service'), undefined],
  ] as const)('tells it of a fraud report after the end %s', async (_what, status, result, reported) => {
    const reading = { decision: 'pass', at: '2026-03-01T09:00:00.000Z', source: 'checkout' } as const;
    const { orderScreening, temporal, started } = aClosed(aClosedOrder({ readings: [reading] }));
    const ofOrder = temporal.describe.getMockImplementation();
    temporal.describe.mockImplementation(async (...[workflowId]: string[]) =>
      workflowId === REPORT ? described(status) : ofOrder?.(...([workflowId] as never[])),
    );
    const record = await temporal.result();
    temporal.result.mockImplementation(() => Promise.reject(result)).mockResolvedValueOnce(record);
    await orderScreening.recheck(order);
    const [{ args }] = started() as unknown as [{ args: [ReadAfterEndInput] }];
    expect(args[0].transactions[0]?.reported).toBe(reported);
  });

  it('reads nothing of an order without a transaction or a record, or of none', async () => {
    const without = aClosed(aClosedOrder({}, { transactions: [] }));
    const unrecorded = aClosed();
    unrecorded.temporal.result.mockRejectedValue(failed());
    const none = aClient();
    none.temporal.signal.mockRejectedValue(gone);
    for (const [{ orderScreening, temporal }, code] of [
      [without, 'no-transaction'],
      [unrecorded, 'order-closed'],
      [none, 'unknown-order'],
    ] as const) {
      expect(await orderScreening.hint(hint)).toEqual({ outcome: 'unknown' });
      await expect(orderScreening.recheck(order)).rejects.toMatchObject({ code });
      expect(temporal.signalWithStart).not.toHaveBeenCalled();
    }
  });

  it('is temporal-unavailable when the read cannot be started', async () => {
    const { orderScreening, temporal } = aClosed();
    temporal.signalWithStart.mockRejectedValueOnce(unavailable);
    await expect(orderScreening.hint(hint)).rejects.toMatchObject({ code: 'temporal-unavailable' });
    expect(await orderScreening.hint(hint)).toEqual({ outcome: 'accepted' });
  });
});
