/** Many lives of orders, the same each time; others by `npm run simulate:orders`. */
import { beforeAll, expect, it } from 'vitest';
import { keepMoments } from './fast-moments.ts';
import { simulate } from './simulate.ts';

/** @param seed of the first life; each further one has the next */
export function liveManyLives(seed: number, lives: number): void {
  beforeAll(keepMoments);

  it(`${lives} orders from seed ${seed} live as their rules say`, async () => {
    const { failed } = await simulate(seed, lives);
    expect(failed, failed.join('\n\n')).toEqual([]);
  });
}
