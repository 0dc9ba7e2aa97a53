/** Finds the shortest life that still goes wrong, and tells it. */
import type { Life } from './life.ts';
import { live } from './live.ts';
import { RULES } from './rules.ts';

/** @returns the life with as few happenings as still break the rules; what happens otherwise stays as it was */
async function shrink(life: Life): Promise<Life> {
  let { happenings } = life;
  for (let at = 0; at < happenings.length; ) {
    const fewer = happenings.toSpliced(at, 1);
    if ((await live({ ...life, happenings: fewer })).length > 0) happenings = fewer;
    else at += 1;
  }
  return { ...life, happenings };
}

/** @returns the shortest life that fails like this one, as a person reads it */
export async function timeline(life: Life): Promise<string> {
  const { seed, happenings, ...plan } = await shrink(life);
  const lines: string[] = [];
  const faults = await live({ seed, happenings, ...plan }, RULES, (line) => lines.push(line));
  return [
    `Seed ${seed}: ${faults.join('; ')}`,
    `planned: ${JSON.stringify(plan)}`,
    ...happenings.map((one) => `planned: ${JSON.stringify(one)}`),
    ...lines,
  ].join('\n');
}
