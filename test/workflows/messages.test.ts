import { describe, expect, it } from 'vitest';
import {
  acknowledgeUpdate,
  cancelUpdate,
  decisionUpdate,
  hintUpdate,
  recheckSignal,
  recordGatewayResultUpdate,
  reportFraudUpdate,
} from '../../src/orders/messages.ts';
import { again, answered, aPolicy, DAY, HOUR, MINUTE, withOrders } from './support.ts';

const { order } = withOrders();
const HINT = { source: 'webhook', receivedAt: '2026-03-02T10:00:00.000Z' };

describe('a request to cancel the workflow', () => {
  it('raises attention and changes nothing else: callers are still answered, and the order lives to its end', async () => {
    const { answer, handle, world, until } = await order();
    await handle.cancel();
    await until((state) => state.attention.some((one) => one.code === 'cancellation-requested'));
    expect(await handle.executeUpdate(decisionUpdate, { args: [{ attempt: 1 }] })).toEqual(answer);
    expect(await handle.executeUpdate(reportFraudUpdate, { args: [{}] })).toMatchObject({ status: 'done' });
    expect(await handle.result()).toMatchObject({ phase: 'closed', decision: 'pass' });
    expect(world.portalCalls).toMatchObject([{ fields: { kind: 'report-fraud' } }]);
    expect(world.eventTypes()).toEqual(['order.decided', 'order.attention', 'order.closed']);
  });

  it('doesn’t disturb a caller who waits', async () => {
    let slow = true;
    const { handle, world, pass, until } = await order();
    world.portal = async () => {
      if (slow) throw again(MINUTE);
      return { kind: 'done', code: '200' };
    };
    const asked = await handle.startUpdate(cancelUpdate, { args: [{}], waitForStage: 'ACCEPTED' });
    await handle.cancel();
    expect(await asked.result()).toMatchObject({ status: 'requested' });
    slow = false;
    await pass(2 * MINUTE);
    await until(({ phase }) => phase === 'canceled');
  });
});

describe('attention', () => {
  it('is cleared by an acknowledgement, and a cause that persists isn’t reported again', async () => {
    const { handle, world, pass, attention, events } = await order((world) => {
      world.screenings = [answered('review')];
      world.status = { kind: 'unreadable', words: 'The service does not know the transaction.' };
    });
    await pass(HOUR);
    expect(await attention()).toEqual(['status-error']);
    expect(await handle.executeUpdate(acknowledgeUpdate, { args: [{ reason: 'seen' }] })).toEqual({
      cleared: 1,
    });
    const before = await events();
    await pass(6 * HOUR);
    expect(await attention()).toEqual([]);
    expect(await events()).toBe(before);
    expect(world.eventTypes()).toEqual(['order.decided', 'order.attention']);
  });

  it('isn’t acknowledged without a reason', async () => {
    const { handle } = await order();
    await expect(handle.executeUpdate('acknowledge', { args: [{}] })).rejects.toMatchObject({
      cause: { type: 'invalid-request' },
    });
  });
});

describe('messages that can’t be read', () => {
  it.each([
    'cancel',
    'reportFraud',
    'submitChargeback',
    'retry',
    'recordGatewayResult',
    'decision',
    'acknowledge',
    'hint',
  ])('%s with nonsense does the order no harm', async (update) => {
    const { handle } = await order();
    for (const nonsense of [null, 'text', 7, [], { transactionId: 5, attempt: 'x', result: {} }]) {
      await handle.executeUpdate(update, { args: [nonsense] }).catch(() => undefined);
    }
    expect(await handle.executeUpdate(decisionUpdate, { args: [{ attempt: 1 }] })).toMatchObject({
      decision: 'pass',
    });
  });
});

