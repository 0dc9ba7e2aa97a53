/** What an order starts and stops, and how it continues as new. */
import { describe, expect, it } from 'vitest';
import { begin, isFinished, mayContinueAsNew, resumed } from '../../src/orders/kernel.ts';
import type { Command } from '../../src/orders/order.ts';
import { aLife, Life, RECHECK, screened } from './life.ts';
import { answered, aPolicy, DAY, HOUR, MINUTE, NOT_SENT, sinceStart, TRANSACTION_ID } from './support.ts';

/** Returns the commands that this causes, in short. */
function commandsOf(life: Life, act: () => unknown): string[] {
  const before = life.commands.length;
  act();
  return life.commands.slice(before).map(inShort);
}

function inShort(command: Command): string {
  return command.do === 'start' ? `start ${command.running.effect.call.kind}` : command.do;
}

describe('what an order has under way', () => {
  it('begins after its checkout', () => {
    expect(aLife().commands).toEqual([]);
    expect(screened('review').commands.map(inShort)).toEqual(['start poll', 'start timer']);
  });

  it('stays as it is when nothing changed', () => {
    const life = screened('review');
    expect(begin(life.order)).toEqual([]);
  });

  it('a poll is stopped with the read that brings the decision, and the timers follow the new phase', () => {
    const life = screened('review').take(RECHECK);
    const ends = { kind: 'read', outcome: { kind: 'read', decision: 'pass' } } as const;
    expect(commandsOf(life, () => life.end(ends, HOUR))).toEqual(['drop', 'drop', 'start timer']);
    expect(life.underWay).toEqual([]);
  });

  it('a pass that is read as a review before the window closes is polled', () => {
    const life = screened('pass', { recheckLeadTimeMs: HOUR });
    expect(commandsOf(life, () => life.until(5 * DAY - HOUR))).toEqual(['start read', 'start timer']);
    const ends = { kind: 'read', outcome: { kind: 'read', decision: 'review' } } as const;
    expect(commandsOf(life, () => life.end(ends, 5 * DAY - HOUR))).toContain('start poll');
    expect(life.order.state.lastRead?.source).toBe('recheck');
  });

  it('a gateway’s result that replaces an error is sent once the one before it has ended', () => {
    const life = screened('pass', { workflow: 'pre-gateway' });
    life.ask({ kind: 'gateway-result', request: { result: 'error' } }, HOUR);
    life.ask({ kind: 'gateway-result', request: { result: 'pass' } }, HOUR);
    expect(life.calls('gateway')).toHaveLength(1);
    life.end({ kind: 'gateway', outcome: { kind: 'sent' } }, HOUR);
    expect(life.calls('gateway').map(({ request }) => request.gateway.result)).toEqual(['error', 'pass']);
    expect(life.order.state.attempts[0]?.gateway?.sent).toBeUndefined();
  });

  it('a batch of events is fixed when it is begun; what comes meanwhile leaves with the next', () => {
    const life = screened('review', { events: 'all' });
    life.end({ kind: 'poll', outcome: { kind: 'read', decision: 'pass' } }, HOUR);
    expect(life.calls('deliver').map((call) => call.events.length)).toEqual([1]);
    life.end({ kind: 'deliver' }, 2 * HOUR);
    expect(life.calls('deliver').map((call) => call.events.map(({ sequence }) => sequence))).toEqual([
      [1],
      [2],
    ]);
  });

  it('a timer is set for the next deadline only, at its own moment', () => {
    const life = screened('review');
    expect(life.calls('timer')).toMatchObject([{ at: sinceStart(4.5 * DAY) }]);
    life.until(4.5 * DAY);
    expect(life.calls('timer').at(-1)).toMatchObject({ at: sinceStart(30 * DAY) });
  });

  it('a screening in the background says since when a create may be under way', () => {
    const life = screened(NOT_SENT);
    expect(life.calls('catch-up')[0]?.request).not.toHaveProperty('unseenSince');
    life.end({ kind: 'catch-up', outcome: { kind: 'forbidden', unseenSince: sinceStart(1) } }, MINUTE);
    expect(life.calls('catch-up')[1]?.request).toMatchObject({ unseenSince: sinceStart(1) });
    life.end({ kind: 'catch-up', outcome: { kind: 'forbidden' } }, 2 * MINUTE);
    expect(life.calls('catch-up')[2]?.request).not.toHaveProperty('unseenSince');
  });
});

