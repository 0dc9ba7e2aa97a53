import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { IntegrationWorkflow } from '../../../src/contract/words.ts';
import { createBodySchema, parseTransaction } from '../../../src/screening-service/index.ts';
import { aPreGatewayTransaction, aTransaction, TEST_CARD } from '../../fixtures/transactions.ts';
import { faultsOf, LIMITS, MERCHANT, RULES, withField } from './transaction-cases.ts';

const BEFORE = { workflow: 'pre-gateway' } as const;
const OTHERS: IntegrationWorkflow[] = ['pre-acceptance', 'post-acceptance'];
const CARD_FIELDS = ['cardNumber', 'expirationDate', 'cardCode'].map(
  (field) => `payment.creditCard.${field}`,
);
const { avsResultCode: _avs, cvvResultCode: _cvv, ...withoutCodes } = aTransaction();

describe('faults', () => {
  it('are listed all at once: those of fields, of rules, of the integration workflow and of unknown keys', () => {
    const faults = faultsOf(
      {
        amount: 'lots',
        customer: { email: 'x' },
        payment: { creditCard: {} },
        billTo: { company: 'x' },
        merchant: { ...MERCHANT, productType: 'Goods' },
        lineItems: [{ price: '5' }, { colour: 'red' }],
        gatewayType: 'pre-gateway',
        amout: '5',
      },
      { unknownFields: 'refuse' },
    );
    const address = ['firstName', 'lastName', 'address', 'city', 'state', 'zip', 'country', 'phoneNumber'];
    expect(Object.keys(faults).sort()).toEqual(
      [
        ...['amount', 'amout', 'customer.email', 'customerIP', 'avsResultCode', 'cvvResultCode'],
        ...['payment.creditCard.last4', 'shipTo', 'gatewayType', 'lineItems[0].price', 'lineItems[1].colour'],
        ...address.map((field) => `billTo.${field}`),
      ].sort(),
    );
  });

  const proto: unknown = JSON.parse(
    JSON.stringify(aTransaction()).replace('{', '{"__proto__":{"amount":"1"},'),
  );
  const noted = aPreGatewayTransaction({ userFields: { note: 'card 4111 1111-1111 1111' } });
  const joined = withField('customer', { email: 'a@example.com', joinedOn: 'x' });
  const bodies = [null, undefined, 'text', 5, [], true];
  it.each<[input: unknown, path: string, words: string, workflow?: IntegrationWorkflow]>([
    [{ ...aTransaction(), amount: 5 }, 'amount', 'quotes'],
    [{ ...aTransaction(), 'nf-token': 'canary' }, 'nf-token', 'left out'],
    [{ ...aTransaction(), nfToken: 'canary' }, 'nfToken', 'left out'],
    [{ ...aTransaction(), nf_token: 'canary' }, 'nf_token', 'left out'],
    ...bodies.map((body): [unknown, string, string] => [body, '', 'must be an object: the transaction']),
    [noted, 'userFields.note', 'card', 'pre-gateway'],
    [proto, '__proto__', 'not a field'],
    // In the spelling that was sent.
    [joined, 'customer.joinedOn', 'MM/DD/YYYY'],
  ])('in %j name the path %s, without the value', (input, path, words, workflow = 'pre-acceptance') => {
    const faults = faultsOf(input, { workflow, unknownFields: 'refuse' });
    expect(faults).toEqual({ [path]: expect.stringContaining(words) });
    expect(JSON.stringify(faults)).not.toMatch(/canary|4111/);
  });

  it('are found quickly in very long values', () => {
    const long = `${'1'.repeat(1_000_000)}x`;
    const merchant = { ...MERCHANT, website: long };
    const faults = faultsOf({ ...aTransaction(), amount: long, customer: { email: long }, merchant });
    expect(Object.keys(faults).sort()).toEqual(['amount', 'customer.email', 'merchant.website']);
  });
});

describe('the two spellings', () => {
  const twoWords = LIMITS.filter(({ path, good }) => path.includes('_') && good.length > 1);
  it.each(twoWords)('of $path are one field', ({ path, good: [value, other] }) => {
    const sample = path.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    const bare = { ...aTransaction(), currency_code: undefined, customer: { email: 'pass@example.com' } };
    const written = withField(path, value, bare);
    const canonical = parseTransaction(written, RULES);
    expect(canonical.ok).toBe(true);
    expect(parseTransaction(withField(sample, value, bare), RULES)).toEqual(canonical);
    expect(parseTransaction(withField(sample, value, written), RULES)).toEqual(canonical);
    const torn = faultsOf(withField(sample, other, written));
    expect(Object.values(torn)).toEqual([expect.stringContaining('two spellings')]);
  });

  it('covers every name whose spellings differ', () => {
    const schema = JSON.stringify(z.toJSONSchema(createBodySchema, { io: 'input' }));
    const names = schema.match(/"[a-z0-9]+[-_][\w-]+":/g) ?? [];
    const covered = ['nf-token', ...twoWords.map(({ path }) => path.split('.').at(-1))];
    expect(names.filter((name) => !covered.includes(name.slice(1, -2)))).toEqual([]);
  });
});

