/** Transactions as shops, frameworks and people write them: accepted, rewritten, or refused with advice. */
import { describe, expect, it, test } from 'vitest';
import { parseCard, parsePortalFields, parseTransaction } from '../../../src/screening-service/index.ts';
import type { TransactionRules } from '../../../src/screening-service/transaction/transaction-rules.ts';
import { aPreGatewayTransaction, aTransaction } from '../../fixtures/transactions.ts';
import { faultsOf, MERCHANT, RULES } from './transaction-cases.ts';

function parsed(transaction: unknown, rules: Partial<TransactionRules> = {}) {
  const read = parseTransaction(transaction, { ...RULES, ...rules });
  if (!read.ok) throw new Error(JSON.stringify(read.fieldErrors));
  return read;
}

const billedTo = (fields: object) => ({ ...aTransaction(), billTo: { ...aTransaction().billTo, ...fields } });

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

  it('is not sent when it is read-only, in any spelling', () => {
    const given = { ...aTransaction(), travel: 'x', transactionId: 'x', authcode: 1 };
    for (const unknownFields of ['drop', 'refuse'] as const) {
      const { transaction, warnings } = parsed(given, { unknownFields });
      expect(transaction).toEqual(parsed(aTransaction()).transaction);
      expect(warnings).toHaveLength(3);
    }
  });
});

test.each(['landing_page', 'referring_url', 'referring_site'])(
  'an %s with the id of an ad or a product that looks like a card number is not sent, unless the policy vouches for it',
  (name) => {
    const order = { invoiceNumber: '1001', [name]: 'https://shop.example/?utm_content=620499591340' };
    const given = { ...aTransaction(), order };
    const { transaction, warnings } = parsed(given);
    expect(transaction.order).toEqual({ invoiceNumber: '1001' });
    expect(warnings).toEqual([{ path: `order.${name}`, message: 'may contain a card number; not sent' }]);
    const notCards = [`order.${name}`];
    expect(parsed(given, { notCards })).toMatchObject({ transaction: { order }, warnings: [] });
  },
);

test('an address with the encoded number of a card is not sent, of a brand or not', () => {
  const order = { invoiceNumber: '1001', landing_page: '/s?cc=4111%201111%201111%201111' };
  expect(parsed({ ...aTransaction(), order }).transaction.order).toEqual({ invoiceNumber: '1001' });
  const creditCard = { ...aTransaction().payment.creditCard, cardNumber: '9999999999999995', last4: '9995' };
  const given = { ...aTransaction(), payment: { creditCard }, userFields: { a: 'q=9999%2D99999999%209995' } };
  expect(faultsOf(given)).toMatchObject({ 'userFields.a': expect.stringContaining('card number') });
});

test('`enrich` is refused, since the policy decides', () => {
  expect(faultsOf({ ...aTransaction(), enrich: false })).toEqual({
    enrich: expect.stringContaining('policy'),
  });
});

