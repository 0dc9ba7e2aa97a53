import { beforeAll, describe, expect, it } from 'vitest';
import { keepMoments } from './fast-moments.ts';
import { live } from './live.ts';
import { KEPT_SEEDS } from './plan/kept-seeds.ts';
import { planLife } from './plan/plan-life.ts';
import { RULES } from './rules.ts';
import { timeline } from './shrink.ts';

/** Any will do. */
const ANY_SEED = 4_711;

beforeAll(keepMoments);

describe('an order in a virtual world', () => {
  it.each(KEPT_SEEDS)('lives the life of seed %i again', async (seed) => {
    const life = planLife(seed);
    const { faults } = await live(life, { alwaysCut: true });
    expect(faults, faults.length > 0 ? await timeline(life, RULES) : '').toEqual([]);
  });

  it('lives the same life again from the same seed', async () => {
    for (let seed = ANY_SEED; seed < ANY_SEED + 20; seed += 1) {
      const [first, again] = [await told(seed), await told(seed)];
      expect(again).toEqual(first);
    }
  });
});

async function told(seed: number): Promise<string[]> {
  const lines: string[] = [];
  await live(planLife(seed), { tell: (words, atMs) => lines.push(`${atMs} ${words}`) });
  return lines;
}
