import { describe, expect, it } from 'vitest';
import type { PortalFields } from '../../src/contract/messages.ts';
import type { Decision } from '../../src/contract/words.ts';
import {
  answered,
  attention,
  DAY,
  HOUR,
  MINUTE,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from '../fixtures/orders.ts';
import { type Life, RECHECK, screened, told } from './life.ts';

const CODE: PortalFields = { kind: 'customer-code', customerCode: 'c-1' };
const REPORT: PortalFields = { kind: 'report-fraud' };
const CHARGEBACK: PortalFields = { kind: 'chargeback', reason_code: '10.4', due_date: '2026-04-01' };
const CANCEL: PortalFields = { kind: 'cancel' };
const DONE = { kind: 'done', code: '200' } as const;

function act(life: Life, fields: PortalFields, at = HOUR): number {
  return life.ask({ kind: 'portal', fields }, at);
}

function withdraw(life: Life, number: number, at: number): number {
  return life.ask({ kind: 'withdraw', request: { number } }, at);
}

function statuses({ order }: Life): string[] {
  return order.state.actions.map(({ status }) => status);
}

describe('the two lanes of portal actions', () => {
  it('a cancel goes at once beside a customer code that never gets an answer', () => {
    const life = screened('pass');
    act(life, CODE);
    const ticket = act(life, CANCEL, 2 * HOUR);
    expect(life.underWay).toEqual(['portal:1', 'portal:2']);
    life.end({ kind: 'portal', outcome: DONE }, 3 * HOUR, { key: 'portal:2' });
    expect(told(life, ticket)).toBe('done');
    expect(life.order.state.phase).toBe('canceled');
    expect(life.underWay).toEqual(['portal:1']);
  });

  it('the others go one at a time, the oldest first; whoever asks behind one is told requested at once', () => {
    const life = screened('pass');
    act(life, CODE);
    const behind = act(life, REPORT);
    expect(told(life, behind)).toBe('requested');
    expect(life.underWay).toEqual(['portal:1']);
    life.end({ kind: 'portal', outcome: DONE }, HOUR);
    expect(life.underWay).toContain('portal:2');
    expect(statuses(life)).toEqual(['done', 'running']);
  });

  it('a cancel knows until when it may be sent, a customer code the order’s e-mail', () => {
    const life = screened('pass');
    act(life, CODE);
    act(life, CANCEL);
    expect(life.calls('portal').map(({ request }) => request)).toMatchObject([
      { fields: CODE, email: 'jane@example.com', transactionId: TRANSACTION_ID },
      { fields: CANCEL, notAfter: sinceStart(5 * DAY - 30_000), transactionId: TRANSACTION_ID },
    ]);
  });
});

describe('a cancel of an order that is being screened', () => {
  it('has the create stopped and waits for it, looks what it left, and cancels that', () => {
    const life = screened(unanswered());
    const ticket = act(life, CANCEL);
    expect(life.calls('portal')).toEqual([]);
    expect(life.commands).toContainEqual({ do: 'cancel', id: life.find('catch-up').id });
    expect(life.underWay).toEqual(['catch-up:1:0']);
    life.break('catch-up', 'canceled');
    expect(life.underWay).toEqual(['look-up:1']);
    const found = { kind: 'found', transactionId: 'found', decision: 'review' } as const;
    life.end({ kind: 'look-up', outcome: found }, HOUR + MINUTE);
    expect(life.calls('portal')).toMatchObject([{ request: { transactionId: 'found' } }]);
    life.end({ kind: 'portal', outcome: DONE }, HOUR + 2 * MINUTE);
    expect(life.order.state.phase).toBe('canceled');
    // It took longer than anybody waits.
    expect(told(life, ticket)).toBe('requested');
  });

  it('cancels what the create brought, if that has an answer after all', () => {
    const life = screened(unanswered());
    act(life, CANCEL);
    life.end({ kind: 'catch-up', outcome: answered('pass', 'made') }, HOUR);
    expect(life.calls('look-up')).toEqual([]);
    expect(life.calls('portal')).toMatchObject([{ request: { transactionId: 'made' } }]);
  });

  it('is done without a call when nothing is found', () => {
    const life = screened(unanswered());
    const ticket = act(life, CANCEL);
    life.break('catch-up', 'canceled').end({ kind: 'look-up', outcome: { kind: 'none' } }, HOUR);
    expect(told(life, ticket)).toBe('done');
    expect(life.calls('portal')).toEqual([]);
    expect(life.order.state.phase).toBe('canceled');
  });

  it('withdrawn before it was sent lets the screening go on', () => {
    const life = screened(unanswered());
    const asked = act(life, CANCEL);
    const ticket = withdraw(life, 1, HOUR + MINUTE);
    expect(told(life, ticket)).toBe('withdrawn');
    expect([told(life, asked), statuses(life)]).toEqual(['action-withdrawn', ['withdrawn']]);
    life.break('catch-up', 'canceled');
    expect(life.underWay).toEqual(['catch-up:1:0']);
    expect(life.calls('catch-up').at(-1)?.request).toMatchObject({ unseenSince: sinceStart(0) });
  });

  it.each([unanswered(), { kind: 'unanswered', reason: 'timeout' } as const])(
    'is too late when nobody answered the lookup before its last call, after %j',
    (outcome) => {
      const life = screened(outcome);
      act(life, CANCEL);
      life.break('catch-up', 'canceled').until(5 * DAY - 30_000);
      expect(statuses(life)).toEqual(['too-late']);
      expect(attention(life.order.state)).toContain('cancel-too-late');
    },
  );
});

describe('a portal action whose day is over', () => {
  it('is stopped when it was begun, and then nobody knows; one behind it never began, and says so', () => {
    const life = screened('pass');
    act(life, CODE);
    act(life, REPORT);
    life.until(HOUR + DAY);
    expect(life.commands).toContainEqual({ do: 'cancel', id: life.find('portal').id });
    expect(statuses(life)).toEqual(['running', 'not-sent']);
    life.break('portal', 'canceled');
    expect(statuses(life)).toEqual(['unconfirmed', 'not-sent']);
    expect(attention(life.order.state)).toEqual(['portal-not-sent', 'portal-unconfirmed']);
    expect(life.underWay).toEqual([]);
  });

  it.each<[string, (life: Life) => unknown, string]>([
    [
      'is done when its end says so',
      (life) => life.until(HOUR + DAY).end({ kind: 'portal', outcome: DONE }, HOUR + DAY),
      'done',
    ],
    [
      'was certainly not sent when the service refused the key to the end',
      (life) => {
        life.end({ kind: 'portal', outcome: { kind: 'forbidden' } }, HOUR).until(HOUR + DAY);
        life.end({ kind: 'portal', outcome: { kind: 'not-sent' } }, HOUR + DAY);
      },
      'not-sent',
    ],
    [
      'ends also while it pauses after a failure: it may have been sent',
      (life) => {
        act(life, CODE, HOUR + DAY - MINUTE);
        life.break('portal').until(HOUR + DAY);
      },
      'unconfirmed',
    ],
  ])('%s', (_what, ends, status) => {
    const life = screened('pass');
    act(life, CODE);
    ends(life);
    expect(statuses(life)).toEqual([status]);
    expect(life.underWay).toEqual([]);
  });

  it('ends in an order that is over, too', () => {
    const life = screened('pass').until(5 * DAY - HOUR);
    act(life, CODE, 5 * DAY - HOUR);
    life.until(6 * DAY);
    life.break('portal', 'canceled');
    expect(statuses(life)).toEqual(['unconfirmed']);
    expect(life.order.over).toBe(true);
  });
});

describe('a portal action that failed for good', () => {
  it('is sent again after a pause, saying that it may have been done', () => {
    const life = screened('pass');
    act(life, REPORT);
    life.break('portal').until(HOUR + 5 * MINUTE);
    expect(life.calls('portal').map(({ request }) => request.maybeDone)).toEqual([undefined, true]);
  });

  it('may have been done also once a wrong key was told of, by the next activity’s request and to the end', () => {
    const life = screened('pass');
    act(life, REPORT);
    life.end({ kind: 'portal', outcome: { kind: 'forbidden', maybeDone: true } }, HOUR);
    life.end({ kind: 'portal', outcome: { kind: 'forbidden' } }, HOUR);
    expect(attention(life.order.state)).toEqual(['wrong-key']);
    expect(life.calls('portal').map(({ request }) => [request.maybeDone, request.forbiddenKnown])).toEqual([
      [undefined, false],
      [true, true],
      [true, true],
    ]);
  });

  it('is not sent twice when it is a chargeback: nobody knows', () => {
    const life = screened('pass');
    const ticket = act(life, CHARGEBACK);
    life.break('portal');
    expect(told(life, ticket)).toBe('outcome-unknown');
    expect(life.underWay).toEqual([]);
    const again = life.ask({ kind: 'portal', fields: { ...CHARGEBACK, force: true } }, 2 * HOUR);
    life.end({ kind: 'portal', outcome: DONE }, 2 * HOUR);
    expect(told(life, again)).toBe('done');
    expect(attention(life.order.state)).toEqual([]);
  });
});

describe('withdrawing a portal action', () => {
  it('takes back one that waits at once, and the one behind it comes', () => {
    const life = screened('pass');
    act(life, CODE);
    act(life, REPORT);
    act(life, CHARGEBACK);
    for (const _twice of [1, 2]) expect(told(life, withdraw(life, 2, HOUR))).toBe('withdrawn');
    life.end({ kind: 'portal', outcome: DONE }, HOUR);
    expect(life.underWay).toContain('portal:3');
    expect(statuses(life)).toEqual(['done', 'withdrawn', 'running']);
    expect(attention(life.order.state)).toEqual([]);
  });

  it.each([
    [{ kind: 'done' }, 'done', 'done', 'done'],
    [{ kind: 'not-sent' }, 'withdrawn', 'withdrawn', 'action-withdrawn'],
    [{ kind: 'forbidden' }, 'withdrawn', 'withdrawn', 'action-withdrawn'],
    [{ kind: 'unconfirmed' }, 'unconfirmed', 'outcome-unknown', 'outcome-unknown'],
  ] as const)('stops one that runs and waits: %j means %s', (outcome, status, withdrawn, asked) => {
    const life = screened('pass');
    const caller = act(life, CODE);
    const ticket = withdraw(life, 1, HOUR + 1_000);
    expect(told(life, ticket)).toBeUndefined();
    expect(life.commands).toContainEqual({ do: 'cancel', id: life.find('portal').id });
    life.end({ kind: 'portal', outcome }, HOUR + 2_000);
    expect(statuses(life)).toEqual([status]);
    expect([told(life, ticket), told(life, caller)]).toEqual([withdrawn, asked]);
    expect(life.underWay).toEqual([]);
  });

  it('keeps policy from canceling again, until another decision is read', () => {
    const life = screened('pass', { autoCancel: true });
    const read = (decision: Decision, at: number) =>
      life.take(RECHECK).end({ kind: 'read', outcome: { kind: 'read', decision } }, at);
    const takeBack = (number: number, at: number) => {
      withdraw(life, number, at);
      life.end({ kind: 'portal', outcome: { kind: 'not-sent' } }, at);
    };
    act(life, CANCEL);
    takeBack(1, HOUR + MINUTE);
    read('fail', 2 * HOUR);
    expect(life.calls('portal')).toHaveLength(2);
    takeBack(2, 3 * HOUR);
    read('fail', 4 * HOUR);
    expect(life.calls('portal')).toHaveLength(2);
  });

  it.each<[string, (life: Life) => number]>([
    ['pauses after a failure', (life) => withdraw(life.break('portal'), 1, 2 * HOUR)],
    [
      'failed before and met a wrong key then',
      (life) => {
        const ticket = withdraw(life.break('portal').until(HOUR + 5 * MINUTE), 1, 2 * HOUR);
        life.end({ kind: 'portal', outcome: { kind: 'forbidden' } }, 2 * HOUR);
        return ticket;
      },
    ],
    [
      'met a wrong key after a try that nobody knows of',
      (life) => {
        const ticket = withdraw(life, 1, 2 * HOUR);
        life.end({ kind: 'portal', outcome: { kind: 'forbidden', maybeDone: true } }, 2 * HOUR);
        return ticket;
      },
    ],
  ])('ends one that %s: it may have been sent', (_what, taken) => {
    const life = screened('pass');
    act(life, CODE);
    expect(told(life, taken(life))).toBe('outcome-unknown');
    expect(statuses(life)).toEqual(['unconfirmed']);
  });
});
