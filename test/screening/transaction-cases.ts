import { parseTransaction, type TransactionRules } from '../../src/screening/index.ts';
import { anAddress, aTransaction } from '../fixtures/transactions.ts';

export const RULES: TransactionRules = {
  workflow: 'pre-acceptance',
  mode: 'test',
  now: new Date('2026-06-15T12:00:00Z'),
};

export function faultsOf(input: unknown, rules: Partial<TransactionRules> = {}): Record<string, string> {
  const parsed = parseTransaction(input, { ...RULES, ...rules });
  return parsed.ok ? {} : Object.fromEntries(parsed.fieldErrors.map(({ path, message }) => [path, message]));
}

/** The fixture with the field at `path` set to `value`. */
export function withField(path: string, value: unknown, base: object = aTransaction()): unknown {
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
export const LIMITS: [path: string, good: unknown[], bad: unknown[]][] = [
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
    ['', 'pass', 'a@', '@b', 'a@b@c', 'a@-b.com', 'a b@example.com', email(129)],
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
    ['', '#', '##', '##7', '###7', letters(65), '..', 1001],
  ],
  ['order.order_type', ['one-time', 'recurring', 'subscription', 'upsell', ''], ['once']],
  ['order.referring_site', ['news'], [1]],
  ['order.referring_url', ['https://example.com/'], [1]],
  ['order.landing_page', ['https://example.com/'], [1]],
  ['order.landing_page_type', ['home', 'product', 'search', 'category', 'about', 'other'], ['', 'cart']],
  ['payment.method', ['wallet'], [1]],
  ['payment.creditCard', [{ last4: '1111' }], [undefined, null, 'card']],
  ['payment.creditCard.bin', ['', '4111', '411111', '41111111'], ['411', '411111111', '41111x']],
  ['payment.creditCard.last4', ['0000'], ['111', '11111', '11a1', 1111]],
  ['payment.creditCard.cardType', ['Visa'], [1]],
  ...['firstName', 'lastName', 'company', 'address', 'city', 'state', 'zip'].flatMap(
    (field): typeof LIMITS => [
      [`billTo.${field}`, [letters(128)], [letters(129), 1]],
      [`shipTo.${field}`, [letters(128)], [letters(129), 1]],
    ],
  ),
  ['billTo.country', ['US', 'DE', 'us', 'Gb'], ['USA', 'ZZ', '']],
  ['shipTo.country', ['GB', 'gb'], ['UK']],
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

/** Of the values outside, those that the interface would let pass. */
export const STRICTER: [path: string, values: unknown[]][] = [
  ['fulfillmentDate', ['02/29/2027']],
  ['customer.joined_on', ['02/30/2020']],
  ['order.invoiceNumber', ['', '#', '##', '##7', '###7', '..']],
  ['payment.creditCard.bin', ['411', '411111111', '41111x']],
  ['billTo.country', ['ZZ']],
  ['shipTo.country', ['UK']],
  ['shipTo.phoneNumber', ['2125550100']],
  ['3d_secure', [{ done: true }]],
  ['payment', [undefined, {}]],
  ['payment.creditCard', [undefined]],
  // The interface has both; which of them fits, the integration workflow says.
  ['gatewayType', ['pre-gateway']],
];

/** What `merchant` needs beside the field under test. */
export const MERCHANT = { name: 'Shop', website: 'shop.example.com', email: 'shop@example.com' };
