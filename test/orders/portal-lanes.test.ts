import { describe, expect, it } from 'vitest';
import {
  answered,
  DAY,
  HOUR,
  MINUTE,
  NOT_SENT,
  PORTAL_ACTIONS,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from '../fixtures/orders.ts';
import { type Life, RECHECK, screened } from './life.ts';

function statuses({ state }: Life): string[] {
  return state.actions.map(({ status }) => status);
}

/** A passed order with these portal actions. */
function acting(...kinds: (keyof typeof PORTAL_ACTIONS)[]): Life {
  const life = screened('pass');
  for (const kind of kinds) life.portal(kind);
  return life;
}

/** A cancel of an order that is being screened. */
function canceling(outcome = unanswered()): Life {
  const life = screened(outcome);
  life.portal('cancel');
  return life;
}

describe('the two lanes of portal actions', () => {
  it('a cancel goes at once beside a customer code that never gets an answer', () => {
    const life = acting('customer-code', 'cancel');
    expect(life.underWay).toEqual(['portal:1', 'portal:2']);
    life.portalEnds('done', HOUR, { key: 'portal:2' });
    expect(life.told(2)).toBe('done');
    expect([life.state.phase, life.underWay]).toEqual(['canceled', ['portal:1']]);
  });

  it('the others go one at a time, the oldest first; whoever asks behind one is told requested at once', () => {
    const life = acting('customer-code', 'report-fraud');
    expect(life.told(2)).toBe('requested');
    expect(life.underWay).toEqual(['portal:1']);
    expect(life.portalEnds('done').underWay).toContain('portal:2');
    expect(statuses(life)).toEqual(['done', 'running']);
  });

  it('a cancel knows until when it may be sent, a customer code the order’s e-mail', () => {
    const calls = acting('customer-code', 'cancel').calls('portal');
    const transactionId = TRANSACTION_ID;
    expect(calls.map(({ request }) => request)).toMatchObject([
      { fields: PORTAL_ACTIONS['customer-code'], email: 'jane@example.com', transactionId },
      { fields: PORTAL_ACTIONS.cancel, notAfter: sinceStart(5 * DAY - 30_000), transactionId },
    ]);
  });
});

describe('a cancel of an order that is being screened', () => {
  it('has the create stopped and waits for it, looks what it left, and cancels that', () => {
    const life = canceling();
    expect(life.commands).toContainEqual({ do: 'cancel', id: life.find('catch-up').id });
    expect(life.underWay).toEqual(['catch-up:1:0']);
    life.break('catch-up', 'canceled');
    expect(life.underWay).toEqual(['look-up:1']);
    life.lookedUp('review', HOUR + MINUTE);
    expect(life.calls('portal')).toMatchObject([{ request: { transactionId: 'found' } }]);
    life.portalEnds('done', HOUR + 2 * MINUTE);
    // It took longer than anybody waits.
    expect([life.state.phase, life.told(1)]).toEqual(['canceled', 'requested']);
  });

  it('cancels what the create brought, if that has an answer after all', () => {
    const life = canceling().caughtUp(answered('pass', 'made'), HOUR);
    expect(life.calls('look-up')).toEqual([]);
    expect(life.calls('portal')).toMatchObject([{ request: { transactionId: 'made' } }]);
  });

  it('is done without a call when nothing is found', () => {
    const life = canceling().break('catch-up', 'canceled').lookedUp('none');
    expect([life.told(1), life.state.phase, life.calls('portal')]).toEqual(['done', 'canceled', []]);
  });

  it('withdrawn before it was sent lets the screening go on', () => {
    const life = canceling();
    expect(life.told(life.withdraw(1, HOUR + MINUTE))).toBe('withdrawn');
    expect([life.told(1), statuses(life)]).toEqual(['action-withdrawn', ['withdrawn']]);
    expect(life.break('catch-up', 'canceled').underWay).toEqual(['catch-up:1:0']);
    expect(life.calls('catch-up').at(-1)?.request).toMatchObject({ unseenSince: sinceStart(0) });
  });

  it.each([unanswered(), NOT_SENT])(
    'is too late without an answer before its last call, after %j',
    (outcome) => {
      const life = canceling(outcome)
        .break('catch-up', 'canceled')
        .until(5 * DAY - 30_000);
      expect(statuses(life)).toEqual(['too-late']);
      expect(life.attention).toContain('cancel-too-late');
    },
  );
});

describe('a portal action whose day is over', () => {
  it('is stopped when it was begun, and then nobody knows; one behind it never began, and says so', () => {
    const life = acting('customer-code', 'report-fraud').until(HOUR + DAY);
    expect(life.commands).toContainEqual({ do: 'cancel', id: life.find('portal').id });
    expect(statuses(life)).toEqual(['running', 'not-sent']);
    expect(statuses(life.break('portal', 'canceled'))).toEqual(['unconfirmed', 'not-sent']);
    expect(life.attention).toEqual(['portal-not-sent', 'portal-unconfirmed']);
    expect(life.underWay).toEqual([]);
  });

  it.each<[string, (life: Life) => Life, string]>([
    ['is done when its end says so', (life) => life.until(HOUR + DAY).portalEnds('done', HOUR + DAY), 'done'],
    [
      'was certainly not sent when the service refused the key to the end',
      (life) =>
        life
          .portalEnds('forbidden')
          .until(HOUR + DAY)
          .portalEnds('not-sent', HOUR + DAY),
      'not-sent',
    ],
    [
      'ends also while it pauses after a failure: it may have been sent',
      (life) => {
        life.portal('customer-code', HOUR + DAY - MINUTE);
        return life.break('portal').until(HOUR + DAY);
      },
      'unconfirmed',
    ],
  ])('%s', (_what, ends, status) => {
    const life = ends(acting('customer-code'));
    expect([statuses(life), life.underWay]).toEqual([[status], []]);
  });

  it('ends in an order that is over, too', () => {
    const life = screened('pass').until(5 * DAY - HOUR);
    life.portal('customer-code', 5 * DAY - HOUR);
    life.until(6 * DAY).break('portal', 'canceled');
    expect([statuses(life), life.order.over]).toEqual([['unconfirmed'], true]);
  });
});

describe('a portal action that failed for good', () => {
  it('is sent again after a pause, saying that it may have been done', () => {
    const life = acting('report-fraud').break('portal');
    life.until(HOUR + 5 * MINUTE);
    expect(life.calls('portal').map(({ request }) => request.maybeDone)).toEqual([undefined, true]);
  });

  it('may have been done also once a wrong key was told of, by the next activity’s request and to the end', () => {
    const life = acting('report-fraud');
    life.portalEnds({ kind: 'forbidden', maybeDone: true }).portalEnds('forbidden');
    expect(life.attention).toEqual(['wrong-key']);
    const requests = life.calls('portal').map(({ request }) => request);
    expect(requests.map(({ maybeDone }) => maybeDone)).toEqual([undefined, true, true]);
  });

  it('is not sent twice when it is a chargeback: nobody knows', () => {
    const life = acting('chargeback').break('portal');
    expect([life.told(1), life.underWay]).toEqual(['outcome-unknown', []]);
    const again = life.portal({ ...PORTAL_ACTIONS.chargeback, force: true }, 2 * HOUR);
    life.portalEnds('done', 2 * HOUR);
    expect([life.told(again), life.attention]).toEqual(['done', []]);
  });
});

describe('withdrawing a portal action', () => {
  it('takes back one that waits at once, and the one behind it comes', () => {
    const life = acting('customer-code', 'report-fraud', 'chargeback');
    for (const _twice of [1, 2]) expect(life.told(life.withdraw(2))).toBe('withdrawn');
    expect(life.portalEnds('done').underWay).toContain('portal:3');
    expect(statuses(life)).toEqual(['done', 'withdrawn', 'running']);
    expect(life.attention).toEqual([]);
  });

  it.each([
    ['done', 'done', 'done', 'done'],
    ['not-sent', 'withdrawn', 'withdrawn', 'action-withdrawn'],
    ['forbidden', 'withdrawn', 'withdrawn', 'action-withdrawn'],
    ['unconfirmed', 'unconfirmed', 'outcome-unknown', 'outcome-unknown'],
  ] as const)('stops one that runs and waits: %s means %s', (outcome, status, withdrawn, asked) => {
    const life = acting('customer-code');
    const ticket = life.withdraw(1, HOUR + 1_000);
    expect(life.told(ticket)).toBeUndefined();
    expect(life.commands).toContainEqual({ do: 'cancel', id: life.find('portal').id });
    life.portalEnds(outcome, HOUR + 2_000);
    expect(statuses(life)).toEqual([status]);
    expect([life.told(ticket), life.told(1)]).toEqual([withdrawn, asked]);
    expect(life.underWay).toEqual([]);
  });

  it('keeps policy from canceling again, until another decision is read', () => {
    const life = screened('pass', { autoCancel: true });
    const takeBack = (number: number, at: number) => {
      life.withdraw(number, at);
      life.portalEnds('not-sent', at);
    };
    life.portal('cancel');
    takeBack(1, HOUR + MINUTE);
    life.take(RECHECK).read('fail', 2 * HOUR);
    expect(life.calls('portal')).toHaveLength(2);
    takeBack(2, 3 * HOUR);
    life.take(RECHECK).read('fail', 4 * HOUR);
    expect(life.calls('portal')).toHaveLength(2);
  });

  it.each<[string, (life: Life) => Life, ('forbidden' | { kind: 'forbidden'; maybeDone: true })?]>([
    ['pauses after a failure', (life) => life.break('portal')],
    [
      'failed before and met a wrong key then',
      (life) => life.break('portal').until(HOUR + 5 * MINUTE),
      'forbidden',
    ],
    [
      'met a wrong key after a try that nobody knows of',
      (life) => life,
      { kind: 'forbidden', maybeDone: true },
    ],
  ])('ends one that %s: it may have been sent', (_what, before, outcome) => {
    const life = before(acting('customer-code'));
    const ticket = life.withdraw(1, 2 * HOUR);
    if (outcome !== undefined) life.portalEnds(outcome, 2 * HOUR);
    expect([life.told(ticket), statuses(life)]).toEqual(['outcome-unknown', ['unconfirmed']]);
  });
});
