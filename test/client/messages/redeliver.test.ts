import { describe, expect, it } from 'vitest';
import { aClosedOrder, announced } from '../../fixtures/orders.ts';
import { aClient, described, failed, noAnswer, taken } from '../fake-temporal.ts';

it('an event of an order that failed is unknown, and the reason says nothing about the redelivery', async () => {
  const { orderScreening, temporal } = aClient();
  temporal.describe.mockResolvedValue(described('FAILED'));
  temporal.result.mockRejectedValue(failed('invalid-request', { errors: [{ path: 'x', message: 'y' }] }));
  const asked = orderScreening.redeliver({ orderId: 'order-1' }, { sequence: 1 });
  await expect(asked).rejects.toMatchObject({ code: 'unknown-event', details: {} });
});

describe('a redelivery without an answer in time', () => {
  const state = aClosedOrder();
  const kept = announced(state, 'order.decided', 0);
  const redeliver = (start: () => Promise<object>) => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockResolvedValue(described('COMPLETED'));
    const events = { sequence: 1, delivered: 1, waiting: 0, last: [kept] };
    temporal.result.mockResolvedValue({ ...state, events });
    temporal.start.mockImplementation(start);
    return orderScreening.redeliver({ orderId: 'order-1' }, { sequence: 1 });
  };

  it('is still running if Temporal has it', async () => {
    expect(await redeliver(async () => taken(noAnswer))).toMatchObject({ status: 'requested', sequence: 1 });
  });

  it.each([
    ['because a person ended it in Temporal', async () => taken(failed()), 'ended by hand'],
    ['since Temporal may not have it', () => Promise.reject(noAnswer), 'Retrying the same request is safe'],
  ])('%s is to be asked for again', async (_why, start, words) => {
    const message = expect.stringContaining(words);
    await expect(redeliver(start)).rejects.toMatchObject({ code: 'temporal-unavailable', message });
  });
});
