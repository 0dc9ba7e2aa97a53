import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { IntegrationWorkflow } from '../../src/contract/words.ts';
import { createBodySchema, parseTransaction } from '../../src/screening/index.ts';
import { aPreGatewayTransaction, aTransaction, TEST_CARD } from '../fixtures/transactions.ts';
import { faultsOf, MERCHANT, RULES, withField } from './transaction-cases.ts';

describe('faults', () => {
  it('are listed all at once: those of fields, of rules, of the integration workflow and of unknown keys', () => {
    const faults = faultsOf({
      amount: 'lots',
      customer: { email: 'x' },
      payment: { creditCard: {} },
      billTo: { firstName: 'Ada' },
      merchant: { ...MERCHANT, productType: 'Goods' },
      lineItems: [{ price: '5' }, { colour: 'red' }],
      gatewayType: 'pre-gateway',
      amout: '5',
    });
    expect(Object.keys(faults)).toEqual(
      expect.arrayContaining([
        ...['amount', 'amout', 'customer.email', 'customerIP', 'avsResultCode', 'cvvResultCode'],
        ...['payment.creditCard.last4', 'billTo.phoneNumber', 'shipTo', 'gatewayType'],
        ...['lineItems[0].price', 'lineItems[1].colour'],
      ]),
    );
  });

  it('say to put a number in quotes where the document asks for a string', () => {
    expect(faultsOf(withField('amount', 5)).amount).toMatch(/quotes/);
  });

  it.each(['nf-token', 'nfToken', 'nf_token'])(
    'refuse a service key sent as %s, naming the path only',
    (key) => {
      const parsed = parseTransaction({ ...aTransaction(), [key]: 'sk-canary-1' }, RULES);
      expect(parsed).toEqual({
        ok: false,
        fieldErrors: [{ path: key, message: expect.stringContaining('left out') }],
      });
      expect(JSON.stringify(parsed)).not.toContain('canary');
    },
  );

  it.each([null, undefined, 'text', 5, [], true])('refuse a body that is %s', (input) => {
    expect(faultsOf(input)).toEqual({ '': 'must be an object: the transaction' });
  });

  it('refuse a copy of the card number in a field that is kept', () => {
    const order = aPreGatewayTransaction({ userFields: { note: 'card 4111 1111-1111 1111' } });
    expect(Object.keys(faultsOf(order, { workflow: 'pre-gateway' }))).toEqual(['userFields.note']);
  });

  it('refuse a key named __proto__ like any unknown key', () => {
    const body: unknown = JSON.parse(
      JSON.stringify(aTransaction()).replace('{', '{"__proto__":{"amount":"1"},'),
    );
    expect(Object.keys(faultsOf(body))).toEqual(['__proto__']);
  });

  it('are found quickly in very long values', () => {
    const long = `${'1'.repeat(1_000_000)}x`;
    const order = withField('customer.email', long, {
      ...aTransaction(),
      amount: long,
      merchant: { ...MERCHANT, website: long },
    });
    expect(Object.keys(faultsOf(order))).toEqual(
      expect.arrayContaining(['amount', 'customer.email', 'merchant.website']),
    );
  });
});

/** One value for every field of two words, in definition spelling; the other spelling is derived by hand. */
const TWO_WORDS: [definition: string, sample: string, value: unknown, other: unknown][] = [
  ['currency_code', 'currencyCode', 'USD', 'EUR'],
  ['transaction-id', 'transactionId', 'a', 'b'],
  ['card_attempts', 'cardAttempts', '1', '2'],
  ['referial_code', 'referialCode', 'aa', 'bb'],
  ['3d_secure', '3dSecure', { version: '1' }, { version: '2' }],
  ['customer.joined_on', 'customer.joinedOn', '01/01/2020', '01/02/2020'],
  ['customer.last_sign_in', 'customer.lastSignIn', '01/01/2020', '01/02/2020'],
  ['customer.last_purchase_date', 'customer.lastPurchaseDate', '01/01/2020', '01/02/2020'],
  ['customer.total_previous_purchases', 'customer.totalPreviousPurchases', '1', '2'],
  ['customer.total_purchase_value', 'customer.totalPurchaseValue', '1', '2'],
  ['customer.saved_cc_added_on', 'customer.savedCcAddedOn', '01/01/2020', '01/02/2020'],
  ['order.order_type', 'order.orderType', 'upsell', 'recurring'],
  ['order.referring_site', 'order.referringSite', 'a', 'b'],
  ['order.referring_url', 'order.referringUrl', 'a', 'b'],
  ['order.landing_page', 'order.landingPage', 'a', 'b'],
  ['order.landing_page_type', 'order.landingPageType', 'home', 'other'],
  ['travel.travel_date', 'travel.travelDate', '01/01/2027', '01/02/2027'],
  ['travel.point_of_origin', 'travel.pointOfOrigin', 'a', 'b'],
];

