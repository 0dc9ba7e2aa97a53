/** What the history of a life would say, as the chaos run's oracle reads it. */
import type { EffectKind, EffectResult } from '../../src/orders/order.ts';
import { millis } from '../../src/orders/words.ts';
import type { HistoryFacts, RecordedRead } from '../chaos/history-facts.ts';
import type { Activity } from './activity.ts';
import type { Task } from './task.ts';
import type { World } from './world.ts';

const SCREENS: readonly EffectKind[] = ['retry-screening', 'catch-up', 'look-up'];
const READS: readonly EffectKind[] = [...SCREENS, 'first-screening', 'look', 'read', 'poll'];

export function factsOf({ everyTask, everyActivity, lostTasks }: World): HistoryFacts {
  const facts: HistoryFacts = {
    tasks: everyTask.map(({ at, recordedAt }) => ({ from: at, to: recordedAt })),
    lostTasks,
    recordedReads: [],
    readsUnderWay: [],
    portalTries: [],
    gatewayResults: [],
    overdueTimers: [],
  };
  for (const activity of everyActivity) addActivity(facts, activity, everyTask);
  for (const task of everyTask) addTask(facts, task, everyTask);
  let over: number | undefined;
  for (const task of everyTask) {
    if (!task.over) over = undefined;
    else over ??= task.place;
  }
  if (over !== undefined) facts.overInTask = over;
  return facts;
}

function addActivity(facts: HistoryFacts, activity: Activity, tasks: readonly Task[]): void {
  const { call, scheduledAt, lastTryAt, endedAt, stoppedAt, result, triedAfterLoss, number } = activity;
  if (call.kind === 'portal') {
    const { fields, transactionId } = call.request;
    facts.portalTries.push({
      kind: fields.kind,
      task: activity.task,
      scheduledAt,
      ...(transactionId !== undefined && { transactionId }),
      ...(lastTryAt !== undefined && { lastTryAt }),
      ...(endedAt !== undefined && { endedAt }),
      ...(result?.kind === 'portal' && { outcome: result.outcome.kind }),
    });
  }
  if (!READS.includes(call.kind)) return;
  facts.readsUnderWay.push({
    screens: SCREENS.includes(call.kind),
    scheduledAt,
    ...(lastTryAt !== undefined && { lastTryAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(stoppedAt !== undefined && { stoppedAt }),
  });
  if (result === undefined || endedAt === undefined || lastTryAt === undefined) return;
  const task = tasks.find(({ inputs }) =>
    inputs.some(
      (one) =>
        one.kind === 'end' && one.number === number && one.end.how === 'done' && one.end.result === result,
    ),
  );
  facts.recordedReads.push({
    ...readOf(result),
    from: lastTryAt,
    to: endedAt,
    task: task?.place ?? Number.POSITIVE_INFINITY,
    triedAgainAfterLoss: triedAfterLoss,
  });
}

function addTask(facts: HistoryFacts, task: Task, tasks: readonly Task[]): void {
  for (const { end } of task.locals.values()) {
    if (end.how !== 'done') continue;
    const read = readOf(end.result);
    const before = tasks[task.place - 1];
    const from = Math.min(task.at, read.began ?? task.at, before?.at ?? task.at);
    facts.recordedReads.push({
      ...read,
      from,
      to: task.recordedAt,
      task: task.place,
      triedAgainAfterLoss: false,
    });
  }
  for (const [index, input] of task.inputs.entries()) {
    if (input.kind !== 'ask' || input.ask.kind !== 'gateway-result') continue;
    const { ticket } = input;
    // What came too late is answered so, and changes nothing.
    if (task.replies.some((one) => one.ticket === ticket && 'refusal' in one)) continue;
    const { attempt, result } = input.ask.request;
    facts.gatewayResults.push({ attempt, result, task: task.place, at: task.at - 1 / (index + 2) });
  }
}

function readOf(result: EffectResult): Pick<RecordedRead, 'decision' | 'at' | 'began'> {
  if (!('at' in result)) return {};
  const outcome = 'outcome' in result ? result.outcome : undefined;
  const decision = outcome !== undefined && 'decision' in outcome ? outcome.decision : undefined;
  return {
    at: millis(result.at),
    began: millis(result.began),
    ...(decision !== undefined && { decision }),
  };
}
