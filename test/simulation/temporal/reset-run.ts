/** An operator resets the order: a new run has its history up to a task, what was under way then, and the messages since. */
import type { Running } from '../../../src/order/order.ts';
import type { OrderWorld } from '../order-world.ts';
import type { Run } from './run.ts';
import type { Arrival, Task, Update } from './task.ts';

/** @returns whether it was reset */
export function resetRun(orderWorld: OrderWorld, toTask: number): boolean {
  const { run: old } = orderWorld;
  const kept = old.tasks.slice(0, toTask);
  const last = kept.at(-1);
  // A task that is recorded in parts is kept as a whole, or not at all.
  const isOpen = old.start.from === 'new' && !kept.some(({ checkout }) => checkout !== undefined);
  if (last !== undefined && old.tasks.length > kept.length && isOpen) return false;
  const since = old.tasks.slice(kept.length);
  const arrivals: Arrival[] = [...since.flatMap(({ batch }) => batch), ...old.arrivals];
  old.close();
  old.cutOff = true;
  const run = orderWorld.newRun(`run-${orderWorld.runs.length + 1}`, { ...old.start, wasReset: true });
  run.tasks.push(...kept);
  for (const update of old.updates.values()) {
    if (tookBefore(kept, update)) run.updates.set(update.id, asOf(kept, update));
  }
  for (const arrival of arrivals) {
    if (arrival.kind === 'signal') run.arrive(arrival);
    if (arrival.kind === 'update' && !wasRefused(since, arrival.update)) takeAgain(run, arrival.update);
  }
  for (const { id, effect } of underWay(kept).values()) {
    const { call } = effect;
    if (call.kind === 'timer') run.ringAt(id, call.at);
    // An activity keeps what it was told of the run that asked for it, however often the order is reset.
    else run.beginActivity(id, call, old.factsOf.get(id) ?? old.facts);
  }
  for (const number of stopped(kept)) run.activities.get(number)?.stop();
  run.worker.schedule();
  return true;
}

function tookBefore(kept: readonly Task[], update: Update): boolean {
  return kept.some(({ accepted }) => accepted.some(({ id }) => id === update.id));
}

/** An update that was taken before, with the outcome that it had then. */
function asOf(kept: readonly Task[], { outcome: _later, ...update }: Update): Update {
  const found = kept.flatMap(({ replies }) => replies).find((one) => one.update.id === update.id);
  return found === undefined ? update : { ...update, outcome: found.reply };
}

function wasRefused(since: readonly Task[], update: Update): boolean {
  return since.some(({ refusals }) => refusals.some((one) => one.update === update));
}

/** Temporal sends it again, and keeps whoever waits for it. */
function takeAgain(run: Run, { id, ask, key, callers }: Update): void {
  run.take({ id, ask, key, callers });
}

function underWay(kept: readonly Task[]): Map<number, Running> {
  const found = new Map<number, Running>();
  for (const { commands, inputs } of kept) {
    for (const input of inputs) if (input.kind === 'effect-ended') found.delete(input.id);
    for (const command of commands) {
      if (command.do === 'start') found.set(command.running.id, command.running);
      else if (command.do === 'drop') found.delete(command.id);
    }
  }
  return found;
}

function stopped(kept: readonly Task[]): number[] {
  return kept.flatMap(({ commands }) => commands.flatMap((one) => (one.do === 'cancel' ? [one.id] : [])));
}
