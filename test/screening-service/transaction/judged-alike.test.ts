/** The sandbox follows the text of the service's interface, the product its own schema: they judge each transaction alike. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TEST_CARDS } from '../../../src/card-data/test-cards.ts';
import type { IntegrationWorkflow } from '../../../src/contract/words.ts';
import { inDefinitionSpelling } from '../../../src/sandbox/service/spelling.ts';
import { cardErrors, readTransactionRequest } from '../../../src/sandbox/service/transaction-request.ts';
import {
  type Dialect,
  parseCard,
  parseTransaction,
  transactionRequestSchema,
  writeTransaction,
} from '../../../src/screening-service/index.ts';
import { gatewayTypeOf } from '../../../src/screening-service/transaction/transaction-rules.ts';
import { aPreGatewayTransaction, aTransaction, TEST_CARD } from '../../fixtures/transactions.ts';
import { property } from '../../support/property.ts';
import { faultsOf, LIMITS, MERCHANT, RULES, withField } from './transaction-cases.ts';

/** The sandbox's errors for a transaction as the service gets it. */
function bySandbox(raw: object, workflow: IntegrationWorkflow = 'pre-acceptance'): string[] {
  const written = JSON.parse(JSON.stringify({ gatewayType: gatewayTypeOf(workflow), ...raw }));
  const read = readTransactionRequest(inDefinitionSpelling(written), 'test', RULES.now);
  return 'errors' in read ? read.errors : [];
}

/** The transaction as the product sends it. */
function asSent(
  raw: object,
  workflow: IntegrationWorkflow = 'pre-acceptance',
  dialect: Dialect = 'definition',
): object {
  const parsed = parseTransaction(raw, { ...RULES, workflow });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.fieldErrors));
  const { transaction, card } = parsed;
  return writeTransaction(transaction, { dialect, apiKey: 'key', enrich: true, card, invoiceNumber: 'A-1' });
}

/** Both accept a transaction, also as the product sends it. */
function expectAccepted(raw: object, workflow?: IntegrationWorkflow): void {
  for (const dialect of ['definition', 'sample'] as const)
    expect(bySandbox(asSent(raw, workflow, dialect), workflow)).toEqual([]);
  // Only the product removes the # of an invoice number.
  if (!JSON.stringify(raw).includes('"#')) expect(bySandbox(raw, workflow)).toEqual([]);
}

describe('each field of the interface', () => {
  const cases = (which: 'good' | 'bad' | 'stricter') =>
    LIMITS.flatMap(({ path, [which]: values }) => {
      const base = path.startsWith('merchant.') ? aTransaction({ merchant: MERCHANT }) : aTransaction();
      return values.map((value) => ({ path, value, raw: withField(path, value, base) }));
    });
  const ofField = (path: string, raw: object) =>
    Object.keys(faultsOf(raw)).filter((one) => one.startsWith(path));

  it.each(cases('good'))('$path may be $value', ({ raw }) => expectAccepted(raw));

  it.each(cases('bad'))('$path must not be $value', ({ path, raw }) => {
    expect(ofField(path, raw)).not.toEqual([]);
    expect(bySandbox(raw)).not.toEqual([]);
  });

  it.each(cases('stricter'))('$path is refused by the product alone when it is $value', ({ path, raw }) => {
    expect(ofField(path, raw)).not.toEqual([]);
    expect(bySandbox(raw)).toEqual([]);
  });

  it('is in the table', () => {
    const covered = new Set(LIMITS.map(({ path }) => path.split('.')[0]));
    expect(Object.keys(transactionRequestSchema.shape).filter((field) => !covered.has(field))).toEqual([]);
  });
});

