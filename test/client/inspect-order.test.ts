import { ServiceError, WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, RetryState } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import { describe, expect, it } from 'vitest';
import { aClosedOrder } from '../fixtures/orders.ts';
import { aClient, described, UNREADABLE } from './fake-temporal.ts';

const order = { orderId: 'order-1' };
const at = (iso: string) => msToTs(Date.parse(iso));
const START = new Date('2026-03-02T10:00:00.000Z');

/** What the server says of an order; its poll as given. */
const seen = (status: 'RUNNING' | 'PAUSED' | 'COMPLETED' | 'FAILED' | 'TERMINATED', poll?: object) => ({
  ...described(status, 'review', 'review'),
  workflowId: 'order:default:order-1',
  runId: 'run-1',
  startTime: START,
  raw: { pendingActivities: poll === undefined ? [] : [{ activityType: { name: 'pollStatus' }, ...poll }] },
});

describe('inspecting an order', () => {
  it('tells its state, its run, and what the server knows of it', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockResolvedValue(seen('RUNNING'));
    temporal.record.mockResolvedValue(aClosedOrder({}, { phase: 'review' }));
    const found = await orderScreening.inspect(order);
    expect(found).toMatchObject({
      runId: 'run-1',
      state: { phase: 'review' },
      summary: {
        orderId: 'order-1',
        integration: 'default',
        phase: 'review',
        startedAt: START.toISOString(),
      },
    });
    expect(found).not.toHaveProperty('poll');
    expect(found).not.toHaveProperty('missing');
  });

  it('reads a closed one from its memo', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockResolvedValue({ ...seen('COMPLETED'), closeTime: START });
    temporal.record.mockResolvedValue(aClosedOrder());
    const found = await orderScreening.inspect(order);
    expect(found).toMatchObject({ state: { phase: 'closed' }, summary: { closedAt: START.toISOString() } });
  });

  it('whose record can’t be decrypted says so', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockResolvedValue(seen('RUNNING'));
    temporal.record.mockResolvedValue(UNREADABLE);
    const found = await orderScreening.inspect(order);
    expect(found).toMatchObject({
      missing: 'undecryptable',
      summary: { phase: 'review', problem: 'record-unreadable' },
    });
    expect(found).not.toHaveProperty('state');
  });

  it.each([
    ['TERMINATED', new WorkflowFailedError('terminated', undefined, RetryState.NON_RETRYABLE_FAILURE)],
    [
      'FAILED',
      new WorkflowFailedError(
        'refused when it was started',
        ApplicationFailure.create({ type: 'card-data-in-request', message: 'x' }),
        RetryState.NON_RETRYABLE_FAILURE,
      ),
    ],
  ] as const)('that is %s and has no record says so', async (status, error) => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockResolvedValue(seen(status));
    temporal.result.mockRejectedValue(error);
    const found = await orderScreening.inspect(order);
    expect(found).toMatchObject({ missing: 'no-record', summary: { phase: 'review' } });
    expect(found).not.toHaveProperty('state');
  });

  it('shows the record when the history can’t be read in time', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockResolvedValue(seen('RUNNING'));
    temporal.record.mockResolvedValue(aClosedOrder({}, { phase: 'review' }));
    temporal.fetchHistory.mockRejectedValue(nobody);
    expect(await orderScreening.inspect(order, { view: 'full' })).toMatchObject({
      state: { phase: 'review' },
    });
  });

  const nobody = new ServiceError('Failed', {
    cause: Object.assign(new Error('grpc'), { code: 4, details: 'deadline', metadata: {} }),
  });

  it('fails for an order that Temporal doesn’t know', async () => {
    await expect(aClient().orderScreening.inspect(order)).rejects.toMatchObject({ code: 'unknown-order' });
  });

  it.each([
    [
      'waits for its first pause',
      { attempt: 2, nextAttemptScheduleTime: at('2026-03-02T10:01:00.000Z') },
      {
        nextAt: '2026-03-02T10:01:00.000Z',
      },
    ],
    [
      'was answered that nothing has changed',
      {
        attempt: 3,
        lastAttemptCompleteTime: at('2026-03-02T10:01:00.000Z'),
        nextAttemptScheduleTime: at('2026-03-02T10:02:30.000Z'),
        lastFailure: { applicationFailureInfo: { type: 'unchanged' } },
      },
      { lastAt: '2026-03-02T10:01:00.000Z', answered: true, nextAt: '2026-03-02T10:02:30.000Z' },
    ],
    [
      'was not answered',
      {
        attempt: 4,
        lastAttemptCompleteTime: at('2026-03-02T10:01:00.000Z'),
        lastFailure: { applicationFailureInfo: { type: 'timeout' } },
      },
      { lastAt: '2026-03-02T10:01:00.000Z', answered: false },
    ],
  ])('shows the poll that %s', async (_what, poll, times) => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockResolvedValue(seen('RUNNING', poll));
    temporal.record.mockResolvedValue(aClosedOrder({}, { phase: 'review' }));
    expect((await orderScreening.inspect(order)).poll).toEqual(times);
  });
});
