/** Transactions as shops, frameworks and people write them: accepted, rewritten, or refused with advice. */
import { describe, expect, it, test } from 'vitest';
import { readTransactionRequest } from '../../../src/sandbox/transaction-request.ts';
import { parseTransaction } from '../../../src/screening-service/index.ts';
import type { TransactionRules } from '../../../src/screening-service/transaction/transaction-rules.ts';
import { aPreGatewayTransaction, aTransaction } from '../../fixtures/transactions.ts';

const RULES: TransactionRules = { workflow: 'pre-acceptance', mode: 'test', now: new Date('2026-06-15') };

function parsed(transaction: unknown, rules: Partial<TransactionRules> = {}) {
  const read = parseTransaction(transaction, { ...RULES, ...rules });
  if (!read.ok) throw new Error(JSON.stringify(read.fieldErrors));
  return read;
}

function errorsOf(transaction: unknown, rules: Partial<TransactionRules> = {}) {
  const read = parseTransaction(transaction, { ...RULES, ...rules });
  return read.ok ? [] : read.fieldErrors.map(({ path, message }) => `${path} ${message}`);
}

const billedTo = (fields: object) => ({ ...aTransaction(), billTo: { ...aTransaction().billTo, ...fields } });

describe('an order without card data', () => {
  const paidBy = (method?: string) => ({ ...aTransaction(), payment: { ...(method && { method }) } });

  it.each([
    ...['PayPal', 'SEPA Direct Debit', 'store credit', 'PayPal Credit', 'Visa Checkout', 'Bacs Debit'],
    ...['gift_card', 'cod', 'Cash on Delivery (COD)', 'bank transfer', ' klarna ', 'checkmo', 'free'],
  ])('is accepted when it was paid with %j', (method) => {
    expect(errorsOf(paidBy(method))).toEqual([]);
  });

  it.each([
    ...['Kreditkarte', 'carte bancaire', 'stripe', 'adyen_cc', 'card', 'Visa', 'credit card', 'paypal pro'],
    ...['', undefined],
  ])('is refused when it was paid with %j, and the error says how to list the name', (method) => {
    expect(errorsOf(paidBy(method))).toEqual([
      expect.stringMatching(/^payment\.creditCard is required .*paymentMethods\.noCard/),
    ]);
  });

  it('is accepted with a name that the policy lists', () => {
    expect(errorsOf(paidBy('SOFINCO 3x'), { noCard: ['sofinco 3X'] })).toEqual([]);
  });
});

describe('a field that the interface lacks', () => {
  const odd = {
    ...aTransaction({ lineItems: [{ sku: '1', url: 'https://shop.example' }] } as object),
    shipTo: { ...aTransaction().billTo, phoneNumber: '2125550100' },
    note: 'x',
  };

  it('is not sent, and named in a warning', () => {
    const { transaction, warnings } = parsed(odd);
    expect(transaction).not.toHaveProperty('note');
    expect(transaction.shipTo).not.toHaveProperty('phoneNumber');
    expect(transaction.lineItems).toEqual([{ sku: '1' }]);
    expect(warnings.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['note', 'shipTo.phoneNumber', 'lineItems[0].url']),
    );
  });

  it('refuses the transaction where the policy says so', () => {
    expect(errorsOf(odd, { unknownFields: 'refuse' })).toEqual(
      expect.arrayContaining([expect.stringMatching(/^note is not a field of the interface/)]),
    );
  });

  it('is not sent when it is read-only, in any spelling', () => {
    const given = { ...aTransaction(), travel: 'x', transactionId: 'x', authcode: 1 };
    for (const unknownFields of ['drop', 'refuse'] as const) {
      const { transaction, warnings } = parsed(given, { unknownFields });
      expect(transaction).toEqual(parsed(aTransaction()).transaction);
      expect(warnings).toHaveLength(3);
    }
  });
});

test('`enrich` is refused, since the policy decides', () => {
  expect(errorsOf({ ...aTransaction(), enrich: false })).toEqual([expect.stringContaining('policy')]);
});

test.each([
  ['198.51.100.20, 10.0.0.1', '198.51.100.20', 0],
  ['203.0.113.7:54321', '203.0.113.7', 0],
  ['[2001:db8::1]', '2001:db8::1', 0],
  ['[2001:db8::1]:443', '2001:db8::1', 0],
  ['0.0.0.0', '0.0.0.0', 1],
  ['127.0.0.1', '127.0.0.1', 1],
  ['192.168.1.7', '192.168.1.7', 1],
  ['fd00::1', 'fd00::1', 1],
])('the address %j is sent as %s, with %i warnings', (given, sent, count) => {
  const { transaction, warnings } = parsed(aTransaction({ customerIP: given }));
  expect(transaction.customerIP).toBe(sent);
  expect(warnings).toHaveLength(count);
});

