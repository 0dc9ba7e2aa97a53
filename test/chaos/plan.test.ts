import { describe, expect, it } from 'vitest';
import { orderOfInvoice, planOrder, planRun } from './plan.ts';
import { POLICIES, policyOf } from './policies.ts';

const options = { seed: 3, orders: 2_000, loadMs: 60_000, cards: true };

describe('the plan of a run', () => {
  it('is the same for the same seed, whatever the order of drawing', () => {
    const plans = planRun(options);
    expect(planOrder(options, 1_234)).toEqual(plans[1_234]);
    expect(planRun({ ...options, seed: 4 })).not.toEqual(plans);
  });

  it('has every integration, decision, gateway result and action', () => {
    const plans = planRun(options);
    const seen = (values: (string | undefined)[]) => [...new Set(values)].filter((value) => value).sort();
    expect(seen(plans.map(({ integration }) => integration))).toEqual(Object.keys(POLICIES).sort());
    expect(seen(plans.map(({ attempts }) => attempts[0]))).toEqual([
      'error',
      'fail',
      'fraudulent',
      'pass',
      'review',
    ]);
    expect(seen(plans.map(({ gateway }) => gateway?.result))).toEqual(['error', 'fail', 'pass']);
    expect(seen(plans.flatMap(({ actions }) => actions.map(({ kind }) => kind)))).toEqual([
      'cancel',
      'chargebacks',
      'customer-code',
      'report-fraud',
    ]);
    expect(plans.some(({ amount }) => amount < 1) && plans.some(({ stormy }) => stormy)).toBe(true);
    expect(new Set(plans.map(({ orderId }) => orderId)).size).toBe(2_000);
  });

  it('leaves out full card data where it reaches no worker', () => {
    const plans = planRun({ ...options, cards: false });
    expect(plans.some(({ integration }) => policyOf(integration).workflow === 'pre-gateway')).toBe(false);
  });
});

describe('an invoice number', () => {
  it.each([
    ['S3N00012', { orderId: 'S3N00012', create: 1 }],
    ['S3N00012-3', { orderId: 'S3N00012', create: 3 }],
    ['another', undefined],
  ])('%s names its order and create', (invoice, order) => {
    expect(orderOfInvoice(invoice)).toEqual(order);
  });
});
