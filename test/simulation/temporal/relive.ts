/** Takes an order up from its history: the recorded tasks must make of it what they made of it before. */
import { instant } from '../../../src/contract/words.ts';
import type { Command, Input, Order } from '../../../src/order/order.ts';
import type { Rules } from '../rules.ts';
import type { Start } from './run.ts';
import { anew, inShort, isCommand, type Task } from './task.ts';

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

/** Lives the recorded tasks through, each as it was cut. @returns the order, what waits to be taken in, and what differed */
export function relive(rules: Rules, start: Start, tasks: readonly Task[]) {
  const order = beginningOf(rules, start);
  const waiting: Input[] = [];
  /** The requests that were recorded, and as this worker has taken them in. */
  const taken = new Map<Input, Input>();
  /** The checkout has ended, or an earlier run had it. */
  let screened = start.from === 'continued';
  let fault: string | undefined;
  for (const [index, task] of tasks.entries()) {
    const made: Command[] = [];
    const note = (commands: readonly Command[], left: readonly Input[]): void => {
      made.push(...commands.filter((command) => isCommand(command, left)));
    };
    for (const input of task.inputs) {
      const again = anew(input);
      taken.set(input, again);
      waiting.push(again);
    }
    if (index === 0 && screened) note(rules.begin(order), waiting);
    if (!screened && task.checkout !== undefined) {
      screened = true;
      if (rules.applyCheckout(order, task.checkout.result) !== undefined) break;
      note(rules.begin(order), waiting);
    }
    if (screened) {
      const batch = rules.resultsFirst(waiting.splice(0));
      for (const [at, input] of batch.entries()) {
        if (task.wrapsUp) note(rules.wrapUp(order), batch.slice(at));
        note(rules.step(order, input), batch.slice(at + 1));
      }
    }
    fault ??= differs(task, made);
  }
  return { order, waiting, screened, taken, fault };
}

function differs(task: Task, made: readonly Command[]): string | undefined {
  const before = task.commands.map(inShort).join(' ');
  const now = made.map(inShort).join(' ');
  if (before === now) return undefined;
  return `the history does not replay: task ${task.number} made ${before || 'nothing'}, now ${now || 'nothing'}`;
}
