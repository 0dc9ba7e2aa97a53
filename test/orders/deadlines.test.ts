import { describe, expect, it } from 'vitest';
import type { Policy } from '../../src/contract/policy.ts';
import type { OrderState } from '../../src/contract/state.ts';
import type { DeadlineKind, Decision } from '../../src/contract/words.ts';
import { applyReading } from '../../src/orders/apply-reading.ts';
import { applyScreening } from '../../src/orders/apply-screening.ts';
import { applyGatewayResult } from '../../src/orders/concerns/gateway.ts';
import { nextDeadline } from '../../src/orders/deadlines.ts';
import { applyPortalOutcome, queueAction } from '../../src/orders/portal-records.ts';
import { addAttempt, screenAgain, screensAgain, setPhase } from '../../src/orders/record.ts';
import {
  aNewOrder,
  anOrder,
  answered,
  attention,
  DAY,
  HOUR,
  lifeOf,
  MINUTE,
  NOT_SENT,
  next,
  passUntil,
  screen,
  sinceStart,
  unanswered,
} from '../fixtures/orders.ts';

const PRE = { workflow: 'pre-gateway' } as const;
const POST = { workflow: 'post-acceptance' } as const;
const SKIPPED = { kind: 'skipped', rule: 0 } as const;
const CLOSES: [DeadlineKind, number] = ['window-closes', 5 * DAY];
const RECHECK: [DeadlineKind, number] = ['recheck', 4.5 * DAY];

function read(order: OrderState, decision: Decision, at: number): void {
  applyReading(order, { kind: 'read', decision }, 'poll', sinceStart(at));
}

