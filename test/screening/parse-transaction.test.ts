import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  createBodySchema,
  type IntegrationWorkflow,
  parseTransaction,
  type TransactionRules,
  transactionRequestSchema,
} from '../../src/screening/index.ts';
import { anAddress, aPreGatewayTransaction, aTransaction, TEST_CARD } from '../fixtures/transactions.ts';

const RULES: TransactionRules = {
  workflow: 'pre-acceptance',
  mode: 'test',
  today: new Date('2026-06-15T12:00:00Z'),
};

function faultsOf(input: unknown, rules: Partial<TransactionRules> = {}): Record<string, string> {
  const parsed = parseTransaction(input, { ...RULES, ...rules });
  return parsed.ok ? {} : Object.fromEntries(parsed.faults.map(({ path, message }) => [path, message]));
}

/** The fixture with the field at `path` set to `value`. */
function withField(path: string, value: unknown, base: object = aTransaction()): unknown {
  const body = structuredClone(base);
  const steps = path.split('.');
  const last = steps.pop() ?? '';
  let at: object = body;
  for (const step of steps) {
    const next: unknown = Reflect.get(at, step) ?? {};
    if (typeof next !== 'object' || next === null) throw new Error(`${path} is not in the fixture`);
    Reflect.set(at, step, next);
    at = next;
  }
  Reflect.set(at, last, value);
  return body;
}

const letters = (count: number) => 'a'.repeat(count);
const domain = (length: number) => `${letters(50)}.${letters(50)}.${letters(length - 106)}.com`;
const email = (length: number) => `${letters(length - 12)}@example.com`;

