import { describe, expect, it } from 'vitest';
import type { TransactionJson } from '../../src/contract/messages.ts';
import type { OrderRule } from '../../src/contract/policy.ts';
import {
  type OrderFacts,
  orderFactsOf,
  policyFor,
  ruleMatches,
  skipRuleFor,
  unavailableAction,
} from '../../src/order/order-rules.ts';
import { addAttempt, newOrderState } from '../../src/order/record.ts';
import { anIntegration } from '../fixtures/integrations.ts';
import { sinceStart } from '../fixtures/orders.ts';

const NOW = sinceStart(0);
const FACTS: OrderFacts = { amount: 10, currency: 'USD', itemCategories: [] };

it('what an order records of its integration is settled for this order, and holds no key and no address', () => {
  const whenUnavailable = [{ amountBelow: 50, action: 'proceed' as const }];
  const integration = anIntegration({ whenUnavailable, cancelWindowMs: 600_000 });
  const policy = policyFor(integration, 'pre-gateway', FACTS, false);
  expect(policy).toMatchObject({
    workflow: 'pre-gateway',
    whenUnavailable: 'proceed',
    rescreenOnError: { tries: 3, pauseMs: 60_000 },
    cancelWindowMs: 600_000,
    events: false,
  });
  for (const name of ['name', 'mode', 'apiKey', 'apiKeyEnv', 'baseUrl', 'portalBaseUrl', 'skip', 'eventsUrl'])
    expect(policy).not.toHaveProperty(name);
});

describe('the facts that rules look at', () => {
  it('are read in both spellings, and from nonsense too', () => {
    const order = {
      amount: '12.50',
      payment: { method: 'wallet' },
      customer: { id: 'c-1' },
      lineItems: [{ category: 'shoes' }, {}, null],
    };
    const facts = {
      amount: 12.5,
      paymentMethod: 'wallet',
      customerId: 'c-1',
      itemCategories: ['shoes', undefined, undefined],
    };
    expect(orderFactsOf(order)).toEqual({ ...facts, currency: 'USD' });
    expect(orderFactsOf({ ...order, currency_code: 'eur' }).currency).toBe('EUR');
    expect(orderFactsOf({ ...order, currencyCode: 'gbp' }).currency).toBe('GBP');
    for (const nonsense of [null, 5, 'text', [], { lineItems: {}, payment: null, customer: 1 }])
      expect(orderFactsOf(nonsense)).toMatchObject({ ...FACTS, amount: Number.NaN });
  });

  it.each([
    ['12.', 12],
    ['.5', 0.5],
    ['0', 0],
    ['', Number.NaN],
    ['1e3', Number.NaN],
    ['0x10', Number.NaN],
    ['.', Number.NaN],
    [12.5, Number.NaN],
    [null, Number.NaN],
  ])('have of the amount %j %d', (amount, expected) => {
    expect(orderFactsOf({ amount }).amount).toBe(expected);
  });

  it.each<[OrderRule, boolean, Partial<OrderFacts>?]>([
    [{}, true],
    [{ amountBelow: 10 }, false],
    [{ amountAtLeast: 10, amountBelow: 10.01 }, true],
    [{ paymentMethod: ['gift-card'], anyItemCategory: ['TOYS'] }, true],
    [{ currency: ['EUR'] }, false],
    [{ customerId: ['c-1'] }, false],
    [{ amountBelow: 100 }, false, { amount: Number.NaN }],
    [{ amountAtLeast: 0 }, false, { amount: Number.NaN }],
  ])('match the rule %j, whatever the case, when all its conditions hold: %s', (rule, matches, more) => {
    const facts = { ...FACTS, paymentMethod: 'Gift-Card', itemCategories: ['Books', 'Toys'], ...more };
    expect(ruleMatches(rule, facts)).toBe(matches);
  });

  it('choose the first action that fits an order without a decision, else hold', () => {
    const rules = [
      { amountBelow: 5, action: 'proceed' },
      { amountBelow: 50, action: 'decline' },
    ] as const;
    expect(unavailableAction('decline', FACTS)).toBe('decline');
    expect(unavailableAction(rules, FACTS)).toBe('decline');
    expect(unavailableAction(rules, { ...FACTS, amount: 50 })).toBe('hold');
  });
});

