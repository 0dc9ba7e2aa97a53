/** Lives one life, and says what was wrong with it. */
import { cutsDiffer } from './cuts.ts';
import { judgeLife } from './judge-life.ts';
import { type Life, START } from './life.ts';
import { OrderWorld } from './order-world.ts';
import { mixed } from './random.ts';
import { RULES, type Rules } from './rules.ts';

/** Of so many lives one is lived again with other cuts: it takes as long as a life. */
const CUT_ONE_OF = 20;

export interface Lived {
  faults: string[];
  inputs: number;
}

export interface How {
  rules?: Rules;
  /** Hears what happens, with its moment in milliseconds after the start. */
  tell?: (words: string, atMs: number) => void;
  /** Also tries other cuts of the life into tasks, which is done for one of ten otherwise. */
  alwaysCut?: boolean;
}

/** Lives the life to its end. @returns what was wrong with it */
export function live(life: Life, { rules = RULES, tell, alwaysCut = false }: How = {}): Lived {
  const orderWorld: OrderWorld = new OrderWorld(
    life,
    rules,
    tell && ((words) => tell(words, orderWorld.world.agenda.now - START)),
  );
  const { world, invariants } = orderWorld;
  const { faults } = world;
  try {
    orderWorld.live();
    if (faults.length === 0) faults.push(...judgeLife(orderWorld));
    if (faults.length === 0 && (alwaysCut || mixed(life.seed, 5) % CUT_ONE_OF === 0)) {
      const differs = cutsDiffer(rules, orderWorld.runs, life);
      if (differs !== undefined) faults.push(differs);
    }
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    faults.push(`it threw: ${tell !== undefined && error instanceof Error ? error.stack : words}`);
  }
  return { faults, inputs: invariants.inputs };
}