describe('a checkout that failed', () => {
  it('is answered without a decision, and the catch-up brings the policy', () => {
    const life = aLife({ answerBy: 9_000 });
    const ticket = life.ask({ kind: 'decision', request: { attempt: 1 } }, 0);
    life.checkOut(undefined);
    expect(life.replies.get(ticket)).toMatchObject({ checkout: { decision: 'pending', action: 'hold' } });
    expect(life.order.policyMissing).toBe(true);
    const [call] = life.calls('catch-up');
    expect(call?.request).toMatchObject({
      unseenSince: sinceStart(0),
      mayBeSkipped: true,
      policyMissing: true,
    });
    expect(call?.request).not.toHaveProperty('workflow');
    const policy = aPolicy({ workflow: 'pre-gateway', events: false });
    life.end({ kind: 'catch-up', outcome: answered('pass'), policy }, HOUR);
    expect(life.order).not.toHaveProperty('policyMissing');
    expect(life.order.state).toMatchObject({
      workflow: 'pre-gateway',
      decision: 'pass',
      phase: 'awaiting-gateway',
      policy,
    });
  });

  it('cancels nothing and sends no action until the policy is known; a passive one proceeds then', () => {
    const life = aLife().checkOut(undefined);
    expect(life.order.state.action).toBe('hold');
    const policy = aPolicy({ passive: true, workflow: 'post-acceptance' });
    life.end({ kind: 'catch-up', outcome: NOT_SENT, policy }, HOUR);
    expect(life.order.state).toMatchObject({ action: 'proceed', wouldBe: 'hold' });
    expect(life.calls('catch-up').at(-1)?.request).not.toHaveProperty('policyMissing');
    life.end({ kind: 'catch-up', outcome: answered('fail') }, 2 * HOUR);
    expect(life.order.state).toMatchObject({ action: 'proceed', wouldBe: 'cancel', actions: [] });
  });
});

describe('continuing as new', () => {
  it('a delivery that waits for its next try is canceled, awaited, and started by the next run', () => {
    const life = screened('pass', { events: 'all' });
    expect(mayContinueAsNew(life.order)).toBe(false);
    expect(commandsOf(life, () => life.wrapUp())).toEqual(['cancel']);
    expect(commandsOf(life, () => life.wrapUp())).toEqual([]);
    expect(mayContinueAsNew(life.order)).toBe(false);
    life.break('deliver', 'canceled');
    expect(mayContinueAsNew(life.order)).toBe(true);
    expect(life.order.outbox).toHaveLength(1);
    const again = new Life(resumed(structuredClone(life.order)));
    expect(again.order).not.toHaveProperty('continues');
    expect(again.calls('deliver').map(({ events }) => events.map(({ sequence }) => sequence))).toEqual([[1]]);
    again.end({ kind: 'deliver' }, HOUR);
    expect(again.order.state.events).toMatchObject({ delivered: 1, waiting: 0 });
  });

  it('a delivery that ends all the same is not repeated', () => {
    const life = screened('pass', { events: 'all' }).wrapUp().end({ kind: 'deliver' }, HOUR);
    expect(new Life(resumed(structuredClone(life.order))).calls('deliver')).toEqual([]);
  });

  it('takes everything along as plain data, and begins what was under way anew', () => {
    const life = screened('review', { events: 'all' });
    const taken = JSON.parse(JSON.stringify(resumed(life.order)));
    const again = new Life(taken);
    expect(again.underWay).toEqual(life.underWay);
    expect(again.calls('poll')).toMatchObject([
      { request: { transactionId: TRANSACTION_ID, known: 'review' } },
    ]);
    expect(again.calls('deliver')).toHaveLength(1);
    expect(again.calls('timer')).toMatchObject([{ at: sinceStart(4.5 * DAY) }]);
    expect(again.order.started).toBeGreaterThan(life.order.started);
  });

  it('keeps a portal action that failed and waits to be sent again', () => {
    const life = screened('pass');
    life.ask({ kind: 'portal', fields: { kind: 'report-fraud', reason: 'stolen' } }, HOUR);
    life.break('portal');
    life.until(HOUR + MINUTE);
    expect(mayContinueAsNew(life.order)).toBe(true);
    const again = new Life(resumed(structuredClone(life.order))).until(2 * HOUR);
    expect(again.calls('portal')).toMatchObject([
      { request: { maybeDone: true, fields: { reason: 'stolen' } } },
    ]);
  });
});

describe('nothing is left', () => {
  it('when the order is closed, said so, and has told everyone', () => {
    const life = screened({ kind: 'skipped', rule: 0 });
    expect(life.order.state).toMatchObject({ phase: 'closed', endedAt: expect.any(String) });
    expect(isFinished(life.order)).toBe(true);
    const announced = screened({ kind: 'skipped', rule: 0 }, { events: 'all' });
    expect(announced.order.outbox.map(({ type }) => type)).toEqual(['order.decided', 'order.closed']);
    expect(isFinished(announced.order)).toBe(false);
    expect(isFinished(announced.end({ kind: 'deliver' }, MINUTE).order)).toBe(true);
  });

  it('not while a card is to be deleted', () => {
    const life = screened({ kind: 'skipped', rule: 0 }, {}, aLife({ cardRef: 'card-1' }));
    expect(isFinished(life.order)).toBe(false);
    expect(isFinished(life.end({ kind: 'forget-card' }, MINUTE).order)).toBe(true);
  });

  it('not while somebody waits for an answer', () => {
    const life = screened('fail');
    life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, MINUTE);
    expect(isFinished(life.order)).toBe(false);
    life.end({ kind: 'retry-screening', outcome: answered('fail', 'second') }, MINUTE);
    expect(isFinished(life.until(2 * HOUR).order)).toBe(true);
  });
});