describe('the payment data an integration workflow requires', () => {
  it.each(OTHERS)('is last4 and both result codes in %s', (workflow) => {
    const faults = faultsOf({ ...withoutCodes, payment: { creditCard: {} } }, { workflow });
    expect(Object.keys(faults)).toEqual(['payment.creditCard.last4', 'avsResultCode', 'cvvResultCode']);
  });

  it.each(OTHERS)('may be number and expiry beside the codes in %s; the card code is dropped', (workflow) => {
    const order = aTransaction({ payment: { creditCard: { bin: '411111', ...TEST_CARD } } });
    const { cardCode: _dropped, ...card } = TEST_CARD;
    const parsed = parseTransaction(order, { ...RULES, workflow });
    const transaction = { payment: { creditCard: { bin: '411111', last4: '1111' } } };
    expect(parsed).toMatchObject({ ok: true, card, transaction });
    const faults = faultsOf({ ...order, avsResultCode: undefined }, { workflow });
    expect(Object.keys(faults)).toEqual(['avsResultCode']);
  });

  it.each(OTHERS)('may have an expiry without a number in %s, which is sent', (workflow) => {
    for (const expirationDate of ['1234', '12-34', '12-2034', '12/2034', '12/34', '06/26']) {
      const creditCard = { last4: '1111', expirationDate };
      const parsed = parseTransaction(aTransaction({ payment: { creditCard } }), { ...RULES, workflow });
      expect(parsed).toMatchObject({ ok: true, transaction: { payment: { creditCard } }, warnings: [] });
      expect(parsed).not.toHaveProperty('card');
      expect(parsed.ok && parseTransaction(parsed.transaction, { ...RULES, workflow })).toEqual(parsed);
    }
  });

  it.each(['05/26', '1225', '13/34', '2034-12', '', 'soon', '4111111111111111', 1234, null, {}])(
    'leaves out the expiry %j without a number, with a warning',
    (expirationDate) => {
      for (const unknownFields of ['drop', 'refuse'] as const) {
        const order = withField('payment.creditCard', { last4: '1111', expirationDate });
        const parsed = parseTransaction(order, { ...RULES, unknownFields });
        const bare = parseTransaction(withField('payment.creditCard', { last4: '1111' }), RULES);
        const path = 'payment.creditCard.expirationDate';
        const warnings = [{ path, message: expect.stringMatching(/; not sent$/) }];
        expect(parsed).toEqual({ ...bare, warnings });
        expect(JSON.stringify(parsed)).not.toMatch(/4111|soon/);
      }
    },
  );

  it.each([
    ...['Apple Pay', 'paypal', 'Gift Card', 'gift_card', 'giftcard', 'bank transfer', 'cash on delivery'],
    ...['PayPal', 'SEPA Direct Debit', 'store credit', 'PayPal Credit', 'Visa Checkout', 'Bacs Debit'],
    ...['cod', 'Cash on Delivery (COD)', ' klarna ', 'checkmo', 'free', 'stripe_affirm', 'stripe_sepa'],
    ...['woocommerce_payments_au_becs_debit', 'ppcp-ideal', 'Ecomm giftcard', 'pp_stripe-wero_stripe'],
    ...['mollie_wc_gateway_kbc', 'mollie_methods_klarna', 'pp_mollie-ideal_mollie', 'payflow_express_bml'],
    ...['amazon_payment_v2_vault', 'payment_services_paypal_smart_buttons'],
    ...['CASH_ON_DELIVERY', 'MONEY_ORDER', 'AMAZON_PAY', 'paypal express', 'amazon payment v2'],
  ])('is none where the method is no card: %s', (method) => {
    for (const order of [withoutCodes, aTransaction()].map((one) => ({ ...one, payment: { method } }))) {
      for (const workflow of OTHERS) expect(faultsOf(order, { workflow })).toEqual({});
      expect(faultsOf(order, BEFORE)['payment.creditCard']).toContain('`skip`');
    }
  });

  it.each([
    ...['', ' ', 'Credit Card', 'debit', 'VISA', 'Card', 'cc', 'prepaid card', undefined, 'Kreditkarte'],
    ...['carte bancaire', 'stripe', 'adyen_cc', 'credit card', 'paypal pro', 'woocommerce_payments'],
    ...['ppcp-credit-card-gateway', 'mollie_wc_gateway_creditcard', 'pp_stripe_stripe', 'stripe_cc'],
    ...['pp_mollie-card_mollie', 'stripe_', 'bogus'],
  ])('is not forgotten where the method is a card, or none is named: %s', (method) => {
    const order = { ...aTransaction(), payment: { ...(method !== undefined && { method }) } };
    const ofCard = (workflow: IntegrationWorkflow) => faultsOf(order, { workflow })['payment.creditCard'];
    for (const workflow of OTHERS) expect(ofCard(workflow)).toMatch(/^is required .*paymentMethods\.noCard/);
    expect(ofCard('pre-gateway')).toContain('is required');
  });

  it('is none where the policy lists the method', () => {
    const order = aTransaction({ payment: { method: 'SOFINCO 3x' } });
    expect(faultsOf(order, { noCard: ['sofinco 3X'] })).toEqual({});
  });

  it('is the full card data in pre-gateway, and nothing of it when the card is in the stash', () => {
    const bare = aPreGatewayTransaction({ payment: { creditCard: {} } });
    const inStash = { ...BEFORE, cardInStash: true };
    expect(Object.keys(faultsOf(bare, BEFORE))).toEqual(CARD_FIELDS);
    expect(Object.keys(faultsOf(aPreGatewayTransaction(), inStash))).toEqual(CARD_FIELDS);
    expect(faultsOf(bare, inStash)).toEqual({});
  });

  it.each<[card: object, mode: 'test' | 'live', faults: RegExp]>([
    [{}, 'test', /^$/],
    [{}, 'live', /live mode/],
    [{ cardNumber: '4539578763621486' }, 'live', /^$/],
    [{ cardCode: '1234' }, 'test', /creditCard\.cardCode/],
    [{ cardNumber: '378282246310005' }, 'test', /creditCard\.cardCode/],
    [{ cardNumber: '378282246310005', cardCode: '7399' }, 'test', /^$/],
    [{ expirationDate: '05/26' }, 'test', /creditCard\.expirationDate,.*in the past/],
    [{ last4: '2222', bin: '555555' }, 'test', /creditCard\.bin.*creditCard\.last4/],
  ])('is judged: %j with a %s key', (card, mode, expected) => {
    const order = aPreGatewayTransaction({ payment: { creditCard: { ...TEST_CARD, ...card } } });
    expect(Object.entries(faultsOf(order, { ...BEFORE, mode })).join()).toMatch(expected);
  });
});

