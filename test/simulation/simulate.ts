/** Lives many orders, one after the other. */
import { live } from './live.ts';
import { planLife } from './plan/plan-life.ts';
import type { Rates } from './plan/rare-trouble.ts';
import { RULES } from './rules.ts';
import { timeline } from './shrink.ts';

/** More than a person reads at once. */
const MOST_FAILED = 5;

/**
 * @param seed of the first life; each next one has the next
 * @returns the stories of lives that went wrong, and how many inputs were taken in
 */
export async function simulate({
  seed,
  lives,
  rates,
}: {
  seed: number;
  lives: number;
  rates?: Rates;
}): Promise<{
  failed: string[];
  inputs: number;
}> {
  const failed: string[] = [];
  let inputs = 0;
  for (let next = seed; next < seed + lives && failed.length < MOST_FAILED; next += 1) {
    const life = planLife(next, rates);
    const lived = await live(life);
    inputs += lived.inputs;
    if (lived.faults.length > 0) failed.push(await timeline(life, RULES));
  }
  return { failed, inputs };
}