describe('the two spellings', () => {
  it.each(TWO_WORDS)('%s and %s are one field', (definition, sample, value, other) => {
    const bare: object = {
      ...aTransaction(),
      currency_code: undefined,
      customer: { email: 'pass@example.com' },
    };
    const canonical = parseTransaction(withField(definition, value, bare), RULES);
    expect(canonical.ok).toBe(true);
    expect(parseTransaction(withField(sample, value, bare), RULES)).toEqual(canonical);
    const both = withField(sample, value, Object(withField(definition, value, bare)));
    expect(parseTransaction(both, RULES)).toEqual(canonical);
    const torn = withField(sample, other, Object(withField(definition, value, bare)));
    expect(Object.values(faultsOf(torn))).toEqual([expect.stringContaining('two spellings')]);
  });

  it('covers every name whose spellings differ', () => {
    const names = JSON.stringify(z.toJSONSchema(createBodySchema, { io: 'input' })).match(
      /"[a-z0-9]+[-_][\w-]+":/g,
    );
    const covered = TWO_WORDS.map(([definition]) => `"${definition.split('.').at(-1)}":`);
    expect(names?.filter((name) => !covered.includes(name) && name !== '"nf-token":')).toEqual([]);
  });

  it('shows the path of a fault in the spelling that was sent', () => {
    const order = withField('customer.joinedOn', 'x', {
      ...aTransaction(),
      customer: { email: 'a@example.com' },
    });
    expect(Object.keys(faultsOf(order))).toEqual(['customer.joinedOn']);
  });
});

describe('the payment data an integration workflow requires', () => {
  const OTHERS: IntegrationWorkflow[] = ['pre-acceptance', 'post-acceptance'];

  it.each(OTHERS)('is last4 and both result codes in %s', (workflow) => {
    const { avsResultCode: _avs, cvvResultCode: _cvv, ...order } = aTransaction();
    const faults = faultsOf({ ...order, payment: { creditCard: {} } }, { workflow });
    expect(Object.keys(faults)).toEqual(['payment.creditCard.last4', 'avsResultCode', 'cvvResultCode']);
  });

  it.each(OTHERS)('may be number and expiry beside the codes in %s; the card code is dropped', (workflow) => {
    const order = aTransaction({ payment: { creditCard: { bin: '411111', ...TEST_CARD } } });
    const parsed = parseTransaction(order, { ...RULES, workflow });
    const { cardCode: _dropped, ...card } = TEST_CARD;
    expect(parsed).toMatchObject({
      ok: true,
      transaction: { payment: { creditCard: { bin: '411111', last4: '1111' } } },
    });
    expect(parsed.ok && parsed.card).toEqual(card);
    const { avsResultCode: _none, ...withoutCode } = order;
    expect(Object.keys(faultsOf(withoutCode, { workflow }))).toEqual(['avsResultCode']);
  });

  it.each(['Apple Pay', 'paypal', 'Gift Card', 'gift_card', 'giftcard', 'bank transfer', 'cash on delivery'])(
    'is none where the method is no card: %s',
    (method) => {
      const { avsResultCode: _avs, cvvResultCode: _cvv, ...order } = aTransaction({ payment: { method } });
      for (const workflow of OTHERS) expect(faultsOf(order, { workflow })).toEqual({});
      expect(faultsOf(order, { workflow: 'pre-gateway' })['payment.creditCard']).toContain('`skip`');
    },
  );

  it.each(['', ' ', 'Credit Card', 'debit', 'VISA', 'Card', 'cc', 'prepaid card', undefined])(
    'is not forgotten where the method is a card, or none is named: %s',
    (method) => {
      const order = aTransaction({ payment: { ...(method !== undefined && { method }) } });
      for (const workflow of [...OTHERS, 'pre-gateway'] as const) {
        expect(faultsOf(order, { workflow })['payment.creditCard']).toContain('is required');
      }
    },
  );

  it('is the full card data in pre-gateway', () => {
    const faults = faultsOf(aPreGatewayTransaction({ payment: { creditCard: {} } }), {
      workflow: 'pre-gateway',
    });
    expect(Object.keys(faults)).toEqual([
      'payment.creditCard.cardNumber',
      'payment.creditCard.expirationDate',
      'payment.creditCard.cardCode',
    ]);
  });

  it('is nothing of the card in pre-gateway when the card is in the stash', () => {
    const rules = { workflow: 'pre-gateway', cardInStash: true } as const;
    expect(faultsOf(aPreGatewayTransaction({ payment: { creditCard: {} } }), rules)).toEqual({});
    expect(Object.keys(faultsOf(aPreGatewayTransaction(), rules))).toEqual([
      'payment.creditCard.cardNumber',
      'payment.creditCard.expirationDate',
      'payment.creditCard.cardCode',
    ]);
  });

  it('judges the card: check digit, expiry, and a number that fits the mode', () => {
    const withCard = (card: Partial<typeof TEST_CARD> | Record<string, string>) =>
      aPreGatewayTransaction({ payment: { creditCard: { ...TEST_CARD, ...card } } });
    const faults = (card: Record<string, string>, mode: 'test' | 'live' = 'test') =>
      Object.entries(faultsOf(withCard(card), { workflow: 'pre-gateway', mode })).join();
    expect(faults({})).toBe('');
    expect(faults({ cardNumber: '4111111111111112' })).toContain('check digit');
    expect(faults({ expirationDate: '05/26' })).toContain('payment.creditCard.expirationDate');
    expect(faults({ expirationDate: '06/26' })).toBe('');
    expect(faults({}, 'live')).toContain('live mode');
    expect(faults({ cardNumber: '4539578763621486' })).toBe('');
    expect(faults({ cardNumber: '4539578763621486' }, 'live')).toBe('');
    expect(faults({ cardCode: '12' })).toContain('payment.creditCard.cardCode');
    expect(faults({ cardCode: '1234' })).toBe('');
    expect(faults({ cardCode: '12345' })).toContain('payment.creditCard.cardCode');
    expect(faults({ last4: '2222', bin: '555555' })).toMatch(/creditCard\.bin.*creditCard\.last4/);
  });
});