test.each([
  ['198.51.100.20, 10.0.0.1', '198.51.100.20', 0],
  ['203.0.113.7:54321', '203.0.113.7', 0],
  ['[2001:db8::1]', '2001:db8::1', 0],
  ['[2001:db8::1]:443', '2001:db8::1', 0],
  ['::ffff:203.0.113.7', '203.0.113.7', 0],
  ['[::FFFF:203.0.113.7]:443', '203.0.113.7', 0],
  ['::ffff:10.0.0.1', '10.0.0.1', 1],
  ['fe80::1%eth0', 'fe80::1', 1],
  ['0.0.0.0', '0.0.0.0', 1],
  ['127.0.0.1', '127.0.0.1', 1],
  ['192.168.1.7', '192.168.1.7', 1],
  ['fd00::1', 'fd00::1', 1],
])('the address %j is sent as %s, with %i warnings', (given, sent, count) => {
  const { transaction, warnings } = parsed(aTransaction({ customerIP: given }));
  expect(transaction.customerIP).toBe(sent);
  expect(warnings).toHaveLength(count);
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

test.each([
  ['Jö@bücher.example', 'Jö@xn--bcher-kva.example'],
  ['\u202aada@exam\u200bple.com\u202c', 'ada@example.com'],
  ['ada@mail.example.com.', 'ada@mail.example.com'],
  [' ada@mail.example.com \n', 'ada@mail.example.com'],
  ['ada@mail.example.com。', 'ada@mail.example.com'],
])('the e-mail address %j is sent as %j', (email, sent) => {
  expect(parsed(aTransaction({ customer: { email } })).transaction.customer.email).toBe(sent);
  const code = { customerCode: 'VIP', email };
  expect(parsePortalFields('customer-code', code)).toEqual({ ok: true, data: { ...code, email: sent } });
});

test.each([
  ['bücher.example.', 'xn--bcher-kva.example'],
  ['www.shop.example.', 'www.shop.example'],
  ['www.shop.example。', 'www.shop.example'],
])('the domain %j of a merchant is sent as %j', (website, sent) => {
  const { transaction } = parsed(
    aTransaction({ merchant: { ...MERCHANT, website, email: `info@${website}` } }),
  );
  expect(transaction.merchant).toMatchObject({ website: sent, email: `info@${sent}` });
});

test('a currency is sent in capitals', () => {
  expect(parsed(aTransaction({ currency_code: 'eur' })).transaction.currency_code).toBe('EUR');
});

test('a fulfillment date in the past is a warning', () => {
  expect(parsed(aTransaction({ fulfillmentDate: '06/10/2026' })).warnings).toHaveLength(1);
  expect(parsed(aTransaction({ fulfillmentDate: '06/15/2026' })).warnings).toEqual([]);
});

test('a number that JSON can’t carry is refused: it arrived as another one', () => {
  const id = JSON.parse('820982911946154508') as number;
  expect(faultsOf(aTransaction({ userFields: { shop: { ids: [id] } } }))).toEqual({
    'userFields.shop.ids[0]': expect.stringContaining('send it as a string'),
  });
  expect(faultsOf(aTransaction({ userFields: { id: Number.MAX_SAFE_INTEGER } }))).toEqual({});
});

describe('null for a value that a shop lacks', () => {
  const { shipTo, billTo } = aTransaction();
  const goods = { merchant: { ...MERCHANT, productType: 'Goods' } };
  const billed = (fields: object) => ({ billTo: { ...billTo, ...fields } });
  const paid = (creditCard: unknown, method?: string) => ({
    payment: { creditCard, ...(method && { method }) },
  });
  it.each<[fields: object, path: string, accepted: string | RegExp]>([
    [{ discountAmount: null }, 'discountAmount', 'must be a string, not null; it may be "" or left out'],
    [{ order: null }, 'order', 'must be an object, not null; it may be left out'],
    [{ order: { order_type: null } }, 'order.order_type', /^must be one of .*; it may be "" or left out$/],
    [{ shipTo: { ...shipTo, state: null } }, 'shipTo.state', /, not null; it may be "", and is required$/],
    [{ customer: { email: null } }, 'customer.email', 'must be a string, not null; it is required'],
    [{ customerIP: null }, 'customerIP', /, not null; it is required; send the customer's IP address$/],
    [{ billTo: null }, 'billTo', 'must be an object, not null; it is required; it may be an empty object'],
    [billed({ state: null }), 'billTo.state', /; it may be "", and is required when billTo is/],
    [billed({ phoneNumber: null }), 'billTo.phoneNumber', /, not null; it is required when/],
    [billed({ company: null }), 'billTo.company', /; it may be "" or left out$/],
    [{ billTo: { state: null, company: null } }, 'billTo.state', /; it may be "" or left out$/],
    [{ avsResultCode: null }, 'avsResultCode', /^must be a string, not null; it is required: .*"U" when/],
    [paid({ last4: null }), 'payment.creditCard.last4', /, not null; it is required: a/],
    [paid(null), 'payment.creditCard', /^must be an object, not null; it is required un/],
    [paid(null, 'cod'), 'payment.creditCard', /, not null; it may be left out$/],
    [{ ...goods, shipTo: null }, 'shipTo', /, not null; it is required when merchant.productType is Goods$/],
    [
      { lineItems: [{ quantity: null }] },
      'lineItems[0].quantity',
      /^must be a number, not null; it may be l/,
    ],
  ])('null in %j is refused, and the error says what is accepted', (fields, path, accepted) => {
    const read = parseTransaction({ ...aTransaction(), ...fields }, RULES);
    const message = typeof accepted === 'string' ? accepted : expect.stringMatching(accepted);
    expect(read.ok ? [] : read.fieldErrors).toContainEqual({ path, message });
  });

  it('in a card that is needed whole is refused', () => {
    const creditCard = { cardNumber: '4111111111111111', expirationDate: '12/2030', cardCode: null };
    const rules = { ...RULES, workflow: 'pre-gateway' } as const;
    const read = parseTransaction({ ...aPreGatewayTransaction(), payment: { creditCard } }, rules);
    const message = expect.stringMatching(/^must be a string, not null; it is required/);
    expect(read).toMatchObject({ fieldErrors: [{ path: 'payment.creditCard.cardCode', message }] });
    expect(parseCard(creditCard, rules)).toMatchObject({ fieldErrors: [{ path: 'cardCode', message }] });
    const after = parseCard(creditCard, { ...RULES, workflow: 'pre-acceptance' });
    expect(after).toMatchObject({ fieldErrors: [{ message: expect.stringMatching(/it may be left out$/) }] });
  });
});

test('null in a portal action is refused, and the error says what is accepted', () => {
  const read = parsePortalFields('chargeback', { reason_code: null, due_date: '2030-01-31', notes: null });
  expect(read).toMatchObject({
    fieldErrors: [
      { path: 'reason_code', message: expect.stringMatching(/, not null; it is required$/) },
      { path: 'notes', message: expect.stringMatching(/, not null; it may be .*left out$/) },
    ],
  });
});
