/** Lives many orders, one after the other, and tells the shortest life of each that goes wrong. */
import { live } from './live.ts';
import type { Life } from './plan/life.ts';
import { planLife } from './plan/plan-life.ts';

/** More than a person reads at once. */
const MOST_FAILED = 5;

/**
 * @param seed of the first life; each next one has the next
 * @param always kinds of trouble that befall each life
 * @returns the stories of lives that went wrong, and how many inputs were taken in
 */
export async function simulate(
  seed: number,
  lives: number,
  always?: readonly string[],
): Promise<{ failed: string[]; inputs: number }> {
  const failed: string[] = [];
  let inputs = 0;
  for (let next = seed; next < seed + lives && failed.length < MOST_FAILED; next += 1) {
    const life = planLife(next, always);
    const lived = await live(life);
    inputs += lived.inputs;
    if (lived.faults.length > 0) failed.push(await timeline(life));
  }
  return { failed, inputs };
}

/** @returns the shortest life that fails, with as few happenings as still break the rules, as a person reads it */
export async function timeline(life: Life): Promise<string> {
  let short = life;
  for (let at = life.happenings.length - 1; at >= 0; at -= 1) {
    const shorter = { ...short, happenings: short.happenings.toSpliced(at, 1) };
    if ((await live(shorter, { alwaysCut: true })).faults.length > 0) short = shorter;
  }
  const lines: string[] = [];
  const { faults } = await live(short, { tell: (line) => lines.push(line), alwaysCut: true });
  const { seed, happenings, policy: _long, ...planned } = short;
  return [
    `Seed ${seed}: ${faults.join('; ')}`,
    JSON.stringify(planned),
    ...happenings.map((one) => `planned: ${JSON.stringify(one)}`),
    ...lines,
  ].join('\n');
}
