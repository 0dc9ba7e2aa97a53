/** Takes an order up from its history: the recorded tasks must make of it what they made of it before. */
import type { Command } from '../../src/orders/activity-contract.ts';
import type { Input, Order } from '../../src/orders/order.ts';
import { LOCAL } from '../../src/orders/wanted.ts';
import { instant } from '../../src/orders/words.ts';
import type { Rules } from './rules.ts';
import type { Start } from './run.ts';
import { inShort, type Task } from './task.ts';

export interface Relived {
  order: Order;
  /** What waits to be taken in. */
  waiting: Input[];
  /** How many asked. */
  asked: number;
  /** What was begun before anything came: the first task's, if none was recorded yet. */
  first: Command[];
  /** A local activity whose end isn't recorded. */
  local: Extract<Command, { do: 'begin' }> | undefined;
  fault: string | undefined;
}

/** @returns the order that a run begins with */
export function beginningOf(rules: Rules, start: Start): Order {
  if (start.from === 'continued') {
    const order: Order = JSON.parse(start.order);
    return rules.takenUp(order, start.wasReset);
  }
  return rules.newOrder(start.input, instant(start.startedAt), start.wasReset);
}

/** Lives the recorded tasks through, each as it was cut. */
export function relive(rules: Rules, start: Start, tasks: readonly Task[]): Relived {
  const order = beginningOf(rules, start);
  const waiting: Input[] = [];
  const first = rules.keep(order);
  let asked = 0;
  let local: Relived['local'];
  let fault: string | undefined;
  let made: Command[] = [];
  const note = (commands: readonly Command[]): void => {
    for (const command of commands) {
      if (command.do === 'stop' && hasEnded(waiting, command)) continue;
      made.push(command);
      if (command.do === 'begin' && isLocal(command)) local = command;
    }
  };
  note(first);
  for (const task of tasks) {
    for (const input of task.inputs) if (input.kind === 'ask') asked += 1;
    waiting.push(...task.inputs);
    for (;;) {
      const end = local === undefined ? undefined : task.locals.get(local.number);
      if (end !== undefined) {
        waiting.push(end);
        local = undefined;
      }
      const one = rules.next(order, waiting);
      if (one === undefined) break;
      rules.step(order, one);
      const commands = rules.keep(order);
      note(commands);
    }
    if (task.ends === 'continued') rules.leave(order);
    fault ??= differs(task, made);
    made = [];
  }
  return {
    order,
    waiting,
    asked,
    first: tasks.length === 0 ? first : [],
    local: tasks.length === 0 ? undefined : local,
    fault,
  };
}

export function isLocal({ call }: Extract<Command, { do: 'begin' }>): boolean {
  return LOCAL.includes(call.kind);
}

/**
 * To stop what has ended already is no command. The end of one that isn't waited for is not heard of any more.
 * @returns whether the effect has ended
 */
export function hasEnded(waiting: Input[], { number, waits }: Extract<Command, { do: 'stop' }>): boolean {
  const at = waiting.findIndex((one) => one.kind === 'end' && one.number === number);
  if (at < 0) return false;
  if (!waits) waiting.splice(at, 1);
  return true;
}

function differs(task: Task, made: readonly Command[]): string | undefined {
  const before = task.commands.map(inShort).join(' ');
  const now = made.map(inShort).join(' ');
  if (before === now) return undefined;
  return `the history does not replay: task ${task.number} made ${before || 'nothing'}, now ${now || 'nothing'}`;
}
