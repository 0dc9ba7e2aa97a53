/** Lives one life, and says what was wrong with it. */
import { cutsDiffer } from './judge/cuts.ts';
import { judgeLife } from './judge/judge-life.ts';
import { OrderWorld } from './order-world.ts';
import type { Life } from './plan/life.ts';
import { mixed } from './random.ts';
import { RULES, type Rules } from './rules.ts';

/** Of so many lives one is lived again with other cuts: it takes as long as a life. */
const CUT_ONE_OF = 10;

interface How {
  rules?: Rules;
  /** Hears what happens, with its moment. */
  tell?: (line: string) => void;
  /** Also tries other cuts of the life into tasks, which is done for one of ten otherwise. */
  alwaysCut?: boolean;
}

/** Lives the life to its end. @returns what was wrong with it, and how many inputs the order took in */
export async function live(
  life: Life,
  { rules = RULES, tell, alwaysCut = false }: How = {},
): Promise<{ faults: string[]; inputs: number }> {
  const orderWorld = new OrderWorld(life, rules, tell);
  const { world } = orderWorld;
  const { faults } = world;
  const restore = withOwnChance(life);
  const { stackTraceLimit } = Error;
  // Most errors are what the life has planned, and nobody reads where they were made.
  if (tell === undefined) Error.stackTraceLimit = 0;
  try {
    await orderWorld.live();
    if (faults.length === 0) faults.push(...judgeLife(orderWorld));
    if (faults.length === 0 && (alwaysCut || mixed(life.seed, 5) % CUT_ONE_OF === 0)) {
      const differs = cutsDiffer(orderWorld);
      if (differs !== undefined) faults.push(differs);
    }
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    faults.push(`it threw: ${tell !== undefined && error instanceof Error ? error.stack : words}`);
  } finally {
    restore();
    Error.stackTraceLimit = stackTraceLimit;
  }
  return { faults, inputs: world.inputs };
}

/** The code of the activities asks the process for chance. @returns what restores it */
function withOwnChance({ seed }: Life): () => void {
  const { random } = Math;
  let drawn = 0;
  Math.random = () => mixed(seed + 13, ++drawn) / 2 ** 32;
  return () => {
    Math.random = random;
  };
}
