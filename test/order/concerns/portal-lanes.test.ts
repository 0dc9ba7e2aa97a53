import { describe, expect, it } from 'vitest';
import {
  answered,
  DAY,
  HOUR,
  MINUTE,
  NOT_SENT,
  PORTAL_ACTIONS,
  sinceStart,
  unanswered,
} from '../../fixtures/orders.ts';
import { type Life, RECHECK, screened } from '../life.ts';

/** A passed order with these portal actions. */
function acting(...kinds: (keyof typeof PORTAL_ACTIONS)[]): Life {
  return kinds.reduce((life, kind) => life.portal(kind), screened('pass'));
}

/** A cancel of an order that is being screened. */
function canceling(outcome = unanswered()): Life {
  return screened(outcome).portal('cancel');
}

const requests = (life: Life) => life.calls('portal').map(({ request }) => request);

describe('the two lanes of portal actions', () => {
  it('a cancel goes at once beside a customer code that never gets an answer', () => {
    const life = acting('customer-code', 'cancel');
    expect(life.underWay).toEqual(['portal:1', 'portal:2']);
    life.portalEnds('done', HOUR, { key: 'portal:2' });
    expect(life).toMatchObject({ phase: 'canceled', told: ['waits', 'done'], underWay: ['portal:1'] });
    const notAfter = sinceStart(5 * DAY - 30_000);
    expect(requests(life)).toMatchObject([{ fields: { email: 'jane@example.com' } }, { notAfter }]);
  });

  it('the others go one at a time, the oldest first; whoever asks behind one is told requested at once', () => {
    const life = acting('customer-code', 'report-fraud');
    expect(life).toMatchObject({ told: ['waits', 'requested'], underWay: ['portal:1'] });
    expect(life.portalEnds('done')).toMatchObject({ actions: ['done', 'running'] });
  });
});

describe('a cancel of an order that is being screened', () => {
  it('has the create stopped and waits for it, looks what it left, and cancels that', () => {
    const life = canceling();
    expect(life.commands).toContainEqual({ do: 'cancel', id: life.find('catch-up').id });
    expect(life.underWay).toEqual(['catch-up:1:0']);
    expect(life.break('catch-up', 'canceled').underWay).toEqual(['look-up:1']);
    expect(requests(life.lookedUp('review', HOUR + MINUTE))).toMatchObject([{ transactionId: 'found' }]);
    // It took longer than anybody waits.
    expect(life.portalEnds('done', HOUR + MINUTE)).toMatchObject({ phase: 'canceled', told: ['requested'] });
  });

  it('is done without a call when nothing is found', () => {
    const life = canceling().break('catch-up', 'canceled').lookedUp('none');
    expect(life).toMatchObject({ told: ['done'], phase: 'canceled' });
    expect(requests(life)).toEqual([]);
  });

  it('is sent in the window of a transaction that the running create made after the window of a create that was only feared', () => {
    const life = screened(unanswered(), { cancelWindowMs: HOUR, screeningDeadlineMs: 2 * HOUR }).portal(
      'cancel',
    );
    const late = HOUR + MINUTE;
    life.until(HOUR).caughtUp(answered('review', 't-1', HOUR - MINUTE), late);
    expect(requests(life)).toMatchObject([{ transactionId: 't-1' }]);
  });

  it('withdrawn before it was sent lets the screening go on', () => {
    const life = canceling().withdraw(1).break('catch-up', 'canceled');
    expect(life).toMatchObject({ told: ['action-withdrawn', 'withdrawn'], underWay: ['catch-up:1:0'] });
    expect(life.calls('catch-up').at(-1)?.request).toMatchObject({ unseenSince: sinceStart(0) });
  });

  it.each([unanswered(), NOT_SENT])(
    'is too late without an answer before its last call, after %j',
    (outcome) => {
      const life = canceling(outcome)
        .break('catch-up', 'canceled')
        .until(5 * DAY - 30_000);
      expect(life.actions).toEqual(['too-late']);
      expect(life.attention).toContain('cancel-too-late');
    },
  );
});

