/** The answer to a checkout that has no decision yet: that no worker took in time, or that was told `pending` before. */
import { z } from 'zod';
import type { CheckoutAnswer } from '../contract/answers.ts';
import { orderWorkflowId } from '../contract/ids.ts';
import { answerNow } from '../orders/answers.ts';
import { actionWithoutDecision, skipRuleFor, unavailableAction } from '../orders/decide.ts';
import { defined } from '../orders/defined.ts';
import { decoded } from './decode.ts';
import { describeOrder } from './describe-order.ts';
import { recordOfOrder } from './read-orders.ts';
import type { CheckedScreenRequest } from './read-requests.ts';
import { attemptMismatch, callTemporal, workerSilent } from './temporal-errors.ts';
import type { ClientContext, View } from './types.ts';

/** For all that is asked: the customer has waited for the budget and 2 s already. */
const ASK_WITHIN_MS = 1_000;

/** `WORKFLOW_EXECUTION_STATUS_RUNNING` of Temporal's API: not paused. */
const RUNNING = 1;
/** `PENDING_WORKFLOW_TASK_STATE_STARTED` of Temporal's API. */
const TASK_STARTED = 2;
/** Of an order that no worker has begun: its start, and its first task. */
const UNTOUCHED_EVENTS = 2;

/**
 * The answer to a checkout that no worker took in time. It promises that the screening goes on, so the server is asked
 * whether the order is there and waits; an order that has a decision already may have been answered otherwise.
 * @throws OrderScreeningError `temporal-unavailable` when that isn't certain, `attempt-mismatch` when the order that waits
 * was started with another content
 */
export async function pendingAnswer(
  context: ClientContext,
  request: CheckedScreenRequest,
): Promise<CheckoutAnswer> {
  const workflowId = orderWorkflowId(request.integration.name, request.orderId);
  const deadline = Date.now() + ASK_WITHIN_MS;
  const description = await describeOrder(context, workflowId, ASK_WITHIN_MS);
  // A worker that began in time may still give its own answer, or have given it and died before it was recorded; one that
  // begins from now on takes `pending` as given.
  const underWay =
    description?.raw.pendingWorkflowTask?.state === TASK_STARTED ||
    (description?.historyLength ?? 0) > UNTOUCHED_EVENTS;
  const waits =
    !underWay &&
    description?.raw.workflowExecutionInfo?.status === RUNNING &&
    description.attributes.phase === 'screening' &&
    (description.attributes.decision ?? 'pending') === 'pending';
  if (!waits) throw workerSilent();
  const known = await startedWith(context, workflowId, deadline - Date.now());
  if (known !== undefined && known !== request.fingerprint) throw attemptMismatch();
  return pendingByPolicy(request);
}

const inputSchema = z.object({ fingerprint: z.string().optional() });

/** Returns the fingerprint that an order was started with, from its history; undefined when it was started without one. */
async function startedWith(
  { client }: ClientContext,
  workflowId: string,
  withinMs: number,
): Promise<string | undefined> {
  const { events } = await callTemporal(client, withinMs, () =>
    client.workflow.getHandle(workflowId).fetchHistory(),
  );
  const payload = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
  const input = payload && (await decoded({ client }, workflowId, payload));
  return inputSchema.safeParse(input).data?.fingerprint;
}

/**
 * @returns `pending`, with the action that the policy names, or `skipped` for an order that policy skips; the worker
 * that comes later says the same
 */
function pendingByPolicy({ integration, ...request }: CheckedScreenRequest): CheckoutAnswer {
  const { orderId, attempt } = request;
  const { name, passive } = integration;
  const order = { orderId, integration: name, attempt };
  if (skipRuleFor(integration, request.transaction) !== undefined) {
    const wouldBe = passive ? 'proceed' : undefined;
    return defined({ ...order, decision: 'skipped', action: 'proceed', phase: 'decided', wouldBe });
  }
  const whenUnavailable = unavailableAction(integration.whenUnavailable, request.facts);
  const wanted = actionWithoutDecision({ workflow: request.workflow, whenUnavailable });
  const action = passive ? 'proceed' : wanted;
  const declines = action === 'decline';
  return defined({
    ...order,
    decision: 'pending',
    action,
    phase: declines ? 'declined' : 'screening',
    reason: 'no-worker',
    message: declines ? integration.declineMessage : undefined,
    wouldBe: passive ? wanted : undefined,
  });
}

/**
 * Reads from the order's record what became of an attempt that was told `pending` (rule «pending becomes the decision»).
 * @returns what the order says now
 */
export async function answerSince(
  context: ClientContext,
  workflowId: string,
  given: CheckoutAnswer,
): Promise<CheckoutAnswer> {
  const deadline = Date.now() + ASK_WITHIN_MS;
  const description = await describeOrder(context, workflowId, ASK_WITHIN_MS);
  if (description === undefined) return given;
  const read = (view: View) => recordOfOrder(context, description, view, deadline - Date.now());
  const record = await read('record');
  const { readings = 0, insights = 0 } = record.leftOut ?? {};
  // The answer has every insight of the attempt's first reading, unless the history can't be read in time.
  const order = readings + insights === 0 ? record : await read('full').catch(() => record);
  const answer = answerNow(order, given.attempt);
  // A record does not have the fingerprint.
  return answer === undefined ? given : defined({ ...answer, fingerprint: given.fingerprint });
}
