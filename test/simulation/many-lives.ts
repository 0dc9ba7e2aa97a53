/** Lives of orders in each `npm test`, always others. They are in two files, since each file has a core for itself. */
import { execFileSync } from 'node:child_process';
import { beforeAll, expect, it } from 'vitest';
import { keepMoments } from './fast-moments.ts';
import { simulate } from './simulate.ts';

/** Fewer while one writes: `SIMULATED_LIVES=5000 npm run test:simulation`. */
const LIVES = Number(process.env.SIMULATED_LIVES ?? 30_000);
const SEED = Number(process.env.SIMULATION_SEED ?? (process.env.CI ? seedOfCommit() : Math.random() * 1e9));
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

/** Another seed for each commit, so that continuous integration judges the same commit alike. */
function seedOfCommit(): number {
  return Number.parseInt(execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).slice(0, 7), 16);
}
