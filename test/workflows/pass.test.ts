import { describe, expect, it } from 'vitest';
import { recheckSignal, reportFraudUpdate } from '../../src/orders/messages.ts';
import { HOUR, withOrders } from './support.ts';

const { order } = withOrders();

describe('a pass', () => {
  it('is read once more before the window closes; a fail is canceled in time', async () => {
    const { handle, world } = await order((world) => {
      world.status = { kind: 'read', decision: 'fail' };
    });
    expect(await handle.result()).toMatchObject({ phase: 'canceled', decision: 'fail', action: 'cancel' });
    expect(world.reads).toBe(1);
    expect(world.eventTypes()).toEqual([
      'order.decided',
      'order.decision_changed',
      'order.canceled',
      'order.closed',
    ]);
  });

  it('that turns into a review is held and polled again', async () => {
    const { handle, world, until } = await order((world) => {
      world.status = { kind: 'read', decision: 'review' };
    });
    await handle.signal(recheckSignal);
    await until((state) => state.phase === 'review');
    world.status = { kind: 'read', decision: 'pass' };
    expect(await handle.result()).toMatchObject({ phase: 'closed', decision: 'pass', action: 'proceed' });
    expect(world.polls).toBeGreaterThan(0);
    expect(world.eventTypes()).toEqual([
      'order.decided',
      'order.decision_changed',
      'order.review_resolved',
      'order.closed',
    ]);
  });

  it('that is reported as fraud keeps its action and is polled until the decision changes', async () => {
    const { handle, world, pass, state } = await order();
    const answer = await handle.executeUpdate(reportFraudUpdate, { args: [{}] });
    expect(answer).toMatchObject({
      kind: 'report-fraud',
      status: 'done',
      action: 'proceed',
      phase: 'decided',
    });
    await pass(HOUR);
    expect(world.polls).toBeGreaterThan(3);
    expect(await state()).toMatchObject({ action: 'proceed' });
    world.status = { kind: 'read', decision: 'fraudulent' };
    expect(await handle.result()).toMatchObject({ phase: 'canceled', decision: 'fraudulent' });
  });
});
