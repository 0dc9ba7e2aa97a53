import { parseTransaction, type TransactionRules } from '../../../src/screening-service/index.ts';
import { anAddress, aTransaction } from '../../fixtures/transactions.ts';

export const RULES: TransactionRules = {
  workflow: 'pre-acceptance',
  mode: 'test',
  now: new Date('2026-06-15T12:00:00Z'),
};

/** The errors of a transaction, by path. */
export function faultsOf(input: unknown, rules: Partial<TransactionRules> = {}): Record<string, string> {
  const parsed = parseTransaction(input, { ...RULES, ...rules });
  return parsed.ok ? {} : Object.fromEntries(parsed.fieldErrors.map(({ path, message }) => [path, message]));
}

/** The fixture with the field at `path` set to `value`. */
export function withField(path: string, value: unknown, base: object = aTransaction()): object {
  const [field = '', ...rest] = path.split('.');
  const inside = Object(Reflect.get(base, field) ?? {});
  return { ...base, [field]: rest.length === 0 ? value : withField(rest.join('.'), value, inside) };
}

/** What `merchant` needs beside the field under test. */
export const MERCHANT = { name: 'Shop', website: 'shop.example.com', email: 'shop@example.com' };

const letters = (count: number) => 'a'.repeat(count);
const domain = (length: number) => `${letters(50)}.${letters(50)}.${letters(length - 106)}.com`;
const email = (length: number) => `${letters(length - 12)}@example.com`;
const noNumbers = ['', '.', '-1', '1,5', '1e3', ' 1', 5, null];
const phones = ['+49 (0)30 1234-567', '2125550100', '212.555.0100 ext. 12'];
const noEmails = ['', 'pass', 'a@', '@b', 'a@b@c', 'a@-b.com', 'a b@c.com', 'a\u0000@c.com', email(129)];
const noSites = ['https://example.com', 'localhost', 'a..com', 'a.com..', '-a.com', domain(129)];
const noInvoices = ['', '#', '##', '##7', '###7', '..'];
const pages = ['home', 'product', 'search', 'category', 'about', 'other'];
const secure = { authenticated: true, succeeded: false, version: '2.2' };

/** Values within the limits of the interface's text and outside them, and those that the product alone refuses. */
type Limits = [paths: string, good: unknown[], bad: unknown[], stricter?: unknown[]];

const TABLE: Limits[] = [
  ['amount shippingAmount', ['0', '1.', '.5', '1'.repeat(24)], [...noNumbers, '1'.repeat(25)]],
  ['shippingAmount discountAmount merchant order lineItems', [undefined], [null, 'x']],
  ['amount', [], [undefined]],
  ['customer.total_previous_purchases', ['0', '12'], ['-1', '', 12]],
  ['customer.total_purchase_value', ['0.5', '1'], ['.', 'x']],
  ['discountAmount discountPrice discountPercentage', ['', '10', '.5'], ['-1', 'ten', '1.1.1', '5%', 1]],
  ['currency_code', ['USD', 'eur', 'US', undefined], ['USDX', 'U5D', '', 840]],
  ['fulfillmentDate', ['02/29/2028'], ['13/01/2027', '2027-02-28', '00/10/2027', ''], ['02/29/2027']],
  [
    'customer.joined_on customer.last_sign_in',
    ['12/31/2020', '01/02/2020'],
    ['12-31-2020', ''],
    ['02/30/2020'],
  ],
  ['customer.last_purchase_date customer.saved_cc_added_on', ['12/31/2020', '01/02/2020'], ['1/1/2020']],
  ['checkout performance userFields subscriptionDetails', [{}, { a: [1, null] }], ['text', [], true, null]],
  ['shippingMethod gatewayName gatewayStatus payment.method', ['x'], [1, true]],
  ['order.referring_site order.referring_url order.landing_page', ['x', ''], [1, true]],
  ['payment.creditCard.cardType', ['x'], [1]],
  // Without a number. One that is not valid is not sent.
  ['payment.creditCard.expirationDate', ['12/2034', '06-26'], []],
  ['app version appName appVersion digitalGoodsAmount digitalGoodsPercentage isBopis', ['x', ''], [1, true]],
  ['customer.id', [letters(64), undefined], [letters(65), 7]],
  ['customer.email', ['pass@example.com', email(128)], noEmails],
  ['merchant.email', ['shop@example.com'], noEmails],
  ['merchant.website', ['shop.example.com', domain(128)], noSites],
  ['merchant.productType', ['Goods', 'Services'], ['goods', '']],
  ['order.invoiceNumber', ['1', letters(64), `#${letters(64)}`, '...'], [letters(65), 1001], noInvoices],
  ['order.order_type', ['one-time', 'recurring', 'subscription', 'upsell', ''], ['once']],
  ['order.landing_page_type', pages, ['', 'cart']],
  ['payment.creditCard', [{ last4: '1111' }], [null, 'card'], [undefined]],
  ['payment.creditCard.bin', ['', '4111', '411111', '41111111'], [411111], ['411', '411111111', '41111x']],
  ['payment.creditCard.last4', ['0000'], ['111', '11111', '11a1', 1111]],
  ['billTo.firstName billTo.lastName billTo.company billTo.address', [letters(128), ''], [letters(129), 1]],
  ['shipTo.firstName shipTo.lastName shipTo.company shipTo.address', [letters(128), ''], [letters(129), 1]],
  [
    'billTo.city billTo.state billTo.zip shipTo.city shipTo.state shipTo.zip',
    [letters(128), ''],
    [letters(129)],
  ],
  ['merchant.name', [letters(128)], [letters(129)]],
  [
    'billTo.country shipTo.country',
    ['US', 'DE', 'us', 'Gb', 'XK'],
    ['USA', 'U', '', 'ZZ', 'UK', 'EU', 'AN', 'SU', 'AC'],
  ],
  ['billTo.phoneNumber', phones, ['', '1234', 'call me', '1'.repeat(21)]],
  ['lineItems', [[], [{}], [{ price: 0.5, sku: '' }]], [{}, 'x', [{ price: '12' }], [{ sku: 12 }]]],
  [
    'customerIP',
    ['203.0.113.7', '2001:db8::1', '127.0.0.1'],
    ['', '203.0.113', '203.0.113.256', 'host', '[::1', '1.2.3.4:x', '10.0.0.1.example', undefined],
  ],
  ['avsResultCode', ['Y', 'YYY', 'U'], ['YYYY', '', undefined]],
  ['cvvResultCode', ['M', '1', 'U'], ['m', 'MM', '', '-', undefined]],
  ['cavvResultCode', ['', 'A', 'U', '0', '9'], ['E', 'AA', 'a']],
  ['3d_secure', [secure, { version: '1' }], [{ authenticated: 'yes' }, { succeeded: 'yes' }]],
  ['card_attempts', ['0', '12'], ['1.5', '-1', '', 1]],
  ['referial_code', ['0aF', letters(64)], ['', 'xyz', letters(65)]],
  // Before the gateway the whole card is required, which the fixture doesn't have.
  ['gatewayType', ['post-gateway'], ['gateway', 'pre-gateway']],
  ['billTo', [{}, { ...anAddress(), phoneNumber: '2125550100' }], [undefined, null, anAddress()]],
  ['shipTo', [undefined, anAddress()], [{}, null]],
  ['customer', [], [undefined, {}, 'x', []]],
  ['payment', [], ['x'], [undefined, {}]],
];

/** The table, a row per field. */
export const LIMITS = TABLE.flatMap(([paths, good, bad, stricter = []]) =>
  paths.split(' ').map((path) => ({ path, good, bad, stricter })),
);