describe('the transaction that comes out', () => {
  it('has no card data, which comes apart, and has its first six and last four digits', () => {
    const parsed = parseTransaction(aPreGatewayTransaction(), { ...RULES, workflow: 'pre-gateway' });
    expect(parsed).toMatchObject({
      ok: true,
      card: TEST_CARD,
      transaction: { payment: { creditCard: { cardType: 'Visa', bin: '411111', last4: '1111' } } },
    });
    const { transaction } = { transaction: undefined, ...parsed };
    expect(JSON.stringify(transaction)).not.toMatch(/4111111111111111|cardCode|expirationDate/);
  });

  it.each([
    ['41111111', '411111'],
    ['411111', '411111'],
    ['4111', '4111'],
    ['', undefined],
  ])('has no more than six digits of the card and its last four: of the bin %s', (bin, kept) => {
    const creditCard = { last4: '1111', bin };
    const parsed = parseTransaction(aTransaction({ payment: { creditCard } }), RULES);
    expect(parsed.ok && parsed.transaction.payment.creditCard?.bin).toBe(kept);
    const withNumber = aPreGatewayTransaction({ payment: { creditCard: { ...TEST_CARD, bin } } });
    const whole = parseTransaction(withNumber, { ...RULES, workflow: 'pre-gateway' });
    expect(whole.ok && whole.transaction.payment.creditCard?.bin).toBe(kept ?? '411111');
  });

  it.each([
    ['pre-gateway', 'pre-gateway'],
    ['pre-acceptance', 'post-gateway'],
    ['post-acceptance', 'post-gateway'],
  ] as const)('follows the integration workflow %s with gatewayType %s', (workflow, gatewayType) => {
    const order = workflow === 'pre-gateway' ? aPreGatewayTransaction() : aTransaction();
    expect(parseTransaction(order, { ...RULES, workflow })).toMatchObject({ transaction: { gatewayType } });
  });

  it('has no # before its invoice number and no enrich, which is policy', () => {
    const parsed = parseTransaction(
      { ...aTransaction({ order: { invoiceNumber: '#1001' } }), enrich: true },
      RULES,
    );
    expect(parsed).toMatchObject({ ok: true, transaction: { order: { invoiceNumber: '1001' } } });
    expect(parsed.ok && 'enrich' in parsed.transaction).toBe(false);
  });

  it('is read again as itself', () => {
    const once = parseTransaction(aTransaction(), RULES);
    expect(once.ok && parseTransaction(once.transaction, RULES)).toEqual(once);
  });
});
