/** Reads what came after an order's end: later decisions, portal actions and redelivered events. No worker takes part. */
import type { Client } from '@temporalio/client';
import type { AfterEnd, LateAction, Redelivery } from '../orders/after-end.ts';
import { OrderScreeningError } from '../orders/errors.ts';
import { type OrderKey, portalActionWorkflowId, redeliveryWorkflowId } from '../orders/ids.ts';
import type { PortalAnswer } from '../orders/messages.ts';
import type { ActionStatus, OrderState } from '../orders/state.ts';
import { type Instant, PORTAL_ACTIONS, type PortalActionKind } from '../orders/words.ts';
import { instantOf } from './describe-order.ts';
import { quoted } from './list-orders.ts';
import { lateDecisions } from './read-after-end.ts';
import { asOrderError, READ_WITHIN_MS, toOrderError, within } from './temporal-errors.ts';
import type { ClientContext } from './types.ts';

/** What must be known of an order to find what came after its end. */
interface AnyOrder extends Pick<OrderState, 'orderId' | 'integration' | 'endedAt'> {
  transactions: readonly { id: string }[];
}

/** @returns the order with what came after its end, if anything did */
export async function withAfterEnd<Order extends AnyOrder>(
  context: ClientContext,
  order: Order,
): Promise<Order & { afterEnd?: AfterEnd }> {
  const { endedAt, orderId, integration, transactions } = order;
  if (endedAt === undefined) return order;
  const key = { orderId, integration };
  const transactionIds = transactions.map(({ id }) => id.toLowerCase());
  const [decisions, runs] = await Promise.all([
    unlessUnreadable(lateDecisions(context, key)),
    unlessUnreadable(runsOf(context.client, prefixesOf(key, transactionIds), endedAt)),
  ]);
  const actions = (runs?.list ?? []).flatMap((run) => {
    const action = actionOf(run, key, transactionIds);
    return action === undefined ? [] : [resultOf(context.client, run, action)];
  });
  const redeliveries = (runs?.list ?? []).flatMap((run) => redeliveryOf(run, key) ?? []);
  const afterEnd: AfterEnd = {
    decisions: decisions ?? [],
    actions: await Promise.all(actions),
    redeliveries,
    ...((decisions === undefined || runs === undefined || runs.more) && { incomplete: true }),
  };
  const found = Object.values(afterEnd).some((one) => one === true || one.length > 0);
  return found ? { ...order, afterEnd } : order;
}

/** An order stays readable although the list of workflows cannot be asked, or a memo cannot be decrypted. */
async function unlessUnreadable<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch(() => undefined);
}

/** A run of a workflow, as the list of workflows shows it. */
interface Run {
  workflowId: string;
  runId: string;
  status: 'running' | 'completed' | 'failed';
  startedAt: Instant;
  closedAt?: Instant;
}

/** Of Temporal's API. */
const COMPLETED = 2;
const MOST_RUNS = 100;

/** @returns the runs since the order's end, oldest first */
async function runsOf(
  client: Client,
  prefixes: readonly string[],
  endedAt: Instant,
): Promise<{ list: Run[]; more: boolean }> {
  const { executions, nextPageToken } = await asOrderError(() =>
    within(client, Date.now() + READ_WITHIN_MS, () =>
      client.workflowService.listWorkflowExecutions({
        namespace: client.options.namespace,
        query: prefixes.map((prefix) => `WorkflowId STARTS_WITH ${quoted(prefix)}`).join(' OR '),
        pageSize: MOST_RUNS,
      }),
    ),
  );
  const list = executions.map(({ execution, status, startTime, closeTime }): Run => {
    const closedAt = instantOf(closeTime);
    return {
      workflowId: execution?.workflowId ?? '',
      runId: execution?.runId ?? '',
      status: closedAt === undefined ? 'running' : status === COMPLETED ? 'completed' : 'failed',
      startedAt: instantOf(startTime) ?? '',
      ...(closedAt !== undefined && { closedAt }),
    };
  });
  const since = list.filter(({ startedAt }) => startedAt >= endedAt);
  return {
    list: since.sort((one, other) => (one.startedAt < other.startedAt ? -1 : 1)),
    more: nextPageToken.length > 0,
  };
}

