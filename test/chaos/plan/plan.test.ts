import { expect, it } from 'vitest';
import { DECISIONS, GATEWAY_RESULTS } from '../../../src/contract/words.ts';
import { aPolicy } from '../../fixtures/policies.ts';
import { planRun } from './plan.ts';
import { drawIntegrations } from './policies.ts';

const run = (seed: number) =>
  planRun({ seed, orders: 400, loadMs: 60_000, integrations: drawIntegrations(seed) });

it('a run is the same for the same seed, varies every key of the policy, and has every decision and action', () => {
  const plans = run(3);
  expect(run(3)).toEqual(plans);
  expect(run(4)).not.toEqual(plans);
  for (const key of Object.keys(aPolicy())) {
    const values = plans.map(({ policy }) =>
      JSON.stringify(Object.entries(policy).find(([name]) => name === key)),
    );
    expect(new Set(values).size, key).toBeGreaterThan(1);
  }
  const kinds = new Set(plans.map(({ policy }) => `${policy.workflow} ${policy.invoicePerAttempt}`));
  expect(kinds.size).toBe(6);
  const seen = (words: readonly string[]) => [...new Set(words)].sort();
  expect(seen(plans.map(({ attempts }) => attempts[0]?.decision ?? ''))).toEqual(DECISIONS.toSorted());
  expect(seen(plans.flatMap(({ gateway }) => gateway.results))).toEqual(GATEWAY_RESULTS.toSorted());
  expect(seen(plans.flatMap(({ actions }) => actions.map(({ path }) => path)))).toHaveLength(4);
  const skips = plans.map(({ attempts }) => attempts.map(({ skip }) => skip).join());
  expect(skips).toEqual(expect.arrayContaining(['true', 'false', 'false,true']));
});
