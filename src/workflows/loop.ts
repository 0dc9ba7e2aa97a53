/** The loop of an order: takes in what comes, one input after the other, and has done what the order wants after each. */
import { condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { Command } from '../orders/activity-contract.ts';
import { leave } from '../orders/ask.ts';
import { canStop, keep, nothingLeft, resumed } from '../orders/keep.ts';
import { type Input, type Order, type OrderRun, type Reply, RULES_READ } from '../orders/order.ts';
import { isReady, isShown, next, step } from '../orders/step.ts';
import { Effects } from './effects.ts';
import type { Show } from './show.ts';

/** What an order lives by. */
export interface Rules {
  /** The numbers of the rules that `step` and `keep` know. */
  numbers: readonly number[];
  step: typeof step;
  keep: (order: Order) => Command[];
}

export const RULES: Rules = { numbers: RULES_READ, step, keep: (order) => keep(order) };

/** What the loop works on: an order, what waits to be taken in, who gets the answers, and who is shown the state. */
export interface Loop {
  rules: Rules;
  order: Order;
  inbox: Input[];
  reply: (replies: readonly Reply[]) => void;
  show: Show;
}

/** Lives the order until nothing is left to wait for, and everybody has an answer; goes on as new when its history is long. */
export async function live({ rules, order, inbox, reply, show }: Loop, input: OrderRun): Promise<void> {
  const effects = new Effects(inbox);
  known(rules, order);
  effects.carryOut(rules.keep(order));
  for (;;) {
    if (isShown(order)) show.changes(order);
    if (nothingLeft(order)) return;
    if (workflowInfo().continueAsNewSuggested && canStop(order)) {
      reply(leave(order));
      await everythingThatCame();
      await continueAsNew({ ...input, resume: resumed(order) });
    }
    await condition(() => isReady(order, inbox));
    await everythingThatCame();
    for (let one = next(order, inbox); one !== undefined; one = next(order, inbox)) {
      reply(rules.step(order, one));
      known(rules, order);
      effects.carryOut(rules.keep(order));
    }
  }
}

/**
 * Conditions are looked at again when everything that Temporal brought has been taken in, and not before: a message may wake
 * the loop before an end that came with it is known.
 */
async function everythingThatCame(): Promise<void> {
  let asked = false;
  await condition(() => {
    const before = asked;
    asked = true;
    return before;
  });
}

/** An order of other rules waits, by failing its workflow task, for a worker that knows them. */
function known({ numbers }: Rules, { rules }: Order): void {
  if (rules === 0 || numbers.includes(rules)) return;
  throw new Error(
    `This worker does not know rules ${rules}: it knows ${numbers.join(', ')}. Deploy a release that does.`,
  );
}
