import { describe, expect, it } from 'vitest';
import { aPolicy, decided, HOUR, MINUTE, withOrders } from './support.ts';

const { order } = withOrders();
const inReview = decided('review', aPolicy({ events: 'all' }));
const TASK = /^workflowTask(Scheduled|Started|Completed)EventAttributes$/;

describe('a review', () => {
  it('costs the same history for 3 polls as for 400', async () => {
    const lengths: number[] = [];
    for (const ms of [40 * MINUTE, 100 * HOUR]) {
      const { handle, world, pass, until } = await order(inReview);
      await pass(ms);
      world.status = { kind: 'read', decision: 'pass' };
      await pass(HOUR);
      await until((state) => state.decision === 'pass' && state.events.waiting === 0);
      // Two things that end together share a workflow task or not: what they are made of is the same.
      const { events } = await handle.fetchHistory();
      const made = (events ?? []).filter((event) => !Object.keys(event).some((name) => TASK.test(name)));
      lengths.push(made.length);
      if (ms > HOUR) expect(world.polls).toBeGreaterThan(399);
      else expect(world.polls).toBeLessThan(12);
    }
    expect(lengths[0]).toBe(lengths[1]);
  });

  it('survives signals sent by hand with nothing in them', async () => {
    const { handle, until } = await order(inReview);
    await handle.signal('reviewHint');
    await handle.signal('reviewHint', null);
    await until((state) => state.lastRead?.source === 'webhook');
  });
});

describe('a pass', () => {
  it('is read once more before the window closes; a fail is canceled in time', async () => {
    const { handle, world } = await order((one) => {
      one.policy = aPolicy({ events: 'all' });
      one.status = { kind: 'read', decision: 'fail' };
    });
    expect(await handle.result()).toMatchObject({ phase: 'canceled', decision: 'fail', action: 'cancel' });
    expect(world.reads).toBe(1);
    const events = ['order.decided', 'order.decision_changed', 'order.canceled', 'order.closed'];
    expect(world.eventTypes()).toEqual(events);
  });
});
