import { WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure, RetryState } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { aPortalAnswer } from '../api/fake-order-screening.ts';
import { CLOSED_TRANSACTION } from '../fixtures/orders.ts';
import { aClient, described, startedActions } from './fake-temporal.ts';

const order = { orderId: '#order-1' };

describe('a portal action of a transaction whose order is gone', () => {
  it('runs for the transaction alone', async () => {
    const client = aClient();
    client.temporal.result.mockResolvedValue(aPortalAnswer());
    await client.orderScreening.reportFraud(order, { transactionId: CLOSED_TRANSACTION });
    expect(startedActions(client)[0]?.input).toEqual({
      integration: 'default',
      transactionId: CLOSED_TRANSACTION,
      fields: { kind: 'report-fraud', transactionId: CLOSED_TRANSACTION },
    });
  });

  it.each([
    ['was terminated', undefined],
    ['was refused when it was started', ApplicationFailure.create({ type: 'card-data-in-request' })],
  ])('runs for the transaction alone, too, when the order %s', async (_how, cause) => {
    const client = aClient();
    const { orderScreening, temporal } = client;
    temporal.startUpdate.mockRejectedValue(new WorkflowNotFoundError('completed', 'order', undefined));
    temporal.describe.mockResolvedValue(described('COMPLETED'));
    const failed = new WorkflowFailedError('failed', cause, RetryState.NON_RETRYABLE_FAILURE);
    temporal.result.mockRejectedValue(failed);
    await expect(orderScreening.reportFraud(order)).rejects.toMatchObject({ code: 'order-closed' });
    temporal.result.mockRejectedValueOnce(failed).mockResolvedValue(aPortalAnswer());
    await orderScreening.reportFraud(order, { transactionId: CLOSED_TRANSACTION });
    expect(startedActions(client)).toMatchObject([
      { type: 'portalAction', input: { transactionId: CLOSED_TRANSACTION } },
    ]);
  });

  it('is no cancel: nobody knows the window', async () => {
    const { orderScreening } = aClient();
    const cancel = orderScreening.cancel(order, { transactionId: CLOSED_TRANSACTION });
    await expect(cancel).rejects.toMatchObject({ code: 'cancel-window-unknown' });
  });

  it('is nothing in a passive integration', async () => {
    const { orderScreening } = aClient({ passive: true });
    const report = orderScreening.reportFraud(order, { transactionId: CLOSED_TRANSACTION });
    await expect(report).rejects.toMatchObject({ code: 'passive' });
  });
});
