/** Transactions from the tables of the service's interface, valid by construction or broken by one rule: the product and the sandbox judge them alike. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INTEGRATION_WORKFLOWS, type IntegrationWorkflow } from '../../src/contract/words.ts';
import { inDefinitionSpelling, readTransactionRequest } from '../../src/sandbox/transaction-request.ts';
import { parseTransaction, writeTransaction } from '../../src/screening/index.ts';
import { gatewayTypeOf } from '../../src/screening/transaction-rules.ts';
import { aTransaction, TEST_CARD } from '../fixtures/transactions.ts';
import { property } from '../support/property.ts';
import { LIMITS, STRICTER, withField } from './transaction-cases.ts';

const NOW = new Date('2026-06-15T12:00:00Z');

const text = (max: number) => fc.string({ minLength: 1, maxLength: max });
const decimal = fc.oneof(
  fc.nat().map(String),
  fc.double({ min: 0, max: 1e6, noNaN: true }).map((n) => n.toFixed(2)),
);
const date = fc
  .date({ min: new Date('1990-01-01'), max: new Date('2040-01-01'), noInvalidDate: true })
  .map((day) => `${day.toISOString().slice(5, 10).replace('-', '/')}/${day.getUTCFullYear()}`);

const atext = fc.constantFrom(..."abcXYZ019.!#$%&'*+/=?^_`{|}~-");
const label = fc.stringMatching(/^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,20}[a-zA-Z0-9])?$/);
/** The grammar of the HTML standard: the labels after `@` may be one. */
const email = fc
  .tuple(fc.array(atext, { minLength: 1, maxLength: 40 }), fc.array(label, { minLength: 1, maxLength: 3 }))
  .map(([local, labels]) => `${local.join('')}@${labels.join('.')}`)
  .filter((address) => address.length <= 128);

const some = <Fields extends Record<string, fc.Arbitrary<unknown>>>(fields: Fields) =>
  fc.record(fields, { requiredKeys: [] });

const address = {
  firstName: text(128),
  lastName: text(128),
  address: text(128),
  city: text(128),
  state: text(128),
  zip: text(128),
  country: fc.constantFrom('US', 'de', 'Gb', 'JP', 'br'),
};
const company = text(128);
const phoneNumber = fc.constantFrom('+1 212 555 0100', '030/1234567', '(212) 555-0100 ext. 12', '12345');
const billTo = fc.oneof(
  fc.constant({}),
  fc.record({ ...address, phoneNumber, company }, { requiredKeys: [...required(address), 'phoneNumber'] }),
);
const shipTo = fc.record({ ...address, company }, { requiredKeys: required(address) });

function required<Key extends string>(fields: Record<Key, unknown>): Key[] {
  return Object.keys(fields).filter((key): key is Key => key in fields);
}

const codes = {
  avsResultCode: fc.constantFrom('Y', 'N', 'U', 'ABC'),
  cvvResultCode: fc.constantFrom('M', '1'),
};

/** What each integration workflow asks of the payment. */
function payment(workflow: IntegrationWorkflow) {
  if (workflow === 'pre-gateway') {
    const creditCard = { ...TEST_CARD, cardType: 'Visa' };
    return fc.record({ payment: fc.constant({ creditCard }) });
  }
  const last4 = fc.record({ last4: fc.constant('1111') });
  const number = fc.record(
    {
      cardNumber: fc.constant(TEST_CARD.cardNumber),
      expirationDate: fc.constantFrom('12/2034', '12-2034', '12/34', '1234', '06-26'),
      cardCode: fc.constant('123'),
    },
    { requiredKeys: ['cardNumber'] },
  );
  const card = fc.record({
    ...codes,
    payment: fc.record({ creditCard: fc.oneof(last4, number) }),
  });
  const wallet = fc.record({
    payment: fc.record({ method: fc.constantFrom('Apple Pay', 'PayPal', 'gift card') }),
  });
  return fc.oneof(card, wallet);
}

