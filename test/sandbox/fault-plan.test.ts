import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FaultPlan } from '../../src/sandbox/fault-plan.ts';
import { property } from '../support/property.ts';

const subject = (invoiceNumber: string) => ({ transactionId: null, invoiceNumber });

function planned(seed: number, probability: number): FaultPlan {
  const plan = new FaultPlan();
  const operation = 'create-transaction';
  plan.set({
    seed,
    faults: [
      { operation, kind: '429', probability },
      { operation, kind: '403', probability },
    ],
  });
  return plan;
}

/** What happens to each order, whatever the order in which they come. */
function fates(plan: FaultPlan, invoices: readonly string[]): Map<string, string[]> {
  const met = new Map<string, string[]>();
  for (const invoice of invoices) {
    const fault = plan.pick('create-transaction', subject(invoice));
    met.set(invoice, [...(met.get(invoice) ?? []), fault?.kind ?? 'none']);
  }
  return met;
}

describe('the draw of faults', () => {
  const invoices = fc.array(fc.string({ minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 50 });

  property([
    fc.integer(),
    invoices.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    ),
  ])(
    'gives each order the same fate with the same seed, in whatever order requests arrive',
    (seed, [one, another]) => {
      expect(fates(planned(seed, 0.5), one)).toEqual(fates(planned(seed, 0.5), another));
    },
  );

  property([fc.integer(), fc.double({ min: 0.05, max: 0.95, noNaN: true })])(
    'keeps to the probability',
    (seed, probability) => {
      const plan = planned(seed, probability);
      for (let i = 0; i < 2000; i++) plan.pick('create-transaction', subject(`order-${i}`));
      const played = plan.report().played.find(({ kind }) => kind === '429')?.count ?? 0;
      expect(Math.abs(played / 2000 - probability)).toBeLessThan(0.08);
    },
  );

  test('differs with the seed', () => {
    const list = Array.from({ length: 100 }, (_, i) => `order-${i}`);
    expect(fates(planned(1, 0.5), list)).not.toEqual(fates(planned(2, 0.5), list));
  });

  test('plays nothing at probability 0, and everything at 1', () => {
    const list = Array.from({ length: 200 }, (_, i) => `order-${i}`);
    expect([...fates(planned(1, 0), list).values()].flat()).not.toContain('429');
    expect(new Set([...fates(planned(1, 1), list).values()].flat())).toEqual(new Set(['429']));
  });
});
