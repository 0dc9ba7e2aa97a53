import { ServiceError, WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, NamespaceNotFoundError, RetryState } from '@temporalio/common';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { within } from '../../src/client/temporal-errors.ts';
import type { GatewayResultAnswer } from '../../src/contract/answers.ts';
import type { GatewayRecord } from '../../src/contract/state.ts';
import { aClosedOrder, HOUR, sinceStart } from '../fixtures/orders.ts';
import { aClient, described, UNREADABLE } from './fake-temporal.ts';

const order = { orderId: 'order-1' };
const unavailable = new ServiceError('Failed', { cause: grpcError(14) });

function grpcError(code: number): Error {
  return Object.assign(new Error('grpc'), { code, details: 'grpc', metadata: {} });
}

afterEach(() => {
  vi.useRealTimers();
});

describe('reading an order', () => {
  it.each(['RUNNING', 'PAUSED', 'COMPLETED', 'TERMINATED'] as const)(
    'that is %s reads its memo',
    async (status) => {
      const { orderScreening, temporal } = aClient();
      temporal.describe.mockResolvedValue(described(status));
      temporal.record.mockResolvedValue(aClosedOrder({}, { phase: 'review' }));
      expect(await orderScreening.get(order)).toMatchObject({ phase: 'review' });
      expect(temporal.result).not.toHaveBeenCalled();
    },
  );

  it('that is completed reads its result for the full view', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockResolvedValue(described('COMPLETED'));
    temporal.record.mockResolvedValue(aClosedOrder());
    temporal.result.mockResolvedValue(aClosedOrder({ fingerprint: 'all-of-it' }));
    const { attempts } = await orderScreening.get(order, { view: 'full' });
    expect(attempts[0]?.fingerprint).toBe('all-of-it');
  });

  it('that no worker has begun and that has no memo waits for its screening', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockResolvedValue(described('RUNNING'));
    expect(await orderScreening.get(order)).toMatchObject({
      orderId: 'order-1',
      phase: 'screening',
      decision: 'pending',
    });
  });

  it.each(['RUNNING', 'COMPLETED', 'TERMINATED'] as const)(
    'that is %s and whose memo can’t be decrypted says so',
    async (status) => {
      const { orderScreening, temporal } = aClient();
      temporal.describe.mockResolvedValue(described(status));
      temporal.record.mockResolvedValue(UNREADABLE);
      await expect(orderScreening.get(order)).rejects.toMatchObject({ code: 'record-unreadable' });
    },
  );

  it('shows the events that waited as delivered once no delivery is under way', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.record.mockResolvedValue(
      aClosedOrder({}, { events: { sequence: 3, delivered: 1, waiting: 2 } }),
    );
    const eventsOf = async (seen: object) => {
      temporal.describe.mockResolvedValue({ ...described('RUNNING'), ...seen });
      return (await orderScreening.get(order)).events;
    };
    const underWay = { pendingActivities: [{ activityType: { name: 'deliverEvents' } }] };
    expect(await eventsOf({ raw: underWay })).toMatchObject({ delivered: 1, waiting: 2 });
    expect(await eventsOf({ raw: { pendingWorkflowTask: {} } })).toMatchObject({ delivered: 1, waiting: 2 });
    expect(await eventsOf({})).toMatchObject({ delivered: 3, waiting: 0 });
    expect(await eventsOf(described('COMPLETED'))).toMatchObject({ delivered: 3, waiting: 0 });
    expect(await eventsOf(described('TERMINATED'))).toMatchObject({ delivered: 1, waiting: 2 });
  });

  it.each([
    [ApplicationFailure.create({ type: 'card-data-in-request', message: 'x' }), 'card-data-in-request'],
    [undefined, 'order-closed'],
  ])('whose workflow ended with %s is %s', async (cause, code) => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockResolvedValue(described('FAILED'));
    temporal.result.mockRejectedValue(
      new WorkflowFailedError('failed', cause, RetryState.NON_RETRYABLE_FAILURE),
    );
    await expect(orderScreening.get(order)).rejects.toMatchObject({ code });
  });

  it.each([unavailable, grpcError(4), grpcError(1)])('is temporal-unavailable on %s', async (error) => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockRejectedValue(error);
    await expect(orderScreening.get(order)).rejects.toMatchObject({ code: 'temporal-unavailable' });
    temporal.describeNamespace.mockRejectedValue(error);
    await expect(orderScreening.ping()).rejects.toMatchObject({ code: 'temporal-unavailable' });
  });

  it('is temporal-unavailable, in words of its own, when Temporal doesn’t know the namespace', async () => {
    const { orderScreening, temporal } = aClient();
    const words = { code: 'temporal-unavailable', message: expect.stringContaining('TEMPORAL_NAMESPACE') };
    temporal.describe.mockRejectedValue(new NamespaceNotFoundError('typo'));
    await expect(orderScreening.get(order)).rejects.toMatchObject(words);
    temporal.listWorkflowExecutions.mockRejectedValue(grpcError(5));
    await expect(orderScreening.list()).rejects.toMatchObject(words);
  });

  it('is no such error when the request itself was wrong', async () => {
    const { orderScreening, temporal } = aClient();
    const wrong = new ServiceError('Failed', { cause: grpcError(3) });
    temporal.describe.mockRejectedValue(wrong);
    await expect(orderScreening.get(order)).rejects.toBe(wrong);
  });
});