describe('a portal action whose day is over', () => {
  const OVER = HOUR + DAY;

  it('is stopped when it was begun, and then nobody knows; one behind it never began, and says so', () => {
    const life = acting('customer-code', 'report-fraud').until(OVER);
    expect(life.commands).toContainEqual({ do: 'cancel', id: life.find('portal').id });
    expect(life.actions).toEqual(['running', 'not-sent']);
    life.break('portal', 'canceled');
    const attention = ['portal-not-sent', 'portal-unconfirmed'];
    expect(life).toMatchObject({ actions: ['unconfirmed', 'not-sent'], attention, underWay: [] });
  });
});

describe('a portal action that failed for good', () => {
  it('may have been done also once a wrong key was told of, by the next activity’s request and to the end', () => {
    const life = acting('report-fraud').portalEnds({ kind: 'forbidden', maybeDone: true });
    expect(life.portalEnds('forbidden').attention).toEqual(['wrong-key']);
    expect(requests(life).map(({ maybeDone }) => maybeDone)).toEqual([undefined, true, true]);
  });

  it('is not sent twice when it is a chargeback: nobody knows', () => {
    const life = acting('chargeback').break('portal');
    expect(life).toMatchObject({ told: ['outcome-unknown'], underWay: [] });
    life.portal({ ...PORTAL_ACTIONS.chargeback, force: true }, 2 * HOUR).portalEnds('done', 2 * HOUR);
    expect(life).toMatchObject({ told: ['outcome-unknown', 'done'], attention: [] });
  });
});

describe('withdrawing a portal action', () => {
  it.each([
    ['done', 'done', 'done', 'done'],
    ['not-sent', 'withdrawn', 'withdrawn', 'action-withdrawn'],
    ['forbidden', 'withdrawn', 'withdrawn', 'action-withdrawn'],
    ['unconfirmed', 'unconfirmed', 'outcome-unknown', 'outcome-unknown'],
  ] as const)('stops one that runs and waits: %s means %s', (outcome, status, withdrawn, asked) => {
    const life = acting('customer-code').withdraw(1);
    expect(life.told).toEqual(['waits', 'waits']);
    expect(life.commands).toContainEqual({ do: 'cancel', id: life.find('portal').id });
    life.portalEnds(outcome);
    expect(life).toMatchObject({ actions: [status], told: [asked, withdrawn], underWay: [] });
  });

  it('keeps policy from canceling again, until another decision is read', () => {
    const life = acting('cancel').withdraw(1).portalEnds('not-sent');
    expect(life.take(RECHECK).read('fail', 2 * HOUR).actions).toEqual(['withdrawn', 'running']);
    life.withdraw(2, 3 * HOUR).portalEnds('not-sent', 3 * HOUR);
    expect(life.take(RECHECK).read('fail', 4 * HOUR).actions).toEqual(['withdrawn', 'withdrawn']);
  });

  it('covers no fail that is read at the same moment', () => {
    const life = acting('cancel')
      .take(RECHECK)
      .withdraw(1, 2 * HOUR)
      .portalEnds('not-sent', 2 * HOUR);
    expect(life.read('fail', 2 * HOUR).actions).toEqual(['withdrawn', 'running']);
    life.withdraw(2, 2 * HOUR).portalEnds('not-sent', 2 * HOUR);
    expect(life.until(3 * HOUR).actions).toEqual(['withdrawn', 'withdrawn']);
  });

  it('ends one that may have been sent before as unconfirmed', () => {
    const pausing = acting('customer-code').break('portal').withdraw(1);
    const again = acting('customer-code')
      .break('portal')
      .until(2 * HOUR)
      .withdraw(1, 2 * HOUR);
    const lost = acting('customer-code').withdraw(1).portalEnds({ kind: 'forbidden', maybeDone: true });
    for (const life of [pausing, again.portalEnds('forbidden', 2 * HOUR), lost])
      expect([life.told[1], life.actions]).toEqual(['outcome-unknown', ['unconfirmed']]);
  });
});
