import { describe, expect, it } from 'vitest';
import { defined } from '../../../src/order/defined.ts';
import { aClosedOrder, CLOSED_TRANSACTION } from '../../fixtures/orders.ts';
import { aTransaction } from '../../fixtures/transactions.ts';
import {
  aClient,
  aClientOf,
  alreadyStarted,
  described,
  failed,
  gone,
  listing,
  queryAsked,
} from '../fake-temporal.ts';

const order = { orderId: 'order-1' };

const [ENDED_AT, CLOSED_AT] = ['2026-03-06T10:00:00.000Z', '2026-03-07T10:00:00.000Z'];
it.each([
  ['TERMINATED', undefined, CLOSED_AT],
  ['TIMED_OUT', undefined, CLOSED_AT],
  ['TERMINATED', ENDED_AT, undefined],
  ['COMPLETED', ENDED_AT, undefined],
  ['CONTINUED_AS_NEW', undefined, undefined],
  ['RUNNING', undefined, undefined],
] as const)('an order that is %s, with the end %s, is lost since: %s', async (status, endedAt, closedAt) => {
  const record = aClosedOrder({}, defined({ endedAt }));
  const { orderScreening } = aClientOf(record, status);
  expect((await orderScreening.get(order)).closedAt).toBe(closedAt);
});

/** A terminated order, under whose id an adoption was refused later. */
function aRefusedAdoption() {
  const client = aClient();
  const { temporal } = client;
  const describeRun = async (workflowId: string, runId?: string) => {
    if (workflowId !== 'order:default:order-1') throw gone;
    if (runId === undefined) return described('FAILED');
    const { workflowExecutionInfo } = described('TERMINATED');
    return { workflowExecutionInfo: { ...workflowExecutionInfo, execution: { workflowId, runId } } };
  };
  temporal.describe.mockImplementation(describeRun);
  temporal.record.mockResolvedValue(
    aClosedOrder({}, { phase: 'review', decision: 'review', action: 'hold' }),
  );
  temporal.result.mockImplementation(async (runId?: string) => {
    throw failed(runId === 'run-0' ? undefined : 'unknown-transaction');
  });
  temporal.executeUpdateWithStart.mockRejectedValue(alreadyStarted);
  const run = { execution: { workflowId: 'order:default:order-1', runId: 'run-0' } };
  temporal.listWorkflowExecutions.mockResolvedValue(listing(run));
  return client;
}

describe('an order that was terminated, before an adoption under its id was refused', () => {
  it('is read from the run that was started', async () => {
    const { orderScreening, temporal } = aRefusedAdoption();
    expect(await orderScreening.get(order)).toMatchObject({ phase: 'review', decision: 'review' });
    expect(queryAsked(temporal)).toContain("WorkflowId = 'order:default:order-1'");
    // It may still be listed as running.
    expect(queryAsked(temporal)).toContain("RunId != 'run-1'");
    const { summary } = await orderScreening.inspect(order);
    expect(summary).toMatchObject({ phase: 'screening', transactionIds: [] });
  });

  it('keeps its order id: the same checkout creates no second transaction', async () => {
    const { orderScreening, temporal } = aRefusedAdoption();
    const again = orderScreening.screen({ ...order, transaction: aTransaction() });
    await expect(again).rejects.toMatchObject({ code: 'order-closed' });
    expect(temporal.executeUpdateWithStart).toHaveBeenCalledTimes(1);
  });

  it('can still be canceled within its window', async () => {
    const { orderScreening, temporal } = aRefusedAdoption();
    temporal.executeUpdate.mockRejectedValue(gone);
    await orderScreening.cancel(order).catch(() => undefined);
    const started = temporal.start.mock.calls as unknown as [string, { args: object[] }][];
    expect(started.map(([, { args }]) => args)).toMatchObject([[{ transactionId: CLOSED_TRANSACTION }]]);
  });
});