describe('the transaction that comes out', () => {
  it('has no card data, which comes apart, and is read again as itself', () => {
    const parsed = parseTransaction(aPreGatewayTransaction(), { ...RULES, ...BEFORE });
    const payment = { creditCard: { cardType: 'Visa', bin: '411111', last4: '1111' } };
    const transaction = { ...withoutCodes, payment, gatewayType: 'pre-gateway' };
    expect(parsed).toEqual({ ok: true, card: TEST_CARD, transaction, warnings: [] });
    const once = parseTransaction(aTransaction(), RULES);
    expect(once.ok && parseTransaction(once.transaction, RULES)).toEqual(once);
  });

  it.each([
    ['41111111', '411111'],
    ['411111', '411111'],
    ['4111', '4111'],
    ['', undefined],
  ])('has no more than six digits of the card and its last four: of the bin %s', (bin, kept) => {
    const parsed = parseTransaction(aTransaction({ payment: { creditCard: { last4: '1111', bin } } }), RULES);
    expect(parsed.ok && parsed.transaction.payment.creditCard?.bin).toBe(kept);
    const withNumber = aPreGatewayTransaction({ payment: { creditCard: { ...TEST_CARD, bin } } });
    const whole = parseTransaction(withNumber, { ...RULES, ...BEFORE });
    expect(whole.ok && whole.transaction.payment.creditCard?.bin).toBe(kept ?? '411111');
  });

  it.each(OTHERS)('has the gatewayType of %s, and no # before its invoice number', (workflow) => {
    const order = aTransaction({ order: { invoiceNumber: '#1001' } });
    const parsed = parseTransaction(order, { ...RULES, workflow });
    const transaction = { gatewayType: 'post-gateway', order: { invoiceNumber: '1001' } };
    expect(parsed).toMatchObject({ transaction });
  });
});
