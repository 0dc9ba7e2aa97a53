/** Queries about orders through the Temporal API. */
import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import proto, { type temporal } from '@temporalio/proto';
import { inBatches } from '../../client/lists/in-batches.ts';
import { attributesIn, decoded } from '../../client/reading/decode.ts';
import { describeOrder, instantOf, msOf } from '../../client/reading/describe-order.ts';
import { TASK_QUEUE } from '../../contract/ids.ts';
import { REDELIVER_EVENT } from '../../contract/messages.ts';
import type { OrderState } from '../../contract/order/state.ts';
import { type Held, LATE_AFTER_MS, OVERDUE_AFTER_MS } from '../../contract/sweep.ts';
import { instant, millis, PHASES } from '../../contract/words.ts';
import { openQuery, quoted, transactionQuery } from '../../order/view/describe.ts';
import type { OrderDirectory } from '../activity-world.ts';
import { detailsIn } from '../tries.ts';
import { lostOrders } from './lost-orders.ts';

const OPEN = openQuery();
const SCHEDULED = proto.temporal.api.enums.v1.PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED;

/** A checkout's local activity waits for it, though no customer does. */
const ENDED_WITHIN_MS = 2_000;

export function createOrderDirectory(client: Client): OrderDirectory {
  const { namespace } = client.options;
  const count = async (query: string): Promise<number> =>
    Number((await client.workflowService.countWorkflowExecutions({ namespace, query })).count);
  const completedRun = async (workflowId: string): Promise<string | undefined> => {
    const query = `WorkflowId = ${quoted(workflowId)} AND ExecutionStatus = 'Completed'`;
    const page = await client.workflowService.listWorkflowExecutions({ namespace, query, pageSize: 1 });
    return page.executions[0]?.execution?.runId ?? undefined;
  };
  return {
    open: async (pageSize, cursor) => {
      const { executions, nextPageToken } = await client.workflowService.listWorkflowExecutions({
        namespace,
        query: OPEN,
        pageSize,
        ...(cursor !== undefined && { nextPageToken: Buffer.from(cursor, 'base64') }),
      });
      const next = Buffer.from(nextPageToken).toString('base64');
      return {
        workflowIds: executions.flatMap(({ execution }) => execution?.workflowId ?? []),
        ...(next !== '' && { cursor: next }),
      };
    },
    overdue: async (limit) => {
      const before = instant(Date.now() - OVERDUE_AFTER_MS);
      const phases = `ScreeningPhase IN ('decided', 'awaiting-gateway', 'declined')`;
      const late = `${OPEN} AND CancelBy < '${before}' AND ScreeningDecision != 'review' AND ${phases}`;
      // The SDK's list method decodes memos, and fails on a memo encrypted with a key that this process lacks.
      const { executions } = await client.workflowService.listWorkflowExecutions({
        namespace,
        query: late,
        pageSize: limit,
      });
      return executions.flatMap(({ execution, searchAttributes }) => {
        const { cancelBy } = attributesIn(searchAttributes?.indexedFields);
        const workflowId = execution?.workflowId;
        const isFound = cancelBy !== undefined && typeof workflowId === 'string';
        return isFound ? [{ workflowId, since: cancelBy }] : [];
      });
    },
    lost: (limit) => lostOrders(client, limit),
    countByPhase: async () => {
      const phases = PHASES.filter((phase) => phase !== 'closed');
      const counts = await Promise.all(
        phases.map((phase) => count(`${OPEN} AND ScreeningPhase = '${phase}'`)),
      );
      return new Map(phases.map((phase, index) => [phase, counts[index] ?? 0]));
    },
    countAttention: () => count(`${OPEN} AND NeedsAttention = true`),
    announce: async (event) => {
      try {
        await client.workflow.start(REDELIVER_EVENT, {
          workflowId: event.id,
          taskQueue: TASK_QUEUE,
          args: [event],
          workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
          staticSummary: 'what the sweep found',
        });
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },
    withTransaction: async (transactionId) => {
      const query = transactionQuery(transactionId);
      const page = await client.workflowService.listWorkflowExecutions({ namespace, query, pageSize: 10 });
      return page.executions.flatMap(({ execution }) => execution?.workflowId ?? []);
    },
    ended: (workflowId) =>
      client.withDeadline(Date.now() + ENDED_WITHIN_MS, async () => {
        const runId = await completedRun(workflowId);
        if (runId === undefined) return undefined;
        return client.workflow.getHandle<() => Promise<OrderState>>(workflowId, runId).result();
      }),
    isDone: async (workflowId) => (await completedRun(workflowId)) !== undefined,
    pendingTask: async (workflowId) => {
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
        ...(held !== undefined && { held }),
      };
    },
  };
}

/** @returns the held ones of the newest open orders */
export async function heldOrders(client: Client, limit: number): Promise<({ workflowId: string } & Held)[]> {
  const orders = createOrderDirectory(client);
  const { workflowIds } = await orders.open(limit);
  const tasks = await inBatches(workflowIds, (workflowId) => orders.pendingTask(workflowId));
  return workflowIds.flatMap((workflowId, index) => {
    const held = tasks[index]?.held;
    return held === undefined ? [] : [{ workflowId, ...held }];
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

/** @returns since when the screening service has answered no read of the order, if that is too long */
async function unanswered(
  client: Client,
  workflowId: string,
  { pendingActivities }: Description,
): Promise<Held | undefined> {
  const details = (pendingActivities ?? []).flatMap(
    ({ heartbeatDetails }) => heartbeatDetails?.payloads ?? [],
  );
  // This process may lack the key of a detail.
  const read = (payload: Payload) => decoded({ client }, workflowId, payload).catch(() => undefined);
  const times = (await Promise.all(details.map(read))).flatMap((one) => detailsIn(one).unansweredSince ?? []);
  const [since] = times.sort();
  if (since === undefined || millis(since) > Date.now() - LATE_AFTER_MS) return undefined;
  return { reason: 'unanswered', since };
}
