import { describe, expect, it } from 'vitest';
import { DECISIONS } from '../../src/contract/words.ts';
import { aPolicy } from '../fixtures/policies.ts';
import { orderOfInvoice, planOrder, planRun } from './plan.ts';
import { drawIntegrations, policyOf } from './policies.ts';

const options = { seed: 3, orders: 2_000, loadMs: 60_000, cards: true, integrations: drawIntegrations(3) };

describe('the plan of a run', () => {
  it('is the same for the same seed, whatever the order of drawing', () => {
    const plans = planRun(options);
    expect(planOrder(options, 1_234)).toEqual(plans[1_234]);
    expect(planRun({ ...options, seed: 4 })).not.toEqual(plans);
  });

  it('has every integration, decision, gateway result and action, and attempts that a skip rule matches', () => {
    const plans = planRun(options);
    const seen = (values: (string | undefined)[]) => [...new Set(values)].filter((value) => value).sort();
    expect(seen(plans.map(({ integration }) => integration))).toEqual(
      [...options.integrations.keys()].sort(),
    );
    expect(seen(plans.map(({ attempts }) => attempts[0]?.decision))).toEqual(DECISIONS.toSorted());
    expect(seen(plans.map(({ gateway }) => gateway?.result))).toEqual(['error', 'fail', 'pass']);
    expect(seen(plans.flatMap(({ actions }) => actions.map(({ path }) => path)))).toEqual([
      'cancel',
      'chargebacks',
      'customer-code',
      'report-fraud',
    ]);
    expect(plans.some(({ attempts }) => attempts[0]?.skip)).toBe(true);
    expect(plans.some(({ attempts: [first, second] }) => second?.skip && !first?.skip)).toBe(true);
    expect(plans.some(({ stormy }) => stormy)).toBe(true);
    expect(new Set(plans.map(({ orderId }) => orderId)).size).toBe(2_000);
  });

  it('leaves out full card data where it reaches no worker', () => {
    const plans = planRun({ ...options, cards: false });
    expect(plans.some(({ policy }) => policy.workflow === 'pre-gateway')).toBe(false);
  });
});

describe('an invoice number', () => {
  it.each([
    ['S3N00012', 'S3N00012'],
    ['S3N00012~3', 'S3N00012'],
    ['S3N00012~1.2', 'S3N00012'],
    ['another', undefined],
  ])('%s names its order', (invoice, orderId) => {
    expect(orderOfInvoice(invoice)).toBe(orderId);
  });
});

describe('the integrations of a run', () => {
  it('are the same for the same seed, and vary every key that an order records', () => {
    const policies = Array.from({ length: 10 }, (_, seed) => [...drawIntegrations(seed).values()]).flat();
    const written = () => [...drawIntegrations(3).values()].map((one) => one.written);
    expect(written()).toEqual(written());
    for (const key of Object.keys(aPolicy())) {
      const values = policies.map((one) =>
        JSON.stringify(Object.entries(policyOf(one, 100)).find(([name]) => name === key)),
      );
      expect(new Set(values).size, key).toBeGreaterThan(1);
    }
  });

  it('have a number per attempt in one half and not in the other, for every workflow, and the default as it is', () => {
    const [first, ...others] = [...drawIntegrations(3).values()];
    expect(first?.written).toEqual({});
    const kinds = others.map(({ settings }) => `${settings.workflow} ${settings.invoicePerAttempt}`);
    expect(new Set(kinds).size).toBe(6);
  });
});
