import { beforeAll, describe, expect, it } from 'vitest';
import { keepMoments } from './fast-moments.ts';
import { KEPT_SEEDS } from './kept-seeds.ts';
import { live } from './live.ts';
import { planLife } from './plan-life.ts';
import { RULES } from './rules.ts';
import { timeline } from './shrink.ts';
import { simulate } from './simulate.ts';

/** Fewer while one writes: `SIMULATED_LIVES=5000 npm run test:simulation`. */
const LIVES = Number(process.env.SIMULATED_LIVES ?? 10_000);
const SEED = Number(process.env.SIMULATION_SEED ?? Math.floor(Math.random() * 1e9));

beforeAll(keepMoments);

describe('an order in a virtual world', () => {
  it.each(KEPT_SEEDS)('lives the life of seed %i again: %s', (seed) => {
    const life = planLife(seed);
    const { faults } = live(life, { alwaysCut: true });
    expect(faults, faults.length > 0 ? timeline(life, RULES) : '').toEqual([]);
  });

  it(`lives ${LIVES} lives from seed ${SEED}`, () => {
    const { failed } = simulate({ seed: SEED, lives: LIVES });
    expect(failed, failed.join('\n\n')).toEqual([]);
  });

  it('lives the same life again from the same seed', () => {
    const told = [1, 2].map(() => {
      const lines: string[] = [];
      live(planLife(SEED), { tell: (words, atMs) => lines.push(`${atMs} ${words}`) });
      return lines;
    });
    expect(told[0]).toEqual(told[1]);
  });
});
