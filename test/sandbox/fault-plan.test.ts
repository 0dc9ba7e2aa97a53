import { expect, test } from 'vitest';
import { FaultPlan } from '../../src/sandbox/fault-plan.ts';

const invoices = Array.from({ length: 2_000 }, (_, index) => `order-${index}`);

/** The orders that a plan with this probability picks. */
function picked(seed: number, probability: number, list: readonly string[] = invoices): string[] {
  const plan = new FaultPlan();
  plan.set({ seed, faults: [{ operation: 'create-transaction', kind: '429', probability }] });
  return list.filter((invoiceNumber) =>
    plan.pick('create-transaction', { transactionId: null, invoiceNumber }),
  );
}

test('each order has the same fate with the same seed, in whatever order requests arrive', () => {
  expect(picked(1, 0.5).toSorted()).toEqual(picked(1, 0.5, invoices.toReversed()).toSorted());
  expect(picked(1, 0.5)).not.toEqual(picked(2, 0.5));
});

test.each([0, 0.1, 0.5, 0.9, 1])('the draw keeps to the probability %d', (probability) => {
  const share = picked(7, probability).length / invoices.length;
  expect(Math.abs(share - probability)).toBeLessThan(probability % 1 === 0 ? 1e-9 : 0.05);
});
