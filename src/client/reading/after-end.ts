/** Reads what happened after an order's end: later decisions, portal actions and redelivered events. Needs no worker. */
import { WorkflowFailedError } from '@temporalio/client';
import { z } from 'zod';
import type { PortalAnswer } from '../../contract/answers.ts';
import { hasCode, OrderScreeningError } from '../../contract/errors.ts';
import {
  afterEndWorkflowId,
  type OrderKey,
  orderWorkflowId,
  portalActionWorkflowId,
  redeliveryWorkflowId,
  TASK_QUEUE,
} from '../../contract/ids.ts';
import { recheckSignal } from '../../contract/messages.ts';
import type { AfterEnd, LateAction, LateDecision, Redelivery } from '../../contract/order/order.ts';
import type { OrderRecord } from '../../contract/order/order-record.ts';
import type { OrderState } from '../../contract/order/state.ts';
import { contentOf, PORTAL_ACTIONS } from '../../contract/portal/portal-kinds.ts';
import { DECISIONS, type Instant } from '../../contract/words.ts';
import { LATE_DECISIONS, READ_AFTER_END, readAfterEndInput } from '../../order/after-end.ts';
import { wasReported } from '../../order/decide.ts';
import { defined } from '../../order/defined.ts';
import { currentAttempt } from '../../order/record.ts';
import { transactionOf } from '../../order/transactions.ts';
import { quoted } from '../../order/view/describe.ts';
import { type Execution, listWorkflows } from '../lists/visibility.ts';
import { callTemporal, READ_WITHIN_MS, toOrderError, unknownOrder, within } from '../temporal-errors.ts';
import type { ClientContext, View } from '../types.ts';
import { decoded } from './decode.ts';
import { describeOrder, instantOf, statusName } from './describe-order.ts';
import { triesIn } from './failed-tries.ts';
import { closedOrder, recordOfOrder } from './read-orders.ts';

/** Reads an order, and what came after its end. @throws OrderScreeningError as `readOrder` */
export async function readWithAfterEnd(
  context: ClientContext,
  workflowId: string,
  view?: View,
): Promise<OrderRecord & { afterEnd?: AfterEnd }> {
  const description = await describeOrder(context, workflowId);
  if (description === undefined) throw unknownOrder();
  const order = await recordOfOrder(context, description, view);
  return withAfterEnd(context, order, description.closedAt);
}

/** The fields needed to find an order's later decisions, actions and redeliveries. */
interface AnyOrder extends Pick<OrderState, 'orderId' | 'integration' | 'endedAt'> {
  transactions: readonly { id: string }[];
}

/**
 * Adds `afterEnd` to the order, if anything happened after its end. Never fails: `incomplete` marks parts that can't be read or decrypted.
 * @param closedAt when the workflow closed: the end of an order that was terminated, which recorded none
 */
export async function withAfterEnd<Order extends AnyOrder>(
  context: ClientContext,
  order: Order,
  closedAt: Instant | undefined,
): Promise<Order & { afterEnd?: AfterEnd }> {
  const { client } = context;
  const { endedAt = closedAt, orderId, integration, transactions } = order;
  if (endedAt === undefined) return order;
  const key = { orderId, integration };
  const ids = actionIds(
    key,
    transactions.map(({ id }) => id.toLowerCase()),
  );
  const startsWith = (prefix: string): string => `WorkflowId STARTS_WITH ${quoted(prefix)}`;
  // The colon excludes orders whose ids begin the same.
  const ofKinds = [...ids].map(([id, { kind }]) =>
    contentOf(kind).length > 0 ? startsWith(`${id}:`) : `WorkflowId = ${quoted(id)}`,
  );
  const query = [...ofKinds, startsWith(redeliveryPrefix(key))].join(' OR ');
  const [decisions, page] = await Promise.all([
    lateDecisions(context, key).catch(() => undefined),
    listWorkflows(client, query, MOST_RUNS).catch(() => undefined),
  ]);
  const runs = (page?.executions ?? [])
    .map(runOf)
    .filter(({ startedAt }) => startedAt >= endedAt)
    .sort((one, other) => (one.startedAt < other.startedAt ? -1 : 1));
  const results = runs.flatMap((run) => {
    const action = actionOf(run, ids);
    return action === undefined ? [] : [resultOf(context, run, action)];
  });
  const actions = await Promise.all(results);
  const isWhole = decisions && page && page.place === undefined && actions.every(({ isRead }) => isRead);
  const afterEnd: AfterEnd = {
    decisions: decisions ?? [],
    actions: actions.map(({ action }) => action),
    redeliveries: runs.flatMap((run) => redeliveryOf(run, key) ?? []),
    ...(!isWhole && { incomplete: true }),
  };
  const found = Object.values(afterEnd).some((one) => one === true || one.length > 0);
  return found ? { ...order, afterEnd } : order;
}

