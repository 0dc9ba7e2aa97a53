import { describe, expect, it } from 'vitest';
import { anApi } from './fake-order-screening.ts';

describe('sending an event again', () => {
  const url = (sequence: string) => `/v1/orders/order-1/events/${sequence}/redeliver?integration=shop`;

  it.each([
    ['delivered', 200],
    ['requested', 202],
  ] as const)('is answered, when it is %s, %i', async (status, code) => {
    const { app, orderScreening } = await anApi();
    const order = { orderId: 'order-1', integration: 'shop' };
    const answer = { ...order, sequence: 3, type: 'order.closed', status } as const;
    orderScreening.redeliver.mockResolvedValue(answer);
    const response = await app.inject({ method: 'POST', url: url('3') });
    expect([response.statusCode, response.json()]).toEqual([code, answer]);
    expect(orderScreening.redeliver).toHaveBeenCalledExactlyOnceWith(order, { sequence: 3 }, {});
  });

  it.each(['0', '-1', '1.5', 'two'])('is refused for the number %s', async (sequence) => {
    const { app, orderScreening } = await anApi();
    const response = await app.inject({ method: 'POST', url: url(sequence) });
    expect(response.statusCode).toBe(422);
    expect(response.json()).toMatchObject({ errors: [{ path: 'sequence' }] });
    expect(orderScreening.redeliver).not.toHaveBeenCalled();
  });
});
