/** Queries about orders through the Temporal API. */
import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import proto, { type temporal } from '@temporalio/proto';
import { inBatches } from '../../client/lists/in-batches.ts';
import { countWorkflows, listWorkflows, OWNS, PAGE, pagesOf } from '../../client/lists/visibility.ts';
import { reportedAfterEnd } from '../../client/reading/after-end.ts';
import { type Attributes, attributesIn, decoded } from '../../client/reading/decode.ts';
import {
  type DescribedOrder,
  describeOrder,
  instantOf,
  isNewestRun,
  msOf,
  statusName,
} from '../../client/reading/describe-order.ts';
import { orderOfWorkflowId, portalActionWorkflowId, TASK_QUEUE } from '../../contract/ids.ts';
import { type OrderEvent, REDELIVER_EVENT, SCREEN_ORDER } from '../../contract/messages.ts';
import {
  type Held,
  LATE_AFTER_MS,
  LOST_STATUSES,
  LOST_WITHIN_MS,
  type LostStatus,
  OVERDUE_AFTER_MS,
  STUCK_AFTER_TRIES,
} from '../../contract/sweep.ts';
import { type Instant, instant, millis, PHASES } from '../../contract/words.ts';
import { defined } from '../../order/defined.ts';
import { openQuery, STARTED, transactionQuery } from '../../order/view/search-attributes.ts';
import { detailsIn } from '../tries.ts';
import { earlierRuns } from './earlier-runs.ts';

const OPEN = openQuery();
const SCHEDULED = proto.temporal.api.enums.v1.PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED;

export type OrderDirectory = ReturnType<typeof createOrderDirectory>;