const MOST_RUNS = 100;

type Run = ReturnType<typeof runOf>;

function runOf({ execution, status, startTime, closeTime }: Execution) {
  return {
    workflowId: execution?.workflowId ?? '',
    runId: execution?.runId ?? '',
    completed: statusName(status) === 'COMPLETED',
    startedAt: instantOf(startTime) ?? '',
    closedAt: instantOf(closeTime),
  };
}

/** The order's portal actions by workflow id, without a hash at its end: it contains a transaction's or the order's id. */
function actionIds({ integration, orderId }: OrderKey, transactionIds: readonly string[]) {
  const subjects = [
    { subject: orderId },
    ...transactionIds.map((id) => ({ subject: id, transactionId: id })),
  ];
  return new Map(
    PORTAL_ACTIONS.flatMap((kind) =>
      subjects.map(({ subject, ...of }) => [
        portalActionWorkflowId(integration, kind, subject),
        { kind, ...of },
      ]),
    ),
  );
}

function redeliveryPrefix(key: OrderKey): string {
  return redeliveryWorkflowId(key, 1).slice(0, -1);
}

/** Returns the portal action of a run, without its result; undefined if the run doesn't belong to this order. */
function actionOf(run: Run, ids: ReturnType<typeof actionIds>): LateAction | undefined {
  // For some kinds of actions the id ends with a hash of the content.
  const named = ids.get(run.workflowId.replace(/:[0-9a-f]{16}$/, ''));
  if (named === undefined) return undefined;
  const ended = run.completed ? 'done' : 'unconfirmed';
  const status = run.closedAt === undefined ? 'running' : ended;
  return defined({ ...named, status, requestedAt: run.startedAt, finishedAt: run.closedAt });
}

/** The status by error code. After any other failure, such as a termination, the outcome is unknown. */
const STATUSES: { [code: string]: LateAction['status'] } = {
  'refused-by-screening-service': 'refused',
  'cancel-window-closed': 'too-late',
  'action-not-sent': 'not-sent',
};

/** Returns the portal action with its result, from the history of the closed run, or with its failed tries; without them if it can't be read. */
async function resultOf(
  context: ClientContext,
  run: Run,
  action: LateAction,
): Promise<{ action: LateAction; isRead: boolean }> {
  if (run.closedAt === undefined) {
    const described = await describeOrder(context, run.workflowId).catch(() => undefined);
    const [tries] = await triesIn(context, described);
    return { action: { ...action, ...tries?.failed }, isRead: described !== undefined };
  }
  const { client } = context;
  const handle = client.workflow.getHandle<() => Promise<PortalAnswer>>(run.workflowId, run.runId);
  try {
    const answer = await callTemporal(client, READ_WITHIN_MS, () => handle.result());
    const { transactionId = action.transactionId, code, message, chargeback } = answer;
    return { action: defined({ ...action, transactionId, code, message, chargeback }), isRead: true };
  } catch (error) {
    if (!(error instanceof OrderScreeningError))
      return { action, isRead: error instanceof WorkflowFailedError };
    const { serviceCode: code, serviceMessage: message } = error.details;
    const status = STATUSES[error.code] ?? action.status;
    return {
      action: defined({ ...action, status, code, message }),
      isRead: !hasCode(error, 'temporal-unavailable', 'record-unreadable'),
    };
  }
}

