import { ServiceError, WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure, RetryState } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import type { OrderErrorCode, OrderErrorDetails } from '../../src/contract/errors.ts';
import { LATE_DECISIONS } from '../../src/orders/after-end.ts';
import { aPortalAnswer } from '../api/fake-order-screening.ts';
import { aClosedOrder, CLOSED_TRANSACTION } from '../fixtures/orders.ts';
import { aClient, described, UNREADABLE } from './fake-temporal.ts';

const order = { orderId: 'order-1' };
const ENDED_AT = '2026-03-06T10:00:00.000Z';
const HASH = '0123456789abcdef';
const late = {
  decision: 'fail',
  transactionId: CLOSED_TRANSACTION,
  attempt: 1,
  action: 'cancel',
  at: '2026-03-07T11:00:00.000Z',
};

/** A run in the list of workflows; its times are hours after the order's end. `closed` absent: it runs. */
function aRun(workflowId: string, started: number, closed?: number, status = closed === undefined ? 1 : 2) {
  const at = (hours: number) => ({ seconds: Date.parse(ENDED_AT) / 1_000 + hours * 3_600, nanos: 0 });
  const closeTime = closed === undefined ? null : at(closed);
  return { execution: { workflowId, runId: `run-${started}` }, status, startTime: at(started), closeTime };
}

const hours = (count: number) => new Date(Date.parse(ENDED_AT) + count * 3_600_000).toISOString();

/** A client of one closed order. @param results what the closed runs of portal actions returned, in the order of the runs */
function aClosed(
  runs: ReturnType<typeof aRun>[],
  results: (() => Promise<unknown>)[] = [],
  decisions?: unknown,
) {
  const client = aClient();
  const { temporal } = client;
  temporal.describe.mockImplementation(async (workflowId: string) => {
    if (!workflowId.startsWith('after:')) return described('COMPLETED');
    if (decisions === undefined) throw new WorkflowNotFoundError('none', 'after', undefined);
    return { ...described('COMPLETED'), memo: { [LATE_DECISIONS]: decisions } };
  });
  temporal.record.mockResolvedValue(aClosedOrder({}, { endedAt: ENDED_AT }));
  for (const result of results) temporal.result.mockImplementationOnce(result);
  temporal.listWorkflowExecutions.mockResolvedValue({ executions: runs, nextPageToken: new Uint8Array() });
  return client;
}

function failedWith(type: OrderErrorCode, details: OrderErrorDetails = {}) {
  return async () => {
    const cause = ApplicationFailure.create({ type, message: 'In words.', details: [details] });
    throw new WorkflowFailedError('failed', cause, RetryState.NON_RETRYABLE_FAILURE);
  };
}

describe('what came after an order’s end', () => {
  it('is absent while nothing came, and of an open order nobody asks', async () => {
    const { orderScreening } = aClosed([]);
    expect(await orderScreening.get(order)).not.toHaveProperty('afterEnd');
    const open = aClient();
    open.temporal.describe.mockResolvedValue(described('RUNNING'));
    await open.orderScreening.get(order);
    expect(open.temporal.listWorkflowExecutions).not.toHaveBeenCalled();
  });

  it('has later decisions, actions and redeliveries with their times, oldest first', async () => {
    const transactionId = CLOSED_TRANSACTION;
    const { orderScreening, temporal } = aClosed(
      [
        aRun('redelivery:default:order-1:2', 5, 6),
        aRun('redelivery:default:order-1:12', 4, 5, 3),
        aRun(`portal:default:chargeback:${CLOSED_TRANSACTION}:${HASH}`, 3),
        aRun(`portal:default:customer-code:order-1:${HASH}`, 2, 3),
        aRun(`portal:default:report-fraud:${CLOSED_TRANSACTION}`, 1, 2),
      ],
      [
        async () => aPortalAnswer({ kind: 'report-fraud', transactionId, code: '200', message: 'done' }),
        async () => ({ kind: 'customer-code', status: 'done', code: '200' }),
      ],
      [late],
    );
    expect((await orderScreening.get(order)).afterEnd).toEqual({
      decisions: [late],
      actions: [
        {
          kind: 'report-fraud',
          status: 'done',
          transactionId,
          requestedAt: hours(1),
          finishedAt: hours(2),
          code: '200',
          message: 'done',
        },
        {
          kind: 'customer-code',
          status: 'done',
          requestedAt: hours(2),
          finishedAt: hours(3),
          code: '200',
        },
        { kind: 'chargeback', status: 'running', transactionId, requestedAt: hours(3) },
      ],
      redeliveries: [
        { sequence: 12, status: 'undelivered', requestedAt: hours(4), finishedAt: hours(5) },
        { sequence: 2, status: 'delivered', requestedAt: hours(5), finishedAt: hours(6) },
      ],
    });
    const [{ query }] = temporal.listWorkflowExecutions.mock.calls[0] as unknown as [{ query: string }];
    expect(query).toContain(`WorkflowId STARTS_WITH 'portal:default:cancel:${CLOSED_TRANSACTION}'`);
    expect(query).toContain("WorkflowId STARTS_WITH 'redelivery:default:order-1:'");
  });

  it('has nothing of other orders whose ids begin the same, and nothing from before the end', async () => {
    const { orderScreening } = aClosed([
      aRun('redelivery:default:order-1:2:5', 1, 2),
      aRun(`portal:default:customer-code:order-1:2:${HASH}`, 1, 2),
      aRun(`portal:default:customer-code:order-10:${HASH}`, 1, 2),
      aRun('redelivery:default:order-1:1', -2, -1),
    ]);
    expect(await orderScreening.get(order)).not.toHaveProperty('afterEnd');
  });

  it.each([
    ['refused-by-screening-service', 'refused', { serviceCode: '404', serviceMessage: 'No.' }],
    ['cancel-window-closed', 'too-late', {}],
    ['action-not-sent', 'not-sent', {}],
    ['outcome-unknown', 'unconfirmed', {}],
  ] as const)('names an action that failed as %s %s', async (code, status, details) => {
    const run = aRun(`portal:default:report-fraud:${CLOSED_TRANSACTION}`, 1, 2, 3);
    const { orderScreening } = aClosed([run], [failedWith(code, details)]);
    const [action] = (await orderScreening.get(order)).afterEnd?.actions ?? [];
    expect(action).toMatchObject({ kind: 'report-fraud', status });
    expect([action?.code, action?.message]).toEqual(
      status === 'refused' ? ['404', 'No.'] : [undefined, undefined],
    );
  });

  it('is incomplete when the list of workflows cannot be asked or has more, or later decisions cannot be decrypted; the order is read all the same', async () => {
    const unlisted = aClosed([]);
    const cause = Object.assign(new Error('grpc'), { code: 8, details: 'grpc', metadata: {} });
    unlisted.temporal.listWorkflowExecutions.mockRejectedValue(new ServiceError('Failed', { cause }));
    const read = await unlisted.orderScreening.get(order);
    expect(read).toMatchObject({ phase: 'closed', afterEnd: { incomplete: true } });
    const { orderScreening } = aClosed([], [], UNREADABLE);
    expect((await orderScreening.get(order)).afterEnd).toMatchObject({ decisions: [], incomplete: true });
    const more = aClosed([]);
    const page = { executions: [], nextPageToken: new Uint8Array([1]) };
    more.temporal.listWorkflowExecutions.mockResolvedValue(page);
    expect((await more.orderScreening.get(order)).afterEnd).toMatchObject({ incomplete: true });
  });
});