export function createOrderDirectory(client: Client) {
  return {
    ...earlierRuns(client),
    /** Returns one page of open orders, newest first. */
    open: async (pageSize: number, from?: Uint8Array) => {
      const { executions, place: next } = await listWorkflows(client, OPEN, pageSize, from);
      const workflowIds = executions.flatMap(({ execution }) => execution?.workflowId ?? []);
      return { workflowIds, ...defined({ next }) };
    },
    /** Returns orders that are still open although their cancel window has closed. A declined order waits for another attempt instead. */
    overdue: async (limit: number) => {
      const before = instant(Date.now() - OVERDUE_AFTER_MS);
      const phases = `ScreeningPhase IN ('decided', 'awaiting-gateway')`;
      const late = `${OPEN} AND CancelBy < '${before}' AND ScreeningDecision != 'review' AND ${phases}`;
      const { executions } = await listWorkflows(client, late, limit);
      return executions.flatMap(({ execution, searchAttributes }) => {
        const { cancelBy } = attributesIn(searchAttributes?.indexedFields);
        const workflowId = execution?.workflowId;
        const isFound = cancelBy !== undefined && typeof workflowId === 'string';
        return isFound ? [{ workflowId, since: cancelBy }] : [];
      });
    },
    lost: (limit: number) => lostOrders(client, limit),
    countByPhase: async () => {
      const phases = PHASES.filter((phase) => phase !== 'closed');
      const counts = await Promise.all(
        phases.map((phase) => countWorkflows(client, `${OPEN} AND ScreeningPhase = '${phase}'`)),
      );
      return new Map(phases.map((phase, index) => [phase, counts[index] ?? 0]));
    },
    countAttention: () => countWorkflows(client, `${OPEN} AND NeedsAttention = true`),
    /** Starts a workflow with the event's id, which delivers it as an order delivers its own. Does nothing if one runs or has succeeded. */
    announce: async (event: OrderEvent) => {
      try {
        await client.workflow.start(REDELIVER_EVENT, {
          workflowId: event.id,
          taskQueue: TASK_QUEUE,
          args: [event, undefined, true],
          workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
          staticSummary: 'what the sweep found',
        });
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },
    withTransaction: async (transactionId: string) => {
      const page = await listWorkflows(client, transactionQuery(transactionId), 10);
      return page.executions.flatMap(({ execution }) => execution?.workflowId ?? []);
    },
    reportedAfterEnd: (integration: string, transactionId: string) =>
      reportedAfterEnd({ client }, integration, transactionId),
    /** Returns the number of attempts of the order's pending workflow task, and since when it is due. `held`: an activity of the order doesn't run. */
    pendingTask: async (workflowId: string) => {
      const order = await describeOrder({ client }, workflowId);
      // A closed order keeps its pin.
      if (order?.status !== 'open') return undefined;
      const { raw: description } = order;
      const { pendingWorkflowTask: task } = description;
      const held = heldBy(description) ?? (await unanswered(client, workflowId, description));
      if (!task && held === undefined) return undefined;
      return {
        tries: task?.attempt ?? 0,
        since: instantOf(task?.originalScheduledTime) ?? instant(0),
        ...defined({ held }),
      };
    },
  };
}

/** @returns those of the newest open orders that don't continue: stuck, since their workflow task keeps failing, or held */
export async function haltedOrders(
  client: Client,
  limit: number,
): Promise<{ workflowId: string; stuck: boolean; held?: Held }[]> {
  const orders = createOrderDirectory(client);
  const { workflowIds } = await orders.open(limit);
  const tasks = await inBatches(workflowIds, (workflowId) => orders.pendingTask(workflowId));
  return workflowIds.flatMap((workflowId, index) => {
    const { tries = 0, held } = tasks[index] ?? {};
    const stuck = tries >= STUCK_AFTER_TRIES;
    return stuck || held !== undefined ? [{ workflowId, stuck, ...defined({ held }) }] : [];
  });
}

type Description = temporal.api.workflowservice.v1.IDescribeWorkflowExecutionResponse;

/** @returns why an activity of the order doesn't run; undefined if all run in time */
function heldBy({ pendingActivities, workflowExecutionInfo }: Description): Held | undefined {
  const began = instantOf(workflowExecutionInfo?.startTime) ?? instant(0);
  const paused = pendingActivities?.find((one) => one.paused);
  if (paused) return { reason: 'paused', since: instantOf(paused.pauseInfo?.pauseTime) ?? began };
  const pinned = workflowExecutionInfo?.versioningInfo?.versioningOverride?.pinned;
  if (pinned) return { reason: 'pinned', since: began };
  // The time at which an activity's next attempt is due, after the pause that it asked for.
  const due = pendingActivities?.filter(({ state }) => state === SCHEDULED) ?? [];
  const dueAt = Math.min(...due.map(({ scheduledTime }) => msOf(scheduledTime) ?? Infinity));
  return dueAt <= Date.now() - LATE_AFTER_MS ? { reason: 'late', since: instant(dueAt) } : undefined;
}

/** @returns since when the screening service has answered no read of the order, if a try failed so much later, too */
async function unanswered(
  client: Client,
  workflowId: string,
  { pendingActivities }: Description,
): Promise<Held | undefined> {
  // This process may lack the key of a detail.
  const read = (payload: Payload) => decoded({ client }, workflowId, payload).catch(() => undefined);
  const times = (pendingActivities ?? []).map(async ({ heartbeatDetails, lastAttemptCompleteTime }) => {
    const details = await Promise.all((heartbeatDetails?.payloads ?? []).map(read));
    const lastTryMs = msOf(lastAttemptCompleteTime) ?? 0;
    const noted = details.flatMap((one) => detailsIn(one).unansweredSince ?? []);
    return noted.filter((since) => lastTryMs - millis(since) >= LATE_AFTER_MS);
  });
  const [since] = (await Promise.all(times)).flat().sort();
  return since === undefined ? undefined : { reason: 'unanswered', since };
}

interface LostOrder {
  workflowId: string;
  runId: string;
  status: LostStatus;
  since: Instant;
}

/** @returns the visibility query for lost orders. It also finds a few that a later run has replaced */
export function lostQuery(nowMs: number): string {
  const statuses = LOST_STATUSES.map((status) => `'${status}'`).join(', ');
  const open = `CancelBy > '${instant(nowMs)}' OR StartTime > '${instant(nowMs - LOST_WITHIN_MS)}'`;
  return `WorkflowType = '${SCREEN_ORDER}' AND ExecutionStatus IN (${statuses}) AND (${open}) AND ${STARTED}`;
}

/**
 * Reads every page: after the repair of thousands of orders, a page has only runs that a later one has replaced.
 * @returns orders that ended too early while they could still be canceled: terminated, timed out, or failed unexpectedly
 */
export async function lostOrders(client: Client, limit: number, nowMs = Date.now()): Promise<LostOrder[]> {
  const lost: LostOrder[] = [];
  for await (const executions of pagesOf(client, lostQuery(nowMs), limit)) {
    const found = executions.flatMap((one) => lostBy(one, nowMs) ?? []);
    const isNewest = await inBatches(found, (one) => isNewestRun({ client }, one));
    const newest = found.filter((_one, index) => isNewest[index]);
    const adopted = await adoptedElsewhere(client, newest);
    const own = newest.filter(({ workflowId }) => !adopted.has(workflowId));
    const cancels = await inBatches(own, (one) => cancelStatus(client, one));
    const left = own.filter((_one, index) => cancels[index] !== 'completed');
    lost.push(...left.map(({ attributes: _, ...one }) => one));
    if (lost.length >= limit) break;
  }
  return lost;
}

/** How many transactions one query names: visibility is rate-limited, and a query has a limited length. */
const TRANSACTIONS_ASKED = 50;

/**
 * @returns the workflow ids of those orders that were adopted under a different order id: their newest transaction belongs to a different
 *   order that is open or has completed
 */
export async function adoptedElsewhere(
  client: Client,
  orders: readonly Pick<DescribedOrder, 'workflowId' | 'attributes'>[],
): Promise<ReadonlySet<string>> {
  const adopted = new Set<string>();
  const ended = orders.flatMap(({ workflowId, attributes }) => {
    const transactionId = attributes.transactionId.at(-1);
    return transactionId === undefined ? [] : [{ workflowId, transactionId }];
  });
  for (let from = 0; from < ended.length; from += TRANSACTIONS_ASKED) {
    const asked = ended.slice(from, from + TRANSACTIONS_ASKED);
    const queries = asked.map(({ transactionId }) => `(${transactionQuery(transactionId)})`);
    const { executions } = await listWorkflows(client, `(${queries.join(' OR ')}) AND ${OWNS}`, PAGE);
    for (const { execution, searchAttributes } of executions) {
      const { transactionId: owned } = attributesIn(searchAttributes?.indexedFields);
      for (const { workflowId, transactionId } of asked) {
        if (workflowId !== execution?.workflowId && owned.includes(transactionId)) adopted.add(workflowId);
      }
    }
  }
  return adopted;
}

/** @returns the status of a cancel of the order's newest transaction that was requested after the order's end */
export async function cancelStatus(
  client: Client,
  { workflowId, attributes }: Pick<DescribedOrder, 'workflowId' | 'attributes'>,
): Promise<DescribedOrder['status'] | undefined> {
  const { integration } = orderOfWorkflowId(workflowId) ?? {};
  const transactionId = attributes.transactionId.at(-1);
  if (integration === undefined || transactionId === undefined) return undefined;
  const action = portalActionWorkflowId(integration, 'cancel', transactionId);
  return (await describeOrder({ client }, action))?.status;
}

/**
 * @param code the status of the order's workflow in Temporal's API
 * @returns the status if the workflow ended too early. An order that failed without a cancel window did not: its start was refused, and
 *   the caller received the refusal
 */
export function tooEarly(
  code: number | null | undefined,
  { cancelBy }: Pick<Attributes, 'cancelBy'>,
): LostStatus | undefined {
  const status = LOST_STATUSES.find((one) => one.toUpperCase() === statusName(code).replaceAll('_', ''));
  return status === 'Failed' && cancelBy === undefined ? undefined : status;
}

function lostBy(
  { execution, status: code, closeTime, searchAttributes }: temporal.api.workflow.v1.IWorkflowExecutionInfo,
  nowMs: number,
): (LostOrder & { attributes: Attributes }) | undefined {
  const attributes = attributesIn(searchAttributes?.indexedFields);
  const status = tooEarly(code, attributes);
  if (status === undefined) return undefined;
  const { phase, cancelBy } = attributes;
  if (phase === 'canceled' || phase === 'closed') return undefined;
  if (cancelBy !== undefined && millis(cancelBy) <= nowMs) return undefined;
  // Without a cancel window the order had no answer yet.
  if (cancelBy === undefined && (phase ?? 'screening') !== 'screening') return undefined;
  const workflowId = execution?.workflowId ?? '';
  const since = instantOf(closeTime) ?? instant(nowMs);
  return { workflowId, runId: execution?.runId ?? '', status, since, attributes };
}
