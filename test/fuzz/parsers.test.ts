import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INTEGRATION_WORKFLOWS } from '../../src/contract/words.ts';
import {
  fingerprint,
  parseCard,
  parsePortalFields,
  parseTransaction,
  type TransactionRules,
  transactionSchema,
} from '../../src/screening/index.ts';
import { aPreGatewayTransaction, aTransaction, TEST_CARD } from '../fixtures/transactions.ts';
import { expectNothingShown } from './expect-harmless.ts';
import { deepJson, mutated, PATIENCE_MS, runs } from './hostile.ts';

const rules: fc.Arbitrary<TransactionRules> = fc.record({
  workflow: fc.constantFrom(...INTEGRATION_WORKFLOWS),
  mode: fc.constantFrom('test', 'live'),
  now: fc.constant(new Date('2026-03-01T10:00:00Z')),
});
const fullOrder = {
  ...aTransaction(),
  merchant: { name: 'Shop', website: 'shop.example.com', email: 'shop@example.com', productType: 'Goods' },
  order: { invoiceNumber: '#1001', order_type: 'one-time' },
  travel: { travel_date: '03/14/2027' },
  '3d_secure': { authenticated: true },
  userFields: { note: 'gift', nested: { list: [1, { a: 'b' }] } },
};
const transaction = fc.oneof(mutated(fullOrder), mutated(aPreGatewayTransaction()));
const aChargeback = { reason_code: '4853', due_date: '2026-04-01', inquiry: 'false', notes: 'n' };

type Faults = { path: string; message: string }[];

function expectFaults(fieldErrors: Faults): void {
  expect(fieldErrors.length).toBeGreaterThan(0);
  for (const { path, message } of fieldErrors) {
    expect(typeof path).toBe('string');
    expect(message.length).toBeGreaterThan(0);
  }
  expectNothingShown(JSON.stringify(fieldErrors));
}

describe('whatever is sent as a transaction', () => {
  it('is kept in a form that fits the schema, without card data, or refused with fieldErrors', {
    timeout: PATIENCE_MS,
  }, async () => {
    await fc.assert(
      fc.property(transaction, rules, (body, judged) => {
        const parsed = parseTransaction(body, judged);
        if (!parsed.ok) {
          expectFaults(parsed.fieldErrors);
          return;
        }
        expect(transactionSchema.safeParse(parsed.transaction).success).toBe(true);
        const kept = JSON.stringify(parsed.transaction);
        expect(kept).not.toContain(TEST_CARD.cardNumber);
        const { order } = parsed.transaction;
        // Sent in an address, and kept as a search attribute.
        expect(order?.invoiceNumber ?? 'x').not.toMatch(/[\p{Cc}\p{Cs}]/u);
        expect(fingerprint(parsed.transaction, parsed.card)).toMatch(/^[0-9a-f]{64}$/);
      }),
      runs(800),
    );
  });

  it('is refused however deep it is', { timeout: PATIENCE_MS }, () => {
    const judged: TransactionRules = { workflow: 'pre-acceptance', mode: 'test', now: new Date() };
    for (const kind of ['lists', 'objects'] as const) {
      const deep: unknown = JSON.parse(deepJson(100_000, kind));
      for (const field of [...Object.keys(fullOrder), 'checkout', 'unknown']) {
        expect(parseTransaction({ ...fullOrder, [field]: deep }, judged).ok, field).toBe(false);
      }
      expect(parseTransaction(deep, judged).ok).toBe(false);
    }
  });
});

describe('whatever is sent as a card', () => {
  it('is a card or has fieldErrors', { timeout: PATIENCE_MS }, async () => {
    await fc.assert(
      fc.property(mutated({ ...TEST_CARD }), rules, (body, judged) => {
        const parsed = parseCard(body, judged);
        if (!parsed.ok) expectFaults(parsed.fieldErrors);
        else expect(Object.keys(parsed.card)).toContain('cardNumber');
      }),
      runs(500),
    );
  });
});

describe('whatever is sent as a chargeback', () => {
  it('is a chargeback or has fieldErrors', { timeout: PATIENCE_MS }, async () => {
    await fc.assert(
      fc.property(mutated(aChargeback), (body) => {
        const parsed = parsePortalFields('chargeback', body);
        if (!parsed.ok) expectFaults(parsed.fieldErrors);
        else expect(parsed.fields.due_date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
      }),
      runs(500),
    );
  });
});
