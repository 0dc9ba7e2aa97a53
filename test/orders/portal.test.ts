import { describe, expect, it } from 'vitest';
import type { PortalFields } from '../../src/contract/messages.ts';
import type { OrderState } from '../../src/contract/state.ts';
import type { Phase } from '../../src/contract/words.ts';
import { autoCancelDue } from '../../src/orders/decide.ts';
import {
  applyPortalOutcome,
  portalAnswer,
  portalFailure,
  portalRefusal,
  queueAction,
  setCancelTarget,
} from '../../src/orders/portal-records.ts';
import { earlier, isDoneOrPending } from '../../src/orders/portal-requests.ts';
import { requestOf } from '../../src/orders/read-message.ts';
import { addAttempt, setPhase } from '../../src/orders/record.ts';
import { cancelByOf } from '../../src/orders/transactions.ts';
import {
  anOrder,
  answered,
  attention,
  DAY,
  found,
  HOUR,
  START,
  screen,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from '../fixtures/orders.ts';

const NOW = sinceStart(HOUR);
const CANCEL: PortalFields = { kind: 'cancel' };
const REPORT: PortalFields = { kind: 'report-fraud' };
const CHARGEBACK: PortalFields = { kind: 'chargeback', reason_code: '10.4', due_date: '2026-04-01' };
const CODE: PortalFields = { kind: 'customer-code', customerCode: 'c-1' };
const ALL = [CANCEL, REPORT, CHARGEBACK, CODE];
const OPEN: Phase[] = ['screening', 'awaiting-gateway', 'review', 'declined', 'decided'];

function refused(order: OrderState, fields: PortalFields, at = HOUR): string | undefined {
  return portalRefusal(order, fields, START + at)?.code;
}

function done(order: OrderState, fields: PortalFields): string[] {
  return applyPortalOutcome(
    order,
    queueAction(order, fields, 'caller', NOW),
    { kind: 'done', code: '200' },
    NOW,
  );
}

describe('a portal action', () => {
  it('is taken in every open phase of an order with a transaction', () => {
    for (const phase of OPEN) {
      const order = anOrder('review');
      setPhase(order, phase, NOW);
      for (const fields of ALL) expect(refused(order, fields)).toBeUndefined();
    }
  });

  it('means the newest transaction also when the caller says null for what is left out', () => {
    const order = anOrder('review');
    const said = requestOf('cancel', { transactionId: null, reason: null });
    expect(said).toEqual({ kind: 'portal', fields: CANCEL });
    const record = queueAction(order, CANCEL, 'caller', NOW);
    expect(record).toMatchObject({ transactionId: TRANSACTION_ID });
    expect(record).not.toHaveProperty('because');
    expect(earlier(order, CANCEL)).toBe(record);
  });

  it('has only the fields that a portal action of its kind has', () => {
    const said = requestOf('cancel', { reason: 'why', nf_token: 'canary', by: { actor: 'ada' } });
    expect(said).toEqual({ kind: 'portal', fields: { ...CANCEL, reason: 'why' }, by: { actor: 'ada' } });
  });

  it('means a transaction also when it is named in the other case', () => {
    const order = anOrder('review');
    const inCapitals: PortalFields = { ...CANCEL, transactionId: TRANSACTION_ID.toUpperCase() };
    expect(TRANSACTION_ID.toUpperCase()).not.toBe(TRANSACTION_ID);
    expect(refused(order, inCapitals)).toBeUndefined();
    const record = queueAction(order, inCapitals, 'caller', NOW);
    expect(record.transactionId).toBe(TRANSACTION_ID);
    expect(earlier(order, CANCEL)).toBe(record);
  });

  it('is never taken in passive mode', () => {
    for (const fields of ALL) expect(refused(anOrder('fail', { passive: true }), fields)).toBe('passive');
  });

  it('that needs a transaction is refused where there is none', () => {
    const skipped = anOrder({ kind: 'skipped', rule: 0 });
    expect(ALL.map((fields) => refused(skipped, fields))).toEqual([
      'no-transaction',
      'no-transaction',
      'no-transaction',
      undefined,
    ]);
    const pending = anOrder(unanswered());
    expect(ALL.map((fields) => refused(pending, fields))).toEqual([
      undefined,
      'no-transaction',
      'no-transaction',
      undefined,
    ]);
  });

  it('for a transaction that isn’t the order’s is refused', () => {
    for (const fields of ALL)
      expect(refused(anOrder('pass'), { ...fields, transactionId: 'other' })).toBe('unknown-transaction');
  });

  it('joins the same one that is done or on its way, and is sent again otherwise', () => {
    for (const [status, joins] of [
      ['queued', true],
      ['running', true],
      ['done', true],
      ['refused', false],
      ['unconfirmed', false],
      ['too-late', false],
    ] as const) {
      const order = anOrder('pass');
      queueAction(order, REPORT, 'caller', NOW).status = status;
      expect(isDoneOrPending(earlier(order, REPORT))).toBe(joins);
      expect(earlier(order, CODE)).toBeUndefined();
    }
  });

  it('that may have been done: only a chargeback needs force', () => {
    const order = anOrder('pass');
    for (const fields of ALL) {
      applyPortalOutcome(order, queueAction(order, fields, 'caller', NOW), { kind: 'unconfirmed' }, NOW);
    }
    expect(ALL.map((fields) => refused(order, fields))).toEqual([
      undefined,
      undefined,
      'outcome-unknown-before',
      undefined,
    ]);
    expect(refused(order, { ...CHARGEBACK, force: true })).toBeUndefined();
  });

  it('refused by our own check doesn’t say that the service refused it', () => {
    const order = anOrder('pass');
    const record = queueAction(order, CHARGEBACK, 'caller', NOW);
    applyPortalOutcome(order, record, { kind: 'refused', message: 'due_date must be a date' }, NOW);
    expect(portalFailure(record)?.message).toBe('It was not sent: due_date must be a date');
    expect(order.attention[0]?.words).toMatch(
      /^It could not be sent: chargeback \(due_date must be a date\)/,
    );
  });

  it('refused by the service asks for attention until the same one is done', () => {
    const order = anOrder('pass');
    const record = queueAction(order, CHARGEBACK, 'caller', NOW);
    expect(applyPortalOutcome(order, record, { kind: 'refused', message: 'not covered' }, NOW)).toEqual([
      'order.attention',
    ]);
    expect(portalFailure(record)).toMatchObject({ code: 'refused-by-screening-service' });
    done(order, REPORT);
    expect(attention(order)).toEqual(['portal-refused']);
    done(order, CHARGEBACK);
    expect(attention(order)).toEqual([]);
  });

  it('is answered as done, or as requested while it is on its way', () => {
    const order = anOrder('pass');
    const record = queueAction(order, REPORT, 'caller', NOW);
    expect(portalAnswer(order, record)).toMatchObject({ status: 'requested', kind: 'report-fraud' });
    expect(portalFailure(record)).toBeUndefined();
    applyPortalOutcome(order, record, { kind: 'done', code: '200', message: 'ok' }, NOW);
    expect(portalAnswer(order, record)).toMatchObject({
      status: 'done',
      code: '200',
      message: 'ok',
      at: NOW,
    });
  });
});

describe('a cancel', () => {
  it('is refused once the window is closed, with its end, but a canceled order answers as before', () => {
    const order = anOrder('pass');
    const cancelBy = sinceStart(5 * DAY);
    expect(portalRefusal(order, CANCEL, START + 5 * DAY)).toEqual({ code: 'cancel-window-closed', cancelBy });
    expect(done(order, CANCEL)).toEqual(['order.canceled']);
    expect(order).toMatchObject({ phase: 'canceled', action: 'cancel' });
    expect(refused(order, CANCEL, 6 * DAY)).toBeUndefined();
  });

  it('is taken while a create may still come, however long ago the first one may have been sent', () => {
    const order = anOrder(unanswered());
    expect(order.attempts[0] && cancelByOf(order, order.attempts[0])).toBe(sinceStart(5 * DAY));
    expect(refused(order, CANCEL, 6 * DAY)).toBeUndefined();
    screen(order, answered('review'));
    expect(refused(order, CANCEL, 6 * DAY)).toBe('cancel-window-closed');
  });

  it('refused by the service, or too late, leaves the order decided with action cancel', () => {
    for (const [kind, code] of [
      ['refused', 'cancel-refused'],
      ['too-late', 'cancel-too-late'],
      ['unconfirmed', 'portal-unconfirmed'],
    ] as const) {
      const order = anOrder('review');
      const record = queueAction(order, CANCEL, 'caller', NOW);
      expect(order.cancelAsked).toBe(true);
      expect(applyPortalOutcome(order, record, { kind }, NOW)).toEqual(['order.attention']);
      expect(order).toMatchObject({
        phase: 'decided',
        action: 'cancel',
        decision: 'review',
        cancelAsked: false,
      });
      expect(attention(order)).toEqual([code]);
    }
  });

  it('of an earlier attempt’s transaction changes nothing about the order', () => {
    const order = anOrder('fail');
    addAttempt(order, {}, NOW);
    screen(order, answered('pass', 'second'));
    queueAction(order, { ...CANCEL, transactionId: TRANSACTION_ID }, 'caller', NOW);
    expect(order.cancelAsked).toBe(false);
    expect(done(order, { ...CANCEL, transactionId: TRANSACTION_ID })).toEqual([]);
    expect(order).toMatchObject({ phase: 'decided', action: 'proceed' });
  });

  it('asked before the transaction was known is the same as one asked after', () => {
    const order = anOrder(unanswered());
    const record = queueAction(order, CANCEL, 'caller', NOW);
    screen(order, found('pass', 'found'));
    setCancelTarget(order, record, CANCEL);
    expect(record.transactionId).toBe('found');
    expect(earlier(order, CANCEL)).toBe(record);
  });
});

describe('the policy cancels by itself', () => {
  const policy = { workflow: 'post-acceptance' } as const;
  const due = (order: OrderState, at = HOUR) => autoCancelDue(order, START + at);

  it('a fail or fraudulent after acceptance, while the window is open, once', () => {
    for (const decision of ['fail', 'fraudulent'] as const) {
      const order = anOrder(decision, policy);
      expect(due(order)).toBe(true);
      expect(due(order, 5 * DAY)).toBe(false);
      queueAction(order, CANCEL, 'policy', NOW);
      expect(due(order)).toBe(false);
    }
  });

  it('nothing else', () => {
    for (const decision of ['pass', 'review', 'error'] as const)
      expect(due(anOrder(decision, policy))).toBe(false);
    expect(due(anOrder('fail'))).toBe(false);
    expect(due(anOrder('fail', { ...policy, autoCancel: false }))).toBe(false);
    expect(due(anOrder('fail', { ...policy, passive: true }))).toBe(false);
  });
});
