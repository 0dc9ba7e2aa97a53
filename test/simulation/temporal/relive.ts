/** Takes an order up from its history: the recorded tasks must make of it what they made of it before. */
import { instant } from '../../../src/contract/words.ts';
import type { Input, Order } from '../../../src/order/order.ts';
import type { Rules } from '../rules.ts';
import type { Start } from './run.ts';
import { anew, inShort, note, openTask, type Task } from './task.ts';

/** @returns the order that a run begins with */
export function beginningOf(rules: Rules, start: Start): Order {
  if (start.from === 'continued') {
    const order: Order = JSON.parse(start.order);
    return order;
  }
  const order = rules.newOrder(start.input, instant(start.startedAt));
  rules.checkoutRequest(order);
  return order;
}

/** What a worker has of an order in its memory. */
export interface Known {
  order: Order;
  /** What is to be taken in. */
  waiting: Input[];
  /** The requests that were recorded, and as this worker has taken them in. */
  taken: Map<Input, Input>;
  /** The checkout has ended, or an earlier run had it. */
  screened: boolean;
}

/** Lives the recorded tasks through, each as it was cut. @returns what a worker knows then, and what differed */
export function relive(rules: Rules, start: Start, tasks: readonly Task[]) {
  const order = beginningOf(rules, start);
  const known: Known = { order, waiting: [], taken: new Map(), screened: start.from === 'continued' };
  const { waiting, taken } = known;
  let fault: string | undefined;
  for (const [index, task] of tasks.entries()) {
    const again = openTask(task.number, task.at);
    for (const input of task.inputs) {
      const request = anew(input);
      taken.set(input, request);
      waiting.push(request);
    }
    if (index === 0 && known.screened) note(again, rules.begin(order), waiting);
    if (!known.screened && task.checkout !== undefined) {
      known.screened = true;
      if (rules.applyCheckout(order, task.checkout.result) !== undefined) break;
      rules.arriveNow(waiting, order);
      note(again, rules.begin(order), waiting);
    }
    if (known.screened) {
      const batch = rules.resultsFirst(waiting.splice(0));
      for (const [at, input] of batch.entries()) {
        if (task.wrapsUp) note(again, rules.wrapUp(order), batch.slice(at));
        note(again, rules.step(order, input), batch.slice(at + 1));
      }
    }
    fault ??= differs(task, again);
  }
  return { known, fault };
}

function differs(task: Task, again: Task): string | undefined {
  const before = task.commands.map(inShort).join(' ');
  const now = again.commands.map(inShort).join(' ');
  if (before === now) return undefined;
  return `the history does not replay: task ${task.number} made ${before || 'nothing'}, now ${now || 'nothing'}`;
}
