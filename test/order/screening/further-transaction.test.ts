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
  START,
  sinceStart,
  TRANSACTION_ID,
} from '../../fixtures/orders.ts';
import { besideLost, NO_RESCREENS } from '../beside-lost.ts';
import { HINT, type Life, RECHECK, screened } from '../life.ts';

const UNREADABLE = {
  kind: 'unreadable',
  reason: 'unknown-decision',
  seen: { transactionId: TRANSACTION_ID, found: false, sentFrom: sinceStart(0), sentUntil: sinceStart(0) },
} as const;

describe('a further transaction that is found for an order with a decision', () => {
  const noRescreens = { ...NO_RESCREENS, events: 'all' } as const;
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
    ['fail', 'pass', 'cancel', 'decided', ['order.decision_changed', 'order.attention']],
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
    const life = decided('review', { reviewLimitMs: DAY }).until(DAY + HOUR);
    expect(life.phase).toBe('closed');
    life.lookedUp('fail', DAY + HOUR, 'another');
    const words = life.state.attention.find(({ code }) => code === 'failed-after-window')?.words;
    expect(words).toMatch(/^The decision became «fail» after the order ended: cancel it until 2026-03-07T/);
  });

  it('raises attention while the first one is being canceled, until it is canceled, too', () => {
    const life = decided('pass').portal(cancelOf(TRANSACTION_ID), HOUR + 5 * MINUTE);
    const before = life.state.events.sequence;
    life.lookedUp('pass', HOUR + 6 * MINUTE, 'another').portalEnds('done', HOUR + 7 * MINUTE);
    expect(life).toMatchObject({ phase: 'decided', action: 'hold', attention: ['cancel-due'] });
    expect(eventsOf(life, before)).toEqual(['order.decision_changed', 'order.attention']);
    life.portal(cancelOf('another'), HOUR + 8 * MINUTE).portalEnds('done', HOUR + 9 * MINUTE);
    expect(life).toMatchObject({ phase: 'canceled', attention: [], actions: ['done', 'done'] });
  });

  it('raises attention after the first one was canceled: it is canceled like one of a closed order', () => {
    const life = decided('pass').portal(cancelOf(TRANSACTION_ID), HOUR + 5 * MINUTE);
    life.portalEnds('done', HOUR + 6 * MINUTE).lookedUp('pass', HOUR + 7 * MINUTE, 'another');
    expect(life).toMatchObject({ phase: 'canceled', attention: ['cancel-due'] });
    expect(portalRefusal(life.state, cancelOf('another'), START + DAY, true)).toBeUndefined();
  });

  it.each<[string, (life: Life) => Life, string]>([
    ['for a decided order', (life) => life, 'unreadable-answer'],
    [
      'while the first one is canceled',
      (life) => life.portal(cancelOf(TRANSACTION_ID), HOUR + 5 * MINUTE),
      'cancel-due',
    ],
    [
      'after it was',
      (life) => life.portal(cancelOf(TRANSACTION_ID), HOUR + 5 * MINUTE).portalEnds('done'),
      'cancel-due',
    ],
  ])('raises attention if its decision is unknown: found %s', (_when, before, code) => {
    const life = before(decided('pass'));
    life.end({ kind: 'look-up', outcome: { kind: 'found', transactionId: 'another' } }, HOUR + 6 * MINUTE);
    expect(life).toMatchObject({ decision: 'pass', attention: [code] });
  });

  describe.each([undefined, 'error'] as const)('with decision %s', (decision) => {
    it.each([
      ['waits', 6 * MINUTE],
      ['runs', 11 * MINUTE],
    ])('is canceled, too, if the cancel that names none %s', (_how, foundAfterMs) => {
      const life = decided('pass').portal('cancel', HOUR + 5 * MINUTE);
      const another = { kind: 'found', transactionId: 'another', ...(decision && { decision }) } as const;
      life.until(HOUR + foundAfterMs - 1).end({ kind: 'look-up', outcome: another }, HOUR + foundAfterMs);
      expect(life.underWay.filter((key) => key !== 'deliver:1')).toEqual(['portal:1', 'portal:2']);
      life.portalEnds('done', HOUR + 12 * MINUTE);
      expect(life.phase).toBe('canceled');
      life.portalEnds('done', HOUR + 13 * MINUTE);
      expect(life).toMatchObject({ attention: [], actions: ['done', 'done'] });
      expect(life.calls('portal').map(({ request }) => request.transactionId)).toEqual([
        TRANSACTION_ID,
        'another',
      ]);
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

  it('keeps its attention when the one before, whose cancel names it, is canceled', () => {
    const life = decided('pass').portal(cancelOf(TRANSACTION_ID), HOUR + 5 * MINUTE);
    life.end({ kind: 'look-up', outcome: { kind: 'found', transactionId: 'another' } }, HOUR + 6 * MINUTE);
    life.portalEnds('done', HOUR + 7 * MINUTE);
    expect([life.phase, life.attention, life.actions]).toEqual(['canceled', ['cancel-due'], ['done']]);
  });

  it('is not the one that is being canceled, which a running screening finds once more', () => {
    const life = screened(UNREADABLE, { ...noRescreens, rescreenOnError: { tries: 1, pauseMs: MINUTE } });
    life
      .until(HOUR)
      .portal(cancelOf(TRANSACTION_ID), HOUR)
      .caughtUp(UNREADABLE, HOUR + MINUTE);
    expect(life.attention).not.toContain('cancel-due');
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
  const sent = (life: Life) => life.calls('portal').map(({ request }) => request.transactionId);

  it('waits five minutes for the lookup, and then cancels the transaction that is known', () => {
    const life = asked();
    expect(life.underWay).toEqual(['look-up:1']);
    expect(sent(life.until(HOUR + 5 * MINUTE - 1))).toEqual([]);
    expect(sent(life.until(HOUR + 5 * MINUTE))).toEqual([TRANSACTION_ID]);
    life.portalEnds('done', HOUR + 5 * MINUTE).lookedUp('pass', 2 * HOUR, 'another');
    expect(life).toMatchObject({ phase: 'canceled', attention: ['cancel-due'] });
  });

  it('waits at most half of the window that is left', () => {
    const life = asked({ cancelWindowMs: 10 * MINUTE, reviewLeadTimeMs: MINUTE }, 4 * MINUTE);
    expect(sent(life.until(7 * MINUTE))).toEqual([TRANSACTION_ID]);
  });

  it('cancels what the lookup finds, if it finds it in time', () => {
    const life = asked().lookedUp('pass', HOUR + MINUTE, 'another');
    expect([sent(life), life.attention]).toEqual([['another'], []]);
  });

  it.each(['pass', 'review', 'error'] as const)(
    'cancels a further %s, too, that is found while the known one is canceled',
    (decision) => {
      const life = asked({ events: 'all' }).until(HOUR + 5 * MINUTE);
      life.lookedUp(decision, HOUR + 6 * MINUTE, 'another');
      expect([life.action, sent(life)]).toEqual(['hold', [TRANSACTION_ID, 'another']]);
      expect(life.attention).toContain('cancel-due');
      life.portalEnds('done', HOUR + 7 * MINUTE, { key: 'portal:2' });
      life.portalEnds('done', HOUR + 8 * MINUTE);
      expect(life).toMatchObject({ phase: 'canceled', attention: [], actions: ['done', 'done'] });
      expect(life.state.events.last?.map(({ data }) => data.action)).not.toContain('proceed');
    },
  );

  it('tells that it holds the order, also if the further one has no decision', () => {
    const rescreenOnError = { tries: 3, pauseMs: MINUTE };
    const life = asked({ events: 'all', whenUnavailable: 'proceed', rescreenOnError });
    expect(life.until(HOUR + 5 * MINUTE).action).toBe('proceed');
    life.lookedUp('error', HOUR + 6 * MINUTE, 'another');
    const events = life.state.events.last?.map(({ type, data }) => [type, data.action]);
    expect(events).toEqual([
      ['order.decision_changed', 'hold'],
      ['order.attention', 'hold'],
    ]);
  });

  it('holds a further one, also when it passes later, if the known one was named', () => {
    const again = { rescreenOnError: { tries: 1, pauseMs: MINUTE }, screeningDeadlineMs: DAY };
    const life = screened('error', again).until(MINUTE).portal(cancelOf(TRANSACTION_ID), HOUR);
    life.caughtUp(answered('review', 'another', HOUR), HOUR + 1_000).polled('pass', HOUR + MINUTE);
    expect(life).toMatchObject({ action: 'hold', phase: 'decided', attention: ['cancel-due'] });
    expect(sent(life)).toEqual([TRANSACTION_ID]);
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
