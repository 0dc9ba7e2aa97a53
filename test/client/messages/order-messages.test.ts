import { ServiceError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { aClosedOrder } from '../../fixtures/orders.ts';
import { aClient, aClientOf, failed, grpcError, unavailable } from '../fake-temporal.ts';

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
