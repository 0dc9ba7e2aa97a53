/** An operator resets the order: a new run has its history up to a task, what was under way then, and the messages since. */
import type { Command } from '../../src/orders/activity-contract.ts';
import { millis } from '../../src/orders/words.ts';
import type { OrderWorld } from './order-world.ts';
import { isLocal } from './relive.ts';
import type { Run } from './run.ts';
import type { Arrival, Task, Update } from './task.ts';

type Begin = Extract<Command, { do: 'begin' }>;

/** @returns whether it was reset */
export function resetRun(orderWorld: OrderWorld, toTask: number): boolean {
  const { run: old, world } = orderWorld;
  const kept = old.tasks.slice(0, toTask);
  const last = kept.at(-1);
  // A task that is recorded in parts is kept as a whole, or not at all.
  if (last !== undefined && old.tasks.length > kept.length && localOpen(kept)) return false;
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
  for (const [number, { call }] of underWay(kept)) {
    if (call.kind === 'timer') run.ringAt(number, millis(call.at), 'timer');
    else if (call.kind === 'pause') run.ringAt(number, world.agenda.now + call.ms, 'pause');
    else if (call.kind !== 'first-screening' && call.kind !== 'look') {
      run.beginActivity(number, call, begunBy(old, number));
    }
  }
  for (const number of stopped(kept)) run.activities.get(number)?.stop(true);
  run.schedule();
  return true;
}

/** An activity keeps the name of the run that asked for it, however often the order is reset. */
function begunBy(old: Run, number: number): string {
  return old.begunBy.get(number) ?? old.id;
}

function localOpen(kept: readonly Task[]): boolean {
  const begun = kept.flatMap(({ commands }) => commands).filter((one) => one.do === 'begin' && isLocal(one));
  const ended = kept.reduce((sum, { locals }) => sum + locals.size, 0);
  return begun.length > ended;
}

function tookBefore(kept: readonly Task[], update: Update): boolean {
  return kept.some(({ accepted }) => accepted.some(({ id }) => id === update.id));
}

/** An update that was taken before, with the outcome that it had then. */
function asOf(kept: readonly Task[], { outcome: _later, ...update }: Update): Update {
  const outcome = kept.flatMap(({ replies }) => replies).find(({ ticket }) => ticket === update.ticket);
  return outcome === undefined ? update : { ...update, outcome };
}

function wasRefused(since: readonly Task[], update: Update): boolean {
  return since.some(({ refusals }) => refusals.some((one) => one.update === update));
}

/** Temporal sends it again, and keeps whoever waits for it. */
function takeAgain(run: Run, { id, message, callers }: Update): void {
  run.take({ id, message, callers });
}

function underWay(kept: readonly Task[]): Map<number, Begin> {
  const found = new Map<number, Begin>();
  for (const { commands, inputs, locals } of kept) {
    for (const input of inputs) if (input.kind === 'end') found.delete(input.number);
    for (const command of commands) {
      if (command.do === 'begin') found.set(command.number, command);
      else if (!command.waits) found.delete(command.number);
    }
    for (const number of locals.keys()) found.delete(number);
  }
  return found;
}

function stopped(kept: readonly Task[]): number[] {
  return kept.flatMap(({ commands }) =>
    commands.flatMap((one) => (one.do === 'stop' && one.waits ? [one.number] : [])),
  );
}
