import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { OrderScreeningError } from '../../src/starter.ts';
import { aPortalAnswer } from '../api/fake-order-screening.ts';
import { aClosedOrder, CLOSED_TRANSACTION } from '../fixtures/orders.ts';
import { aClient, aClosed, refused, startedActions } from './fake-temporal.ts';

const order = { orderId: '#order-1' };
const noAnswer = new WorkflowUpdateRPCTimeoutOrCancelledError('deadline exceeded');

describe('a portal action of an open order', () => {
  it.each([
    ['cancel', 'cancel', { reason: 'x' }],
    ['reportFraud', 'reportFraud', { transactionId: CLOSED_TRANSACTION }],
    ['submitChargeback', 'submitChargeback', { reason_code: '1', due_date: '2026-04-01' }],
    ['attachCustomerCode', 'attachCustomerCode', { customerCode: '1' }],
  ] as const)('%s is the update %s', async (method, update, request) => {
    const { orderScreening, temporal, handles } = aClient();
    temporal.startUpdate.mockResolvedValue({ result: async () => aPortalAnswer() });
    const send = orderScreening[method] as (...args: unknown[]) => Promise<unknown>;
    expect(await send(order, request, { idempotencyKey: 'decision-1' })).toEqual(aPortalAnswer());
    const [definition, options] = temporal.startUpdate.mock.calls[0] as unknown as [
      { name: string },
      { args: unknown[]; updateId: string },
    ];
    expect(handles).toEqual(['order:default:order-1']);
    expect(definition.name).toBe(update);
    expect(options.args).toEqual([request]);
    // No caller's key can be the id of another message.
    expect(options.updateId).toMatch(/^(cancel|report-fraud|chargeback|customer-code):decision-1$/);
  });

  it('has a random id unless the caller has a key', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.startUpdate.mockResolvedValue({ result: async () => aPortalAnswer() });
    await orderScreening.cancel(order);
    expect(temporal.startUpdate.mock.calls[0]?.[1]).not.toHaveProperty('updateId');
  });

  it('that goes on is requested', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.startUpdate.mockResolvedValue({ result: () => Promise.reject(noAnswer) });
    expect(await orderScreening.cancel(order)).toEqual({
      integration: 'default',
      orderId: 'order-1',
      kind: 'cancel',
      status: 'requested',
    });
  });

  it('that no worker took is not called requested', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.startUpdate.mockRejectedValue(noAnswer);
    await expect(orderScreening.cancel(order)).rejects.toMatchObject({ code: 'temporal-unavailable' });
  });

  it("that is refused is the order's own error", async () => {
    const { orderScreening, temporal } = aClient();
    const details = { serviceCode: '403', serviceMessage: 'No.' };
    const error = refused('refused-by-screening-service', details);
    temporal.startUpdate.mockResolvedValue({ result: () => Promise.reject(error) });
    await expect(orderScreening.cancel(order)).rejects.toMatchObject({
      code: 'refused-by-screening-service',
      details,
    });
  });

  it('that could not be sent to the service is refused with the paths, and asked of nobody', async () => {
    const { orderScreening, temporal } = aClient();
    const soon = { reason_code: 'x', due_date: 'canary-soon' };
    const errors = (error: unknown) =>
      error instanceof OrderScreeningError && [error.code, error.details.errors?.map(({ path }) => path)];
    expect(await orderScreening.submitChargeback(order, soon).catch(errors)).toEqual([
      'invalid-request',
      ['due_date'],
    ]);
    const nonsense = { customerCode: '', email: 'canary' };
    expect(await orderScreening.attachCustomerCode(order, nonsense).catch(errors)).toEqual([
      'invalid-request',
      ['customerCode', 'email'],
    ]);
    expect(temporal.startUpdate).not.toHaveBeenCalled();
  });

  it('of an unknown integration or order is refused as such', async () => {
    const { orderScreening } = aClient();
    await expect(orderScreening.cancel({ ...order, integration: 'x' })).rejects.toMatchObject({
      code: 'unknown-integration',
    });
    await expect(orderScreening.cancel(order)).rejects.toMatchObject({ code: 'unknown-order' });
  });
});