describe('the rules between fields', () => {
  const { avsResultCode: _avs, cvvResultCode: _cvv, ...withoutCodes } = aTransaction();
  const selling = (productType: string) =>
    aTransaction({ merchant: { ...MERCHANT, productType } as typeof MERCHANT });
  const unshipped = (productType: string) => withField('shipTo', undefined, selling(productType));
  const cards = (changes: object) => {
    const payment = { creditCard: { ...TEST_CARD, ...changes } };
    return { after: { ...aTransaction(), payment }, before: { ...aPreGatewayTransaction(), payment } };
  };

  it('accept a card with any form of expiry, and a wallet without codes', () => {
    for (const expirationDate of ['12/2034', '12-2034', '12/34', '1234', '06-26']) {
      expectAccepted(cards({ expirationDate, last4: '1111' }).after);
      expectAccepted(cards({ expirationDate }).before, 'pre-gateway');
    }
    for (const method of ['Apple Pay', 'PayPal', 'gift card', 'free']) {
      expectAccepted({ ...withoutCodes, payment: { method } }, 'post-acceptance');
    }
  });

  it('accept a number without its last four digits, which the product adds', () => {
    const { after } = cards({});
    expect(bySandbox(after)).toEqual(['Missing data, payment.creditCard.last4 field']);
    expect(bySandbox(asSent(after))).toEqual([]);
  });

  it.each([
    { expirationDate: '05/26' },
    ...['2034-12', '13/34', ''].map((expirationDate) => ({ expirationDate })),
    { cardCode: '12' },
    { cardNumber: '4111111111111112' },
    { last4: '1112' },
    { bin: '411112' },
    { cardNumber: undefined, expirationDate: undefined, cardCode: undefined },
  ])('refuse a card with %o', (changes) => {
    const { after, before } = cards(changes);
    expect([Object.keys(faultsOf(after)), bySandbox(after)]).not.toContainEqual([]);
    const workflow = 'pre-gateway';
    expect([Object.keys(faultsOf(before, { workflow })), bySandbox(before, workflow)]).not.toContainEqual([]);
  });

  it.each([
    { currency_code: 'USD', currencyCode: 'EUR' },
    { customer: { ...aTransaction().customer, joined_on: '01/31/2020', joinedOn: '02/28/2020' } },
    { order: { order_type: 'one-time', orderType: 'upsell' } },
  ])('refuse a field in two spellings with different values: %o', (changes) => {
    const raw = { ...aTransaction(), ...changes };
    expect([Object.keys(faultsOf(raw)).length, bySandbox(raw).length]).toEqual([1, 1]);
  });

  it('know the same test cards', () => {
    const rules = { mode: 'live', workflow: 'post-acceptance', now: new Date() } as const;
    expect([...TEST_CARDS].filter((cardNumber) => parseCard({ cardNumber }, rules).ok)).toEqual([]);
    const errors = (mode: 'test' | 'live') =>
      [...TEST_CARDS].map((cardNumber) => cardErrors({ cardNumber }, mode, new Date()));
    expect(errors('test').flat()).toEqual([]);
    expect(errors('live').map(({ length }) => length)).toEqual(Array(TEST_CARDS.size).fill(1));
  });

  it('ask for shipTo with goods only', () => {
    for (const raw of [selling('Goods'), unshipped('Services')]) expectAccepted(raw);
    expect(Object.keys(faultsOf(unshipped('Goods')))).toEqual(['shipTo']);
    expect(bySandbox(unshipped('Goods'))).toEqual(['Missing data, shipTo field']);
  });
});

it.each(['jö@example.com', '用户@example.com'])(
  'the e-mail address %s is left to the service to judge',
  (email) => {
    const raw = aTransaction({ customer: { email } });
    expect([faultsOf(raw), bySandbox(raw)]).toEqual([{}, [expect.stringMatching(/^customer\.email/)]]);
  },
);

describe('an e-mail address of the HTML standard’s grammar', () => {
  const atext = fc.constantFrom(..."abcXYZ019.!#$%&'*+/=?^_`{|}~-");
  const label = fc.stringMatching(/^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,20}[a-zA-Z0-9])?$/);
  /** The labels after `@` may be one. */
  const email = fc
    .tuple(fc.array(atext, { minLength: 1, maxLength: 40 }), fc.array(label, { minLength: 1, maxLength: 3 }))
    .map(([local, labels]) => `${local.join('')}@${labels.join('.')}`)
    .filter((address) => address.length <= 128);

  property([email], { numRuns: 1_000 })('passes', (address) => {
    const raw = aTransaction({ customer: { email: address } });
    expect([faultsOf(raw), bySandbox(raw)]).toEqual([{}, []]);
  });
});