describe('what happens by itself', () => {
  it.each<[string, () => OrderState, [DeadlineKind, number][], string[], object]>([
    [
      'to a pass: it is read once more half a day before the window closes, and closed with it',
      () => anOrder('pass'),
      [RECHECK, CLOSES],
      [],
      { phase: 'closed', decision: 'pass', action: 'proceed' },
    ],
    [
      'to a declined order: it is closed after an hour',
      () => anOrder('fail'),
      [['retry-over', HOUR]],
      [],
      { phase: 'closed', action: 'decline' },
    ],
    [
      'to a fail after acceptance that nobody cancels: attention, then the end of the window',
      () => anOrder('fail', { ...POST, autoCancel: false }),
      [['cancel-reminder', 4.5 * DAY], CLOSES],
      ['cancel-due'],
      { action: 'cancel' },
    ],
    [
      'to a skipped order: nothing, it is closed',
      () => anOrder(SKIPPED),
      [['nothing-left', 0]],
      [],
      { phase: 'closed', decision: 'skipped', action: 'proceed' },
    ],
    [
      'to a skipped order before the gateway: its result is waited for, for a day',
      () => anOrder(SKIPPED, PRE),
      [['gateway-over', DAY]],
      [],
      { phase: 'closed' },
    ],
    [
      'to a skipped order whose gateway result came: nothing',
      () => {
        const order = anOrder(SKIPPED, PRE);
        applyGatewayResult(order, { result: 'pass' }, sinceStart(HOUR));
        return order;
      },
      [['nothing-left', 0]],
      [],
      { attempts: [{ gateway: { result: 'pass', sent: 'recorded' } }] },
    ],
    [
      'to an order canceled before anybody was told to go to the gateway: nothing, no result is waited for',
      () => {
        const order = anOrder('review', { ...PRE, reviewBeforeGateway: 'hold' });
        const record = queueAction(order, { kind: 'cancel' }, 'caller', sinceStart(HOUR));
        applyPortalOutcome(order, record, { kind: 'done' }, sinceStart(HOUR));
        return order;
      },
      [['nothing-left', HOUR]],
      [],
      { phase: 'canceled' },
    ],
    [
      'to an order whose gateway says nothing: attention after a day, once',
      () => anOrder('pass', PRE),
      [['gateway-late', DAY], RECHECK, CLOSES],
      ['gateway-late'],
      { phase: 'closed' },
    ],
    [
      'to an order without an answer: it is given up after a day, and the action stands',
      () => anOrder(unanswered(), { whenUnavailable: 'proceed' }),
      [['screening-deadline', DAY], CLOSES],
      ['no-decision'],
      { decision: 'error', action: 'proceed' },
    ],
    [
      'to an order that surely was never sent: its window ends, counted from its start',
      () => anOrder(NOT_SENT),
      [['screening-deadline', DAY], CLOSES],
      ['no-decision'],
      { decision: 'error', action: 'hold' },
    ],
    [
      'to a rescreen that the service doesn’t answer: the screening deadline ends it',
      () => anOrder('error'),
      [['rescreen', MINUTE], ['screening-deadline', DAY], CLOSES],
      ['no-decision'],
      { decision: 'error' },
    ],
    [
      'again for another attempt, whose deadlines are its own',
      () => {
        const order = anOrder('fail');
        addAttempt(order, {}, sinceStart(30 * MINUTE));
        screen(order, answered('fail', 'second'), 30 * MINUTE);
        return order;
      },
      [['retry-over', 90 * MINUTE]],
      [],
      { phase: 'closed' },
    ],
  ])('%s', (_what, anOrder, passed, codes, state) => {
    const order = anOrder();
    expect(lifeOf(order)).toEqual(passed);
    expect(attention(order)).toEqual(codes);
    expect(order).toMatchObject(state);
  });

  it('to a pass: it isn’t read again when it was read as late as that, or the policy turns it off, or is passive', () => {
    const late = anOrder('review');
    read(late, 'pass', 4.6 * DAY);
    for (const order of [late, anOrder('pass', { recheckLeadTimeMs: 0 }), anOrder('pass', { passive: true })])
      expect(next(order).kind).toBe('window-closes');
  });

  it('to a review: attention half a day before the window closes, and the end after 30 days', () => {
    const order = anOrder('review');
    const lead = next(order);
    expect(lead).toMatchObject({ kind: 'review-lead', at: 4.5 * DAY });
    expect(lead.follows).toMatchObject({ events: ['order.attention'], cancel: false });
    expect(order).toMatchObject({ phase: 'review', action: 'hold' });
    const limit = { kind: 'review-limit', at: 30 * DAY, follows: { events: ['order.attention'] } };
    expect(next(order)).toMatchObject(limit);
    expect(order).toMatchObject({ phase: 'closed', action: 'hold', endedAt: expect.any(String) });
    expect(attention(order)).toEqual(['review-unresolved', 'review-limit']);
  });

  it('to a review that the policy cancels: a cancel with the service, whatever autoCancel says', () => {
    const order = anOrder('review', { onUnresolvedReview: 'cancel', autoCancel: false });
    const kinds = ['review-lead', 'cancel-reminder'];
    expect(next(order).follows).toEqual({ kinds, events: ['order.attention'], cancel: true, read: false });
    expect(order).toMatchObject({ phase: 'decided', decision: 'review', action: 'cancel' });
    expect(order.actions).toMatchObject([{ kind: 'cancel', by: 'policy' }]);
  });

  it('to a review that the policy cancels while somebody’s cancel is under way, or in passive mode: no cancel', () => {
    const joined = anOrder('review', { onUnresolvedReview: 'cancel' });
    queueAction(joined, { kind: 'cancel' }, 'caller', sinceStart(4 * DAY));
    const passive = anOrder('review', { onUnresolvedReview: 'cancel', passive: true });
    for (const order of [joined, passive]) expect(next(order).follows.cancel).toBe(false);
    expect([joined.action, passive.action]).toEqual(['cancel', 'proceed']);
  });

  it.each([
    ['after the window', 7 * DAY],
    ['between its last call and its end', 5 * DAY - 10_000],
  ])('to a review that fails %s: it is closed at once, without a reminder', (_when, at) => {
    const order = anOrder('review');
    next(order);
    read(order, 'fail', at);
    const { kinds } = passUntil(order, sinceStart(Math.max(at, 5 * DAY)), sinceStart(at));
    expect(kinds).toEqual(['cancel-reminder', 'window-closes']);
    expect(attention(order)).toEqual(['failed-after-window']);
  });

  it('to a fail after acceptance whose cancel was asked in the last half day: nobody is reminded of it', () => {
    const order = anOrder('review', POST);
    next(order);
    read(order, 'fail', 4.7 * DAY);
    queueAction(order, { kind: 'cancel' }, 'policy', sinceStart(4.7 * DAY));
    expect(next(order)).toMatchObject({ kind: 'cancel-reminder', follows: { events: [] } });
    expect(attention(order)).toEqual([]);
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

  it('before the first answer, and after the end: nothing', () => {
    const closed = anOrder('pass');
    setPhase(closed, 'closed', sinceStart(0));
    expect([aNewOrder(), closed].map(nextDeadline)).toEqual([undefined, undefined]);
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
    const sources = order.attempts[0]?.readings.map(({ source }) => source);
    expect(sources).toEqual(['checkout', 'rescreen', 'rescreen', 'rescreen']);
  });

  it('to an error that an operator has screened again: a new screening deadline, and no rescreen by itself', () => {
    const order = anOrder('error', { rescreenOnError: { tries: 0, pauseMs: MINUTE } });
    expect([screensAgain(order), screensAgain(anOrder('pass'))]).toEqual([true, false]);
    screenAgain(order, sinceStart(2 * DAY));
    expect(order).toMatchObject({ phase: 'screening', attempts: [{ rescreenDue: true }] });
    expect(next(order)).toMatchObject({ kind: 'screening-deadline', at: 3 * DAY });
    expect(order.phase).toBe('decided');
  });

  it.each<Partial<Policy>>([
    {},
    { passive: true },
    { autoCancel: false },
    { onUnresolvedReview: 'cancel' },
    { whenUnavailable: 'proceed' },
    { whenUnavailable: 'decline' },
    { cancelWindowMs: 10_000 },
    { screeningDeadlineMs: 7 * DAY },
    { rescreenOnError: { tries: 0, pauseMs: MINUTE } },
  ])('ends with %o, whatever the workflow and the decision, when nobody does anything', (policy) => {
    for (const workflow of ['pre-gateway', 'pre-acceptance', 'post-acceptance'] as const) {
      for (const outcome of ['pass', 'fail', 'review', 'fraudulent', 'error', unanswered()] as const) {
        const order = anOrder(outcome, { ...policy, workflow });
        lifeOf(order);
        expect(['closed', 'canceled']).toContain(order.phase);
      }
    }
  });
});
