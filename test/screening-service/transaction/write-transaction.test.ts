import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fingerprint,
  parseTransaction,
  type Transaction,
  type TransactionRequest,
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

const EXPIRY_ONLY = { last4: '1111', expirationDate: '12/2034' };

describe('fingerprint', () => {
  const parsed = parseTransaction(aPreGatewayTransaction(), { ...RULES, workflow: 'pre-gateway' });
  if (!parsed.ok) throw new Error('the fixture has fieldErrors');
  const { transaction } = parsed;

  property([fc.shuffledSubarray(Object.keys(transaction), { minLength: Object.keys(transaction).length })])(
    'does not depend on the order of keys',
    (keys) => {
      const shuffled = Object.fromEntries(keys.map((key) => [key, Reflect.get(transaction, key)]));
      expect(fingerprint(Object.assign({}, shuffled, transaction))).toBe(fingerprint(transaction));
    },
  );

  it.each<[order: string, input: TransactionRequest, begins: string]>([
    ['a card', aPreGatewayTransaction(), '1c6d7425f2d3443c'],
    ['no card', aTransaction({ payment: { method: 'PayPal' } }), '1c877ec205c46adc'],
    ['an expiry only', aTransaction({ payment: { creditCard: EXPIRY_ONLY } }), '41f5e81499a0a9bc'],
  ])('of an order with %s is the same in each release', (_order, input, begins) => {
    const workflow = input.avsResultCode === undefined ? 'pre-gateway' : 'pre-acceptance';
    const parsed = parseTransaction(input, { ...RULES, workflow });
    expect(parsed.ok && fingerprint(parsed.transaction)).toMatch(RegExp(`^${begins}[0-9a-f]{48}$`));
  });

  const { creditCard } = transaction.payment;
  const withExpiry = { ...transaction, payment: { creditCard: { ...creditCard, expirationDate: '12/34' } } };
  it.each<[what: string, of: Transaction, same: boolean]>([
    ['the amount', { ...transaction, amount: '125.51' }, false],
    ['the customer', { ...transaction, customer: { email: 'other@example.com' } }, false],
    ['last4', { ...transaction, payment: { creditCard: { last4: '2222' } } }, false],
    ['an expiry without a number', withExpiry, true],
    ['a free object', { ...transaction, userFields: { a: 1 } }, false],
  ])('with %s', (_what, of, same) => {
    expect(fingerprint(of) === fingerprint(transaction)).toBe(same);
  });
});
