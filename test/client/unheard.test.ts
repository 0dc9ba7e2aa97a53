import { describe, expect, it } from 'vitest';
import { aClient } from './fake-temporal.ts';

const order = { orderId: '#order-1' };

describe('an answer that nobody heard', () => {
  it('is told to the order, under an id of its own, where only changes are sent', async () => {
    const { orderScreening, temporal, handles } = aClient({ events: 'changes' });
    temporal.executeUpdate.mockResolvedValue({});
    await orderScreening.unheard(order, { attempt: 2 });
    expect(handles).toEqual(['order:default:order-1']);
    expect(temporal.executeUpdate.mock.calls).toEqual([
      [
        expect.objectContaining({ name: 'decision' }),
        { args: [{ attempt: 2, unheard: true }], updateId: 'decision-2-unheard' },
      ],
    ]);
  });

  it('is told to nobody where every event is sent', async () => {
    const { orderScreening, temporal } = aClient({ events: 'all' });
    await orderScreening.unheard(order, { attempt: 2 });
    expect(temporal.executeUpdate).not.toHaveBeenCalled();
  });
});