/** The ids of portal actions name the transaction, or the order; those of redeliveries the order. */
function prefixesOf(key: OrderKey, transactionIds: readonly string[]): string[] {
  const actions = PORTAL_ACTIONS.flatMap((kind) =>
    subjectsOf(key, transactionIds).map((subject) => portalActionWorkflowId(key.integration, kind, subject)),
  );
  return [...actions, redeliveryPrefix(key)];
}

function subjectsOf({ orderId }: OrderKey, transactionIds: readonly string[]): string[] {
  return [...transactionIds, orderId];
}

function redeliveryPrefix(key: OrderKey): string {
  return redeliveryWorkflowId(key, 1).slice(0, -1);
}

/** What a chargeback or a customer code says stands in the id as a hash. */
const HASH = /^(?::[0-9a-f]{16})?$/;

/** @returns the portal action whose run this is, by its workflow id; undefined: it is none of this order */
function actionOf(run: Run, key: OrderKey, transactionIds: readonly string[]): LateAction | undefined {
  for (const kind of PORTAL_ACTIONS) {
    for (const subject of subjectsOf(key, transactionIds)) {
      const id = portalActionWorkflowId(key.integration, kind, subject);
      if (!run.workflowId.startsWith(id) || !HASH.test(run.workflowId.slice(id.length))) continue;
      const transactionId = subject === key.orderId ? undefined : subject;
      return lateAction(run, kind, transactionId);
    }
  }
  return undefined;
}

function lateAction(run: Run, kind: PortalActionKind, transactionId: string | undefined): LateAction {
  return {
    kind,
    status: run.status === 'running' ? 'running' : 'unconfirmed',
    requestedAt: run.startedAt,
    ...(run.closedAt !== undefined && { finishedAt: run.closedAt }),
    ...(transactionId !== undefined && { transactionId }),
  };
}

/** How a portal action failed; after any other failure, such as a termination, nobody knows. */
const STATUSES: { [code: string]: ActionStatus } = {
  'refused-by-screening-service': 'refused',
  'cancel-window-closed': 'too-late',
  'action-not-sent': 'not-sent',
};

/** @returns the portal action with its result, which is on the closed run's history */
async function resultOf(client: Client, run: Run, action: LateAction): Promise<LateAction> {
  if (run.status === 'running') return action;
  const handle = client.workflow.getHandle<() => Promise<PortalAnswer>>(run.workflowId, run.runId);
  try {
    const { transactionId, code, message, chargeback } = await within(
      client,
      Date.now() + READ_WITHIN_MS,
      () => handle.result(),
    );
    return {
      ...action,
      status: 'done',
      ...(transactionId !== undefined && { transactionId }),
      ...(code !== undefined && { code }),
      ...(message !== undefined && { message }),
      ...(chargeback !== undefined && { chargeback }),
    };
  } catch (error) {
    const known = toOrderError(error);
    if (!(known instanceof OrderScreeningError)) return action;
    const { serviceCode: code, serviceMessage: message } = known.details;
    return {
      ...action,
      status: STATUSES[known.code] ?? action.status,
      ...(code !== undefined && { code }),
      ...(message !== undefined && { message }),
    };
  }
}

/** @returns the redelivery whose run this is; undefined: it is none of this order */
function redeliveryOf(run: Run, key: OrderKey): Redelivery | undefined {
  const prefix = redeliveryPrefix(key);
  const sequence = run.workflowId.startsWith(prefix) ? run.workflowId.slice(prefix.length) : '';
  if (!/^\d+$/.test(sequence)) return undefined;
  const status =
    run.status === 'running' ? 'running' : run.status === 'completed' ? 'delivered' : 'undelivered';
  return {
    sequence: Number(sequence),
    status,
    requestedAt: run.startedAt,
    ...(run.closedAt !== undefined && { finishedAt: run.closedAt }),
  };
}
