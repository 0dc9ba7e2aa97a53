import { WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { ActionRecord } from '../../src/contract/state.ts';
import { aPortalAnswer } from '../api/fake-order-screening.ts';
import { aClosedOrder, CLOSED_TRANSACTION } from '../fixtures/orders.ts';
import { aClient, described } from './fake-temporal.ts';

const order = { orderId: '#order-1' };
const noAnswer = new WorkflowUpdateRPCTimeoutOrCancelledError('deadline exceeded');
const running: ActionRecord = {
  number: 2,
  kind: 'customer-code',
  subject: 'customer-code:1',
  transactionId: CLOSED_TRANSACTION,
  status: 'running',
  by: 'caller',
  requestedAt: '2026-03-01T10:00:00.000Z',
};

describe('withdrawing a portal action', () => {
  it('is the update withdraw with its number', async () => {
    const { orderScreening, temporal, handles } = aClient();
    const answer = aPortalAnswer({ number: 2, status: 'withdrawn' });
    temporal.startUpdate.mockResolvedValue({ result: async () => answer });
    expect(await orderScreening.withdraw(order, { number: 2 })).toEqual(answer);
    expect(handles).toEqual(['order:default:order-1']);
    expect(temporal.startUpdate.mock.calls).toEqual([
      [expect.objectContaining({ name: 'withdraw' }), { args: [{ number: 2 }], waitForStage: 'ACCEPTED' }],
    ]);
  });

  it('that takes longer is requested, in the words of the record', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.startUpdate.mockResolvedValue({ result: () => Promise.reject(noAnswer) });
    temporal.describe.mockResolvedValue(described('RUNNING'));
    temporal.record.mockResolvedValue(aClosedOrder({}, { phase: 'decided', actions: [running] }));
    expect(await orderScreening.withdraw(order, { number: 2 })).toEqual({
      number: 2,
      orderId: 'order-1',
      integration: 'default',
      kind: 'customer-code',
      status: 'requested',
      transactionId: CLOSED_TRANSACTION,
    });
  });
});