/** path, values within the document's limits, values outside them */
const LIMITS: [path: string, good: unknown[], bad: unknown[]][] = [
  [
    'amount',
    ['0', '1.', '.5', '125.50', '1'.repeat(24)],
    ['', '.', '-1', '1,5', '1'.repeat(25), '1e3', ' 1', 5, null],
  ],
  ['currency_code', ['USD', 'eur'], ['US', 'USDX', 'U5D', '', 840]],
  ['discountAmount', ['', '10', '.5'], ['-1', 'ten', 1]],
  ['discountPrice', ['', '10.00'], ['-1', '1.1.1']],
  ['discountPercentage', ['5', '5.5'], ['5%']],
  ['shippingAmount', ['0', '1'.repeat(24)], ['', '.', '1'.repeat(25), '-2']],
  ['shippingMethod', ['next day'], [1]],
  [
    'fulfillmentDate',
    ['02/28/2027', '02/29/2028'],
    ['02/29/2027', '13/01/2027', '2027-02-28', '2/8/2027', '00/10/2027'],
  ],
  ['checkout', [{}, { anything: [1, null] }], ['text', [], null]],
  ['performance', [{ ms: 1 }], [1]],
  ['userFields', [{ gift: { note: 'x' } }], ['x']],
  ['subscriptionDetails', [{ every: '1m' }], [true]],
  ['customer.id', [letters(64)], [letters(65), 7]],
  [
    'customer.email',
    ['pass@example.com', email(64), email(128)],
    ['', 'pass', 'a@b', 'a b@example.com', email(129)],
  ],
  ['customer.joined_on', ['12/31/2020'], ['31/12/2020', '02/30/2020', '']],
  ['customer.last_sign_in', ['12/31/2020'], ['2020-12-31']],
  ['customer.last_purchase_date', ['12/31/2020'], ['12-31-2020']],
  ['customer.total_previous_purchases', ['0', '12'], ['-1', '', 12]],
  ['customer.total_purchase_value', ['0.5'], ['.', 'x']],
  ['customer.saved_cc_added_on', ['01/01/2020'], ['1/1/2020']],
  ['merchant.name', [letters(128)], [letters(129)]],
  [
    'merchant.website',
    ['shop.example.com', domain(128)],
    ['https://example.com', 'localhost', 'a..com', '-a.com', domain(129)],
  ],
  ['merchant.email', ['shop@example.com'], ['shop', email(129)]],
  ['merchant.productType', ['Goods', 'Services'], ['goods', '']],
  [
    'order.invoiceNumber',
    ['1', letters(64), `#${letters(64)}`, '#7', '...'],
    ['', '#', letters(65), '..', 1001],
  ],
  ['order.order_type', ['one-time', 'recurring', 'subscription', 'upsell', ''], ['once']],
  ['order.referring_site', ['news'], [1]],
  ['order.referring_url', ['https://example.com/'], [1]],
  ['order.landing_page', ['https://example.com/'], [1]],
  ['order.landing_page_type', ['home', 'product', 'search', 'category', 'about', 'other'], ['', 'cart']],
  ['payment.method', ['wallet'], [1]],
  ['payment.creditCard', [{ last4: '1111' }], [undefined, null, 'card']],
  ['payment.creditCard.bin', ['411111', '41111111'], ['411', '411111111', '41111x']],
  ['payment.creditCard.last4', ['0000'], ['111', '11111', '11a1', 1111]],
  ['payment.creditCard.cardType', ['Visa'], [1]],
  ...['firstName', 'lastName', 'company', 'address', 'city', 'state', 'zip'].flatMap(
    (field): typeof LIMITS => [
      [`billTo.${field}`, [letters(128)], [letters(129), 1]],
      [`shipTo.${field}`, [letters(128)], [letters(129), 1]],
    ],
  ),
  ['billTo.country', ['US', 'DE'], ['us', 'USA', 'ZZ', '']],
  ['shipTo.country', ['GB'], ['UK', 'gb']],
  [
    'billTo.phoneNumber',
    ['+49 (0)30 1234-567', '2125550100', '212.555.0100 ext. 12'],
    ['', '1234', 'call me', '1'.repeat(21)],
  ],
  ['shipTo.phoneNumber', [], ['2125550100']],
  ['lineItems', [[], [{}], [{ price: 0.5, quantity: 2, sku: 'a' }]], [{}, 'x']],
  ['travel.travel_date', ['12/31/2026'], ['2026-12-31']],
  ['travel.destination', [letters(128)], [letters(129)]],
  ['travel.point_of_origin', [letters(128)], [letters(129)]],
  ['gatewayName', ['x'], [1]],
  ['gatewayStatus', ['approved'], [1]],
  ['transaction-id', ['x'], [1]],
  ['authcode', ['x'], [1]],
  ['customerIP', ['203.0.113.7', '2001:db8::1'], ['', '203.0.113', '203.0.113.256', 'host', undefined]],
  ['avsResultCode', ['Y', 'YYY'], ['YYYY', '', undefined]],
  ['cvvResultCode', ['M', '1'], ['m', 'MM', '', '-', undefined]],
  ['cavvResultCode', ['', 'A', 'U', '0', '9'], ['E', 'AA', 'a']],
  [
    '3d_secure',
    [{ authenticated: true, succeeded: false, version: '2.2' }],
    [{ authenticated: 'yes' }, { done: true }],
  ],
  ['card_attempts', ['0', '12'], ['1.5', '-1', '', 1]],
  ['referial_code', ['0aF', 'a'.repeat(64)], ['', 'xyz', 'a'.repeat(65)]],
  ...[
    'app',
    'version',
    'appName',
    'appVersion',
    'digitalGoodsAmount',
    'digitalGoodsPercentage',
    'isBopis',
  ].map((field): [string, unknown[], unknown[]] => [field, ['x', ''], [1, true]]),
  ['gatewayType', ['post-gateway'], ['pre-gateway', 'gateway']],
  ['enrich', [true, false], ['true']],
  ['billTo', [{}, { ...anAddress(), phoneNumber: '2125550100' }], [undefined, null, anAddress()]],
  ['shipTo', [undefined, anAddress()], [{}, null]],
  ['customer', [], [undefined, {}, 'x']],
  ['payment', [], [undefined, {}, 'x']],
];

/** What `merchant` needs beside the field under test. */
const MERCHANT = { name: 'Shop', website: 'shop.example.com', email: 'shop@example.com' };

