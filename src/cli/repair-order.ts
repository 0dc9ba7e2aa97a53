/** Resets an order whose workflow task keeps failing to the last workflow task from which it continues. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { adoptedElsewhere, cancelStatus, tooEarly } from '../activities/index.ts';
import { describeOrder, instantOf, newestStarted, statusName } from '../client/reading/describe-order.ts';
import { callTemporal, unknownOrder } from '../client/temporal-errors.ts';
import { UPDATES } from '../contract/messages.ts';
import { defined } from '../order/defined.ts';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** Fewer failures may be the restart of a worker. */
const FAILING_AFTER_TRIES = 3;
const EVERY_MS = 300;
/** How long to wait for a worker to try the task after a reset; the server dispatches it at once. */
const TRIED_WITHIN_MS = 30_000;
/** A long history takes seconds to read. */
const ANSWERED_WITHIN_MS = 30_000;
/** How many of the newest tasks are tried one by one; before them, each step is twice as long. */
const ONE_BY_ONE = 5;
/** Deadlines that have passed are applied before a reset sends an update again. These may then be refused: the order would forget them. */
const DECISIVE: readonly unknown[] = [UPDATES.retry.name, UPDATES.override.name];

/**
 * The reason for a repair; `healthy`: none is needed; `adopted`: it was lost, and a different order has its transaction now; `canceled`: it was
 * lost, and its transaction was canceled afterwards or is being canceled, which the order does not know.
 */
export type Condition =
  | { kind: 'failing'; tries: number; cause: string }
  | { kind: 'lost'; status: string }
  | { kind: 'adopted' | 'canceled' | 'healthy'; status: string };

const NOT_REPAIRED: readonly Condition['kind'][] = ['healthy', 'adopted', 'canceled'];

export interface Repair {
  condition: Condition;
  /** In words in `repair-command.ts`. */
  outcome: 'repaired' | 'refused' | 'failing' | 'untried' | 'nothing-good';
  runId: string;
  newRunId?: string;
  /** The workflow task of the last reset: the event that completed it, and its time. */
  resetTo?: { eventId: number; at?: string };
  /** How many events of the previous history are not in the new run. */
  eventsDropped?: number;
  resets: number;
}

/**
 * @param options.reason recorded with the reset
 * @throws OrderScreeningError `unknown-order`, `temporal-unavailable`
 */
export async function repairOrder(
  client: Client,
  workflowId: string,
  { force, reason }: { force: boolean; reason: string },
): Promise<Repair> {
  const { runId, condition } = await examine(client, workflowId);
  const repair: Repair = { condition, outcome: 'refused', runId, resets: 0 };
  if (NOT_REPAIRED.includes(condition.kind) && !force) return repair;
  const history = await eventsOf(client, workflowId, runId);
  const points = resetPoints(history, force);
  if (points.length === 0) return { ...repair, outcome: 'nothing-good' };
  let current = runId;
  for (const point of points) {
    const eventId = Number(point.eventId);
    const request = {
      namespace: client.options.namespace,
      workflowExecution: { workflowId, runId: current },
      workflowTaskFinishEventId: point.eventId ?? null,
      requestId: randomUUID(),
      reason,
    };
    const made = await callTemporal(client, ANSWERED_WITHIN_MS, () =>
      client.workflowService.resetWorkflowExecution(request),
    );
    current = made.runId;
    repair.resets += 1;
    Object.assign(repair, {
      newRunId: current,
      resetTo: defined({ eventId, at: instantOf(point.eventTime) }),
      eventsDropped: history.length - eventId + 1,
    });
    const tried = await untilTried(client, workflowId, current, eventId);
    if (tried !== 'failed') return { ...repair, outcome: tried === 'completed' ? 'repaired' : 'untried' };
  }
  return { ...repair, outcome: 'failing' };
}

