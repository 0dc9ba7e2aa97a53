/** Finds the shortest life that still goes wrong, and tells it. */

import { live } from './live.ts';
import type { Happening } from './plan/happenings.ts';
import type { Life } from './plan/life.ts';
import type { Rules } from './rules.ts';

/** @returns the life with as few happenings as still break the rules; what happens otherwise stays as it was */
export async function shrink(life: Life, rules: Rules): Promise<Life> {
  const fails = async (happenings: Happening[]): Promise<boolean> => {
    const { faults } = await live({ ...life, happenings }, { rules, alwaysCut: true });
    return faults.length > 0;
  };
  let { happenings } = life;
  for (let size = Math.ceil(happenings.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < happenings.length; ) {
      const fewer = [...happenings.slice(0, from), ...happenings.slice(from + size)];
      if (await fails(fewer)) happenings = fewer;
      else from += size;
    }
  }
  return { ...life, happenings };
}

/** @returns the shortest life that fails like this one, as a person reads it */
export async function timeline(life: Life, rules: Rules): Promise<string> {
  const short = await shrink(life, rules);
  const lines: string[] = [];
  const tell = (words: string, atMs: number) => lines.push(`${momentOf(atMs)} ${words}`);
  const { faults } = await live(short, { rules, tell, alwaysCut: true });
  const { seed, integration, amount, wishes, start, answerByMs } = short;
  return [
    `Seed ${seed}: ${faults.join('; ')}`,
    `an order of ${amount} by «${integration}», started ${start}${answerByMs === undefined ? '' : `, to be answered within ${answerByMs} ms`}; the service decides ${wishes.map((one) => one.join(', then ')).join(' | ')}`,
    ...short.happenings.map((one) => `planned: ${inWords(one)}`),
    ...lines,
  ].join('\n');
}

function inWords(one: Happening): string {
  return Object.entries(one)
    .map(([key, value]) => (key === 'do' ? value : `${key} ${value}`))
    .join(', ');
}

/** @returns days, hours, minutes and seconds after the start */
function momentOf(ms: number): string {
  const days = Math.floor(ms / 86_400_000);
  const time = new Date(ms).toISOString().slice(11, 23);
  return days === 0 ? time : `${days}d ${time}`;
}
