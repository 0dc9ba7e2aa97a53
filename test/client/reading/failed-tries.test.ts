import { msToTs } from '@temporalio/common/lib/time.js';
import { describe, expect, it } from 'vitest';
import type { OrderState } from '../../../src/contract/order/state.ts';
import { HOUR, MINUTE, unanswered } from '../../fixtures/orders.ts';
import { type Life, screened } from '../../order/life.ts';
import { aClientOf, grpcError, listing, payload, recordField } from '../fake-temporal.ts';

const order = { orderId: 'order-1' };
const NEXT = '2026-03-01T12:00:00.000Z';

/** A pending activity as the server describes it. */
function pending(name: string, attempt: number, message?: string, action?: number) {
  const details = action === undefined ? {} : { details: { payloads: [payload(action)] } };
  return {
    activityType: { name },
    attempt,
    nextAttemptScheduleTime: msToTs(Date.parse(NEXT)),
    ...(message !== undefined && {
      lastFailure: {
        message: 'Encoded failure',
        encodedAttributes: payload({ message, stack_trace: 'at secret.ts' }),
        applicationFailureInfo: { type: 'http-5xx', ...details },
      },
    }),
  };
}

function withPending({ state }: { state: OrderState }, pendingActivities: object[]) {
  const client = aClientOf(state, 'RUNNING', { pendingActivities });
  const memo = { fields: recordField(state) };
  const row = { execution: { workflowId: 'order:default:order-1', runId: 'run-1' }, memo };
  client.temporal.listWorkflowExecutions.mockResolvedValue(listing(row));
  return client;
}

const canceling = (): Life => screened('review').portal('cancel', MINUTE);
const WORDS = 'cancel-transaction has no known outcome (http-5xx, HTTP 503)';
const FAILED = { tries: 9, lastError: WORDS, nextTryAt: NEXT };

describe('a portal action whose tries fail', () => {
  it('has their number, the last error and the time of the next, in the order and in lists', async () => {
    const { orderScreening } = withPending(canceling(), [pending('performPortalAction', 10, WORDS)]);
    expect((await orderScreening.get(order)).actions).toMatchObject([{ status: 'running', ...FAILED }]);
    const { orders } = await orderScreening.list();
    const { requestedAt } = canceling().state.actions[0] ?? {};
    expect(orders[0]?.actions).toEqual([
      { number: 1, kind: 'cancel', status: 'running', requestedAt, ...FAILED },
    ]);
    expect(JSON.stringify(orders)).not.toContain('secret');
  });

  it('is told apart from another that runs at the same time', async () => {
    const life = canceling().portal('report-fraud', MINUTE);
    const { orderScreening } = withPending(life, [
      pending('performPortalAction', 3, 'of the report', 2),
      pending('performPortalAction', 10, WORDS, 1),
      pending('pollStatus', 7, 'unchanged'),
    ]);
    expect((await orderScreening.get(order)).actions).toMatchObject([
      FAILED,
      { tries: 2, lastError: 'of the report' },
    ]);
  });

  const measured = { lastFailure: { applicationFailureInfo: { type: 'server-time' } } };
  it.each([
    ['has not failed', pending('performPortalAction', 1)],
    ['only measured the server’s time', { ...pending('performPortalAction', 2), ...measured }],
  ])('is a pending action without failed tries if its try %s', async (_what, one) => {
    const { orderScreening } = withPending(canceling(), [one]);
    const [action] = (await orderScreening.get(order)).actions;
    expect(action).not.toHaveProperty('tries');
    expect((await orderScreening.list()).orders[0]?.actions).toHaveLength(1);
  });

  it('keeps its words short', async () => {
    const { orderScreening } = withPending(canceling(), [
      pending('performPortalAction', 2, 'x'.repeat(5_000)),
    ]);
    expect((await orderScreening.get(order)).actions[0]?.lastError).toHaveLength(300);
  });

  it('does not keep a list from being read while the server says nothing of it', async () => {
    const { orderScreening, temporal } = withPending(canceling(), []);
    temporal.describe.mockRejectedValue(grpcError(14));
    expect((await orderScreening.list()).orders[0]?.actions).toMatchObject([{ status: 'running' }]);
  });
});

describe('an order that no checkout could screen', () => {
  const held = () => screened(unanswered(), { whenUnavailable: 'hold' });

  it('is held, with its failed tries when it is read, and the first reason in lists', async () => {
    const { orderScreening, temporal } = withPending(held(), [pending('catchUp', 4, 'of the create')]);
    expect((await orderScreening.get(order)).held).toEqual({
      tries: 3,
      lastError: 'of the create',
      nextTryAt: NEXT,
    });
    temporal.describe.mockClear();
    expect((await orderScreening.list()).orders[0]?.held).toEqual({ lastError: held().state.reason });
    expect(temporal.describe).not.toHaveBeenCalled();
  });

  it('is held no more once it has a decision', async () => {
    const life = held().caughtUp('review', HOUR);
    const { orderScreening } = withPending(life, [pending('pollStatus', 4, 'unchanged')]);
    expect(await orderScreening.get(order)).not.toHaveProperty('held');
    expect((await orderScreening.list()).orders[0]).not.toHaveProperty('held');
  });
});
