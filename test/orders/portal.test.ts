import { describe, expect, it } from 'vitest';
import type { PortalFields } from '../../src/contract/messages.ts';
import type { ActionRecord, OrderState } from '../../src/contract/state.ts';
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
  PORTAL_ACTIONS,
  START,
  screen,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from '../fixtures/orders.ts';

const NOW = sinceStart(HOUR);
const { cancel: CANCEL, 'report-fraud': REPORT, chargeback: CHARGEBACK } = PORTAL_ACTIONS;
const CODE = PORTAL_ACTIONS['customer-code'];
const ALL: PortalFields[] = [CANCEL, REPORT, CHARGEBACK, CODE];
type Ended = Parameters<typeof applyPortalOutcome>[2];

function refused(order: OrderState, fields: PortalFields, at = HOUR): string | undefined {
  return portalRefusal(order, fields, START + at)?.code;
}

function queued(order: OrderState, fields: PortalFields): ActionRecord {
  return queueAction(order, fields, 'caller', NOW);
}

function end(
  order: OrderState,
  fields: PortalFields,
  outcome: Ended = { kind: 'done', code: '200' },
): string[] {
  return applyPortalOutcome(order, queued(order, fields), outcome, NOW);
}

describe('a portal action', () => {
  it('is taken in every open phase of an order with a transaction', () => {
    const open: Phase[] = ['screening', 'awaiting-gateway', 'review', 'declined', 'decided'];
    for (const phase of open) {
      const order = anOrder('review');
      setPhase(order, phase, NOW);
      for (const fields of ALL) expect(refused(order, fields)).toBeUndefined();
    }
  });

  it('means the newest transaction also when the caller says null for what is left out', () => {
    const order = anOrder('review');
    const said = requestOf('cancel', { transactionId: null, reason: null });
    expect(said).toEqual({ kind: 'portal', fields: CANCEL });
    const record = queued(order, CANCEL);
    expect(record).toMatchObject({ transactionId: TRANSACTION_ID });
    expect(record).not.toHaveProperty('because');
  });

  it('has only the fields that a portal action of its kind has', () => {
    const said = requestOf('cancel', { reason: 'why', nf_token: 'canary', by: { actor: 'ada' } });
    expect(said).toEqual({ kind: 'portal', fields: { ...CANCEL, reason: 'why' }, by: { actor: 'ada' } });
  });

  it('means a transaction also when it is named in the other case', () => {
    const order = anOrder('review');
    const inCapitals = { ...CANCEL, transactionId: TRANSACTION_ID.toUpperCase() };
    expect(refused(order, inCapitals)).toBeUndefined();
    const record = queued(order, inCapitals);
    expect(record.transactionId).toBe(TRANSACTION_ID);
    expect(earlier(order, CANCEL)).toBe(record);
  });

  it('is never taken in passive mode', () => {
    for (const fields of ALL) expect(refused(anOrder('fail', { passive: true }), fields)).toBe('passive');
  });

  it('that needs a transaction is refused where there is none', () => {
    const codes = (order: OrderState) => ALL.map((fields) => refused(order, fields));
    const none = 'no-transaction';
    expect(codes(anOrder({ kind: 'skipped', rule: 0 }))).toEqual([none, none, none, undefined]);
    expect(codes(anOrder(unanswered()))).toEqual([undefined, none, none, undefined]);
  });

  it('for a transaction that isn’t the order’s is refused', () => {
    for (const fields of ALL)
      expect(refused(anOrder('pass'), { ...fields, transactionId: 'other' })).toBe('unknown-transaction');
  });

  it.each([
    ['queued', true],
    ['running', true],
    ['done', true],
    ['refused', false],
    ['unconfirmed', false],
    ['too-late', false],
  ] as const)('joins the same one that is %s: %s', (status, joins) => {
    const order = anOrder('pass');
    queued(order, REPORT).status = status;
    expect(isDoneOrPending(earlier(order, REPORT))).toBe(joins);
    expect(earlier(order, CODE)).toBeUndefined();
  });

  it('that may have been done: only a chargeback needs force', () => {
    const order = anOrder('pass');
    for (const fields of ALL) end(order, fields, { kind: 'unconfirmed' });
    const codes = ALL.map((fields) => refused(order, fields));
    expect(codes).toEqual([undefined, undefined, 'outcome-unknown-before', undefined]);
    expect(refused(order, { ...CHARGEBACK, force: true })).toBeUndefined();
  });

  it('refused by our own check doesn’t say that the service refused it', () => {
    const order = anOrder('pass');
    end(order, CHARGEBACK, { kind: 'refused', message: 'due_date must be a date' });
    expect(order.actions.map((one) => portalFailure(one)?.message)).toEqual([
      'It was not sent: due_date must be a date',
    ]);
    const words = 'It could not be sent: chargeback (due_date must be a date)';
    expect(order.attention).toMatchObject([{ words: expect.stringContaining(words) }]);
  });

  it('refused by the service asks for attention until the same one is done', () => {
    const order = anOrder('pass');
    expect(end(order, CHARGEBACK, { kind: 'refused', message: 'no' })).toEqual(['order.attention']);
    end(order, REPORT);
    expect(attention(order)).toEqual(['portal-refused']);
    end(order, CHARGEBACK);
    expect(attention(order)).toEqual([]);
  });

  it('is answered as done, or as requested while it is on its way', () => {
    const order = anOrder('pass');
    const record = queued(order, REPORT);
    expect(portalAnswer(order, record)).toMatchObject({ status: 'requested', kind: 'report-fraud' });
    expect(portalFailure(record)).toBeUndefined();
    const said = { code: '200', message: 'ok' };
    applyPortalOutcome(order, record, { kind: 'done', ...said }, NOW);
    expect(portalAnswer(order, record)).toMatchObject({ status: 'done', ...said, at: NOW });
  });
});