describe('a skip rule with a payment method', () => {
  const card = { last4: '1111' };
  const integration = (listed: string[], noCard: string[] = []) =>
    anIntegration({
      skip: [{ customerId: ['staff'] }, { paymentMethod: listed }],
      paymentMethods: { noCard },
    });
  const paid = (method: string, creditCard?: unknown) => ({ amount: '90', payment: { method, creditCard } });

  it('skips no order that is paid partly by a card', () => {
    expect(skipRuleFor(integration(['GIFT_CARD']), paid('gift_card', card))).toBeUndefined();
    expect(skipRuleFor(integration(['voucher'], ['voucher']), paid('Voucher', card))).toBeUndefined();
    const byStaff = { ...paid('gift_card', card), customer: { id: 'staff' } };
    expect(skipRuleFor(integration(['gift_card']), byStaff)).toBe(0);
  });

  it('skips one without a card, or by a method or wallet with a card', () => {
    for (const none of [undefined, null, {}, { last4: '', bin: null }])
      expect(skipRuleFor(integration(['gift_card']), paid('gift_card', none))).toBe(1);
    for (const byCard of ['corporate card', 'Apple Pay', 'braintree_googlepay'])
      expect(skipRuleFor(integration([byCard]), paid(byCard, card))).toBe(1);
  });

  it('is judged by the method alone where an outage is', () => {
    const rules = [{ paymentMethod: ['gift_card'], action: 'proceed' as const }];
    expect(unavailableAction(rules, orderFactsOf(paid('gift_card', card)))).toBe('proceed');
  });
});

const bought = (...categories: (string | undefined)[]) =>
  orderFactsOf({ amount: '2000', lineItems: categories.map((category) => ({ category })) });

it.each([
  [['donation'], true, true],
  [['Donation', 'donation'], true, true],
  [['donation', 'jewelry'], false, true],
  [['donation', undefined], false, true],
  [['jewelry'], false, false],
  [[], false, false],
])('of the items %j: `itemCategory` holds for all %s, `anyItemCategory` for one %s', (items, all, any) => {
  expect(ruleMatches({ itemCategory: ['donation'] }, bought(...items))).toBe(all);
  expect(ruleMatches({ anyItemCategory: ['donation'] }, bought(...items))).toBe(any);
});

it('a rule with an amount can name its currency', () => {
  const rules = [{ amountBelow: 100, currency: ['USD', 'EUR'], action: 'proceed' as const }];
  expect(unavailableAction(rules, orderFactsOf({ amount: '50', currency_code: 'EUR' }))).toBe('proceed');
  expect(unavailableAction(rules, orderFactsOf({ amount: '50', currency_code: 'KWD' }))).toBe('hold');
});

it.each([
  [{}, 'USD'],
  [{ currencyCode: 'jpy' }, 'JPY'],
  [{ currency_code: 'dollars' }, undefined],
  [{ currency_code: 5 }, 'USD'],
])('the currency of %j is %s', (transaction, currency) => {
  expect(newOrderState({ orderId: 'order-1', integration: 'default', transaction }, NOW).currency).toBe(
    currency,
  );
});

it('the currency of an adopted order is unknown unless the caller names it', () => {
  const adopt = { transactionId: 'a', screenedAt: NOW };
  const order = { orderId: 'order-1', integration: 'default', adopt };
  const currencyOf = (transaction: TransactionJson) => newOrderState({ ...order, transaction }, NOW).currency;
  expect(currencyOf({ amount: '20.00' })).toBeUndefined();
  expect(currencyOf({ amount: '20.00', currency_code: 'EUR' })).toBe('EUR');
});

it('the currency of an order is that of its newest attempt', () => {
  const order = newOrderState(
    { orderId: 'order-1', integration: 'default', transaction: { currency_code: 'EUR' } },
    NOW,
  );
  addAttempt(order, { transaction: { currency_code: 'KWD' } }, NOW);
  expect(order.currency).toBe('KWD');
  addAttempt(order, { transaction: { currency_code: 'dollars' } }, NOW);
  expect(order.currency).toBeUndefined();
});
