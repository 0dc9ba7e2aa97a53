/**
 * Takes the inputs of a life in again, cut into tasks at other places: the same order of inputs must make the same commands
 * and the same order.
 */
import type { Command, Input, Order } from '../../../src/order/order.ts';
import type { OrderWorld } from '../order-world.ts';
import { Dice, mixed } from '../random.ts';
import type { Rules } from '../rules.ts';
import { beginningOf, relive } from '../temporal/relive.ts';
import type { Run } from '../temporal/run.ts';
import { anew, inShort, type Task } from '../temporal/task.ts';

/** @returns where another cut made something else, in words */
export function cutsDiffer({ world: { rules, life }, runs }: OrderWorld): string | undefined {
  const dice = new Dice(mixed(life.seed, 4_711));
  for (const run of runs) {
    const { order, tasks, cutOff, refusal } = run;
    if (order === undefined || cutOff || tasks.length === 0 || refusal !== undefined) continue;
    const fault = recutDiffers(rules, run, order, dice) ?? mergedDiffers(rules, run, dice);
    if (fault !== undefined) return `${run.id}: ${fault}`;
  }
  return undefined;
}

/** As a worker that has never seen the order takes it in, once task by task, and once as it is cut by chance. */
function recutDiffers(rules: Rules, { start, tasks }: Run, order: Order, dice: Dice): string | undefined {
  const relived = relive(rules, start, tasks);
  if (relived.fault !== undefined) return relived.fault;
  const expected = JSON.stringify(order);
  const again = JSON.stringify(relived.known.order);
  if (again !== expected) return `lived again it is another order: ${firstDifference(expected, again)}`;
  if (tasks.some(({ wrapsUp }) => wrapsUp)) return undefined;
  const recut = beginningOf(rules, start);
  const checkout = tasks.find((task) => task.checkout !== undefined)?.checkout;
  if (checkout !== undefined) rules.applyCheckout(recut, checkout.result);
  const made: Command[] = rules.begin(recut);
  for (const slice of slices(tasks, dice))
    for (const input of rules.resultsFirst(slice)) made.push(...rules.step(recut, anew(input)));
  const before = tasks.flatMap(({ all }) => all.map(inShort)).join(' ');
  const now = made.map(inShort).join(' ');
  if (now !== before) return `another cut makes other commands: ${firstDifference(before, now)}`;
  const cut = JSON.stringify(recut);
  return cut === expected ? undefined : `another cut makes another order: ${firstDifference(expected, cut)}`;
}

/**
 * Temporal delivers what came in a task without commands together with what came in the next. What came then is taken in
 * another order, perhaps, and the commands are the same all the same.
 */
function mergedDiffers(rules: Rules, { start, tasks }: Run, dice: Dice): string | undefined {
  const merged: Task[] = [];
  // A task that only refused updates is not in the history.
  const recorded = tasks.filter((task) => task.inputs.length > 0 || !leavesNoTrace(task));
  for (const task of recorded) {
    const before = merged.at(-1);
    if (before === undefined || !leavesNoTrace(before) || dice.chance(0.3)) merged.push(task);
    else {
      const wrapsUp = before.wrapsUp ?? task.wrapsUp;
      const inputs = [...before.inputs, ...task.inputs];
      merged[merged.length - 1] = { ...task, inputs, ...(wrapsUp && { wrapsUp }) };
    }
  }
  if (merged.length === recorded.length) return undefined;
  const { fault } = relive(rules, start, merged);
  return fault === undefined ? undefined : `with tasks merged ${fault}`;
}

/** Nothing of it is in the history but what came. */
function leavesNoTrace({ commands, accepted, checkout, replies, ends }: Task): boolean {
  return (
    commands.length === 0 &&
    accepted.length === 0 &&
    checkout === undefined &&
    replies.length === 0 &&
    ends === undefined
  );
}

/** What was taken in, cut by chance at places that keep its order. */
function slices(tasks: readonly Task[], dice: Dice): Input[][] {
  /** After how many inputs each effect was started. */
  const started = new Map<number, number>();
  const often = dice.number();
  const found: Input[][] = [];
  let count = 0;
  let from = 0;
  let last = Number.POSITIVE_INFINITY;
  for (const task of tasks) {
    for (const input of task.taken) {
      const rank = input.kind === 'effect-ended' ? 0 : 1;
      const startedAt = input.kind === 'effect-ended' ? (started.get(input.id) ?? 0) : 0;
      if (rank < last || startedAt > from || dice.chance(often) || found.length === 0) {
        found.push([]);
        from = count;
      }
      found.at(-1)?.push(input);
      last = rank;
      count += 1;
    }
    // Which of a task's inputs started it isn't kept: the whole task counts.
    for (const command of task.commands) if (command.do === 'start') started.set(command.running.id, count);
  }
  return found;
}

function firstDifference(before: string, now: string): string {
  let at = 0;
  while (at < before.length && before[at] === now[at]) at += 1;
  const from = Math.max(0, at - 60);
  return `«${before.slice(from, at + 60)}» was, «${now.slice(from, at + 60)}» is`;
}