describe('a cancel', () => {
  it('is refused once the window is closed, with its end, but a canceled order answers as before', () => {
    const order = anOrder('pass');
    const cancelBy = sinceStart(5 * DAY);
    expect(portalRefusal(order, CANCEL, START + 5 * DAY)).toEqual({ code: 'cancel-window-closed', cancelBy });
    expect(end(order, CANCEL)).toEqual(['order.canceled']);
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
      expect(end(order, CANCEL, { kind })).toEqual(['order.attention']);
      const left = { phase: 'decided', action: 'cancel', decision: 'review', cancelAsked: false };
      expect(order).toMatchObject(left);
      expect(attention(order)).toEqual([code]);
    }
  });

  it('of an earlier attempt’s transaction changes nothing about the order', () => {
    const order = anOrder('fail');
    addAttempt(order, {}, NOW);
    screen(order, answered('pass', 'second'));
    expect(end(order, { ...CANCEL, transactionId: TRANSACTION_ID })).toEqual([]);
    queued(order, { ...CANCEL, transactionId: TRANSACTION_ID });
    expect(order).toMatchObject({ phase: 'decided', action: 'proceed', cancelAsked: false });
  });

  it('asked before the transaction was known is the same as one asked after', () => {
    const order = anOrder(unanswered());
    const record = queued(order, CANCEL);
    expect(order.cancelAsked).toBe(true);
    screen(order, found('pass', 'found'));
    setCancelTarget(order, record, CANCEL);
    expect(record.transactionId).toBe('found');
    expect(earlier(order, CANCEL)).toBe(record);
  });
});

describe('the policy cancels by itself', () => {
  const POST = { workflow: 'post-acceptance' } as const;
  const due = (order: OrderState, at = HOUR) => autoCancelDue(order, START + at);

  it('a fail or fraudulent after acceptance, while the window is open, once', () => {
    for (const decision of ['fail', 'fraudulent'] as const) {
      const order = anOrder(decision, POST);
      expect([due(order), due(order, 5 * DAY)]).toEqual([true, false]);
      queueAction(order, CANCEL, 'policy', NOW);
      expect(due(order)).toBe(false);
    }
  });

  it('nothing else', () => {
    for (const decision of ['pass', 'review', 'error'] as const)
      expect(due(anOrder(decision, POST))).toBe(false);
    expect(due(anOrder('fail'))).toBe(false);
    expect(due(anOrder('fail', { ...POST, autoCancel: false }))).toBe(false);
    expect(due(anOrder('fail', { ...POST, passive: true }))).toBe(false);
  });
});
