/** Reads what happened after an order's end: later decisions, portal actions and redelivered events. Needs no worker. */
import { WorkflowFailedError } from '@temporalio/client';
import type { PortalAnswer } from '../../contract/answers.ts';
import { OrderScreeningError } from '../../contract/errors.ts';
import { type OrderKey, portalActionWorkflowId, redeliveryWorkflowId } from '../../contract/ids.ts';
import type { AfterEnd, LateAction, Redelivery } from '../../contract/order/order.ts';
import type { OrderState } from '../../contract/order/state.ts';
import { PORTAL_ACTIONS } from '../../contract/portal/portal-kinds.ts';
import { defined } from '../../order/defined.ts';
import { quoted } from '../../order/view/describe.ts';
import { type Execution, listWorkflows } from '../lists/visibility.ts';
import { callTemporal, READ_WITHIN_MS } from '../temporal-errors.ts';
import type { ClientContext } from '../types.ts';
import { describeOrder, instantOf, statusName } from './describe-order.ts';
import { triesIn } from './failed-tries.ts';
import { lateDecisions } from './read-after-end.ts';

/** The fields needed to find an order's later decisions, actions and redeliveries. */
interface AnyOrder extends Pick<OrderState, 'orderId' | 'integration' | 'endedAt'> {
  transactions: readonly { id: string }[];
}

/**
 * Adds `afterEnd` to the order, if anything happened after its end. Never fails: `incomplete` marks parts that can't be read or decrypted.
 * @param deadline in milliseconds after the epoch; by default, only each call has a time limit
 */
export async function withAfterEnd<Order extends AnyOrder>(
  context: ClientContext,
  order: Order,
  deadline = Infinity,
): Promise<Order & { afterEnd?: AfterEnd }> {
  const { client } = context;
  const timeLeft = (): number => Math.min(READ_WITHIN_MS, deadline - Date.now());
  const { endedAt, orderId, integration, transactions } = order;
  if (endedAt === undefined) return order;
  const key = { orderId, integration };
  const transactionIds = transactions.map(({ id }) => id.toLowerCase());
  const prefixes = [...actionPrefixes(key, transactionIds), redeliveryPrefix(key)];
  const query = prefixes.map((prefix) => `WorkflowId STARTS_WITH ${quoted(prefix)}`).join(' OR ');
  const [decisions, page] = await Promise.all([
    lateDecisions(context, key, timeLeft()).catch(() => undefined),
    listWorkflows(client, query, MOST_RUNS, { withinMs: timeLeft() }).catch(() => undefined),
  ]);
  const runs = (page?.executions ?? [])
    .map(runOf)
    .filter(({ startedAt }) => startedAt >= endedAt)
    .sort((one, other) => (one.startedAt < other.startedAt ? -1 : 1));
  const results = runs.flatMap((run) => {
    const action = actionOf(run, key, transactionIds);
    return action === undefined ? [] : [resultOf(context, run, action, timeLeft())];
  });
  const actions = await Promise.all(results);
  const isWhole = decisions && page?.nextPageToken.length === 0 && actions.every(({ isRead }) => isRead);
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

/** The prefixes of the workflow ids of the order's portal actions: they contain a transaction's or the order's id. */
function actionPrefixes({ integration, orderId }: OrderKey, transactionIds: readonly string[]): string[] {
  return PORTAL_ACTIONS.flatMap((kind) =>
    [...transactionIds, orderId].map((subject) => portalActionWorkflowId(integration, kind, subject)),
  );
}

function redeliveryPrefix(key: OrderKey): string {
  return redeliveryWorkflowId(key, 1).slice(0, -1);
}

/** Returns the portal action of a run, without its result; undefined if the run doesn't belong to this order. */
function actionOf(run: Run, key: OrderKey, transactionIds: readonly string[]): LateAction | undefined {
  // For some kinds of actions the id ends with a hash of the content.
  const id = run.workflowId.replace(/:[0-9a-f]{16}$/, '');
  for (const kind of PORTAL_ACTIONS) {
    const named = (subject: string) => portalActionWorkflowId(key.integration, kind, subject) === id;
    const transactionId = transactionIds.find(named);
    if (transactionId === undefined && !named(key.orderId)) continue;
    const ended = run.completed ? 'done' : 'unconfirmed';
    const status = run.closedAt === undefined ? 'running' : ended;
    return defined({ kind, status, requestedAt: run.startedAt, finishedAt: run.closedAt, transactionId });
  }
  return undefined;
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
  withinMs: number,
): Promise<{ action: LateAction; isRead: boolean }> {
  if (run.closedAt === undefined) {
    const described = await describeOrder(context, run.workflowId, withinMs).catch(() => undefined);
    const [tries] = await triesIn(context, described);
    return { action: { ...action, ...tries?.failed }, isRead: described !== undefined };
  }
  const { client } = context;
  const handle = client.workflow.getHandle<() => Promise<PortalAnswer>>(run.workflowId, run.runId);
  try {
    const answer = await callTemporal(client, withinMs, () => handle.result());
    const { transactionId = action.transactionId, code, message, chargeback } = answer;
    return { action: defined({ ...action, transactionId, code, message, chargeback }), isRead: true };
  } catch (error) {
    if (!(error instanceof OrderScreeningError))
      return { action, isRead: error instanceof WorkflowFailedError };
    const { serviceCode: code, serviceMessage: message } = error.details;
    const status = STATUSES[error.code] ?? action.status;
    return {
      action: defined({ ...action, status, code, message }),
      isRead: error.code !== 'temporal-unavailable',
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
