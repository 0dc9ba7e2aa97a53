import { ServiceError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { PayloadCodecError } from '../../../src/codec/index.ts';
import { aClosedOrder, announced } from '../../fixtures/orders.ts';
import {
  aClient,
  aClientOf,
  ENCRYPTED,
  failed,
  grpcError,
  noAnswer,
  taken,
  unavailable,
} from '../fake-temporal.ts';
import { unreadAtStart } from '../unread-request.ts';

const order = { orderId: 'order-1' };

describe('reading an order', () => {
  const underWay = { pendingActivities: [{ activityType: { name: 'deliverEvents' } }] };
  it.each([
    ['RUNNING', underWay, 1],
    ['RUNNING', { pendingWorkflowTask: {} }, 1],
    ['RUNNING', {}, 3],
    ['COMPLETED', {}, 3],
    ['TERMINATED', {}, 1],
  ] as const)('that is %s with %j shows %i of three events as delivered', async (status, raw, delivered) => {
    const events = { sequence: 3, delivered: 1, waiting: 2 };
    const { orderScreening } = aClientOf(aClosedOrder({}, { events }), status, raw);
    const shown = (await orderScreening.get(order)).events;
    expect(shown).toMatchObject({ delivered, waiting: 3 - delivered });
  });

  it.each([
    [failed('card-data-in-request'), 'card-data-in-request'],
    [failed(), 'order-closed'],
  ])('that failed is refused by its own code, or as closed: %s', async (error, code) => {
    const { orderScreening, temporal } = aClientOf(undefined, 'FAILED');
    temporal.result.mockRejectedValue(error);
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
    temporal.describe.mockRejectedValue(grpcError(5, 'Namespace typo is not found.'));
    await expect(orderScreening.get(order)).rejects.toMatchObject(words);
    await expect(orderScreening.inspect(order)).rejects.toMatchObject(words);
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

describe('a closed order', () => {
  it.each([
    ['acknowledge', { reason: 'x' }],
    ['note', { text: 'x' }],
    ['assign', { assignee: 'bo' }],
    ['snooze', { until: '2030-01-31T12:00:00Z', note: 'x' }],
    ['override', { action: 'proceed', reason: 'x' }],
    ['withdraw', { number: 1 }],
  ] as const)('answers %s order-closed, and an unknown order unknown-order', async (method, request) => {
    const ask = ({ orderScreening }: ReturnType<typeof aClient>) =>
      (orderScreening[method] as (...args: unknown[]) => Promise<unknown>)(order, request);
    await expect(ask(aClient())).rejects.toMatchObject({ code: 'unknown-order' });
    const closed = aClientOf(aClosedOrder(), 'COMPLETED');
    await expect(ask(closed)).rejects.toMatchObject({ code: 'order-closed' });
  });
});

it('an override to none of the two actions is not sent', async () => {
  const { orderScreening, temporal } = aClient();
  const unknown = { action: 'hold' as 'proceed', reason: 'x' };
  await expect(orderScreening.override(order, unknown)).rejects.toMatchObject({ code: 'invalid-request' });
  expect(temporal.executeUpdate).not.toHaveBeenCalled();
});

it('an event of an order that failed is unknown, and the reason says nothing about the redelivery', async () => {
  const { orderScreening, temporal } = aClientOf(undefined, 'FAILED');
  temporal.result.mockRejectedValue(failed('invalid-request', { errors: [{ path: 'x', message: 'y' }] }));
  const asked = orderScreening.redeliver(order, { sequence: 1 });
  await expect(asked).rejects.toMatchObject({ code: 'unknown-event', details: {} });
});

it('an event that these keys cannot decrypt is record-unreadable', async () => {
  const { orderScreening, temporal } = aClientOf(aClosedOrder());
  const delivery = { activityType: { name: 'deliverEvents' }, input: { payloads: [ENCRYPTED] } };
  temporal.fetchHistory.mockResolvedValue({ events: [{ activityTaskScheduledEventAttributes: delivery }] });
  const asked = orderScreening.redeliver(order, { sequence: 1 });
  await expect(asked).rejects.toMatchObject({ code: 'record-unreadable' });
});

it('an answer that these keys cannot decrypt is record-unreadable, and names the key', async () => {
  const { orderScreening, temporal } = aClient();
  temporal.executeUpdate.mockRejectedValue(new PayloadCodecError('unknown-payload-key', 'k2'));
  const unreadable = { code: 'record-unreadable', message: expect.stringContaining('the key "k2"') };
  await expect(orderScreening.note(order, { text: 'x' })).rejects.toMatchObject(unreadable);
});

describe('a redelivery without an answer in time', () => {
  const state = aClosedOrder();
  const kept = announced(state, 'order.decided', 0);
  const { sequence } = kept;
  const redeliver = (start: () => Promise<object>) => {
    const events = { sequence, delivered: 1, waiting: 0, last: [kept] };
    const { orderScreening, temporal } = aClientOf({ ...state, events }, 'COMPLETED');
    temporal.start.mockImplementation(start);
    return orderScreening.redeliver(order, { sequence });
  };

  it('is still running if Temporal has it', async () => {
    expect(await redeliver(async () => taken(noAnswer))).toMatchObject({ status: 'requested', sequence });
  });

  it.each([
    ['because a person ended it in Temporal', async () => taken(failed()), 'ended by hand'],
    ['because its worker lacked the payload key', async () => taken(unreadAtStart()), 'the key "k2"'],
    ['since Temporal may not have it', () => Promise.reject(noAnswer), 'Retrying the same request is safe'],
  ])('%s is to be asked for again', async (_why, start, words) => {
    const message = expect.stringContaining(words);
    await expect(redeliver(start)).rejects.toMatchObject({ code: 'temporal-unavailable', message });
  });
});
