/** What the client library asks Temporal when an order is adopted. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { CheckoutAnswer } from '../../src/contract/answers.ts';
import { aCheckoutAnswer } from '../api/fake-order-screening.ts';
import { aClosedOrder, CLOSED_TRANSACTION } from '../fixtures/orders.ts';
import { aClient, described, refused } from './fake-temporal.ts';

const HOUR = 3_600_000;
const request = { orderId: '#1001', transactionId: CLOSED_TRANSACTION, screenedAt: ago(HOUR) };
const { fingerprint: _ours, ...answer }: CheckoutAnswer = aCheckoutAnswer({
  transactionId: CLOSED_TRANSACTION,
  decision: 'review',
});

function ago(ms: number): string {
  return new Date(Date.now() - ms).toISOString();
}

/** Temporal lists these workflows for the transaction. */
function listing(...workflowIds: string[]) {
  const executions = workflowIds.map((workflowId) => ({ execution: { workflowId } }));
  return async () => ({ executions, nextPageToken: new Uint8Array() });
}

/** An order that is closed already. */
function closedAs(order: ReturnType<typeof aClosedOrder>) {
  const api = aClient();
  api.temporal.executeUpdateWithStart.mockRejectedValue(
    new WorkflowExecutionAlreadyStartedError('there', 'order:default:1001', 'screenOrder'),
  );
  api.temporal.describe.mockResolvedValue(described('COMPLETED'));
  api.temporal.record.mockResolvedValue(order);
  api.temporal.result.mockResolvedValue(order);
  return api;
}

/** As a plugin may have it: the service is asked for it as it was given. */
const IN_CAPITALS = CLOSED_TRANSACTION.toUpperCase();

describe('adopting', () => {
  it('starts the order of that id with what is known of its transaction, or asks the one that is there', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.executeUpdateWithStart.mockResolvedValue({ ...answer, fingerprint: 'ours' });
    const screenedAt = '2026-01-31T12:00:00+02:00';
    const asked = {
      ...request,
      transactionId: IN_CAPITALS,
      amount: '12.50',
      force: true,
    };
    expect(await orderScreening.adopt(asked)).toEqual(answer);
    const [[, sent] = []] = temporal.executeUpdateWithStart.mock.calls as unknown as [
      [unknown, { args: unknown; updateId?: string; startWorkflowOperation: { options: object } }],
    ];
    expect(sent).not.toHaveProperty('updateId');
    expect(sent).toMatchObject({
      args: [{ transactionId: IN_CAPITALS }],
      startWorkflowOperation: {
        options: {
          workflowId: 'order:default:1001',
          workflowIdConflictPolicy: 'USE_EXISTING',
          workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
          args: [
            {
              orderId: '1001',
              transaction: { amount: '12.50' },
              adopt: { transactionId: IN_CAPITALS, screenedAt: request.screenedAt, force: true },
            },
          ],
        },
      },
    });
    await expect(orderScreening.adopt({ ...asked, screenedAt })).rejects.toMatchObject({
      code: 'invalid-request',
    });
  });

  it('is refused when another order has the transaction, and asks nothing of this one', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.listWorkflowExecutions.mockImplementation(listing('order:default:1001', 'order:shop:7'));
    await expect(orderScreening.adopt(request)).rejects.toMatchObject({
      code: 'transaction-taken',
      message: 'The order 7 (shop) has this transaction',
    });
    expect(temporal.executeUpdateWithStart).not.toHaveBeenCalled();
  });

  it('gives the answer of an order that is closed, if it had the transaction', async () => {
    const { orderScreening } = closedAs(aClosedOrder({ answer }));
    expect(await orderScreening.adopt(request)).toEqual(answer);
    const other = closedAs(aClosedOrder({}, {}, { id: 'another' }));
    await expect(other.orderScreening.adopt(request)).rejects.toMatchObject({ code: 'order-exists' });
  });

  it('tells what the order says', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.executeUpdateWithStart.mockRejectedValue(refused('invoice-mismatch'));
    await expect(orderScreening.adopt(request)).rejects.toMatchObject({ code: 'invoice-mismatch' });
  });
});

describe('a request to adopt', () => {
  it.each([
    ['screenedAt', { screenedAt: '2030-01-31T12:00:00' }],
    ['screenedAt', { screenedAt: ago(-HOUR) }],
    ['transactionId', { transactionId: '4711' }],
    ['amount', { amount: '1e3' }],
    ['amount', { amount: 12.5 }],
    ['transactionId', { transactionId: undefined }],
    ['gatewayResult', { gatewayResult: 'pass' }],
    ['gatewayResult', { workflow: 'pre-gateway' }],
    ['unheard', { unheard: true }],
  ])('is refused with a fault in %s: %j', async (path, fault) => {
    const { orderScreening, temporal } = aClient();
    await expect(orderScreening.adopt({ ...request, ...fault })).rejects.toMatchObject({
      code: 'invalid-request',
      details: { errors: [{ path, message: expect.stringMatching(/^(must|is) /) }] },
    });
    expect(temporal.executeUpdateWithStart).not.toHaveBeenCalled();
  });
});

describe('a dry run', () => {
  it('starts nothing, and needs the key of this process', async () => {
    const { orderScreening, temporal } = aClient({ apiKey: () => undefined });
    await expect(orderScreening.adopt(request, { dryRun: true })).rejects.toMatchObject({
      code: 'screening-service-unavailable',
      message: expect.stringContaining('apiKeyEnv'),
    });
    expect(temporal.executeUpdateWithStart).not.toHaveBeenCalled();
  });

  it('gives the answer of an order that is there', async () => {
    const { orderScreening } = closedAs(aClosedOrder({ answer }));
    expect(await orderScreening.adopt(request, { dryRun: true })).toEqual(answer);
  });
});