/** Returns the order's current run, and whether it needs a repair. @throws OrderScreeningError `unknown-order` */
export async function examine(
  client: Client,
  workflowId: string,
): Promise<{ runId: string; condition: Condition }> {
  const description = await newestStarted({ client }, workflowId);
  if (description === undefined) throw unknownOrder();
  const { runId, raw, closedAt, attributes } = description;
  const code = raw.workflowExecutionInfo?.status;
  const status = statusName(code);
  if (closedAt !== undefined) {
    if (tooEarly(code, attributes) === undefined) return { runId, condition: { kind: 'healthy', status } };
    const { size: adopted } = await adoptedElsewhere(client, [description]);
    const cancel = await cancelStatus(client, description);
    const lost = cancel === 'completed' || cancel === 'open' ? 'canceled' : 'lost';
    return { runId, condition: { kind: adopted > 0 ? 'adopted' : lost, status } };
  }
  const tries = raw.pendingWorkflowTask?.attempt ?? 0;
  if (tries < FAILING_AFTER_TRIES) return { runId, condition: { kind: 'healthy', status } };
  const failed = (await eventsOf(client, workflowId, runId)).findLast(
    (event) => event.workflowTaskFailedEventAttributes,
  );
  return { runId, condition: { kind: 'failing', tries, cause: causeOf(failed) } };
}

/** The failure's message may be encrypted; its type never is. */
function causeOf(failed: HistoryEvent | undefined): string {
  const failure = failed?.workflowTaskFailedEventAttributes?.failure;
  const type = failure?.applicationFailureInfo?.type;
  const message = failure?.message === 'Encoded failure' ? undefined : failure?.message;
  const words = [type, message].filter((one) => one).join(': ');
  return words === '' ? 'the reason is in the worker’s log' : words.slice(0, 300);
}

async function eventsOf(client: Client, workflowId: string, runId: string): Promise<HistoryEvent[]> {
  const { events } = await callTemporal(client, ANSWERED_WITHIN_MS, () =>
    client.workflow.getHandle(workflowId, runId).fetchHistory(),
  );
  return events ?? [];
}

/**
 * @param force also those before a decisive update
 * @returns the completed workflow tasks to try, newest first, and last the first of all
 */
function resetPoints(events: readonly HistoryEvent[], force: boolean): HistoryEvent[] {
  const kept = force ? events : events.slice(events.findLastIndex(acceptsDecisive(events)) + 1);
  const completed = kept.filter((event) => event.workflowTaskCompletedEventAttributes).reverse();
  return completed.filter((_event, index) => {
    const step = index - ONE_BY_ONE + 2;
    return step <= 1 || Number.isInteger(Math.log2(step)) || index === completed.length - 1;
  });
}

function acceptsDecisive(events: readonly HistoryEvent[]): (event: HistoryEvent) => boolean {
  // Temporal stores the request with the update's acceptance, or earlier if a reset sent the update again.
  const requests = events.flatMap(
    ({ workflowExecutionUpdateAcceptedEventAttributes: accepted, ...other }) =>
      accepted?.acceptedRequest ?? other.workflowExecutionUpdateAdmittedEventAttributes?.request ?? [],
  );
  const decisive = requests.filter(({ input }) => DECISIVE.includes(input?.name));
  const ids = decisive.map(({ meta }) => meta?.updateId);
  return ({ workflowExecutionUpdateAcceptedEventAttributes: accepted }) =>
    accepted != null && ids.includes(accepted.protocolInstanceId);
}

/** Waits for the first workflow task after the reset. @returns its outcome */
async function untilTried(
  client: Client,
  workflowId: string,
  runId: string,
  resetTo: number,
): Promise<'completed' | 'failed' | 'untried'> {
  const until = Date.now() + TRIED_WITHIN_MS;
  do {
    await pause(EVERY_MS);
    const after = (await eventsOf(client, workflowId, runId)).filter(
      ({ eventId }) => Number(eventId) > resetTo,
    );
    if (after.some((event) => event.workflowExecutionFailedEventAttributes)) return 'failed';
    if (after.some((event) => event.workflowTaskCompletedEventAttributes)) return 'completed';
    const { raw } = (await describeOrder({ client }, workflowId)) ?? {};
    if ((raw?.pendingWorkflowTask?.attempt ?? 0) > 1) return 'failed';
  } while (Date.now() < until);
  return 'untried';
}