describe('events', () => {
  it('leave in order while the receiver comes and goes', async () => {
    let calls = 0;
    const { handle, world } = await order((world) => {
      world.policy = aPolicy({ workflow: 'post-acceptance' });
      world.screenings = [answered('review')];
      world.status = { kind: 'read', decision: 'fail' };
      world.deliver = () => {
        calls += 1;
        if (calls % 3 !== 0) throw new Error('the receiver is down');
      };
    });
    const ended = await handle.result();
    expect(world.eventTypes()).toEqual([
      'order.decided',
      'order.review_resolved',
      'order.canceled',
      'order.closed',
    ]);
    expect(world.events.map((event) => event.sequence)).toEqual([1, 2, 3, 4]);
    expect(new Set(world.events.map((event) => event.id)).size).toBe(4);
    expect(ended.events).toEqual({ sequence: 4, delivered: 4, waiting: 0 });
  });

  it('that nobody takes for three days are given up, with attention until one arrives again', async () => {
    let deaf = true;
    const { handle, pass, attention, until } = await order((world) => {
      world.status = { kind: 'read', decision: 'review' };
      world.deliver = () => {
        if (deaf) throw new Error('the receiver is down');
      };
    });
    await pass(3 * DAY + HOUR);
    await until((state) => state.attention.length > 0);
    expect(await attention()).toEqual(['events-undelivered']);
    deaf = false;
    await handle.signal(recheckSignal);
    const now = await until((state) => state.events.delivered === 1);
    expect(now).toMatchObject({ phase: 'review', attention: [], events: { sequence: 2 } });
  });

  it('aren’t made when nobody wants them', async () => {
    const { handle, world } = await order((world) => {
      world.policy = aPolicy({ events: false });
    });
    expect((await handle.result()).events).toEqual({ sequence: 0, delivered: 0, waiting: 0 });
    expect(world.events).toEqual([]);
  });
});

describe('an order that waits', () => {
  it('writes no history while nothing happens', async () => {
    const { pass, events, until } = await order((world) => {
      world.screenings = [answered('review')];
      world.status = { kind: 'read', decision: 'review' };
    });
    await until((state) => state.events.waiting === 0);
    const before = await events();
    await pass(4 * DAY);
    expect(await events()).toBe(before);
  });

  it('ignores hints, rechecks and gateway results once it is canceled', async () => {
    const { handle, world } = await order((world) => {
      world.policy = aPolicy({ workflow: 'pre-gateway' });
    });
    await handle.executeUpdate(cancelUpdate, { args: [{}] });
    await expect(handle.executeUpdate(hintUpdate, { args: [HINT] })).rejects.toMatchObject({
      cause: { type: 'hint-not-needed' },
    });
    await handle.signal(recheckSignal);
    expect(
      await handle.executeUpdate(recordGatewayResultUpdate, { args: [{ result: 'pass' }] }),
    ).toMatchObject({ phase: 'canceled', action: 'cancel' });
    expect(world.reads).toBe(0);
  });
});

describe('a recheck', () => {
  it('of what the service doesn’t tell goes on until it does', async () => {
    const { handle, world, pass, until } = await order((world) => {
      world.status = { kind: 'unanswered' };
    });
    await handle.signal(recheckSignal);
    await pass(10 * MINUTE);
    expect(world.reads).toBe(1);
    world.status = { kind: 'read', decision: 'review' };
    await pass(2 * MINUTE);
    const read = await until((state) => state.decision === 'review');
    expect(read.attempts[0]?.readings.at(-1)?.source).toBe('operator');
  });

  it('of what the service doesn’t tell goes on when another answer could not be read meanwhile', async () => {
    const { handle, world, pass, until, attention } = await order((world) => {
      world.status = { kind: 'unanswered' };
    });
    await handle.signal(recheckSignal);
    await until(() => world.durableReads === 1);
    world.status = { kind: 'unreadable', words: 'A word that is no decision.' };
    await handle.signal(recheckSignal);
    await until((state) => state.attention.length === 1);
    world.status = { kind: 'read', decision: 'review' };
    await pass(2 * MINUTE);
    await until((state) => state.decision === 'review');
    expect(await attention()).toEqual([]);
  });
});
