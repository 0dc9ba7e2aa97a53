import { beforeAll, describe, expect, it } from 'vitest';
import { keepMoments } from './fast-moments.ts';
import { KEPT_SEEDS } from './kept-seeds.ts';
import { live } from './live.ts';
import { planLife } from './plan-life.ts';
import { RULES } from './rules.ts';
import { timeline } from './shrink.ts';

/** Any will do. */
const ANY_SEED = 4_711;

beforeAll(keepMoments);

describe('an order in a virtual world', () => {
  it.each(KEPT_SEEDS)('lives the life of seed %i again: %s', (seed) => {
    const life = planLife(seed);
    const { faults } = live(life, { alwaysCut: true });
    expect(faults, faults.length > 0 ? timeline(life, RULES) : '').toEqual([]);
  });

  it('lives the same life again from the same seed', () => {
    const told = [1, 2].map(() => {
      const lines: string[] = [];
      live(planLife(ANY_SEED), { tell: (words, atMs) => lines.push(`${atMs} ${words}`) });
      return lines;
    });
    expect(told[0]).toEqual(told[1]);
  });
});