test.each(['', '10.0.0.1.example', '1.2.3.4:x', '[::1'])('the address %j is refused', (customerIP) => {
  expect(errorsOf(aTransaction({ customerIP }))).toHaveLength(1);
});

test.each([
  ['+1 212–555—0100', '+1 212-555-0100'],
  ['tel:+12125550100', '+12125550100'],
  ['+12125550100;ext=42', '+12125550100 ext 42'],
  ['٠١٢٣٤٥٦٧٨٩', '0123456789'],
  ['\u202a+1 212 555 0100\u202c', '+1 212 555 0100'],
  ['+1 212 555 0100', '+1 212 555 0100'],
])('the phone number %j is sent as %j', (given, sent) => {
  expect(parsed(billedTo({ phoneNumber: given })).transaction.billTo.phoneNumber).toBe(sent);
});

test('a domain in another script is sent as punycode, its local part unchanged; a trailing dot goes', () => {
  const merchant = { name: 'Shop', website: 'bücher.example.', email: 'info@bücher.example' };
  const { transaction } = parsed(
    aTransaction({ merchant, customer: { ...aTransaction().customer, email: 'Jö@bücher.example' } }),
  );
  expect(transaction.customer.email).toBe('Jö@xn--bcher-kva.example');
  expect(transaction.merchant).toMatchObject({
    website: 'xn--bcher-kva.example',
    email: 'info@xn--bcher-kva.example',
  });
});

test('a currency is sent in capitals, and may be shorter than three letters', () => {
  expect(parsed(aTransaction({ currency_code: 'eur' })).transaction.currency_code).toBe('EUR');
  expect(parsed(aTransaction({ currency_code: 'us' })).transaction.currency_code).toBe('US');
  expect(errorsOf(aTransaction({ currency_code: 'EURO' }))).toHaveLength(1);
});

test('a fulfillment date in the past is a warning', () => {
  expect(parsed(aTransaction({ fulfillmentDate: '06/10/2026' })).warnings).toHaveLength(1);
  expect(parsed(aTransaction({ fulfillmentDate: '06/15/2026' })).warnings).toEqual([]);
});

test('a number that JSON can’t carry is refused: it arrived as another one', () => {
  const id = JSON.parse('820982911946154508') as number;
  expect(errorsOf(aTransaction({ userFields: { shop: { ids: [id] } } }))).toEqual([
    expect.stringMatching(/^userFields\.shop\.ids\[0\] .*send it as a string/),
  ]);
  expect(errorsOf(aTransaction({ userFields: { id: Number.MAX_SAFE_INTEGER } }))).toEqual([]);
});

test.each([
  ['378282246310005', '739', 1],
  ['378282246310005', '7399', 0],
  ['4111111111111111', '739', 0],
  ['4111111111111111', '7399', 1],
])('the card code of %s may be %s: %i errors', (cardNumber, cardCode, count) => {
  const given = aPreGatewayTransaction();
  const creditCard = { cardNumber, cardCode, expirationDate: '12/2030' };
  expect(errorsOf({ ...given, payment: { creditCard } }, { workflow: 'pre-gateway' })).toHaveLength(count);
});

describe('a shop that lacks a value sends it as docs/calling.md says, and product and sandbox take it', () => {
  const { customer, payment } = aTransaction();
  const least = {
    amount: '10.00',
    customer: { email: customer.email },
    payment,
    billTo: {},
    customerIP: '203.0.113.7',
  };
  const codes = { avsResultCode: 'U', cvvResultCode: 'U' };

  it.each<[shop: string, order: object]>([
    ['the least of a card order', { ...least, ...codes }],
    ['a virtual order of a guest, paid by a wallet', { ...least, payment: { method: 'paypal' } }],
    ['a free order of the back office', { ...least, payment: { method: 'free' }, customerIP: '127.0.0.1' }],
    ['a country without states', { ...least, ...codes, shipTo: { ...aTransaction().shipTo, state: '' } }],
    ['no discount', { ...least, ...codes, discountAmount: '0', shippingAmount: '0' }],
    [
      'an empty sku and an order type',
      { ...least, ...codes, lineItems: [{ sku: '' }], order: { order_type: '' } },
    ],
  ])('%s', (_shop, order) => {
    const { transaction } = parsed(order);
    const body = { ...transaction, 'nf-token': 'key' };
    expect(readTransactionRequest(body, 'test', RULES.now)).toHaveProperty('request');
  });

  it.each([
    { shipTo: { firstName: '', lastName: '', address: '', city: '', state: '', zip: '', country: '' } },
    { billTo: { ...aTransaction().billTo, phoneNumber: '' } },
    { billTo: { ...aTransaction().billTo, phoneNumber: null } },
    { avsResultCode: null },
    { customerIP: '' },
    { order: null },
  ])('%j is refused with advice', (fields) => {
    expect(errorsOf({ ...least, ...codes, ...fields })[0]).toMatch(/must|send/);
  });
});
