/** Lives of orders in each `npm test`, the same each time. They are in two files, since each file has a core for itself. */
import { beforeAll, expect, it } from 'vitest';
import { keepMoments } from './fast-moments.ts';
import { simulate } from './simulate.ts';

/** Fewer while one writes: `SIMULATED_LIVES=5000 npm run test:simulation`. Others: `SIMULATION_SEED=N`. */
const LIVES = Number(process.env.SIMULATED_LIVES ?? 100_000);
const SEED = Number(process.env.SIMULATION_SEED ?? 1);
const FILES = 2;

/** @param part which of the files this is, from 0 */
export function liveManyLives(part: number): void {
  const lives = Math.ceil(LIVES / FILES);
  const seed = Math.floor(SEED) + part * lives;
  beforeAll(keepMoments);

  it(`${lives} orders from seed ${seed} live as their rules say`, async () => {
    const { failed } = await simulate({ seed, lives });
    expect(failed, failed.join('\n\n')).toEqual([]);
  });
}
