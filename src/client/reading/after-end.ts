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
import { quoted } from '../../order/view/search-attributes.ts';
import { listWorkflows } from '../lists/visibility.ts';
import { callTemporal, READ_WITHIN_MS, toOrderError, unknownOrder, within } from '../temporal-errors.ts';
import type { ClientContext, View } from '../types.ts';
import { decoded } from './decode.ts';
import { describeOrder, newestStarted, type Run, runOf } from './describe-order.ts';
import { triesIn } from './failed-tries.ts';
import { closedOrder, recordOfOrder } from './read-orders.ts';

/** Reads an order, and what came after its end. @throws OrderScreeningError as `readOrder` */
export async function readWithAfterEnd(
  context: ClientContext,
  workflowId: string,
  view?: View,
): Promise<OrderRecord & { afterEnd?: AfterEnd }> {
  const description = await newestStarted(context, workflowId);
  if (description === undefined) throw unknownOrder();
  const order = await recordOfOrder(context, description, view);
  return { ...order, ...defined({ afterEnd: await afterEndOf(context, order) }) };
}

const MOST_RUNS = 100;

/**
 * Returns what happened after the order's end; undefined if nothing did. Never fails: `incomplete` marks parts that can't be read or
 * decrypted.
 */
export async function afterEndOf(context: ClientContext, order: OrderRecord): Promise<AfterEnd | undefined> {
  const { endedAt = order.closedAt } = order;
  if (endedAt === undefined) return undefined;
  const actionsById = actionIds(order);
  const redeliveryPrefix = redeliveryWorkflowId(order, 1).slice(0, -1);
  const startsWith = (prefix: string): string => `WorkflowId STARTS_WITH ${quoted(prefix)}`;
  // The colon excludes orders whose ids begin the same.
  const ofActions = [...actionsById].map(([id, { kind }]) =>
    contentOf(kind).length > 0 ? startsWith(`${id}:`) : `WorkflowId = ${quoted(id)}`,
  );
  const query = [...ofActions, startsWith(redeliveryPrefix)].join(' OR ');
  const [decisions, page] = await Promise.all([
    lateDecisions(context, order).catch(() => undefined),
    listWorkflows(context.client, query, MOST_RUNS).catch(() => undefined),
  ]);
  const runs = (page?.executions ?? [])
    .map(runOf)
    .filter(({ startedAt }) => startedAt >= endedAt)
    .sort((one, other) => (one.startedAt < other.startedAt ? -1 : 1));
  const actions = await Promise.all(
    runs.flatMap((run) => {
      // For some kinds of actions the id ends with a hash of the content.
      const action = actionsById.get(run.workflowId.replace(/:[0-9a-f]{16}$/, ''));
      return action === undefined ? [] : [actionOf(context, run, action)];
    }),
  );
  const redeliveries = runs.flatMap((run): Redelivery[] => {
    const [prefix, sequence = ''] = run.workflowId.split(/(?<=:)(?=\d+$)/);
    if (prefix !== redeliveryPrefix) return [];
    return [{ sequence: Number(sequence), ...progressOf(run, 'delivered', 'undelivered') }];
  });
  const isWhole = decisions && page && page.place === undefined && actions.every(({ isRead }) => isRead);
  if (isWhole && decisions.length + actions.length + redeliveries.length === 0) return undefined;
  return {
    decisions: decisions ?? [],
    actions: actions.map(({ action }) => action),
    redeliveries,
    ...(!isWhole && { incomplete: true }),
  };
}

/** The order's portal actions by workflow id, without a hash at its end: it contains a transaction's or the order's id. */
function actionIds({ integration, orderId, transactions }: OrderState) {
  const transactionIds = [undefined, ...transactions.map(({ id }) => id.toLowerCase())];
  return new Map(
    PORTAL_ACTIONS.flatMap((kind) =>
      transactionIds.map((transactionId) => [
        portalActionWorkflowId(integration, kind, transactionId ?? orderId),
        { kind, transactionId },
      ]),
    ),
  );
}

/** @param done the status of a completed run; `undone`: of one that ended in any other way */
function progressOf<Done extends string, Undone extends string>(
  { status, startedAt, closedAt }: Run,
  done: Done,
  undone: Undone,
) {
  const ended = status === 'completed' ? done : undone;
  return {
    status: status === 'open' ? ('running' as const) : ended,
    requestedAt: startedAt,
    ...defined({ finishedAt: closedAt }),
  };
}

/** The status by error code. After any other failure, such as a termination, the outcome is unknown. */
const STATUSES: { [code: string]: LateAction['status'] } = {
  'refused-by-screening-service': 'refused',
  'cancel-window-closed': 'too-late',
  'action-not-sent': 'not-sent',
};

/** Returns a portal action with its failed tries or, from the history of the closed run, its result; without them if they can't be read. */
async function actionOf(
  context: Pick<ClientContext, 'client'>,
  run: Run,
  named: Pick<LateAction, 'kind'> & { transactionId: string | undefined },
): Promise<{ action: LateAction; isRead: boolean }> {
  const { client } = context;
  const { workflowId, runId } = run;
  const action: LateAction = defined({ ...named, ...progressOf(run, 'done', 'unconfirmed') });
  if (run.status === 'open') {
    const described = await describeOrder(context, workflowId).catch(() => undefined);
    const [tries] = await triesIn(context, described);
    return { action: { ...action, ...tries?.failed }, isRead: described !== undefined };
  }
  const handle = client.workflow.getHandle<() => Promise<PortalAnswer>>(workflowId, runId);
  try {
    const answer = await callTemporal(client, READ_WITHIN_MS, () => handle.result());
    const { transactionId, code, message, chargeback } = answer;
    return { action: { ...action, ...defined({ transactionId, code, message, chargeback }) }, isRead: true };
  } catch (error) {
    if (!(error instanceof OrderScreeningError))
      return { action, isRead: error instanceof WorkflowFailedError };
    const { serviceCode: code, serviceMessage: message } = error.details;
    const status = STATUSES[error.code] ?? action.status;
    const isRead = !hasCode(error, 'temporal-unavailable', 'record-unreadable');
    return { action: { ...action, status, ...defined({ code, message }) }, isRead };
  }
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
    const decisions = await lateDecisions(context, key);
    await within(context.client, deadline, () =>
      context.client.workflow.signalWithStart(READ_AFTER_END, {
        workflowId: afterEndWorkflowId(key),
        taskQueue: TASK_QUEUE,
        args: [readAfterEndInput(order, decisions)],
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

/** Returns when a transaction was reported as fraud after its order's end; undefined if it wasn't, or the report was refused. */
export async function reportedAfterEnd(
  context: Pick<ClientContext, 'client'>,
  integration: string,
  transactionId: string,
): Promise<Instant | undefined> {
  const kind = 'report-fraud';
  const workflowId = portalActionWorkflowId(integration, kind, transactionId.toLowerCase());
  const run = await describeOrder(context, workflowId);
  if (run === undefined) return undefined;
  const { action } = await actionOf(context, run, { kind, transactionId });
  return wasReported(action) ? run.startedAt : undefined;
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
  const run = await describeOrder(context, workflowId);
  const decisions = await decoded(context, workflowId, run?.memo?.[LATE_DECISIONS]);
  return lateDecisionsSchema.catch([]).parse(decisions);
}