const optional = some({
  currency_code: fc.constantFrom('USD', 'eur'),
  discountAmount: fc.oneof(decimal, fc.constantFrom('', '.')),
  shippingAmount: decimal,
  shippingMethod: fc.string(),
  fulfillmentDate: date,
  lineItems: fc.array(
    some({
      sku: fc.string(),
      name: fc.string(),
      notes: fc.string(),
      price: fc.double({ noNaN: true, noDefaultInfinity: true }),
      quantity: fc.nat(),
    }),
    { maxLength: 4 },
  ),
  order: some({
    invoiceNumber: fc.stringMatching(/^[A-Za-z0-9-]{1,64}$/),
    order_type: fc.constantFrom('', 'one-time', 'recurring', 'subscription', 'upsell'),
    referring_url: fc.webUrl(),
    landing_page_type: fc.constantFrom('home', 'product', 'search', 'category', 'about', 'other'),
  }),
  travel: some({ travel_date: date, destination: text(128) }),
  cavvResultCode: fc.constantFrom('', 'A', 'U', '0', '9'),
  '3d_secure': some({ authenticated: fc.boolean(), succeeded: fc.boolean(), version: fc.string() }),
  card_attempts: fc.nat().map(String),
  referial_code: fc.stringMatching(/^[0-9A-Fa-f]{1,64}$/),
  userFields: some({ note: fc.string(), expirationDate: date }),
  subscriptionDetails: some({ every: fc.string(), expirationDate: date }),
  isBopis: fc.constantFrom('true', 'false'),
});

const merchant = fc.record({
  merchant: fc.record(
    {
      name: text(128),
      website: fc.constant('www.example.com'),
      email,
      productType: fc.constantFrom('Goods', 'Services'),
    },
    { requiredKeys: ['name', 'website', 'email'] },
  ),
  shipTo,
});

const valid = fc.constantFrom(...INTEGRATION_WORKFLOWS).chain((workflow) =>
  fc
    .tuple(
      fc.record({
        amount: decimal,
        billTo,
        customerIP: fc.oneof(fc.ipV4(), fc.ipV6()),
        customer: fc.record(
          { email, id: text(64), joined_on: date, total_purchase_value: decimal },
          { requiredKeys: ['email'] },
        ),
      }),
      payment(workflow),
      optional,
      fc.oneof(fc.constant({}), merchant),
    )
    .map((parts) => ({ workflow, raw: Object.assign({}, ...parts) as Record<string, unknown> })),
);

/** Asked for by one workflow and not by another: may be left out, or be empty. */
const OF_A_WORKFLOW = ['avsResultCode', 'cvvResultCode'];
const isStricter = (path: string, value: unknown) =>
  STRICTER.some(([of, values]) => of === path && values.some((one) => isDeepStrictEqual(one, value)));

/** A field with a value that breaks one rule of the interface; without a value the field is taken away. */
const BREAKS: readonly [path: string, value?: unknown][] = [
  ...LIMITS.flatMap(([path, _good, bad]) => bad.map((value): [string, unknown] => [path, value])).filter(
    ([path, value]) => !isStricter(path, value) && ((value ?? '') !== '' || !OF_A_WORKFLOW.includes(path)),
  ),
  ['merchant', { name: 'A', website: 'https://example.com/', email: 'a@example.com' }],
  ['payment', { creditCard: { cardNumber: '4111111111111112', expirationDate: '12/2034', cardCode: '123' } }],
  ['payment', { creditCard: { ...TEST_CARD, expirationDate: '05/26' } }],
  ['payment', { creditCard: { ...TEST_CARD, expirationDate: '2034-12' } }],
  ['payment', { creditCard: { ...TEST_CARD, cardCode: '12' } }],
  ['payment', { creditCard: {} }],
  ['lineItems', [{ price: '12' }]],
  ['lineItems', [{ sku: 12 }]],
  ['3d_secure', { succeeded: 'yes' }],
];

