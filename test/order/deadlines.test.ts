import { describe, expect, it } from 'vitest';
import type { OrderState } from '../../src/contract/order/state.ts';
import type { Policy } from '../../src/contract/policy.ts';
import type { DeadlineKind, Decision } from '../../src/contract/words.ts';
import { nextDeadline } from '../../src/order/deadlines.ts';
import { applyReading } from '../../src/order/decide.ts';
import { applyPortalOutcome, queueAction } from '../../src/order/portal/portal-records.ts';
import { addAttempt, screenAgain, screensAgain } from '../../src/order/record.ts';
import { applyScreening } from '../../src/order/screening/apply-screening.ts';
import {
  anOrder,
  answered,
  attention,
  cancelOf,
  DAY,
  HOUR,
  lifeOf,
  MINUTE,
  NO_RESCREENS,
  NOT_SENT,
  next,
  passUntil,
  screen,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from '../fixtures/orders.ts';
import { HINT, type Life, screened } from './life.ts';

const PRE = { workflow: 'pre-gateway' } as const;
const POST = { workflow: 'post-acceptance' } as const;
const SKIPPED = { kind: 'skipped', rule: 0 } as const;
const CLOSES: [DeadlineKind, number] = ['closes', 5 * DAY];
const RECHECK: [DeadlineKind, number] = ['recheck', 4.5 * DAY];
const GIVEN_UP: [DeadlineKind, number] = ['screening-deadline', DAY];

function read(order: OrderState, decision: Decision, at: number): void {
  applyReading(order, { kind: 'read', decision }, 'poll', sinceStart(at));
}

function canceled(order: OrderState): OrderState {
  const record = queueAction(order, { kind: 'cancel' }, 'caller', sinceStart(HOUR));
  applyPortalOutcome(order, record, { kind: 'done' }, sinceStart(HOUR));
  return order;
}

function passedLater(at = MINUTE): OrderState {
  const order = anOrder('review', { ...PRE, reviewBeforeGateway: 'hold' });
  read(order, 'pass', at);
  return order;
}

function retried(): OrderState {
  const order = anOrder('fail');
  addAttempt(order, {}, sinceStart(30 * MINUTE));
  screen(order, answered('fail', 'second'), 30 * MINUTE);
  return order;
}

describe('what happens by itself', () => {
  it.each<[string, OrderState, string, [DeadlineKind, number][], string[]?]>([
    ['to a pass: it is read once more, and closed', anOrder('pass'), 'pass proceed', [RECHECK, CLOSES]],
    ['to a declined order: it is closed after an hour', anOrder('fail'), 'fail decline', [['closes', HOUR]]],
    ['to the next attempt: the same again', retried(), 'fail decline', [['closes', 90 * MINUTE]]],
    [
      'to a fail after acceptance that nobody cancels: attention, then the end of the window',
      anOrder('fail', { ...POST, autoCancel: false }),
      'fail cancel',
      [['cancel-reminder', 4.5 * DAY], CLOSES],
      ['cancel-due'],
    ],
    ['to a skipped order: nothing, it is closed', anOrder(SKIPPED), 'skipped proceed', [['closes', 0]]],
    [
      'to a skipped order before the gateway: its result is waited for, for a day',
      anOrder(SKIPPED, PRE),
      'skipped proceed',
      [['closes', DAY]],
    ],
    [
      'to an order canceled before anybody was told to go to the gateway: nothing, no result is waited for',
      canceled(anOrder('review', { ...PRE, reviewBeforeGateway: 'hold' })),
      'review cancel',
      [['closes', HOUR]],
    ],
    [
      'to an order canceled after its review passed before the gateway: the result is waited for, for a day',
      canceled(passedLater()),
      'pass cancel',
      [['closes', HOUR + DAY]],
    ],
    [
      'to an order whose gateway says nothing: attention after a day, once',
      anOrder('pass', PRE),
      'pass proceed',
      [['gateway-late', DAY], RECHECK, CLOSES],
      ['gateway-late'],
    ],
    [
      'to an order whose gateway says nothing until the window closes: attention at the end',
      passedLater(100 * HOUR),
      'pass proceed',
      [RECHECK, CLOSES],
      ['gateway-late'],
    ],
    [
      'to an order that passes after its window: the same',
      passedLater(150 * HOUR),
      'pass proceed',
      [CLOSES],
      ['gateway-late'],
    ],
    [
      'to an order without an answer: it is given up after a day, and the action stands',
      anOrder(unanswered(), { whenUnavailable: 'proceed' }),
      'error proceed',
      [GIVEN_UP, CLOSES],
      ['no-decision'],
    ],
    [
      'to an order that surely was never sent: its window ends, counted from its start',
      anOrder(NOT_SENT),
      'error hold',
      [GIVEN_UP, CLOSES],
      ['no-decision'],
    ],
    [
      'to a rescreen that the service doesn’t answer: the screening deadline ends it',
      anOrder('error'),
      'error hold',
      [['rescreen', MINUTE], GIVEN_UP, CLOSES],
      ['no-decision'],
    ],
  ])('%s', (_what, order, means, passed, codes = []) => {
    expect(lifeOf(order)).toEqual(passed);
    expect([`${order.decision} ${order.action}`, attention(order)]).toEqual([means, codes]);
  });

  it('to a pass: it isn’t read again when it was read as late as that, or the policy turns it off, or is passive', () => {
    const late = anOrder('review');
    read(late, 'pass', 4.6 * DAY);
    const others = [{ recheckLeadTimeMs: 0 }, { passive: true }].map((policy) => anOrder('pass', policy));
    for (const order of [late, ...others]) expect(next(order).kind).toBe('closes');
  });

  it('to a review: attention half a day before the window closes, and the end after 30 days', () => {
    const order = anOrder('review');
    const events = ['order.attention'];
    expect(next(order)).toMatchObject({
      kind: 'review-lead',
      at: 4.5 * DAY,
      follows: { events, cancel: false },
    });
    expect(order).toMatchObject({ phase: 'review', action: 'hold' });
    expect(next(order)).toMatchObject({ kind: 'review-limit', at: 30 * DAY, follows: { events } });
    expect(order).toMatchObject({ phase: 'closed', action: 'hold', endedAt: expect.any(String) });
    expect(attention(order)).toEqual(['review-unresolved', 'review-limit']);
  });

  it('to a review that the policy cancels, and that can’t be read: a cancel halfway to the last call, whatever autoCancel says', () => {
    const order = anOrder('review', { onUnresolvedReview: 'cancel', autoCancel: false });
    expect(next(order).follows).toEqual({ kinds: ['review-lead'], events: [], cancel: false });
    const follows = {
      kinds: ['review-cancel', 'cancel-reminder'],
      events: ['order.attention'],
      cancel: true,
    };
    expect(next(order)).toMatchObject({ kind: 'review-cancel', at: 4.75 * DAY - 15_000, follows });
    expect(order).toMatchObject({ phase: 'decided', decision: 'review', action: 'cancel' });
    expect(order.actions).toMatchObject([{ kind: 'cancel', by: 'policy' }]);
  });

  it.each<[string, Partial<Policy>, number]>([
    ['whose lead time is little more than the last stretch', { reviewLeadTimeMs: 40_000 }, 5 * DAY - 35_000],
    ['whose limit comes before the last call', { reviewLimitMs: 4.6 * DAY }, 4.55 * DAY],
  ])('to a review that the policy cancels, %s: in time for both', (_which, policy, at) => {
    const order = anOrder('review', { onUnresolvedReview: 'cancel', ...policy });
    next(order);
    expect(next(order)).toMatchObject({ kind: 'review-cancel', at });
  });

  it('to a review that the policy cancels while somebody’s cancel is under way, or in passive mode: no cancel', () => {
    const joined = anOrder('review', { onUnresolvedReview: 'cancel' });
    queueAction(joined, { kind: 'cancel' }, 'caller', sinceStart(4 * DAY));
    const passive = anOrder('review', { onUnresolvedReview: 'cancel', passive: true });
    for (const order of [joined, passive]) {
      next(order);
      expect(next(order).follows.cancel).toBe(false);
    }
    expect([joined.action, passive.action]).toEqual(['cancel', 'proceed']);
    // It is still polled, but without passive mode it would be canceled.
    read(passive, 'pass', 4.8 * DAY);
    expect(passive).toMatchObject({ decision: 'pass', action: 'proceed', wouldBe: 'cancel' });
  });

  it.each([
    ['after the window', 7 * DAY],
    ['between its last call and its end', 5 * DAY - 10_000],
  ])('to a review that fails %s: it is closed at once, without a reminder', (_when, at) => {
    const order = anOrder('review');
    next(order);
    read(order, 'fail', at);
    const { kinds } = passUntil(order, sinceStart(Math.max(at, 5 * DAY)), sinceStart(at));
    expect(kinds).toEqual(['cancel-reminder', 'closes']);
    expect(attention(order)).toEqual(['failed-after-window']);
  });

  it('to a pass that turns into a review: its limit counts from then', () => {
    const order = anOrder('pass', { reviewLimitMs: 2 * DAY });
    read(order, 'review', 3 * DAY);
    expect(lifeOf(order)).toEqual([
      ['review-lead', 4.5 * DAY],
      ['review-limit', 5 * DAY],
    ]);
  });

  it('to a pass that turns into a review after the lead time: attention at once, and again after each turn', () => {
    const order = anOrder('pass');
    read(order, 'review', 4.8 * DAY);
    expect(next(order).follows.events).toEqual(['order.attention']);
    read(order, 'pass', 4.85 * DAY);
    expect(attention(order)).toEqual([]);
    read(order, 'review', 4.9 * DAY);
    expect(next(order).follows.events).toEqual(['order.attention']);
  });

  it('to an error: three rescreens a minute apart, then it stands', () => {
    const order = anOrder('error');
    for (const tried of [1, 2, 3]) {
      expect(next(order)).toMatchObject({ kind: 'rescreen', at: tried * MINUTE });
      expect(order.attempts[0]).toMatchObject({ rescreens: tried, rescreenDue: true });
      expect(nextDeadline(order)?.kind).toBe('screening-deadline');
      const moment = { source: 'rescreen', now: sinceStart(tried * MINUTE) } as const;
      const events = applyScreening(order, answered('error', `t${tried}`), moment);
      expect(events).toEqual(tried < 3 ? [] : ['order.decided', 'order.attention']);
    }
    expect(order).toMatchObject({ phase: 'decided', decision: 'error', action: 'hold' });
    expect(lifeOf(order)).toEqual([CLOSES]);
  });

  it('to an error that an operator has screened again: a new screening deadline, and no rescreen by itself', () => {
    const order = anOrder('error', NO_RESCREENS);
    expect([screensAgain(order), screensAgain(anOrder('pass'))]).toEqual([true, false]);
    screenAgain(order, sinceStart(2 * DAY));
    expect(order).toMatchObject({ phase: 'screening', attempts: [{ rescreenDue: true }] });
    expect(next(order)).toMatchObject({ kind: 'screening-deadline', at: 3 * DAY });
    expect(order.phase).toBe('decided');
  });
});

describe('the reminder of a cancel', () => {
  const LEAD = 4.5 * DAY;
  const fails = (life: Life, at: number) => life.take(HINT).read('fail', at);

  it('comes although another attempt’s transaction was canceled since it was due', () => {
    const life = screened('fail', { autoCancel: false })
      .retry(2, MINUTE)
      .retried('pass', 2 * MINUTE);
    life.portal(cancelOf(TRANSACTION_ID), LEAD + HOUR).portalEnds('done', LEAD + HOUR);
    expect(fails(life, LEAD + 2 * HOUR).attention).toEqual(['cancel-due']);
  });

  it('comes although a cancel was requested and withdrawn since it was due', () => {
    const life = screened('pass', { autoCancel: false }).portal('cancel', LEAD + HOUR);
    life.withdraw(1, LEAD + HOUR).portalEnds('not-sent', LEAD + HOUR);
    expect(fails(life, LEAD + 2 * HOUR).attention).toEqual(['cancel-due']);
  });

  it('comes when the cancel is withdrawn after it was due', () => {
    const life = fails(screened('pass'), LEAD + HOUR).withdraw(1, LEAD + 2 * HOUR);
    expect(life.attention).toEqual([]);
    expect(life.portalEnds('not-sent', LEAD + 2 * HOUR).attention).toEqual(['cancel-due']);
  });

  it('comes for a cancel that a caller asked for long before, and ends when that is withdrawn', () => {
    const life = screened('pass').portal('cancel', DAY).until(LEAD);
    expect([life.attention, life.state.action]).toEqual([['cancel-due'], 'proceed']);
    expect(life.withdraw(1, LEAD + HOUR).portalEnds('not-sent', LEAD + HOUR).attention).toEqual([]);
  });

  it('comes for a cancel of a review that a person let proceed', () => {
    const life = screened('review').override('proceed', HOUR).portal('cancel', DAY).until(LEAD);
    expect([life.state.phase, life.attention]).toEqual(['review', ['cancel-due']]);
  });

  it('of a fail stays when the cancel that a caller asked for is withdrawn', () => {
    const asked = screened('pass', { autoCancel: false }).portal('cancel', DAY);
    const life = fails(asked, 2 * DAY).until(LEAD);
    life.withdraw(1, LEAD + HOUR).portalEnds('not-sent', LEAD + HOUR);
    expect(life.attention).toEqual(['cancel-due']);
  });

  it('doesn’t come while a cancel of the newest transaction runs', () => {
    expect(fails(screened('pass'), LEAD + HOUR).until(LEAD + 2 * HOUR).attention).toEqual([]);
  });
});
