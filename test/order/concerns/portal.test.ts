import { describe, expect, it } from 'vitest';
import type { PortalFields } from '../../../src/contract/messages.ts';
import type { ActionRecord, OrderState } from '../../../src/contract/order/state.ts';
import { applyGatewayResult } from '../../../src/order/concerns/gateway.ts';
import { autoCancelDue } from '../../../src/order/decide.ts';
import { opened, retryRefusal } from '../../../src/order/messages/check-messages.ts';
import {
  applyPortalOutcome,
  portalFailure,
  portalRefusal,
  queueAction,
  setCancelTarget,
} from '../../../src/order/portal/portal-records.ts';
import { earlier, subjectOf } from '../../../src/order/portal/portal-requests.ts';
import { cancelAsked } from '../../../src/order/transactions.ts';
import {
  anOrder,
  attention,
  DAY,
  found,
  HOUR,
  MINUTE,
  PORTAL_ACTIONS,
  START,
  screen,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from '../../fixtures/orders.ts';
import { screened } from '../life.ts';

const NOW = sinceStart(HOUR);
const { cancel: CANCEL, 'report-fraud': REPORT, chargeback: CHARGEBACK } = PORTAL_ACTIONS;
const ALL: PortalFields[] = [CANCEL, REPORT, CHARGEBACK, PORTAL_ACTIONS['customer-code']];
const DONE: Ended = { kind: 'done', code: '200' };
type Ended = Parameters<typeof applyPortalOutcome>[2];

function refused(order: OrderState, fields: PortalFields, at = HOUR): string | undefined {
  return portalRefusal(order, fields, START + at)?.code;
}

function queued(order: OrderState, fields: PortalFields): ActionRecord {
  return queueAction(order, fields, 'caller', NOW);
}

function end(order: OrderState, fields: PortalFields, outcome = DONE): string[] {
  return applyPortalOutcome(order, queued(order, fields), outcome, NOW);
}

describe('a portal action', () => {
  it('of an order that has ended is refused there, and runs as its own workflow', () => {
    const order: OrderState = { ...anOrder('pass'), endedAt: NOW };
    expect(ALL.map((fields) => refused(order, fields))).toEqual(ALL.map(() => 'order-closed'));
    const own = ALL.map((fields) => portalRefusal(order, fields, START + HOUR, true));
    expect(own).toEqual(ALL.map(() => undefined));
  });

  it('means the newest transaction also when the caller says null for what is left out', () => {
    const order = anOrder('review');
    const body = { transactionId: null, reason: null };
    expect(opened('cancel', { updateId: 'u-1', body }).request).toEqual({
      kind: 'portal',
      request: { fields: CANCEL },
    });
    const record = queued(order, CANCEL);
    expect(record).toMatchObject({ transactionId: TRANSACTION_ID });
    expect(record).not.toHaveProperty('because');
  });

  it('has only the fields that a portal action of its kind has', () => {
    const body = { kind: 'report-fraud', reason: 'why', nf_token: 'canary', by: { actor: 'ada' } };
    const said = opened('cancel', { updateId: 'u-1', body }).request;
    expect(said).toEqual({
      kind: 'portal',
      request: { fields: { ...CANCEL, reason: 'why' }, by: { actor: 'ada' } },
    });
  });

  it('means a transaction also when it is named in the other case', () => {
    const order = anOrder('review');
    const inCapitals = { ...CANCEL, transactionId: TRANSACTION_ID.toUpperCase() };
    expect(refused(order, inCapitals)).toBeUndefined();
    const record = queued(order, inCapitals);
    expect(record.transactionId).toBe(TRANSACTION_ID);
    expect(earlier(order, CANCEL)).toBe(record);
  });

  it('is never taken in passive mode, nor for a transaction of another order', () => {
    for (const fields of ALL) {
      expect(refused(anOrder('fail', { passive: true }), fields)).toBe('passive');
      expect(refused(anOrder('pass'), { ...fields, transactionId: 'x' })).toBe('unknown-transaction');
    }
  });

  it('that needs a transaction is refused where there is none', () => {
    const codes = (order: OrderState) => ALL.map((fields) => refused(order, fields));
    const none = 'no-transaction';
    expect(codes(anOrder({ kind: 'skipped', rule: 0 }))).toEqual([none, none, none, undefined]);
    expect(codes(anOrder(unanswered()))).toEqual([undefined, none, none, undefined]);
  });

  it('that may have been done: only a chargeback needs force', () => {
    const order = anOrder('pass');
    for (const fields of ALL) end(order, fields, { kind: 'unconfirmed' });
    const codes = ALL.map((fields) => refused(order, fields));
    expect(codes).toEqual([undefined, undefined, 'outcome-unknown-before', undefined]);
    expect(refused(order, { ...CHARGEBACK, force: true })).toBeUndefined();
  });

  it.each([
    ['pass', undefined],
    ['fraudulent', undefined],
    ['fail', 'chargeback-not-allowed'],
    ['review', 'chargeback-not-allowed'],
    ['error', 'chargeback-not-allowed'],
  ] as const)(
    'that is a chargeback of a transaction that is %s: %s, unless it has force',
    (decision, code) => {
      const order = anOrder(decision, { workflow: 'post-acceptance' });
      expect(refused(order, CHARGEBACK)).toBe(code);
      expect(refused(order, { ...CHARGEBACK, transactionId: TRANSACTION_ID })).toBe(code);
      expect(refused(order, { ...CHARGEBACK, force: true })).toBeUndefined();
      expect(refused(order, REPORT)).toBeUndefined();
    },
  );

  it('that is a chargeback of a transaction whose decision nobody could read is the screening service’s to judge', () => {
    const seen = { transactionId: 'x', found: false, sentFrom: NOW, sentUntil: NOW };
    const order = anOrder({ kind: 'unreadable', reason: 'unknown-decision', seen });
    expect(refused(order, CHARGEBACK)).toBeUndefined();
  });

  it('refused asks for attention until the same one is done; our own check isn’t called the service’s', () => {
    const order = anOrder('pass');
    const message = 'due_date must be a date';
    expect(end(order, CHARGEBACK, { kind: 'refused', message, local: true })).toEqual(['order.attention']);
    const [record] = order.actions;
    expect(record && portalFailure(record)?.message).toBe(`It was not sent: ${message}`);
    end(order, REPORT);
    const words = expect.stringContaining(`It could not be sent: chargeback (${message})`);
    expect(order.attention).toMatchObject([{ code: 'portal-refused', words }]);
    end(order, CHARGEBACK);
    expect(attention(order)).toEqual([]);
  });

  it('refused by the screening service is called so, also without a code', () => {
    const order = anOrder('pass');
    const message = 'Transaction is not covered';
    end(order, REPORT, { kind: 'refused', message });
    const [record] = order.actions;
    const refusal = { message: `The screening service refused it: ${message}`, serviceMessage: message };
    expect(record && portalFailure(record)).toMatchObject(refusal);
    const words = expect.stringContaining(`The screening service refused: report-fraud (${message})`);
    expect(order.attention).toMatchObject([{ code: 'portal-refused', words }]);
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

  it('refused by the service, or too late, leaves the order decided with action cancel', () => {
    for (const [kind, code] of [
      ['refused', 'cancel-refused'],
      ['too-late', 'cancel-too-late'],
      ['unconfirmed', 'portal-unconfirmed'],
    ] as const) {
      const order = anOrder('review');
      expect(end(order, CANCEL, { kind })).toEqual(['order.attention']);
      const left = { phase: 'decided', action: 'cancel', decision: 'review' };
      expect(order).toMatchObject(left);
      expect(cancelAsked(order)).toBe(false);
      expect(attention(order)).toEqual([code]);
    }
  });

  it.each(['refused', 'too-late', 'unconfirmed'] as const)(
    '%s leaves a declined order declined: the customer may try again',
    (kind) => {
      const paid = anOrder('pass', { workflow: 'pre-gateway' });
      applyGatewayResult(paid, { result: 'fail' }, NOW);
      for (const order of [anOrder('fail'), paid]) {
        const { message, decision } = order;
        expect(end(order, CANCEL, { kind })).toEqual(['order.attention']);
        expect(order).toMatchObject({ phase: 'declined', action: 'decline', message, decision });
        expect(attention(order)).toHaveLength(1);
        expect(retryRefusal(order, { attempt: 2, transaction: {} })).toBeUndefined();
      }
    },
  );

  it('asked before the transaction was known is the same as one asked after', () => {
    const order = anOrder(unanswered());
    const record = queued(order, CANCEL);
    expect(cancelAsked(order)).toBe(true);
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
    const others = (['pass', 'review', 'error'] as const).map((decision) => anOrder(decision, POST));
    const policies = [{}, { ...POST, autoCancel: false }, { ...POST, passive: true }];
    for (const order of [...others, ...policies.map((policy) => anOrder('fail', policy))])
      expect(due(order)).toBe(false);
  });
});

const CODE = { ...PORTAL_ACTIONS['customer-code'], email: 'jane@example.com' } as const;
const OTHER_CODE = { ...CODE, email: 'john@example.com' } as const;

describe('the same portal action', () => {
  it.each<[boolean, string, PortalFields, PortalFields]>([
    [true, 'is a cancel of the same transaction, whatever the reason', CANCEL, { ...CANCEL, reason: 'why' }],
    [true, 'is a cancel that names it', CANCEL, { ...CANCEL, transactionId: TRANSACTION_ID }],
    [false, 'is no cancel of another', CANCEL, { ...CANCEL, transactionId: 'another' }],
    [true, 'is a fraud report of it', REPORT, { ...REPORT, transactionId: TRANSACTION_ID, reason: 'why' }],
    [false, 'is no fraud report of another', REPORT, { ...REPORT, transactionId: 'another' }],
    [false, 'is of the same kind', CANCEL, REPORT],
    [true, 'is a customer code of the same code and e-mail', CODE, { ...CODE }],
    [false, 'is no customer code of another e-mail', CODE, OTHER_CODE],
    [false, 'is no other customer code', CODE, { ...CODE, customerCode: 'c-2' }],
    [true, 'is a chargeback without an inquiry', CHARGEBACK, { ...CHARGEBACK, inquiry: 'false' }],
    [true, 'is a chargeback whose force says to send', CHARGEBACK, { ...CHARGEBACK, force: true }],
    [
      false,
      'is not mistaken for one whose fields read alike when they are put together',
      { ...CHARGEBACK, carrier: 'a,b' },
      { ...CHARGEBACK, carrier: 'a', carrier_tracking_number: 'b' },
    ],
    ...[
      { reason_code: '10.5' },
      { due_date: '2026-04-02' },
      { notice_date: '2026-03-01' },
      { reference_number: 'r-1' },
      { carrier: 'A' },
      { carrier_tracking_number: 'n-1' },
      { notes: 'seen' },
      { inquiry: 'true' as const },
      { transactionId: 'another' },
    ].map((other): [boolean, string, PortalFields, PortalFields] => [
      false,
      `is not a chargeback with another ${Object.keys(other)}`,
      CHARGEBACK,
      { ...CHARGEBACK, ...other },
    ]),
  ])('%s: it %s', (same, _what, one, other) => {
    const order = anOrder('pass');
    expect(subjectOf(order, one) === subjectOf(order, other)).toBe(same);
  });

  it('is a customer code with the order’s own e-mail as one without; another attempt may have another e-mail', () => {
    const life = screened('pass').portal('customer-code').portalEnds('done').portal(CODE);
    expect(life).toMatchObject({ told: ['done', 'done'], actions: ['done'] });
    expect(life.portal(OTHER_CODE).actions).toHaveLength(2);
    expect(JSON.stringify(life.state)).not.toContain('jane@');
    const customer = { email: OTHER_CODE.email };
    const retried = screened('fail').portal('customer-code', 0).portalEnds('done', 0);
    retried.retry(2, 0, { customer }).portal('customer-code', 0);
    const sent = retried.calls('portal').map(({ request }) => request.fields);
    expect(sent).toMatchObject([{ email: CODE.email }, { email: OTHER_CODE.email }]);
    expect(retried.portal(OTHER_CODE, 0).actions).toEqual(['done', 'running']);
    expect(retried.portal(CODE, 0).actions).toEqual(['done', 'running', 'queued']);
    expect(JSON.stringify(retried.state)).not.toContain(OTHER_CODE.email);
  });
});

it('a customer code goes out with the e-mail of the attempt at which it was requested', () => {
  const life = screened('fail').portal('report-fraud', MINUTE).portal('customer-code', MINUTE);
  life.retry(2, 2 * MINUTE, { customer: { email: 'john@example.com' } }).retried('pass', 2 * MINUTE);
  life.portalEnds({ kind: 'done', code: '200' }, 3 * MINUTE);
  expect(life.calls('portal').at(-1)?.request.fields).toMatchObject({ email: 'jane@example.com' });
});
