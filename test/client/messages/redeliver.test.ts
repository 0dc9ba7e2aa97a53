import { describe, expect, it } from 'vitest';
import { aClosedOrder } from '../../fixtures/orders.ts';
import { aClient, described, failed, noAnswer, taken } from '../fake-temporal.ts';

describe('an event of an order that failed', () => {
  it.each([
    ['without a reason', failed()],
    ['since its start was refused', failed('invalid-request', { errors: [{ path: 'x', message: 'y' }] })],
    ['since its adoption was refused', failed('unknown-transaction')],
  ])('is unknown, and the reason says nothing about the redelivery: %s', async (_what, failure) => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockResolvedValue(described('FAILED'));
    temporal.result.mockRejectedValue(failure);
    const asked = orderScreening.redeliver({ orderId: 'order-1' }, { sequence: 1 });
    await expect(asked).rejects.toMatchObject({ code: 'unknown-event', details: {} });
  });
});

describe('a redelivery without an answer in time', () => {
  const KEPT = {
    type: 'order.decided' as const,
    sequence: 1,
    occurredAt: aClosedOrder().startedAt,
    data: {
      attempt: 1,
      decision: 'pass' as const,
      action: 'proceed' as const,
      phase: 'decided' as const,
      attention: [],
    },
  };
  const redeliver = (start: () => Promise<object>) => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockResolvedValue(described('COMPLETED'));
    temporal.result.mockResolvedValue(
      aClosedOrder({}, { events: { sequence: 1, delivered: 1, waiting: 0, last: [KEPT] } }),
    );
    temporal.start.mockImplementation(start);
    return orderScreening.redeliver({ orderId: 'order-1' }, { sequence: 1 });
  };

  it('is still running if Temporal has it', async () => {
    expect(await redeliver(async () => taken(noAnswer))).toMatchObject({ status: 'requested', sequence: 1 });
  });

  it('because a person ended it in Temporal is to be asked for again', async () => {
    await expect(redeliver(async () => taken(failed()))).rejects.toMatchObject({
      code: 'temporal-unavailable',
      message: expect.stringContaining('ended by hand'),
    });
  });

  it('is no redelivery if Temporal may not have it: the caller asks again', async () => {
    await expect(redeliver(() => Promise.reject(noAnswer))).rejects.toMatchObject({
      code: 'temporal-unavailable',
    });
  });
});
