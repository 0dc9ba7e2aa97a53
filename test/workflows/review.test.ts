import { describe, expect, it } from 'vitest';
import { cancelUpdate, hintUpdate, reviewHintSignal } from '../../src/orders/messages.ts';
import { again, answered, aPolicy, DAY, HOUR, MINUTE, type World, withOrders } from './support.ts';

const { order } = withOrders();
const HINT = { source: 'webhook', receivedAt: '2026-03-02T10:00:00.000Z' };

function inReview(policy = aPolicy()): (world: World) => void {
  return (world) => {
    world.policy = policy;
    world.screenings = [answered('review')];
    world.status = { kind: 'read', decision: 'review' };
  };
}

describe('a review', () => {
  it.each([
    ['pass', 'proceed', 'closed', ['order.decided', 'order.review_resolved', 'order.closed'], 0],
    [
      'fail',
      'cancel',
      'canceled',
      ['order.decided', 'order.review_resolved', 'order.canceled', 'order.closed'],
      1,
    ],
  ] as const)(
    'that is resolved to %s is found by the poll: %s',
    async (decision, action, phase, events, cancels) => {
      const { answer, handle, world, pass } = await order(inReview());
      expect(answer).toMatchObject({ decision: 'review', action: 'hold', phase: 'review' });
      await pass(3 * HOUR);
      expect(world.polls).toBeGreaterThan(10);
      world.status = { kind: 'read', decision };
      expect(await handle.result()).toMatchObject({ phase, decision, action });
      expect(world.eventTypes()).toEqual(events);
      expect(world.portalCalls).toHaveLength(cancels);
    },
  );

  it('costs the same history for 3 polls as for 400', async () => {
    const lengths: number[] = [];
    for (const ms of [40 * MINUTE, 100 * HOUR]) {
      const { handle, world, pass, until } = await order(inReview());
      await pass(ms);
      world.status = { kind: 'read', decision: 'pass' };
      await pass(HOUR);
      await until((state) => state.decision === 'pass' && state.events.waiting === 0);
      // Two things that end together share a workflow task or not: what they are made of is the same.
      const made = ((await handle.fetchHistory()).events ?? []).filter(
        (event) =>
          !event.workflowTaskScheduledEventAttributes &&
          !event.workflowTaskStartedEventAttributes &&
          !event.workflowTaskCompletedEventAttributes,
      );
      lengths.push(made.length);
      if (ms > HOUR) expect(world.polls).toBeGreaterThan(399);
      else expect(world.polls).toBeLessThan(12);
    }
    expect(lengths[0]).toBe(lengths[1]);
  });

  it('is read once at a hint, and at another when the spacing ends', async () => {
    const { handle, world, pass, until } = await order(inReview());
    await handle.executeUpdate(hintUpdate, { args: [HINT] });
    await until((state) => state.lastRead?.source === 'webhook');
    await pass(3_000);
    expect(world.reads).toBe(1);
    await handle.executeUpdate(hintUpdate, { args: [HINT] });
    await until(() => world.reads === 2);
    world.status = { kind: 'read', decision: 'pass' };
    await handle.executeUpdate(hintUpdate, { args: [HINT] });
    expect(world.reads).toBe(2);
    await pass(5_000);
    expect(await until((state) => state.phase === 'decided')).toMatchObject({ action: 'proceed' });
    expect(world.reads).toBe(3);
  });

  it('is not decided by a poll that asked before a hint did, and answers after it', async () => {
    let arrive: () => void = () => undefined;
    const { handle, world, pass, until } = await order((world) => {
      inReview()(world);
      world.pollOnItsWay = () => new Promise((resolve) => (arrive = resolve));
    });
    world.status = { kind: 'read', decision: 'pass' };
    // Time isn't skipped while an activity runs.
    const passing = pass(2 * MINUTE);
    await until(() => world.polls === 1);
    world.status = { kind: 'read', decision: 'review' };
    await handle.executeUpdate(hintUpdate, { args: [HINT] });
    await until((state) => state.lastRead?.source === 'webhook');
    world.status = { kind: 'read', decision: 'fail' };
    arrive();
    // Not beside the result: each unlocks the server's clock, and two unlocks leave its count of locks wrong for good.
    await passing;
    expect(await handle.result()).toMatchObject({ phase: 'canceled', decision: 'fail' });
    expect(world.eventTypes()).not.toContain('order.decision_changed');
  });

  it('is never decided by what a hint says', async () => {
    const { handle, until } = await order(inReview());
    await handle.executeUpdate(hintUpdate, { args: [{ ...HINT, decision: 'pass' }] });
    expect(await until((state) => state.lastRead?.source === 'webhook')).toMatchObject({
      decision: 'review',
    });
  });

  it('writes no history for a flood of hints', async () => {
    const { handle, world, until } = await order(inReview());
    await handle.executeUpdate(hintUpdate, { args: [HINT] });
    await until((state) => state.hints.until !== undefined);
    const refused = await Promise.allSettled(
      Array.from({ length: 50 }, () => handle.executeUpdate(hintUpdate, { args: [HINT] })),
    );
    expect(refused.filter((one) => one.status === 'rejected')).toHaveLength(49);
    const { events } = await handle.fetchHistory();
    const accepted = events?.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes);
    expect(accepted).toHaveLength(3);
    expect(world.reads).toBe(1);
  });

  it('ignores a hint for another transaction', async () => {
    const { handle, world } = await order(inReview());
    await expect(
      handle.executeUpdate(hintUpdate, { args: [{ ...HINT, transactionId: 'another' }] }),
    ).rejects.toMatchObject({ cause: { type: 'hint-not-needed' } });
    expect(world.reads).toBe(0);
  });

  it('survives signals sent by hand with nothing in them', async () => {
    const { handle, until } = await order(inReview());
    await handle.signal('reviewHint');
    await handle.signal('reviewHint', null);
    await until((state) => state.lastRead?.source === 'webhook');
  });

  it('keeps a hint that comes while it is screened, and reads it after the decision', async () => {
    const { handle, world, until, pass } = await order((world) => {
      world.screenings = [{ kind: 'unanswered', reason: 'timeout', maybeSent: true }];
      world.status = { kind: 'read', decision: 'pass' };
    });
    await handle.signal(reviewHintSignal, HINT);
    await until((state) => state.hints.unread);
    expect(world.reads).toBe(0);
    world.screenings = [answered('review')];
    await pass(MINUTE);
    expect(await until((state) => state.decision === 'pass')).toMatchObject({ phase: 'decided' });
  });

  it('keeps a hint that comes while it is screened, and reads it even if the window has closed meanwhile', async () => {
    const { handle, world, pass, until } = await order((world) => {
      world.policy = aPolicy({ cancelWindowMs: MINUTE });
      world.screenings = [{ kind: 'unanswered', reason: 'timeout', maybeSent: true }];
      world.catchUp = async () => {
        if (world.status.kind !== 'read') throw again(HOUR);
        return answered('pass');
      };
      world.status = { kind: 'unanswered' };
    });
    await handle.signal(reviewHintSignal, HINT);
    await until((state) => state.hints.unread);
    world.status = { kind: 'read', decision: 'fail' };
    await pass(2 * HOUR);
    const ended = await handle.result();
    expect(ended).toMatchObject({ phase: 'closed', decision: 'fail', action: 'cancel' });
    expect(ended.attention.map(({ code }) => code)).toContain('failed-after-window');
    expect(world.portalCalls).toEqual([]);
  });

  it('unresolved: attention half a day before the window closes, still polled after it, then closed', async () => {
    const { handle, world, pass, attention } = await order(inReview());
    await pass(4.6 * DAY);
    expect(await attention()).toEqual(['review-unresolved']);
    await pass(DAY);
    const polls = world.polls;
    await pass(DAY);
    expect(world.polls).toBeGreaterThan(polls);
    expect(await handle.result()).toMatchObject({ phase: 'closed', decision: 'review', action: 'hold' });
    expect(world.eventTypes()).toEqual([
      'order.decided',
      'order.attention',
      'order.attention',
      'order.closed',
    ]);
    expect(world.portalCalls).toEqual([]);
  });

  it('unresolved, with the policy to cancel: canceled with the service though autoCancel is off', async () => {
    const { handle, world } = await order(
      inReview(aPolicy({ onUnresolvedReview: 'cancel', autoCancel: false })),
    );
    expect(await handle.result()).toMatchObject({
      phase: 'canceled',
      decision: 'review',
      action: 'cancel',
      attention: [],
    });
    expect(world.portalCalls).toMatchObject([{ fields: { kind: 'cancel' } }]);
    expect(world.eventTypes()).toEqual([
      'order.decided',
      'order.attention',
      'order.canceled',
      'order.closed',
    ]);
  });

  it('unresolved while somebody’s cancel is under way: canceled, and told of, once', async () => {
    let down = true;
    const { handle, world, pass, until } = await order((world) => {
      inReview(aPolicy({ onUnresolvedReview: 'cancel' }))(world);
      world.portal = async () => {
        if (down) throw again(HOUR);
        return { kind: 'done', code: '200' };
      };
    });
    await pass(4 * DAY);
    await handle.startUpdate(cancelUpdate, { args: [{}], waitForStage: 'ACCEPTED' });
    await pass(DAY * 0.7);
    down = false;
    await until((state) => state.attention.some((one) => one.code === 'review-unresolved'));
    const ended = await handle.result();
    expect(ended.actions).toMatchObject([{ by: 'caller', status: 'done' }]);
    expect(world.eventTypes().filter((type) => type === 'order.canceled')).toHaveLength(1);
  });

  it('that fails after the window: action cancel and attention, and the portal isn’t called', async () => {
    const { handle, world, pass } = await order(inReview());
    await pass(6 * DAY);
    world.status = { kind: 'read', decision: 'fail' };
    const ended = await handle.result();
    expect(ended).toMatchObject({ phase: 'closed', decision: 'fail', action: 'cancel' });
    expect(ended.attention.map((one) => one.code)).toEqual(['failed-after-window']);
    expect(world.portalCalls).toEqual([]);
  });

  it('with a wrong key: one attention, a quiet history, and on by itself', async () => {
    const { handle, world, pass, attention, events } = await order(inReview());
    world.status = { kind: 'forbidden' };
    await pass(HOUR);
    expect(await attention()).toEqual(['wrong-key']);
    const before = await events();
    await pass(12 * HOUR);
    expect(await events()).toBe(before);
    world.status = { kind: 'read', decision: 'pass' };
    expect(await handle.result()).toMatchObject({ decision: 'pass', attention: [] });
  });

  it('that the service no longer knows: one attention, and it goes on polling', async () => {
    const { handle, world, pass, attention } = await order(inReview());
    world.status = { kind: 'unreadable', words: 'The service does not know the transaction.' };
    await pass(6 * HOUR);
    expect(await attention()).toEqual(['status-error']);
    world.status = { kind: 'read', decision: 'pass' };
    expect(await handle.result()).toMatchObject({ decision: 'pass', attention: [] });
  });
});
