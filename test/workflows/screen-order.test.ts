import { describe, expect, it } from 'vitest';
import { withOrders } from './support.ts';

const { order } = withOrders();

describe('an order that passes at checkout', () => {
  it('is answered, decided, rechecked and closed at the end of its window', async () => {
    const { answer, handle, world, state } = await order();
    expect(answer).toMatchObject({ attempt: 1, decision: 'pass', action: 'proceed', phase: 'decided' });
    expect(Date.parse(answer.cancelBy ?? '')).toBeGreaterThan(0);
    const open = await state();
    expect(open.phase).toBe('decided');
    const closed = await handle.result();
    expect(closed).toMatchObject({ phase: 'closed', decision: 'pass', action: 'proceed' });
    expect(world.reads).toBe(1);
    expect(world.eventTypes()).toEqual(['order.decided', 'order.closed']);
  });
});