describe('a gateway result', () => {
  it('to an order that has ended is refused, in words that say what to do', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockResolvedValue(described('COMPLETED'));
    temporal.result.mockResolvedValue(aClosedOrder());
    await expect(
      orderScreening.recordGatewayResult(order, { attempt: 1, result: 'pass' }),
    ).rejects.toMatchObject({ code: 'order-closed', message: expect.stringContaining('refund') });
  });

  it('that was reported before the order’s end is answered from its record', async () => {
    const { orderScreening, temporal } = aClient();
    const at = sinceStart(HOUR);
    const gateway: GatewayRecord = { result: 'fail', at, contradictions: [{ result: 'pass', at }] };
    const ended = { workflow: 'pre-gateway', phase: 'canceled', action: 'decline', endedAt: at } as const;
    temporal.describe.mockResolvedValue(described('COMPLETED'));
    temporal.result.mockResolvedValue(aClosedOrder({ gateway }, ended));
    const report = (result: GatewayResultAnswer['result'], attempt = 1) =>
      orderScreening.recordGatewayResult(order, { attempt, result });
    expect(await report('fail')).toMatchObject({
      attempt: 1,
      result: 'fail',
      action: 'decline',
      phase: 'canceled',
    });
    await expect(report('pass')).rejects.toMatchObject({ code: 'gateway-result-mismatch' });
    await expect(report('error')).rejects.toMatchObject({ code: 'order-closed' });
    await expect(report('fail', 2)).rejects.toMatchObject({ code: 'unknown-attempt' });
  });
});

describe('what a closed order takes no more', () => {
  it.each([
    ['an acknowledgement', 'acknowledge', { reason: 'x' }],
    ['an override', 'override', { action: 'proceed', reason: 'x' }],
    ['a withdrawal', 'withdraw', { number: 1 }],
  ] as const)('%s is order-closed, and of an unknown order unknown-order', async (_what, method, request) => {
    const { orderScreening, temporal } = aClient();
    const send = orderScreening[method] as (...args: unknown[]) => Promise<unknown>;
    await expect(send(order, request)).rejects.toMatchObject({ code: 'unknown-order' });
    temporal.describe.mockResolvedValue(described('COMPLETED'));
    temporal.result.mockResolvedValue(aClosedOrder());
    await expect(send(order, request)).rejects.toMatchObject({ code: 'order-closed' });
  });
});

it('an override with a card number, or none of the two actions, is not sent', async () => {
  const { orderScreening, temporal } = aClient();
  temporal.executeUpdate.mockResolvedValue({});
  const request = { action: 'proceed', reason: 'paid by 4111 1111 1111 1111' } as const;
  await expect(orderScreening.override(order, request)).rejects.toMatchObject({
    code: 'card-data-in-request',
    details: { errors: [{ path: 'reason' }] },
  });
  const unknown = { action: 'hold' as 'proceed', reason: 'x' };
  await expect(orderScreening.override(order, unknown)).rejects.toMatchObject({ code: 'invalid-request' });
  expect(temporal.executeUpdate).not.toHaveBeenCalled();
  await orderScreening.override(order, { ...request, reason: 'x' }, { idempotencyKey: 'k' });
  const [definition, options] = temporal.executeUpdate.mock.calls[0] as unknown[];
  expect(definition).toMatchObject({ name: 'override' });
  expect(options).toMatchObject({ args: [{ action: 'proceed', reason: 'x' }], updateId: 'override:k' });
});

it('no call to Temporal outlasts its deadline, though the connection goes on trying', async () => {
  vi.useFakeTimers();
  const { temporal } = aClient();
  const client = { withDeadline: (_deadline: number, call: () => Promise<unknown>) => call() } as never;
  const call = within(client, Date.now() + 1_000, () => new Promise(() => temporal));
  const outcome = expect(call).rejects.toMatchObject({ name: 'DeadlinePassed' });
  await vi.advanceTimersByTimeAsync(1_100);
  await outcome;
});
