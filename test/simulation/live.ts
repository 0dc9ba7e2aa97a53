/** Lives one life, and says what was wrong with it. */
import { judgeBooks } from '../books/judge.ts';
import { booksOf } from './books-of.ts';
import { cutsDiffer } from './cuts.ts';
import type { Life } from './life.ts';
import { OrderWorld } from './order-world.ts';
import { mixed } from './random.ts';
import { RULES } from './rules.ts';

/** Of so many lives one is lived again with other cuts: it takes as long as a life. */
const CUT_ONE_OF = 10;

/**
 * Lives the life to its end.
 * @param tell hears the story
 * @returns what was wrong with it
 */
export async function live(life: Life, rules = RULES, tell?: (line: string) => void): Promise<string[]> {
  const orderWorld = new OrderWorld(life, rules, tell);
  const { world } = orderWorld;
  const { faults } = world;
  const restore = withOwnChance(life, () => world.agenda.now);
  const { stackTraceLimit } = Error;
  // Most errors are what the life has planned, and nobody reads where they were made.
  if (tell === undefined) Error.stackTraceLimit = 0;
  try {
    await orderWorld.live();
    if (faults.length === 0) faults.push(...judged(orderWorld));
    if (faults.length === 0 && mixed(life.seed, 5) % CUT_ONE_OF === 0) {
      const differs = cutsDiffer(rules, orderWorld.runs, life);
      if (differs !== undefined) faults.push(differs);
    }
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    faults.push(`it threw: ${tell !== undefined && error instanceof Error ? error.stack : words}`);
  } finally {
    restore();
    Error.stackTraceLimit = stackTraceLimit;
  }
  return faults;
}

function judged(orderWorld: OrderWorld): string[] {
  const { callers, run } = orderWorld;
  const { order, refusal } = run.worker;
  if (order === undefined) return ['the order has no end'];
  if (refusal !== undefined) return [];
  return [
    ...[...callers.waiting.values()].map((what) => `${what} was never answered`),
    ...judgeBooks(booksOf(orderWorld, order.state)).map(({ kind, facts }) => `${kind}: ${facts}`),
  ];
}

/** The code of the activities asks the process for chance, and the circuit breaker's library for the time. @returns what restores both */
function withOwnChance({ seed }: Life, now: () => number): () => void {
  const { random } = Math;
  const realNow = Date.now;
  let drawn = 0;
  Math.random = () => mixed(seed + 13, ++drawn) / 2 ** 32;
  Date.now = now;
  return () => {
    Math.random = random;
    Date.now = realNow;
  };
}
