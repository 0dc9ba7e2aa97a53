import { expect, it } from 'vitest';
import { live } from './live.ts';
import { MORE_MUTANTS } from './more-mutants.ts';
import { MUTANTS } from './mutants.ts';
import { planLife } from './plan-life.ts';

const WITHIN = 10_000;

it.each([...MUTANTS, ...MORE_MUTANTS])('finds a planted fault: $what', async ({ rules }) => {
  let seed = 1;
  while (seed <= WITHIN && (await live(planLife(seed), rules)).length === 0) seed += 1;
  expect(seed).toBeLessThanOrEqual(WITHIN);
});