/** Returns the redelivery of a run; undefined if the run doesn't belong to this order. */
function redeliveryOf(run: Run, key: OrderKey): Redelivery | undefined {
  const prefix = redeliveryPrefix(key);
  const sequence = run.workflowId.startsWith(prefix) ? run.workflowId.slice(prefix.length) : '';
  if (!/^\d+$/.test(sequence)) return undefined;
  const ended = run.completed ? 'delivered' : 'undelivered';
  return defined({
    sequence: Number(sequence),
    status: run.closedAt === undefined ? 'running' : ended,
    requestedAt: run.startedAt,
    finishedAt: run.closedAt,
  });
}

/**
 * Starts the status read of an ended order; if one is running, requests one more.
 * @returns whether the order exists and has a transaction to read
 * @throws OrderScreeningError `temporal-unavailable`
 */
export async function startReadAfterEnd(context: ClientContext, key: OrderKey): Promise<boolean> {
  try {
    const order = await readableOrder(context, key);
    // A run whose decision isn't in this memo yet stays open for longer than this deadline, so it gets the signal.
    const deadline = Date.now() + READ_WITHIN_MS;
    const [decisions, reportedAt] = await Promise.all([
      lateDecisions(context, key),
      reportedAfterEnd(context, order),
    ]);
    await within(context.client, deadline, () =>
      context.client.workflow.signalWithStart(READ_AFTER_END, {
        workflowId: afterEndWorkflowId(key),
        taskQueue: TASK_QUEUE,
        args: [readAfterEndInput(order, decisions, reportedAt)],
        signal: recheckSignal,
        signalArgs: [],
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        memo: { [LATE_DECISIONS]: decisions },
        staticSummary: 'status after the order’s end',
      }),
    );
    return true;
  } catch (error) {
    if (hasCode(error, 'unknown-order', 'order-closed', 'no-transaction')) return false;
    throw toOrderError(error);
  }
}

/** Returns when the order's newest transaction was reported as fraud after the end; undefined if it wasn't, or the report was refused. */
async function reportedAfterEnd(context: ClientContext, order: OrderState): Promise<Instant | undefined> {
  const transactionId = transactionOf(order, currentAttempt(order))?.id.toLowerCase();
  if (transactionId === undefined) return undefined;
  const kind = 'report-fraud';
  const workflowId = portalActionWorkflowId(order.integration, kind, transactionId);
  const described = await describeOrder(context, workflowId);
  if (described === undefined) return undefined;
  const { runId, startedAt, closedAt, status } = described;
  const run = { workflowId, runId, startedAt, closedAt, completed: status === 'completed' };
  const reported = actionOf(run, new Map([[workflowId, { kind, transactionId }]]));
  if (reported === undefined) return undefined;
  const { action } = await resultOf(context, run, reported);
  return wasReported(action) ? startedAt : undefined;
}

/** @throws OrderScreeningError `unknown-order`; `order-closed` for an order without a record; `no-transaction` */
export async function readableOrder(
  context: ClientContext,
  { integration, orderId }: OrderKey,
): Promise<OrderState> {
  const order = await closedOrder(context, orderWorkflowId(integration, orderId));
  if (order.transactions.length > 0) return order;
  throw new OrderScreeningError('no-transaction', 'The order is closed and has no transaction to read.');
}

const isLateDecision = z.looseObject({
  decision: z.enum(DECISIONS),
  transactionId: z.string(),
  at: z.string(),
});
const lateDecisionsSchema = z.array(
  z.custom<LateDecision>((value) => isLateDecision.safeParse(value).success),
);

/**
 * Reads the decisions found after an order's end, oldest first. Needs no worker.
 * @throws OrderScreeningError `temporal-unavailable`, `record-unreadable`
 */
export async function lateDecisions(context: ClientContext, key: OrderKey): Promise<LateDecision[]> {
  const workflowId = afterEndWorkflowId(key);
  const description = await describeOrder(context, workflowId);
  const payload = description?.raw.workflowExecutionInfo?.memo?.fields?.[LATE_DECISIONS];
  if (payload === undefined) return [];
  const decisions = await decoded(context, workflowId, payload).catch((error: unknown) => {
    throw toOrderError(error);
  });
  return lateDecisionsSchema.catch([]).parse(decisions);
}