describe('the limits of the fields', () => {
  const cases = LIMITS.flatMap(([path, good, bad]) => [
    ...good.map((value) => ({ path, value, fits: true })),
    ...bad.map((value) => ({ path, value, fits: false })),
  ]);
  it.each(cases)('$path: $value fits: $fits', ({ path, value, fits }) => {
    const base = path.startsWith('merchant.')
      ? { ...aTransaction(), merchant: { ...MERCHANT } }
      : aTransaction();
    const paths = Object.keys(faultsOf(withField(path, value, base)));
    if (fits) expect(paths).toEqual([]);
    else expect(paths.filter((fault) => fault.startsWith(path))).not.toEqual([]);
  });

  it('covers every field of the schema', () => {
    const covered = new Set(LIMITS.map(([path]) => path.split('.')[0]));
    expect(Object.keys(transactionRequestSchema.shape).filter((field) => !covered.has(field))).toEqual([]);
  });

  it('names what a not empty billTo lacks, field by field', () => {
    expect(Object.keys(faultsOf(withField('billTo', { company: 'x' })))).toEqual(
      ['firstName', 'lastName', 'address', 'city', 'state', 'zip', 'country', 'phoneNumber'].map(
        (f) => `billTo.${f}`,
      ),
    );
  });

  it.each([
    ['Goods', ['shipTo']],
    ['Services', []],
  ])('asks for shipTo by the product type %s', (productType, paths) => {
    const { shipTo: _left, ...order } = aTransaction();
    expect(Object.keys(faultsOf({ ...order, merchant: { ...MERCHANT, productType } }))).toEqual(paths);
  });
});

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
        faults: [{ path: key, message: expect.stringContaining('left out') }],
      });
      expect(JSON.stringify(parsed)).not.toContain('canary');
    },
  );

  it.each([null, undefined, 'text', 5, [], true])('refuse a body that is %s', (input) => {
    expect(faultsOf(input)).toEqual({ '': 'must be an object: the transaction' });
  });

  it.each([
    [{ cardNumber: 'x' }, 'userFields.cardNumber'],
    [{ deep: [{ card_code: '1' }] }, 'userFields.deep[0].card_code'],
    [{ 'nf-token': 'x' }, 'userFields.nf-token'],
  ])('refuse card data and keys in objects that pass through: %j', (userFields, path) => {
    expect(Object.keys(faultsOf(withField('userFields', userFields)))).toEqual([path]);
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

  it('are found in very deep bodies without running out of stack', () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const body: unknown = JSON.parse(
      `{"lineItems":${deep},"currencyCode":${deep},"currency_code":${deep},"userFields":{"a":${deep}}}`,
    );
    expect(Object.keys(faultsOf(body))).toEqual(expect.arrayContaining(['lineItems[0]', 'userFields']));
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

  property.prop([
    fc.string({ minLength: 6, maxLength: 40 }),
    fc.constantFrom(...LIMITS.map(([path]) => path)),
  ])('never show a value that was sent', (noise, path) => {
    const value = `canary-${noise}`;
    const faults = parseTransaction(withField(path, value), RULES);
    expect(JSON.stringify(faults.ok ? [] : faults)).not.toContain('canary-');
  });

  property.prop([fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(...LIMITS.map(([path]) => path))])(
    'are an answer to any JSON: nothing throws',
    (value, path) => {
      expect(typeof parseTransaction(value, RULES).ok).toBe('boolean');
      expect(typeof parseTransaction(withField(path, value), RULES).ok).toBe('boolean');
    },
  );
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

  it.each(OTHERS)('is not card data in %s', (workflow) => {
    const order = aTransaction({ payment: { creditCard: { last4: '1111', ...TEST_CARD } } });
    const faults = faultsOf(order, { workflow });
    expect(Object.keys(faults)).toEqual([
      'payment.creditCard.cardNumber',
      'payment.creditCard.expirationDate',
      'payment.creditCard.cardCode',
    ]);
    expect(Object.values(faults).join()).toContain('last4');
  });

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
    expect(faults({ cardNumber: '4539578763621486' })).toContain('test mode');
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
