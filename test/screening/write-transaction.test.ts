import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fingerprint,
  parseTransaction,
  type Transaction,
  writeTransaction,
} from '../../src/screening/index.ts';
import { aPreGatewayTransaction, aTransaction, TEST_CARD } from '../fixtures/transactions.ts';
import { property } from '../support/property.ts';

const RICH: Partial<Transaction> = {
  order: { invoiceNumber: '1', order_type: 'upsell', landing_page_type: 'home' },
  '3d_secure': { authenticated: true },
  card_attempts: '2',
  userFields: { keep_this: { as_it: 'is' } },
};
const BODY = { apiKey: 'sk-1', enrich: true, invoiceNumber: '1001' };

describe('writeTransaction', () => {
  it('writes the definition spelling, with nf-token', () => {
    const written = writeTransaction(aTransaction(RICH), { ...BODY, dialect: 'definition' });
    expect(written).toMatchObject({
      'nf-token': 'sk-1',
      enrich: true,
      currency_code: 'USD',
      card_attempts: '2',
      '3d_secure': { authenticated: true },
      customer: { joined_on: '03/14/2021' },
      order: { invoiceNumber: '1001', order_type: 'upsell' },
    });
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
      travel: { travelDate: '12/31/2026', pointOfOrigin: 'Oslo' },
      userFields: { keep_this: { as_it: 'is' } },
      lineItems: [{ sku: 'sku-1', price: 60 }],
    });
    const { userFields: _free, ...described } = written;
    expect(JSON.stringify(described)).not.toMatch(/"[\w]*[a-z][-_][\w-]*":/);
  });

  it('writes countries in capitals', () => {
    const { billTo } = aTransaction();
    const parsed = parseTransaction(aTransaction({ billTo: { ...billTo, country: 'us' } }), {
      workflow: 'pre-acceptance',
      mode: 'test',
      now: new Date(),
    });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.fieldErrors));
    const written = writeTransaction(parsed.transaction, { ...BODY, dialect: 'definition' });
    expect(written).toMatchObject({ billTo: { country: 'US' } });
  });

  it('puts card data in only when it is given', () => {
    const transaction = aTransaction();
    expect(writeTransaction(transaction, { ...BODY, dialect: 'definition' })).toMatchObject({
      payment: { creditCard: { last4: '1111' } },
    });
    expect(writeTransaction(transaction, { ...BODY, dialect: 'definition', card: TEST_CARD })).toMatchObject({
      payment: { creditCard: { last4: '1111', ...TEST_CARD } },
    });
    expect(transaction).toEqual(aTransaction());
  });

  it.each(['definition', 'sample'] as const)(
    'writes in the %s dialect what is read back as the same',
    (dialect) => {
      const rules = { workflow: 'pre-acceptance', mode: 'test', now: new Date(0) } as const;
      const first = parseTransaction(aTransaction(RICH), rules);
      if (!first.ok) throw new Error('the fixture has fieldErrors');
      const {
        'nf-token': _a,
        nfToken: _b,
        ...body
      } = writeTransaction(first.transaction, {
        ...BODY,
        invoiceNumber: '1',
        dialect,
      });
      expect(parseTransaction(body, rules)).toEqual(first);
    },
  );
});

describe('fingerprint', () => {
  const rules = { workflow: 'pre-gateway', mode: 'test', now: new Date(0) } as const;
  const parsed = parseTransaction(aPreGatewayTransaction(), rules);
  if (!parsed.ok || parsed.card === undefined) throw new Error('the fixture has fieldErrors');
  const { transaction, card } = parsed;

  it('is SHA-256 in hex', () => {
    expect(fingerprint(transaction)).toMatch(/^[0-9a-f]{64}$/);
  });

  property([fc.shuffledSubarray(Object.keys(transaction), { minLength: Object.keys(transaction).length })])(
    'does not depend on the order of keys',
    (keys) => {
      const shuffled = Object.fromEntries(keys.map((key) => [key, Reflect.get(transaction, key)]));
      const reordered: Transaction = Object.assign({}, shuffled, transaction);
      expect(Object.keys(reordered)).toEqual(keys);
      expect(fingerprint(reordered)).toBe(fingerprint(transaction));
    },
  );

  it('is the same with the card and without it, and does not depend on expiry and code', () => {
    expect(fingerprint(transaction, card)).toBe(fingerprint(transaction));
    expect(fingerprint(transaction, { ...card, expirationDate: '01/2040', cardCode: '999' })).toBe(
      fingerprint(transaction),
    );
  });

  it('takes the digits of the card when the transaction has none yet', () => {
    const bare: Transaction = { ...transaction, payment: { creditCard: { cardType: 'Visa' } } };
    expect(fingerprint(bare, card)).toBe(fingerprint(transaction));
    expect(fingerprint(bare, { ...card, cardNumber: '5555555555554444' })).not.toBe(fingerprint(transaction));
  });

  it.each([
    ['amount', { amount: '125.51' }],
    ['customer', { customer: { email: 'other@example.com' } }],
    ['last4', { payment: { creditCard: { last4: '2222' } } }],
    ['a free object', { userFields: { a: 1 } }],
  ])('changes with %s', (_what, change) => {
    expect(fingerprint({ ...transaction, ...change })).not.toBe(fingerprint(transaction));
  });
});
