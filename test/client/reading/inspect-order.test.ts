import { msToTs } from '@temporalio/common/lib/time.js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { aClosedOrder } from '../../fixtures/orders.ts';
import { aClientOf, type described, ENCRYPTED, failed } from '../fake-temporal.ts';

const order = { orderId: 'order-1' };
const at = (iso: string) => msToTs(Date.parse(iso));

/** A client of one order in review. */
const inReview = (status: Parameters<typeof described>[0], raw = {}) =>
  aClientOf(aClosedOrder({}, { phase: 'review', decision: 'review' }), status, raw);

describe('inspecting an order', () => {
  it.each(['RUNNING', 'COMPLETED'] as const)('that is %s tells its state and its run', async (status) => {
    const { orderScreening } = inReview(status);
    const startedAt = '2026-03-01T10:00:00.000Z';
    const found = await orderScreening.inspect(order);
    expect(found).toEqual({
      runId: 'run-1',
      state: expect.objectContaining({ phase: 'review' }),
      summary: expect.objectContaining({ ...order, integration: 'default', phase: 'review', startedAt }),
    });
    expect(found.summary.closedAt).toBe(status === 'RUNNING' ? undefined : '2026-03-07T10:00:00.000Z');
  });

  it('whose record can’t be decrypted says so', async () => {
    const { orderScreening, temporal } = inReview('RUNNING');
    temporal.record.mockResolvedValue(ENCRYPTED);
    const found = await orderScreening.inspect(order);
    const summary = { phase: 'review', problem: 'record-unreadable' };
    expect(found).toMatchObject({ missing: 'undecryptable', summary });
    expect(found).not.toHaveProperty('state');
  });

  it.each([
    ['TERMINATED', failed()],
    ['FAILED', failed('card-data-in-request')],
  ] as const)('that is %s and has no record says so', async (status, error) => {
    const { orderScreening, temporal } = inReview(status);
    temporal.record.mockResolvedValue(undefined);
    temporal.result.mockRejectedValue(error);
    const found = await orderScreening.inspect(order);
    expect(found).toMatchObject({ missing: 'no-record', summary: { phase: 'review' } });
    expect(found).not.toHaveProperty('state');
  });

  it.each([
    ['its history is', 'fetchHistory'],
    ['the list of what came after its end is', 'listWorkflowExecutions'],
    ['its result is', 'result'],
  ] as const)('takes no longer than it may when %s slow', async (_what, slow) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { orderScreening, temporal } = inReview(slow === 'fetchHistory' ? 'RUNNING' : 'COMPLETED');
    const ended = aClosedOrder({}, { phase: 'review', endedAt: '2026-03-06T10:00:00.000Z' });
    temporal.record.mockResolvedValue(ended);
    temporal.result.mockResolvedValue(ended);
    temporal[slow].mockImplementation(() => new Promise(() => undefined));
    const settled = vi.fn<() => void>();
    const inspected = orderScreening.inspect(order, { withinMs: 1_000, view: 'full' }).finally(settled);
    await vi.advanceTimersByTimeAsync(1_500);
    expect(settled).toHaveBeenCalled();
    expect(await inspected).toMatchObject({ state: { phase: 'review' } });
  });

  const [last, next] = ['2026-03-02T10:01:00.000Z', '2026-03-02T10:02:30.000Z'];
  const pauses = { lastAttemptCompleteTime: at(last), nextAttemptScheduleTime: at(next) };
  const failing = (type: string) => ({ ...pauses, lastFailure: { applicationFailureInfo: { type } } });
  const answeredLast = { lastAt: last, answered: true };
  const unanswered = { lastAt: last, answered: false, nextAt: next };
  it.each([
    ['pollStatus', 'waits for its first pause', 2, pauses, { nextAt: next }],
    ['pollStatus', 'found nothing new', 3, failing('unchanged'), { ...answeredLast, nextAt: next }],
    ['pollStatus', 'was not answered', 4, failing('timeout'), unanswered],
    ['readStatusLast', 'found nothing new', 2, failing('unchanged'), answeredLast],
    ['readStatusLast', 'was not answered', 2, failing('timeout'), unanswered],
  ])('shows the %s that %s', async (name, _what, attempt, activity, times) => {
    const pendingActivities = [{ activityType: { name }, attempt, ...activity }];
    const { orderScreening } = inReview('RUNNING', { pendingActivities });
    expect((await orderScreening.inspect(order)).poll).toEqual(times);
  });
});
