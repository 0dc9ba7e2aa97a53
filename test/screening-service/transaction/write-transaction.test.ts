import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fingerprint,
  parseTransaction,
  type Transaction,
  writeTransaction,
} from '../../../src/screening-service/index.ts';
import { aPreGatewayTransaction, aTransaction, TEST_CARD } from '../../fixtures/transactions.ts';
import { property } from '../../support/property.ts';
import { RULES } from './transaction-cases.ts';

const RICH: Partial<Transaction> = {
  order: { invoiceNumber: '1001', order_type: 'upsell', landing_page_type: 'home' },
  '3d_secure': { authenticated: true },
  card_attempts: '2',
  userFields: { keep_this: { as_it: 'is' } },
};
const BODY = { apiKey: 'sk-1', enrich: true, invoiceNumber: '1001', dialect: 'definition' } as const;

describe('writeTransaction', () => {
  it('writes the definition spelling, with nf-token', () => {
    const written = writeTransaction(aTransaction(RICH), BODY);
    expect(written).toEqual({ ...aTransaction(RICH), 'nf-token': 'sk-1', enrich: true });
  });

  it('writes the spelling of the samples, with nfToken, and leaves free objects as they are', () => {
    const written = writeTransaction(aTransaction(RICH), { ...BODY, dialect: 'sample' });
    expect(written).toMatchObject({
      nfToken: 'sk-1',
      currencyCode: 'USD',
      cardAttempts: '2',
      '3dSecure': { authenticated: true },
      customer: { joinedOn: '03/14/2021' },
      order: { invoiceNumber: '1001', orderType: 'upsell', landingPageType: 'home' },
      userFields: { keep_this: { as_it: 'is' } },
    });
    const { userFields: _free, ...described } = written;
    expect(JSON.stringify(described)).not.toMatch(/"[\w]*[a-z][-_][\w-]*":/);
  });

  it('writes countries in capitals', () => {
    const { billTo } = aTransaction();
    const parsed = parseTransaction(aTransaction({ billTo: { ...billTo, country: 'us' } }), RULES);
    expect(parsed.ok && writeTransaction(parsed.transaction, BODY)).toMatchObject({
      billTo: { country: 'US' },
    });
  });

  it('puts card data in only when it is given', () => {
    const transaction = aTransaction();
    const payment = (card?: typeof TEST_CARD) => writeTransaction(transaction, { ...BODY, card }).payment;
    expect(payment()).toEqual(transaction.payment);
    expect(payment(TEST_CARD)).toEqual({ creditCard: { ...transaction.payment.creditCard, ...TEST_CARD } });
    expect(transaction).toEqual(aTransaction());
  });
});

describe('fingerprint', () => {
  const parsed = parseTransaction(aPreGatewayTransaction(), { ...RULES, workflow: 'pre-gateway' });
  if (!parsed.ok || parsed.card === undefined) throw new Error('the fixture has fieldErrors');
  const { transaction, card } = parsed;

  property([fc.shuffledSubarray(Object.keys(transaction), { minLength: Object.keys(transaction).length })])(
    'does not depend on the order of keys',
    (keys) => {
      const shuffled = Object.fromEntries(keys.map((key) => [key, Reflect.get(transaction, key)]));
      expect(fingerprint(Object.assign({}, shuffled, transaction))).toBe(fingerprint(transaction));
    },
  );

  const withExpiry = {
    ...transaction,
    payment: { creditCard: { ...transaction.payment.creditCard, expirationDate: '12/34' } },
  };
  const withCardType: Transaction = { ...transaction, payment: { creditCard: { cardType: 'Visa' } } };
  it.each<[what: string, of: Transaction, card: typeof card | undefined, same: boolean]>([
    ['the card', transaction, card, true],
    ['expiry and code', transaction, { ...card, expirationDate: '01/2040', cardCode: '999' }, true],
    ['digits that only the card has', withCardType, card, true],
    ['digits of another card', withCardType, { ...card, cardNumber: '5555555555554444' }, false],
    ['the amount', { ...transaction, amount: '125.51' }, undefined, false],
    ['the customer', { ...transaction, customer: { email: 'other@example.com' } }, undefined, false],
    ['last4', { ...transaction, payment: { creditCard: { last4: '2222' } } }, undefined, false],
    ['an expiry without a number', withExpiry, undefined, true],
    ['a free object', { ...transaction, userFields: { a: 1 } }, undefined, false],
  ])('with %s', (_what, of, given, same) => {
    expect(fingerprint(of, given) === fingerprint(transaction)).toBe(same);
    expect(fingerprint(of, given)).toMatch(/^[0-9a-f]{64}$/);
  });
});
