/** Lives many orders, one after the other. */
import { live } from './live.ts';
import { planLife } from './plan-life.ts';
import { timeline } from './shrink.ts';

const MOST_FAILED = 5;

/** @returns the stories of lives that went wrong, at most five */
export async function simulate(seed: number, lives: number): Promise<string[]> {
  const failed: string[] = [];
  for (let next = seed; next < seed + lives && failed.length < MOST_FAILED; next += 1) {
    const life = planLife(next);
    if ((await live(life)).length > 0) failed.push(await timeline(life));
  }
  return failed;
}
