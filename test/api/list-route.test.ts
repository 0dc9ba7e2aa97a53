import { describe, expect, it } from 'vitest';
import { anApi } from './fake-order-screening.ts';

describe('GET /v1/orders', () => {
  it('lists orders by filters', async () => {
    const { app, orderScreening } = await anApi();
    orderScreening.list.mockResolvedValue({ orders: [], cursor: 'next' });
    const response = await app.inject({
      method: 'GET',
      url: '/v1/orders?phase=review&decision=review&attention=false&integration=outlet&cursor=abc&limit=100',
    });
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({ orders: [], cursor: 'next' });
    expect(orderScreening.list).toHaveBeenCalledWith({
      phase: 'review',
      decision: 'review',
      attention: false,
      integration: 'outlet',
      cursor: 'abc',
      limit: 100,
    });
  });

  it('lists orders by what they are found by, their deadline, their amount and when they came', async () => {
    const { app, orderScreening } = await anApi();
    orderScreening.list.mockResolvedValue({ orders: [] });
    const list = (query: string) => app.inject({ method: 'GET', url: `/v1/orders?${query}` });
    const found = await list(
      'find=INV-1&amountFrom=10.5&amountTo=20&startedFrom=2026-12-01T00:00:00%2B01:00',
    );
    expect(found.statusCode).toBe(200);
    await list('dueBefore=2026-12-24T18:00:00Z');
    await list('dueBefore=2026-12-24T18:00:00Z&open=false&amountTo=123456789012');
    await list('startedTo=2026-12-24T18:00:00Z&open=false');
    expect(orderScreening.list.mock.calls).toEqual([
      [
        {
          find: 'INV-1',
          amount: { from: 10.5, until: 20 },
          started: { from: '2026-11-30T23:00:00.000Z', until: undefined },
        },
      ],
      [{ open: true, cancelBy: { until: '2026-12-24T18:00:00.000Z' } }],
      [
        {
          open: false,
          cancelBy: { until: '2026-12-24T18:00:00.000Z' },
          amount: { from: undefined, until: 123_456_789_012 },
        },
      ],
      [{ open: false, started: { from: undefined, until: '2026-12-24T18:00:00.000Z' } }],
    ]);
  });
});
