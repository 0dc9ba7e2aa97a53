/**
 * Takes the inputs of a life in again, cut into tasks at other places: the same order of inputs must make the same commands
 * and the same order.
 */
import type { Command } from '../../src/orders/activity-contract.ts';
import type { Input, Order } from '../../src/orders/order.ts';
import type { Life } from './life.ts';
import { Dice, mixed } from './random.ts';
import { beginningOf, hasEnded, isLocal, relive } from './relive.ts';
import type { Rules } from './rules.ts';
import type { Run } from './run.ts';
import { inShort, type Task } from './task.ts';

/** @returns where another cut made something else, in words */
export function cutsDiffer(rules: Rules, runs: readonly Run[], life: Life): string | undefined {
  const dice = new Dice(mixed(life.seed, 4_711));
  // Until the policy is known a signal leaves no trace: its attention is to be announced as the policy says.
  const merges = !life.happenings.some((one) => one.do === 'break-down');
  for (const run of runs) {
    const { order, tasks, cutOff } = run;
    if (order === undefined || cutOff || tasks.length === 0) continue;
    const fault =
      recutDiffers(rules, run, order, dice) ?? (merges ? mergedDiffers(rules, run, dice) : undefined);
    if (fault !== undefined) return `${run.id}: ${fault}`;
  }
  return undefined;
}

/** As a worker that has never seen the order takes it in, once task by task, and once as it is cut by chance. */
function recutDiffers(rules: Rules, { start, tasks }: Run, order: Order, dice: Dice): string | undefined {
  const relived = relive(rules, start, tasks);
  if (relived.fault !== undefined) return relived.fault;
  const expected = JSON.stringify(order);
  const again = JSON.stringify(relived.order);
  if (again !== expected) return `lived again it is another order: ${firstDifference(expected, again)}`;
  const recut = liveSlices(rules, beginningOf(rules, start), tasks, slices(tasks, dice));
  const last = tasks.at(-1);
  if (last?.ends === 'continued') rules.leave(recut.order);
  const before = tasks.flatMap(({ all }) => all.map(inShort)).join(' ');
  if (recut.commands !== before)
    return `another cut makes other commands: ${firstDifference(before, recut.commands)}`;
  const cut = JSON.stringify(recut.order);
  return cut === expected ? undefined : `another cut makes another order: ${firstDifference(expected, cut)}`;
}

/**
 * Temporal delivers what came in a task without commands together with what came in the next. What came then is taken in
 * another order, perhaps, and the commands are the same all the same.
 */
function mergedDiffers(rules: Rules, { start, tasks }: Run, dice: Dice): string | undefined {
  const merged: Task[] = [];
  for (const task of tasks) {
    const before = merged.at(-1);
    if (before === undefined || !leavesNoTrace(before) || dice.chance(0.3)) merged.push(task);
    else merged[merged.length - 1] = { ...task, inputs: [...before.inputs, ...task.inputs] };
  }
  if (merged.length === tasks.length) return undefined;
  const { fault } = relive(rules, start, merged);
  return fault === undefined ? undefined : `with tasks merged ${fault}`;
}

/** Nothing of it is in the history but what came. */
function leavesNoTrace({ commands, accepted, locals, replies, ends }: Task): boolean {
  return (
    commands.length === 0 &&
    accepted.length === 0 &&
    locals.size === 0 &&
    replies.length === 0 &&
    ends === undefined
  );
}

/** What was taken in, cut by chance at places that keep its order. */
function slices(tasks: readonly Task[], dice: Dice): Input[][] {
  /** After how many inputs each effect was begun. */
  const begun = new Map<number, number>();
  const often = dice.number();
  const found: Input[][] = [];
  let count = 0;
  let from = 0;
  let last = Number.POSITIVE_INFINITY;
  for (const task of tasks) {
    for (const input of task.taken) {
      if (input.kind === 'end' && task.locals.get(input.number) === input) continue;
      const rank = rankOf(input);
      const begunAt = input.kind === 'end' ? (begun.get(input.number) ?? 0) : 0;
      if (rank < last || begunAt > from || dice.chance(often) || found.length === 0) {
        found.push([]);
        from = count;
      }
      found.at(-1)?.push(input);
      last = rank;
      count += 1;
    }
    // Which of a task's inputs began it isn't kept: the whole task counts.
    for (const command of task.commands) if (command.do === 'begin') begun.set(command.number, count);
  }
  return found;
}

function rankOf(input: Input): number {
  return input.kind === 'end' ? 0 : 1;
}

function liveSlices(
  rules: Rules,
  order: Order,
  tasks: readonly Task[],
  all: readonly Input[][],
): { order: Order; commands: string } {
  const locals = new Map(tasks.flatMap((task) => [...task.locals]));
  const made: string[] = [];
  const waiting: Input[] = [];
  const note = (commands: readonly Command[]): void => {
    for (const command of commands) {
      made.push(inShort(command));
      if (command.do === 'stop') hasEnded(waiting, command);
      const end = command.do === 'begin' && isLocal(command) ? locals.get(command.number) : undefined;
      if (end !== undefined) waiting.push(end);
    }
  };
  const work = (): void => {
    for (let one = rules.next(order, waiting); one !== undefined; one = rules.next(order, waiting)) {
      rules.step(order, one);
      note(rules.keep(order));
    }
  };
  note(rules.keep(order));
  work();
  for (const slice of all) {
    waiting.push(...slice);
    work();
  }
  return { order, commands: made.join(' ') };
}

function firstDifference(before: string, now: string): string {
  let at = 0;
  while (at < before.length && before[at] === now[at]) at += 1;
  const from = Math.max(0, at - 60);
  return `«${before.slice(from, at + 60)}» was, «${now.slice(from, at + 60)}» is`;
}
