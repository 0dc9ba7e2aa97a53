import { describe, expect, it } from 'vitest';
import { live } from '../live.ts';
import { planLife } from '../plan/plan-life.ts';
import { BOOK_MUTANTS } from './book-mutants.ts';
import { MUTANTS } from './mutants.ts';

const WITHIN = 10_000;

describe('a planted fault is found', () => {
  it.each([...MUTANTS, ...BOOK_MUTANTS])('$what', async ({ rules }) => {
    let seed = 1;
    while (seed <= WITHIN && (await live(planLife(seed), { rules })).faults.length === 0) seed += 1;
    expect(seed).toBeLessThanOrEqual(WITHIN);
  });

  it('of twenty kinds at least', () => {
    expect(MUTANTS.length).toBeGreaterThanOrEqual(20);
  });
});
