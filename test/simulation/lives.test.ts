import { expect, it } from 'vitest';
import { live } from './live.ts';
import { liveManyLives } from './many-lives.ts';
import { KEPT_SEEDS } from './plan/kept-seeds.ts';
import { planLife } from './plan/plan-life.ts';
import { timeline } from './simulate.ts';

liveManyLives(1, 10_000);

it.each(KEPT_SEEDS)('the life of seed %i, which once went wrong, goes as the rules say', async (seed) => {
  const life = planLife(seed);
  const { faults } = await live(life, { alwaysCut: true });
  expect(faults, faults.length > 0 ? await timeline(life) : '').toEqual([]);
});

it('a cancel that comes while an earlier one is withdrawn is sent', async () => {
  const life = planLife(3_021, ['asked-while-withdrawn']);
  const { faults } = await live(life, { alwaysCut: true });
  expect(faults, faults.length > 0 ? await timeline(life) : '').toEqual([]);
});

it('lives the same life again from the same seed', async () => {
  const lines: string[][] = [[], []];
  for (const told of lines)
    for (let seed = 4_711; seed < 4_731; seed += 1)
      await live(planLife(seed), { tell: (line) => told.push(line) });
  expect(lines[1]).toEqual(lines[0]);
});