describe('a portal action of a closed order', () => {
  it('runs as a workflow of its own, from the record', async () => {
    const record = aClosedOrder();
    const client = aClosed(record);
    expect(await client.orderScreening.cancel(order, { reason: 'x' })).toEqual(aPortalAnswer());
    expect(startedActions(client)).toMatchObject([
      {
        type: 'portalAction',
        workflowId: `portal:default:cancel:${CLOSED_TRANSACTION}`,
        taskQueue: 'order-screening',
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
        input: {
          integration: 'default',
          orderId: 'order-1',
          transactionId: CLOSED_TRANSACTION,
          fields: { kind: 'cancel', reason: 'x' },
          cancelBy: record.transactions[0]?.cancelBy,
          cancelWindowMs: 432_000_000,
        },
      },
    ]);
  });

  it('is the same for one transaction, named or not, in capitals or not', async () => {
    const client = aClosed();
    const { orderScreening, temporal } = client;
    const chargeback = { reason_code: '10.4', due_date: '2026-04-01' };
    for (const transactionId of [undefined, CLOSED_TRANSACTION.toUpperCase()]) {
      temporal.result.mockResolvedValueOnce(aClosedOrder()).mockResolvedValue(aPortalAnswer());
      await orderScreening.submitChargeback(order, {
        ...chargeback,
        ...(transactionId && { transactionId }),
      });
    }
    const [first, second] = startedActions(client);
    expect(second?.workflowId).toBe(first?.workflowId);
    expect(second?.input).toMatchObject({ transactionId: CLOSED_TRANSACTION });
  });

  it('that was done by such a workflow before gives its answer', async () => {
    const client = aClosed();
    client.temporal.start.mockRejectedValue(
      new WorkflowExecutionAlreadyStartedError('done', 'portal', 'portalAction'),
    );
    expect(await client.orderScreening.reportFraud(order)).toEqual(aPortalAnswer());
  });

  describe('chargeback, sent again after a workflow that failed', () => {
    const chargeback = { reason_code: '10.4', due_date: '2026-04-01' };

    function failedBefore(error: unknown) {
      const client = aClosed();
      client.temporal.start.mockRejectedValueOnce(
        new WorkflowExecutionAlreadyStartedError('failed', 'portal', 'portalAction'),
      );
      client.temporal.result.mockReset().mockResolvedValueOnce(aClosedOrder());
      client.temporal.result.mockRejectedValueOnce(error).mockResolvedValue(aPortalAnswer());
      return client;
    }
    const policies = (client: ReturnType<typeof aClient>) =>
      (startedActions(client) as { workflowIdReusePolicy?: string }[]).map(
        (one) => one.workflowIdReusePolicy,
      );

    it('with an unknown outcome is not sent: it may be submitted', async () => {
      const client = failedBefore(refused('outcome-unknown'));
      await expect(client.orderScreening.submitChargeback(order, chargeback)).rejects.toMatchObject({
        code: 'outcome-unknown-before',
      });
      expect(policies(client)).toEqual(['REJECT_DUPLICATE']);
    });

    it('or was ended by a person is not sent either', async () => {
      const client = failedBefore(new WorkflowFailedError('terminated', undefined, 'NON_RETRYABLE_FAILURE'));
      await expect(client.orderScreening.submitChargeback(order, chargeback)).rejects.toMatchObject({
        code: 'outcome-unknown-before',
      });
    });

    it('by a refusal is sent again', async () => {
      const client = failedBefore(refused('refused-by-screening-service'));
      expect(await client.orderScreening.submitChargeback(order, chargeback)).toEqual(aPortalAnswer());
      expect(policies(client)).toEqual(['REJECT_DUPLICATE', 'ALLOW_DUPLICATE_FAILED_ONLY']);
    });

    it('with force is sent again whatever is known', async () => {
      const client = aClosed();
      await client.orderScreening.submitChargeback(order, { ...chargeback, force: true });
      expect(policies(client)).toEqual(['ALLOW_DUPLICATE_FAILED_ONLY']);
    });
  });

  it('that goes on is requested', async () => {
    const client = aClosed();
    client.temporal.result.mockReset().mockResolvedValueOnce(aClosedOrder()).mockRejectedValue(noAnswer);
    expect(await client.orderScreening.reportFraud(order)).toMatchObject({
      status: 'requested',
      transactionId: CLOSED_TRANSACTION,
    });
  });

  it.each([
    ['the window is over', { cancelBy: '2026-03-06T10:00:00.000Z' }, {}, 'cancel-window-closed'],
    [
      'the window is in its last 30 s',
      { cancelBy: new Date(Date.now() + 20_000).toISOString() },
      {},
      'cancel-window-closed',
    ],
    ['there is no transaction', {}, { transactions: [] }, 'no-transaction'],
    ['it is passive', {}, { policy: { passive: true, cancelWindowMs: 1 } }, 'passive'],
  ])('is no cancel when %s', async (_case, transaction, state, code) => {
    const record = aClosedOrder({}, state as never, transaction);
    const details = code === 'cancel-window-closed' ? { cancelBy: record.transactions[0]?.cancelBy } : {};
    const client = aClosed(record);
    await expect(client.orderScreening.cancel(order)).rejects.toMatchObject({ code, details });
    expect(startedActions(client)).toEqual([]);
  });

  it('that the order itself has done gives the same answer, also after the window', async () => {
    const done = {
      number: 1,
      kind: 'cancel',
      subject: `cancel:${CLOSED_TRANSACTION}`,
      transactionId: CLOSED_TRANSACTION,
      status: 'done',
      by: 'caller',
      requestedAt: '2026-03-01T10:00:00.000Z',
      code: '200',
    } as const;
    const client = aClosed(aClosedOrder({}, { actions: [done] }, { cancelBy: '2026-03-06T10:00:00.000Z' }));
    expect(await client.orderScreening.cancel(order)).toMatchObject({ status: 'done', code: '200' });
    expect(startedActions(client)).toEqual([]);
  });

  it('names a transaction that the order has, or is refused', async () => {
    const client = aClosed();
    const other = '00000000-0000-4000-8000-000000000000';
    await expect(client.orderScreening.reportFraud(order, { transactionId: other })).rejects.toMatchObject({
      code: 'unknown-transaction',
    });
  });

  it('needs the e-mail for a customer code, which the record does not keep', async () => {
    const without = aClosed();
    await expect(
      without.orderScreening.attachCustomerCode(order, { customerCode: '1' }),
    ).rejects.toMatchObject({
      code: 'invalid-request',
      details: { errors: [{ path: 'email' }] },
    });
    const client = aClosed();
    await client.orderScreening.attachCustomerCode(order, {
      customerCode: '1234567',
      email: 'a@example.com',
    });
    const [run] = startedActions(client);
    expect(run?.workflowId).toMatch(/^portal:default:customer-code:order-1:[0-9a-f]{16}$/);
  });
});
