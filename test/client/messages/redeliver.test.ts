import { describe, expect, it } from 'vitest';
import { aClient, described, failed } from '../fake-temporal.ts';

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
