/** A portal action that meets something else: its withdrawal, a rescreen, a lookup, a further attempt. */
import { describe, expect, it } from 'vitest';
import { portalRefusal } from '../../../src/order/portal/portal-records.ts';
import {
  answered,
  cancelOf,
  DAY,
  HOUR,
  MINUTE,
  NO_RESCREENS,
  PORTAL_ACTIONS,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from '../../fixtures/orders.ts';
import { HINT, type Life, RECHECK, screened } from '../life.ts';
import { besideLost, sentTo } from '../lives.ts';

/** The caller sees the transaction that passed. */
const passedBesideLost = () => besideLost('pass', { autoCancel: true });

describe('a request that comes while a running action is being withdrawn', () => {
  it('for a cancel is a cancel of its own, not a part of what is withdrawn', () => {
    const life = screened('review').portal('cancel', HOUR).withdraw(1, HOUR);
    // The worker is slow to stop: the second caller is told `requested`.
    life.portal('cancel', HOUR + 1_000).until(HOUR + MINUTE);
    expect(life.told[2]).toBe('requested');
    life.portalEnds('not-sent', 2 * HOUR);
    expect(sentTo(life)).toEqual([TRANSACTION_ID, TRANSACTION_ID]);
  });

  it.each([
    ['chargeback', 'done', 'done', ['done', 'done', 'requested'], 1],
    ['report-fraud', 'done', 'done', ['done', 'done', 'requested'], 1],
    ['customer-code', 'done', 'done', ['done', 'done', 'requested'], 1],
    ['chargeback', 'unconfirmed', 'unconfirmed', ['outcome-unknown', 'outcome-unknown', 'requested'], 1],
    ['customer-code', 'unconfirmed', 'running', ['outcome-unknown', 'outcome-unknown', 'requested'], 2],
    ['chargeback', 'not-sent', 'running', ['action-withdrawn', 'withdrawn', 'requested'], 2],
  ] as const)(
    'for the same %s, after %s, is %s, and told %j: %i are sent, also after one that was withdrawn unsent',
    (kind, outcome, status, told, count) => {
      const withdrawn = () => screened('pass').portal(kind, HOUR).withdraw(1, HOUR);
      const second = withdrawn().portal(kind, HOUR);
      const third = withdrawn().portal(kind, HOUR).withdraw(2, HOUR).portal(kind, HOUR);
      for (const life of [second, third]) {
        life.portalEnds(outcome, HOUR + 1_000);
        expect([life.actions.at(-1), sentTo(life).length]).toEqual([status, count]);
      }
      expect([second.told, third.actions[1]]).toEqual([told, 'withdrawn']);
    },
  );

  it('for the same chargeback with force is sent although the first may have been', () => {
    const life = screened('pass').portal('chargeback', HOUR).withdraw(1, HOUR);
    life.portal({ ...PORTAL_ACTIONS.chargeback, force: true }, HOUR).portalEnds('unconfirmed', HOUR + 1_000);
    expect(life.actions).toEqual(['unconfirmed', 'running']);
  });

  it('for the same chargeback gets the answer of the first, also after one that was withdrawn unsent', () => {
    const life = screened('pass').portal('chargeback', HOUR).withdraw(1, HOUR);
    life
      .portal('chargeback', HOUR)
      .withdraw(2, HOUR)
      .portalEnds('done', HOUR + 1_000);
    expect(life.portal('chargeback', 2 * HOUR).actions).toEqual(['done', 'withdrawn']);
  });

  it('to override to cancel cancels', () => {
    const life = screened('review').portal('cancel', HOUR).withdraw(1, HOUR).override('cancel', HOUR);
    life.portalEnds('not-sent', HOUR + 1_000);
    expect(life.action).toBe('cancel');
    expect(sentTo(life)).toEqual([TRANSACTION_ID, TRANSACTION_ID]);
  });

  it('a fail that is read after the withdrawal was asked for is canceled by policy', () => {
    const life = screened('review', { autoCancel: true }).portal('cancel', HOUR).withdraw(1, HOUR);
    life
      .take(HINT)
      .read('fail', 2 * HOUR)
      .portalEnds('not-sent', 2 * HOUR + 1_000);
    expect(life.action).toBe('cancel');
    expect(sentTo(life)).toEqual([TRANSACTION_ID, TRANSACTION_ID]);
  });
});

describe('a chargeback that may have been submitted', () => {
  const FORCED = { ...PORTAL_ACTIONS.chargeback, force: true } as const;
  /** The first is unconfirmed. The second, with force, waits behind a customer code. */
  const waiting = () => {
    const life = screened('pass').portal('chargeback', HOUR).portalEnds('unconfirmed', HOUR);
    return life.portal('customer-code', HOUR).portal(FORCED, HOUR);
  };
  const REFUSED = { kind: 'refused', code: '400' } as const;

  it.each<[string, () => Life, string[]]>([
    ['withdrawn unsent', () => waiting().withdraw(3, HOUR).portalEnds('done', HOUR), ['portal-unconfirmed']],
    [
      'given up unsent',
      () =>
        waiting()
          .until(HOUR + DAY)
          .break('portal', 'canceled'),
      ['portal-unconfirmed', 'portal-not-sent', 'portal-unconfirmed'],
    ],
    [
      'refused',
      () => waiting().portalEnds('done', HOUR).portalEnds(REFUSED, HOUR),
      ['portal-unconfirmed', 'portal-refused'],
    ],
  ])('needs force, and a person, also after one with force that was %s', (_how, order, attention) => {
    const life = order();
    expect(life.attention).toEqual(attention);
    const { length } = life.calls('portal');
    life.portal('chargeback', 2 * DAY);
    expect([life.told.at(-1), life.calls('portal').length]).toEqual(['outcome-unknown-before', length]);
    const now = Date.parse(sinceStart(30 * DAY));
    const afterEnd = portalRefusal(life.state, PORTAL_ACTIONS.chargeback, now, true);
    expect(afterEnd).toEqual({ code: 'outcome-unknown-before' });
    life.portal(FORCED, 2 * DAY).portalEnds('done', 2 * DAY);
    expect(life.state.attention.filter(({ cause }) => cause.operation === 'chargeback')).toEqual([]);
    expect(life.portal('chargeback', 2 * DAY).told.at(-1)).toBe('done');
  });
});

describe('a cancel while a rescreen runs whose transaction has a later window than the known one', () => {
  const rescreened = () => {
    const life = screened('error', NO_RESCREENS);
    life
      .until(5 * DAY - HOUR)
      .take(RECHECK)
      .read('error', 5 * DAY - HOUR);
    return life.until(5 * DAY + HOUR).portal('cancel', 5 * DAY + HOUR);
  };

  it('waits for it, and cancels it', () => {
    const life = rescreened();
    expect(life.actions).toEqual(['queued']);
    life.caughtUp(answered('pass', 'second', 5 * DAY - HOUR), 5 * DAY + HOUR + 1_000);
    expect(sentTo(life)).toEqual(['second']);
  });

  it('waits for the lookup of its lost create, and cancels what that finds', () => {
    const life = rescreened().break('catch-up', 'canceled');
    expect(life).toMatchObject({ actions: ['queued'], underWay: ['look-up:1'] });
    life.lookedUp('pass', 5 * DAY + HOUR + MINUTE, 'second');
    expect(sentTo(life)).toEqual(['second']);
  });

  it.each<[string, (life: Life) => Life]>([
    ['the lookup finds none', (life) => life.lookedUp('none', 5 * DAY + HOUR + MINUTE)],
    ['there is no answer before the later window’s last call', (life) => life.until(10 * DAY - HOUR)],
  ])('is too late if %s', (_what, ends) => {
    const life = rescreened().break('catch-up', 'canceled');
    expect(life.until(7 * DAY).actions).toEqual(['queued']);
    expect(ends(life)).toMatchObject({ actions: ['too-late'], action: 'cancel' });
    expect(sentTo(life)).toEqual([]);
  });

  it('waits for that lookup also if the known window closes while the create is being stopped', () => {
    const life = screened('error', NO_RESCREENS);
    life
      .until(5 * DAY - HOUR)
      .take(RECHECK)
      .read('error', 5 * DAY - HOUR);
    life.portal('cancel', 5 * DAY - MINUTE).caughtUp(unanswered(5 * DAY - HOUR), 5 * DAY);
    expect(life).toMatchObject({ actions: ['queued'], underWay: ['look-up:1'] });
  });

  it('is not undone by the rescreen’s pass', () => {
    const life = rescreened().caughtUp(answered('pass', 'second', 5 * DAY - HOUR), 5 * DAY + HOUR + 1_000);
    if (life.actions.includes('running')) life.portalEnds('done', 5 * DAY + HOUR + 2_000);
    expect(life.action).toBe('cancel');
  });
});

describe('a cancel that names no transaction', () => {
  const canceling = () => passedBesideLost().portal('cancel', HOUR + 5 * MINUTE);

  it('leaves none behind in silence', () => {
    const life = canceling().lookedUp('pass', HOUR + 6 * MINUTE, 'another');
    life.portalEnds('done', HOUR + 7 * MINUTE);
    expect(life.phase).toBe('canceled');
    expect(sentTo(life).includes(TRANSACTION_ID) || life.attention.includes('cancel-due')).toBe(true);
  });

  it('and waits for a lookup keeps none waiting that names one, and does not cancel that again', () => {
    const named = () => canceling().portal(cancelOf(TRANSACTION_ID), HOUR + 6 * MINUTE);
    const first = named().portalEnds('done', HOUR + 7 * MINUTE);
    expect([first.phase, first.actions]).toEqual(['canceled', ['queued', 'done']]);
    const both = named().lookedUp('none', HOUR + 7 * MINUTE);
    expect([both.actions, sentTo(both)]).toEqual([['queued', 'running'], [TRANSACTION_ID]]);
    for (const life of [
      first.lookedUp('none', HOUR + 8 * MINUTE),
      both.portalEnds('done', HOUR + 8 * MINUTE),
    ])
      expect([life.actions, sentTo(life)]).toEqual([['done', 'done'], [TRANSACTION_ID]]);
  });
});

it.each(['refused', 'too-late'] as const)(
  'a cancel of an earlier transaction that is %s needs a person',
  (how) => {
    const life = screened('fail')
      .retry(2, MINUTE)
      .retried('pass', 2 * MINUTE);
    life.portal(cancelOf(TRANSACTION_ID), 3 * MINUTE).until(HOUR);
    expect(life.told.at(-1)).toBe('requested');
    expect(life.portalEnds(how, HOUR).attention).not.toEqual([]);
  },
);

describe('attention to the cancel of an earlier attempt', () => {
  /** No decision, a cancel that the screening service refuses, and then another attempt that passes. */
  function retried(): Life {
    const life = screened('error', NO_RESCREENS).portal('cancel', MINUTE);
    life.portalEnds({ kind: 'refused', code: '400', message: 'no' }, MINUTE).until(4.6 * DAY);
    expect(life.attention).toEqual(['no-decision', 'cancel-refused', 'cancel-due']);
    return life.retry(2, 4.6 * DAY).retried(answered('pass', 'second', 4.6 * DAY), 4.6 * DAY);
  }

  it('does not ask to cancel the attempt that passed, or can be acknowledged', () => {
    const life = retried();
    expect(life.action).toBe('proceed');
    life.acknowledge(4.7 * DAY);
    expect(life.attention).not.toContain('cancel-due');
  });

  it('ends when that transaction is canceled after all', () => {
    const life = retried().portal(cancelOf(TRANSACTION_ID), 4.7 * DAY);
    life.portalEnds({ kind: 'done', code: '200' }, 4.7 * DAY);
    expect(life.attention).not.toContain('cancel-refused');
  });
});

it.each([
  ['refused', 'cancel-refused'],
  ['too-late', 'cancel-too-late'],
] as const)(
  'a cancel that was %s keeps its attention when a further transaction is canceled',
  (how, code) => {
    const life = passedBesideLost().portal(cancelOf(TRANSACTION_ID), HOUR + 5 * MINUTE);
    life.portalEnds(how, HOUR + 6 * MINUTE).lookedUp('fail', HOUR + 7 * MINUTE, 'another');
    life.portalEnds({ kind: 'done', code: '200' }, HOUR + 8 * MINUTE);
    expect(life).toMatchObject({ phase: 'canceled', attention: [code], actions: [how, 'done'] });
    expect(life.state.attention).toMatchObject([{ cause: { transactionId: TRANSACTION_ID } }]);
  },
);