const broken = fc
  .tuple(valid, fc.constantFrom(...BREAKS))
  .map(([{ workflow, raw }, [path, value]]) => ({ workflow, path, raw: breakAt(raw, path, value) }));

function breakAt(raw: object, path: string, value: unknown): object {
  return JSON.parse(JSON.stringify(withField(path, value, raw)));
}

function byProduct(raw: unknown, workflow: IntegrationWorkflow) {
  return parseTransaction(raw, { workflow, mode: 'test', now: NOW });
}

/** As the service gets it where nothing stands before it. */
function bySandbox(raw: object, workflow: IntegrationWorkflow): string[] {
  const body = inDefinitionSpelling({ gatewayType: gatewayTypeOf(workflow), ...raw });
  const read = readTransactionRequest(body, 'test', NOW);
  return 'errors' in read ? read.errors : [];
}

describe('a transaction that is valid by the interface', () => {
  property([valid], { numRuns: 500 })(
    'is taken by both, also as the product sends it',
    ({ workflow, raw }) => {
      expect(bySandbox(raw, workflow)).toEqual([]);
      const parsed = byProduct(raw, workflow);
      if (!parsed.ok) throw new Error(JSON.stringify(parsed.fieldErrors));
      for (const dialect of ['definition', 'sample'] as const) {
        const written = writeTransaction(parsed.transaction, {
          dialect,
          apiKey: 'key',
          enrich: true,
          card: parsed.card,
          invoiceNumber: 'A-1',
        });
        expect(bySandbox(written, workflow)).toEqual([]);
      }
    },
  );
});

describe('a transaction that breaks one rule of the interface', () => {
  property([broken], { numRuns: 500 })('is refused by both', ({ workflow, raw, path }) => {
    expect(byProduct(raw, workflow).ok, `the product takes ${path}`).toBe(false);
    expect(bySandbox(raw, workflow), `the sandbox takes ${path}`).not.toEqual([]);
  });

  it('is refused by both for each of the rules', () => {
    const [sample] = fc.sample(
      valid.filter(({ workflow }) => workflow === 'pre-acceptance'),
      { numRuns: 1, seed: 1 },
    );
    if (sample === undefined) throw new Error('no sample');
    for (const [path, value] of BREAKS) {
      const raw = breakAt(sample.raw, path, value);
      expect(byProduct(raw, sample.workflow).ok, path).toBe(false);
      expect(bySandbox(raw, sample.workflow), path).not.toEqual([]);
    }
  });
});

it('the interface would let pass what the product alone refuses', () => {
  for (const [path, values] of STRICTER) {
    for (const value of values) {
      const raw = breakAt(aTransaction(), path, value);
      expect(byProduct(raw, 'pre-acceptance').ok, path).toBe(false);
      expect(bySandbox(raw, 'pre-acceptance'), path).toEqual([]);
    }
  }
});

describe('an e-mail address of the HTML standard’s grammar', () => {
  property([email], { numRuns: 2_000 })('passes', (address) => {
    const raw = { amount: '1', billTo: {}, customerIP: '203.0.113.7', customer: { email: address } };
    const paid = { payment: { method: 'PayPal' } };
    expect(byProduct({ ...raw, ...paid }, 'pre-acceptance').ok).toBe(true);
    expect(bySandbox({ ...raw, ...paid }, 'pre-acceptance')).toEqual([]);
  });

  it.each(['jane&john@example.com', 'user/dept@example.com', 'a=b@example.com', 'a@xn--bcher-kva.xn--p1ai'])(
    'such as %s',
    (address) => {
      const raw = { amount: '1', billTo: {}, customerIP: '203.0.113.7', payment: { method: 'PayPal' } };
      expect(byProduct({ ...raw, customer: { email: address } }, 'pre-acceptance').ok).toBe(true);
    },
  );
});
