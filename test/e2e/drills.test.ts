/** Each drill as `npm run drill` plays it, with every process at its most talkative: what the log must say, and what it must not. */
import { describe, expect, it } from 'vitest';
import { DRILLS } from '../../tools/drill/drills.ts';
import type { LogLine } from '../../tools/drill/log-lines.ts';
import { loggedWhileBroken, type Played, play } from '../../tools/drill/play.ts';
import { BUYER } from '../../tools/drill/shop.ts';
import { sightings } from '../support/canaries.ts';

const CAUSE_WITHIN_MS = 10_000;
const BROKEN_FOR_MS = 30_000;
const FEWER_LINES = 60;
const PLAYED_WITHIN_MS = 600_000;

/** What a line says of somebody who can't be reached, or doesn't answer. An answer of ours is none. */
const OF_A_CONNECTION = /reach|connect|unavailable|deadline|does not answer|refuse|not take|transport|tcp/i;

function speaksOfConnection({ words, fields }: LogLine): boolean {
  return words !== 'answered' && OF_A_CONNECTION.test(`${words} ${JSON.stringify(fields)}`);
}

function saysWhy({ fields }: LogLine): boolean {
  return /"(why|reason)":"/.test(JSON.stringify(fields));
}

const texts = (lines: readonly LogLine[]) => lines.map(({ process, text }) => `${process}: ${text}`);

/** All at once, each with a stack of its own: a drill mostly waits. */
describe.concurrent('in the drill', () => {
  it.each(DRILLS)(
    '$name the log names the cause, briefly, and nothing secret, and it ends well',
    { timeout: PLAYED_WITHIN_MS },
    async (drill) => {
      const said: string[] = [];
      const played: Played = await play(drill, {
        env: process.env,
        say: (line) => said.push(line),
        untilMended: async () => undefined,
      });
      const lines = loggedWhileBroken(played);
      const shown = said.join('\n');

      // Node rounds the time of its timers.
      expect(played.mendedAt - played.brokenAt).toBeGreaterThan(BROKEN_FOR_MS - 5);
      expect(played.cause, shown).toBeDefined();
      expect((played.cause?.at ?? Number.POSITIVE_INFINITY) - played.brokenAt, shown).toBeLessThan(
        CAUSE_WITHIN_MS,
      );
      expect(lines.length, shown).toBeLessThan(FEWER_LINES);
      expect(texts(lines.filter((line) => speaksOfConnection(line) && !saysWhy(line)))).toEqual([]);
      // Nothing but our log: no stack, no warning of Node's, and no line without its words.
      expect(texts(lines.filter(({ words }) => words === '' || words.includes('left out')))).toEqual([]);
      expect(played.counted, shown).toBe(true);

      const decisions = Object.values(played.decisions);
      expect(decisions.length).toBeGreaterThan(1);
      expect(new Set(decisions)).toEqual(new Set(['pass']));

      const canaries = { ...BUYER, ...played.secrets };
      const bytes = Buffer.from(played.log.map(({ text }) => text).join('\n'));
      expect(
        sightings(
          [{ name: 'the log', bytes }],
          Object.entries(canaries).map(([name, text]) => ({ name, text })),
        ),
      ).toEqual([]);
    },
  );
});
