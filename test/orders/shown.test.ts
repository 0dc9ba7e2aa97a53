import { describe, expect, it } from 'vitest';
import { orderOfWorkflowId, orderWorkflowId, withoutHash } from '../../src/contract/ids.ts';
import type { Phase } from '../../src/contract/words.ts';
import { applyReading } from '../../src/orders/apply-reading.ts';
import { applyGatewayResult } from '../../src/orders/concerns/gateway.ts';
import { matchingSkipRule, orderFactsOf, ruleMatches, unavailableAction } from '../../src/orders/decide.ts';
import {
  describe as inWords,
  searchAttributesAtStart,
  searchAttributesOf,
} from '../../src/orders/describe.ts';
import { eventToSend } from '../../src/orders/events.ts';
import { setPhase } from '../../src/orders/record.ts';
import { invoiceNumberOf } from '../../src/orders/screen-request.ts';
import {
  aNewOrder,
  announced,
  anOrder,
  DAY,
  HOUR,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from '../fixtures/orders.ts';
import { screened } from './life.ts';

const PHASES: Phase[] = [
  'screening',
  'awaiting-gateway',
  'review',
  'declined',
  'decided',
  'canceled',
  'closed',
];

describe('an event', () => {
  it('has the next number, an id that stays, and the state in short', () => {
    const order = anOrder('fail');
    expect(eventToSend(order, announced(order, 'order.decided', 0))).toEqual({
      id: 'default:order-1:1',
      type: 'order.decided',
      orderId: 'order-1',
      integration: 'default',
      sequence: 1,
      occurredAt: sinceStart(0),
      data: {
        phase: 'declined',
        decision: 'fail',
        action: 'decline',
        attempt: 1,
        attention: [],
        transactionId: TRANSACTION_ID,
        message: 'Please try another way to pay.',
        cancelBy: sinceStart(5 * DAY),
      },
    });
    expect(announced(order, 'order.closed', 1).sequence).toBe(2);
  });
});

describe('an order in words', () => {
  it('says of a look-up that it keeps the order open, until that has ended', () => {
    const life = screened(unanswered(), { whenUnavailable: 'decline' }).until(HOUR);
    expect(life.underWay).toEqual(['look-up:1']);
    expect(inWords(life.order)).toMatch(/kept open by\n\n- a lookup of the transaction of attempt 1\n/);
    life.end({ kind: 'look-up', outcome: { kind: 'none' } }, HOUR);
    expect(inWords(life.order)).not.toContain('kept open');
  });

  it.each([
    [undefined, 'pass, not sent yet'],
    ['given-up', 'pass, not sent to the screening service'],
    ['recorded', 'pass'],
  ] as const)('says whether a gateway result that is %s was sent', (sent, words) => {
    const order = anOrder('pass', { workflow: 'pre-gateway' });
    const [attempt] = order.attempts;
    if (attempt) attempt.gateway = { result: 'pass', at: sinceStart(0), ...(sent && { sent }) };
    expect(inWords({ state: order, outbox: [] })).toContain(`gateway’s result: ${words}\n`);
  });

  it.each(PHASES)(
    'says in %s what it is, what comes next, and what can be done, and never a raw value',
    (phase) => {
      for (const outcome of ['pass', 'fail', 'review', 'error', unanswered()] as const) {
        const order = anOrder(outcome, { workflow: 'pre-gateway', passive: outcome === 'fail' });
        applyGatewayResult(order, { result: 'error' }, sinceStart(0));
        applyReading(order, { kind: 'unreadable', words: 'It is gone.' }, 'poll', sinceStart(0));
        setPhase(order, phase, sinceStart(0));
        const text = inWords({ state: order, outbox: [] });
        expect(text).toMatch(/^## /);
        expect(text).toContain('### What you can do');
        expect(text).toContain('### Needs attention');
        expect(text).not.toMatch(/undefined|null|NaN|\[object/);
        expect(text).not.toMatch(/@|example\.com|order-1/);
      }
    },
  );
});

describe('search attributes', () => {
  it('show phase, decision, action, integration, transaction, window, attention and amount, and nothing personal', () => {
    const order = anOrder('review');
    if (order.attempts[0]) order.attempts[0].invoiceNumber = 'invoice-1';
    const shown = Object.fromEntries(
      searchAttributesOf({ state: order, transactions: { 1: { amount: '12.50' } } }).map(({ key, value }) => [
        key.name,
        value,
      ]),
    );
    expect(shown).toMatchObject({
      ScreeningPhase: 'review',
      ScreeningDecision: 'review',
      ScreeningAction: 'hold',
      ScreeningIntegration: 'default',
      InvoiceNumber: ['invoice-1'],
      TransactionId: [TRANSACTION_ID],
      CancelBy: new Date(sinceStart(5 * DAY)),
      NeedsAttention: false,
      OrderAmount: 12.5,
    });
  });

  it('leave out what isn’t known', () => {
    const state = aNewOrder();
    const names = searchAttributesOf({ state, transactions: {} }).map(({ key }) => key.name);
    for (const name of ['InvoiceNumber', 'TransactionId', 'CancelBy', 'OrderAmount'])
      expect(names).not.toContain(name);
  });

  it.each(['', '0x10', '9'.repeat(400), 12, null])(
    'show no amount that is none, as of an order that policy skips unchecked: %j',
    (amount) => {
      const known = { integration: 'default', invoiceNumber: 'invoice-1', ...orderFactsOf({ amount }) };
      const order = { state: anOrder('pass'), transactions: { 1: { amount } } };
      for (const shown of [searchAttributesAtStart(known), searchAttributesOf(order)])
        expect(shown.map(({ key }) => key.name)).not.toContain('OrderAmount');
    },
  );
});

describe('the facts that rules look at', () => {
  it('are read in both spellings, and from nonsense too', () => {
    const order = {
      amount: '12.50',
      payment: { method: 'wallet' },
      customer: { id: 'c-1' },
      lineItems: [{ category: 'shoes' }, {}, null],
    };
    const facts = { amount: 12.5, paymentMethod: 'wallet', customerId: 'c-1', itemCategories: ['shoes'] };
    expect(orderFactsOf(order)).toEqual({ ...facts, currency: 'USD' });
    expect(orderFactsOf({ ...order, currency_code: 'eur' }).currency).toBe('EUR');
    expect(orderFactsOf({ ...order, currencyCode: 'gbp' }).currency).toBe('GBP');
    for (const nonsense of [null, 5, 'text', [], { lineItems: {}, payment: null, customer: 1 }]) {
      expect(orderFactsOf(nonsense)).toMatchObject({
        amount: Number.NaN,
        currency: 'USD',
        itemCategories: [],
      });
    }
  });

  it.each(['', ' ', '-5', '1e3', '0x10', 'Infinity', '1,000', '.', 12.5, null])(
    'have no amount when it is %j, so that no rule on amounts holds',
    (amount) => {
      const facts = orderFactsOf({ amount });
      expect(facts.amount).toBeNaN();
      expect(ruleMatches({ amountBelow: 100 }, facts)).toBe(false);
      expect(ruleMatches({ amountAtLeast: 0 }, facts)).toBe(false);
    },
  );

  it.each([
    ['12.', 12],
    ['.5', 0.5],
    ['0', 0],
  ])('have the amount of %j', (amount, expected) => {
    expect(orderFactsOf({ amount }).amount).toBe(expected);
  });

  it('match a rule when all its conditions hold, whatever the case', () => {
    const facts = {
      amount: 10,
      currency: 'USD',
      paymentMethod: 'Gift-Card',
      customerId: undefined,
      itemCategories: ['Books', 'Toys'],
    };
    expect(ruleMatches({}, facts)).toBe(true);
    expect(ruleMatches({ amountBelow: 10 }, facts)).toBe(false);
    expect(ruleMatches({ amountAtLeast: 10, amountBelow: 10.01 }, facts)).toBe(true);
    expect(ruleMatches({ paymentMethod: ['gift-card'], itemCategory: ['TOYS'] }, facts)).toBe(true);
    expect(ruleMatches({ currency: ['EUR'] }, facts)).toBe(false);
    expect(ruleMatches({ customerId: ['c-1'] }, facts)).toBe(false);
    expect(ruleMatches({ amountBelow: 5 }, { ...facts, amount: Number.NaN })).toBe(false);
    expect(matchingSkipRule([{ amountBelow: 5 }, { amountBelow: 50 }], facts)).toBe(1);
    expect(matchingSkipRule([], facts)).toBeUndefined();
  });

  it('choose the first action that fits an order without a decision, else hold', () => {
    const facts = { amount: 10, currency: 'USD', itemCategories: [] };
    expect(unavailableAction('decline', facts)).toBe('decline');
    const rules = [
      { amountBelow: 5, action: 'proceed' },
      { amountBelow: 50, action: 'decline' },
    ] as const;
    expect(unavailableAction(rules, facts)).toBe('decline');
    expect(unavailableAction(rules, { ...facts, amount: 50 })).toBe('hold');
  });
});

describe('ids', () => {
  it('the same order id in two integrations names two orders', () => {
    expect(orderWorkflowId('shop', '1001')).not.toBe(orderWorkflowId('default', '1001'));
    expect(orderOfWorkflowId(orderWorkflowId('shop', 'a:b'))).toEqual({
      integration: 'shop',
      orderId: 'a:b',
    });
    expect(orderOfWorkflowId('portal:default:cancel:1')).toBeUndefined();
  });

  it('an order id loses its leading #', () => {
    expect(withoutHash('#1001')).toBe('1001');
  });

  it('an invoice number is the order’s own or its id, at most 64 characters, one for each create if wanted', () => {
    expect(invoiceNumberOf('o-1', undefined, { attempt: 1, create: 1 }, true)).toBe('o-1');
    expect(invoiceNumberOf('o-1', '#i-9', { attempt: 3, create: 1 }, false)).toBe('i-9');
    expect(invoiceNumberOf('o-1', 'i-9', { attempt: 3, create: 1 }, true)).toBe('i-9~3');
    const long = invoiceNumberOf('o-1', 'x'.repeat(500), { attempt: 12, create: 1 }, true);
    expect(long).toHaveLength(64);
    expect(long.endsWith('~12')).toBe(true);
    expect(invoiceNumberOf('o-1', 'x'.repeat(500), { attempt: 1, create: 1 }, false)).toHaveLength(64);
  });
});
