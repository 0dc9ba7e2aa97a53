import { describe, expect, it } from 'vitest';
import type { Policy } from '../../../src/contract/policy.ts';
import { portalRefusal } from '../../../src/order/portal/portal-records.ts';
import { currentAttempt } from '../../../src/order/record.ts';
import { attemptSummary } from '../../../src/order/transactions.ts';
import {
  answered,
  cancelOf,
  DAY,
  found,
  HOUR,
  MINUTE,
  NO_RESCREENS,
  START,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from '../../fixtures/orders.ts';
import { HINT, type Life, RECHECK, screened } from '../life.ts';
import { besideLost, sentTo } from '../lives.ts';

const UNREADABLE = {
  kind: 'unreadable',
  reason: 'unknown-decision',
  seen: { transactionId: TRANSACTION_ID, found: false, sentFrom: sinceStart(0), sentUntil: sinceStart(0) },
} as const;

describe('a further transaction that is found for an order with a decision', () => {
  const noRescreens = { screeningDeadlineMs: HOUR, ...NO_RESCREENS, events: 'all' } as const;
  const decided = (decision: 'pass' | 'review' | 'fail', policy: Partial<Policy> = {}) =>
    besideLost(decision, { ...noRescreens, ...policy });

  const eventsOf = ({ state: { events } }: Life, after: number) =>
    events.last?.filter(({ sequence }) => sequence > after).map(({ type }) => type);

  it.each([
    ['pass', 'pass', 'proceed', 'decided', []],
    ['pass', 'review', 'hold', 'review', ['order.decision_changed']],
    ['pass', 'fail', 'cancel', 'decided', ['order.decision_changed']],
    ['review', 'pass', 'proceed', 'decided', ['order.review_resolved']],
    ['review', 'review', 'hold', 'review', []],
    ['fail', 'pass', 'cancel', 'decided', ['order.decision_changed']],
  ] as const)('%s then %s counts as a later decision: %s, %s, %j', (first, second, action, phase, events) => {
    const life = decided(first);
    const before = life.state.events.sequence;
    life.lookedUp(second, HOUR + 5 * MINUTE, 'another');
    expect(life).toMatchObject({ decision: second, action, phase });
    expect(eventsOf(life, before)).toEqual(events);
    const { transactionId } = attemptSummary(life.state, currentAttempt(life.state));
    expect(transactionId).toBe('another');
  });

  it('is polled if it is in review', () => {
    const life = decided('pass').lookedUp('review', HOUR + 5 * MINUTE, 'another');
    expect(life.calls('poll').at(-1)?.request).toMatchObject({ transactionId: 'another', known: 'review' });
  });

  it('is read in the last day of its own window, not of the first one’s', () => {
    const life = decided('pass', { recheckLeadTimeMs: DAY }).until(4 * DAY + MINUTE);
    life.end({ kind: 'last-read', outcome: { kind: 'read', decision: 'pass' } }, 4 * DAY + MINUTE);
    const another = { kind: 'found', transactionId: 'another', decision: 'pass' } as const;
    life.end({ kind: 'look-up', outcome: another, sentFrom: sinceStart(HOUR) }, 4 * DAY + 2 * MINUTE);
    const read = () => life.calls('last-read').map(({ request }) => request.transactionId);
    expect(read()).toEqual([TRANSACTION_ID]);
    life.until(4 * DAY + HOUR);
    expect(read()).toEqual([TRANSACTION_ID, 'another']);
  });

  it('counts also if it comes with the answer of a create that was running when the screening was given up', () => {
    const life = screened('error', noRescreens)
      .take(RECHECK)
      .read('error', 2 * MINUTE);
    life
      .until(HOUR + 3 * MINUTE)
      .take(HINT)
      .read('pass', HOUR + 4 * MINUTE);
    life.caughtUp(answered('review', 'another', HOUR), HOUR + 5 * MINUTE);
    expect(life).toMatchObject({ decision: 'review', action: 'hold', phase: 'review' });
  });

  it('is announced if the order has closed, and reported to an operator if it failed', () => {
    const life = decided('pass');
    life.until(5 * DAY + 2 * HOUR);
    expect(life).toMatchObject({ decision: 'pass', phase: 'closed', attention: [] });
    const before = life.state.events.sequence;
    life.lookedUp('fail', 5 * DAY + 2 * HOUR, 'another');
    expect(life).toMatchObject({ decision: 'fail', action: 'cancel', phase: 'closed', actions: [] });
    expect(life.attention).toEqual(['failed-after-window']);
    expect(eventsOf(life, before)).toContain('order.decision_changed');
  });

  it('can still be canceled by hand if the order has closed within its window', () => {
    const life = decided('review', { reviewLimitMs: 20 * HOUR }).until(DAY + HOUR);
    expect(life.phase).toBe('closed');
    life.lookedUp('fail', DAY + HOUR, 'another');
    const words = life.state.attention.find(({ code }) => code === 'failed-after-window')?.words;
    expect(words).toMatch(/^The decision became «fail» after the order ended: cancel it until 2026-03-07T/);
  });

  it.each(['pass', 'review', 'fail', 'error', undefined] as const)(
    'with decision %s is canceled, too, while the first one is, and after it was',
    (decision) => {
      const another = { kind: 'found', transactionId: 'another', ...(decision && { decision }) } as const;
      const canceling = () => decided('pass').portal(cancelOf(TRANSACTION_ID), HOUR + 5 * MINUTE);
      const meanwhile = canceling().end({ kind: 'look-up', outcome: another }, HOUR + 6 * MINUTE);
      meanwhile.portalEnds('done', HOUR + 7 * MINUTE);
      const later = canceling().portalEnds('done', HOUR + 6 * MINUTE);
      later.end({ kind: 'look-up', outcome: another }, HOUR + 7 * MINUTE);
      for (const life of [meanwhile, later]) {
        life.portalEnds('done', HOUR + 8 * MINUTE);
        expect(life).toMatchObject({ phase: 'canceled', attention: [], actions: ['done', 'done'] });
        expect(sentTo(life)).toEqual([TRANSACTION_ID, 'another']);
      }
    },
  );

  it.each([
    ['refused', 'cancel-refused'],
    ['too-late', 'cancel-too-late'],
  ] as const)('needs a person if its cancel is %s, also in an order that is canceled', (how, code) => {
    const life = decided('pass').portal(cancelOf(TRANSACTION_ID), HOUR + 5 * MINUTE);
    life.portalEnds('done', HOUR + 6 * MINUTE).lookedUp('pass', HOUR + 7 * MINUTE, 'another');
    expect(life.portalEnds(how, HOUR + 8 * MINUTE)).toMatchObject({ phase: 'canceled', attention: [code] });
    expect(life.state.attention).toMatchObject([{ cause: { transactionId: 'another' } }]);
    expect(portalRefusal(life.state, cancelOf('another'), START + DAY, true)).toBeUndefined();
  });

  it('is not canceled after a person withdrew the cancel of the first one, and the order proceeds', () => {
    const life = decided('pass').portal(cancelOf(TRANSACTION_ID), HOUR + 5 * MINUTE);
    life.withdraw(1, HOUR + 6 * MINUTE).lookedUp('pass', HOUR + 6 * MINUTE, 'another');
    life.portalEnds('not-sent', HOUR + 7 * MINUTE);
    expect(life).toMatchObject({
      phase: 'decided',
      action: 'proceed',
      attention: [],
      actions: ['withdrawn'],
    });
  });

  it('proceeds if a person withdraws its own cancel', () => {
    const life = decided('review').portal(cancelOf(TRANSACTION_ID), HOUR + 5 * MINUTE);
    life.lookedUp('pass', HOUR + 6 * MINUTE, 'another').withdraw(2, HOUR + 7 * MINUTE);
    expect(life.state.events.last?.map(({ data }) => data.action)).not.toContain('proceed');
    life.portalEnds('not-sent', HOUR + 8 * MINUTE, { key: 'portal:2' });
    expect(life).toMatchObject({ phase: 'decided', action: 'proceed', actions: ['running', 'withdrawn'] });
    expect(life.portalEnds('done', HOUR + 9 * MINUTE)).toMatchObject({ phase: 'decided', action: 'proceed' });
  });

  it('of another attempt, or beside the cancel of an earlier one of its attempt, is not canceled', () => {
    const earlier = screened('error', { ...noRescreens, rescreenOnError: { tries: 2, pauseMs: MINUTE } });
    earlier.until(MINUTE).caughtUp(answered('error', 'second', MINUTE), MINUTE);
    earlier.portal(cancelOf(TRANSACTION_ID), MINUTE).until(2 * MINUTE);
    earlier.caughtUp(answered('pass', 'third', 2 * MINUTE), 2 * MINUTE);
    expect(earlier).toMatchObject({ action: 'proceed', actions: ['running'] });
    const other = screened(unanswered(), { ...noRescreens, whenUnavailable: 'decline' }).retry(2, MINUTE);
    other.retried(answered('review', 'second', MINUTE), MINUTE).portal(cancelOf('second'), HOUR);
    other.lookedUp('pass', HOUR + 2 * MINUTE, 'first').portalEnds('done', HOUR + 3 * MINUTE);
    expect(other.state.transactions).toMatchObject([{ id: 'second' }, { id: 'first', attempt: 1 }]);
    expect(other).toMatchObject({ phase: 'canceled', actions: ['done'] });
  });

  it('raises attention if its decision is unknown', () => {
    const life = decided('pass');
    life.end({ kind: 'look-up', outcome: { kind: 'found', transactionId: 'another' } }, HOUR + 6 * MINUTE);
    expect(life).toMatchObject({ decision: 'pass', attention: ['unreadable-answer'] });
  });

  describe.each([undefined, 'error'] as const)('with decision %s', (decision) => {
    it.each([
      ['waits', 6 * MINUTE],
      ['runs', 11 * MINUTE],
    ])('is canceled, too, if the cancel that names none %s', (_how, foundAfterMs) => {
      const life = decided('pass').portal('cancel', HOUR + 5 * MINUTE);
      const another = { kind: 'found', transactionId: 'another', ...(decision && { decision }) } as const;
      life.until(HOUR + foundAfterMs - 1).end({ kind: 'look-up', outcome: another }, HOUR + foundAfterMs);
      expect(life.underWay.filter((key) => !key.startsWith('deliver:'))).toEqual(['portal:1', 'portal:2']);
      life.portalEnds('done', HOUR + 12 * MINUTE);
      expect(life.phase).toBe('canceled');
      life.portalEnds('done', HOUR + 13 * MINUTE);
      expect(life).toMatchObject({ attention: [], actions: ['done', 'done'] });
      expect(sentTo(life)).toEqual([TRANSACTION_ID, 'another']);
    });
  });

  it('is no alarm while the cancel that was asked for waits: it cancels both', () => {
    const life = decided('pass').portal('cancel', HOUR + 5 * MINUTE);
    const before = life.state.events.sequence;
    life.lookedUp('pass', HOUR + 6 * MINUTE, 'another');
    expect(life).toMatchObject({ action: 'proceed', attention: [], actions: ['running', 'running'] });
    expect(eventsOf(life, before)).toEqual([]);
    life.portalEnds('done', HOUR + 7 * MINUTE).portalEnds('done', HOUR + 7 * MINUTE);
    expect(life).toMatchObject({ phase: 'canceled', attention: [] });
  });

  it('is not the one that is being canceled, which a running screening finds once more', () => {
    const life = screened(UNREADABLE, { ...noRescreens, rescreenOnError: { tries: 1, pauseMs: MINUTE } });
    life
      .until(HOUR)
      .portal(cancelOf(TRANSACTION_ID), HOUR)
      .caughtUp(UNREADABLE, HOUR + MINUTE);
    expect(life.actions).toHaveLength(1);
  });

  it('ends the attention to the status of the one before', () => {
    const life = decided('pass');
    life.take(HINT).end({ kind: 'read', outcome: { kind: 'unreadable', words: 'no' } }, HOUR + 5 * MINUTE);
    expect(life.attention).toEqual(['status-error']);
    expect(life.lookedUp('review', HOUR + 6 * MINUTE, 'another').attention).toEqual([]);
  });

  it('changes nothing if it is the transaction whose status has been read since', () => {
    const life = screened(UNREADABLE, { ...noRescreens, rescreenOnError: { tries: 1, pauseMs: MINUTE } });
    life
      .until(HOUR)
      .take(HINT)
      .read('pass', HOUR)
      .caughtUp(found('fail'), HOUR + MINUTE);
    expect(life).toMatchObject({ decision: 'pass', action: 'proceed', phase: 'decided', actions: [] });
  });
});

describe('a cancel of an order whose rescreen may have made a further transaction', () => {
  const asked = (policy: Partial<Policy> = {}, at = HOUR) => {
    const again = { rescreenOnError: { tries: 1, pauseMs: MINUTE }, screeningDeadlineMs: DAY, ...policy };
    return screened('error', again).until(MINUTE).portal('cancel', at).break('catch-up', 'canceled');
  };

  it('waits five minutes for the lookup, and then cancels the transaction that is known', () => {
    const life = asked();
    expect(life.underWay).toEqual(['look-up:1']);
    expect(sentTo(life.until(HOUR + 5 * MINUTE - 1))).toEqual([]);
    expect(sentTo(life.until(HOUR + 5 * MINUTE))).toEqual([TRANSACTION_ID]);
    life.portalEnds('done', HOUR + 5 * MINUTE).lookedUp('pass', 2 * HOUR, 'another');
    // A person is told at once: a canceled order is reminded of nothing.
    expect(life).toMatchObject({ phase: 'canceled', attention: ['cancel-due'] });
    expect(sentTo(life)).toEqual([TRANSACTION_ID, 'another']);
    expect(life.portalEnds('done', 3 * HOUR).attention).toEqual([]);
  });

  it('waits at most half of the window that is left', () => {
    const life = asked({ cancelWindowMs: 10 * MINUTE, reviewLeadTimeMs: MINUTE }, 4 * MINUTE);
    expect(sentTo(life.until(7 * MINUTE))).toEqual([TRANSACTION_ID]);
  });

  it('cancels what the lookup finds, if it finds it in time', () => {
    const life = asked().lookedUp('pass', HOUR + MINUTE, 'another');
    expect([sentTo(life), life.attention]).toEqual([['another'], []]);
  });

  it.each(['pass', 'review', 'error'] as const)(
    'cancels a further %s, too, that is found while the known one is canceled',
    (decision) => {
      const life = asked({ events: 'all' }).until(HOUR + 5 * MINUTE);
      life.lookedUp(decision, HOUR + 6 * MINUTE, 'another');
      expect([life.action, sentTo(life)]).toEqual(['hold', [TRANSACTION_ID, 'another']]);
      life.portalEnds('done', HOUR + 7 * MINUTE, { key: 'portal:2' });
      life.portalEnds('done', HOUR + 8 * MINUTE);
      expect(life).toMatchObject({ phase: 'canceled', attention: [], actions: ['done', 'done'] });
      expect(life.state.events.last?.map(({ data }) => data.action)).not.toContain('proceed');
    },
  );

  it('cancels it, too, if the known one was named, and holds the order that passes meanwhile', () => {
    const again = { rescreenOnError: { tries: 1, pauseMs: MINUTE }, screeningDeadlineMs: DAY };
    const life = screened('error', again).until(MINUTE).portal(cancelOf(TRANSACTION_ID), HOUR);
    life.caughtUp(answered('review', 'another', HOUR), HOUR + 1_000).polled('pass', HOUR + MINUTE);
    expect(life).toMatchObject({ action: 'hold', phase: 'decided', attention: [] });
    expect(sentTo(life)).toEqual([TRANSACTION_ID, 'another']);
  });
});

it('a decision that is found while the order is to be canceled ends the rescreen that was due, also when a person lets it proceed', () => {
  const life = screened('error', {
    rescreenOnError: { tries: 3, pauseMs: MINUTE },
    screeningDeadlineMs: DAY,
  });
  life.until(MINUTE).portal(cancelOf(TRANSACTION_ID), HOUR).break('catch-up', 'canceled');
  life.portalEnds('unconfirmed', HOUR + MINUTE).lookedUp('review', HOUR + 2 * MINUTE, 'another');
  expect(life).toMatchObject({ phase: 'decided', decision: 'review', action: 'cancel' });
  life.override('proceed', 2 * HOUR);
  expect(life.calls('catch-up')).toHaveLength(1);
  expect(life).toMatchObject({ phase: 'review', action: 'proceed' });
});
