/** Answers checkouts without a decision: no worker took the order in time, or the earlier answer was `pending`. */
import { z } from 'zod';
import type { CheckoutAnswer } from '../../contract/answers.ts';
import { orderWorkflowId } from '../../contract/ids.ts';
import { millis } from '../../contract/words.ts';
import { actionWithoutDecision } from '../../order/decide.ts';
import { defined } from '../../order/defined.ts';
import { orderFactsOf, skipRuleFor, unavailableAction } from '../../order/order-rules.ts';
import { answerNow } from '../../order/view/answers.ts';
import type { CheckedScreenRequest } from '../read-requests.ts';
import { inputOf } from '../reading/decode.ts';
import { describeOrder, statusName } from '../reading/describe-order.ts';
import { recordOfOrder } from '../reading/read-orders.ts';
import { attemptMismatch, endingBy, workerSilent } from '../temporal-errors.ts';
import type { ClientContext } from '../types.ts';

/** For all calls together: the customer has already waited for the checkout budget and 2 s. */
const ASK_WITHIN_MS = 1_000;

/** `PENDING_WORKFLOW_TASK_STATE_STARTED` of Temporal's API. */
const TASK_STARTED = 2;
/** History length of an order that no worker has started on: the start and the first workflow task. */
const UNTOUCHED_EVENTS = 2;

/**
 * Answers a checkout that no worker took in time. `pending` promises that the screening continues, so this first checks that
 * the order exists and waits for a worker without a decision.
 * @throws OrderScreeningError `temporal-unavailable` if that isn't certain, `attempt-mismatch` if the waiting order was
 * started with different content
 */
export function pendingAnswer(
  context: ClientContext,
  request: CheckedScreenRequest,
): Promise<CheckoutAnswer> {
  return endingBy(Date.now() + ASK_WITHIN_MS, async () => {
    const workflowId = orderWorkflowId(request.integration.name, request.orderId);
    const description = await describeOrder(context, workflowId);
    if (description === undefined) throw workerSilent();
    const { raw, attributes, historyLength } = description;
    const { phase, decision = 'pending' } = attributes;
    // A worker that started in time may still give a different answer, or gave one and died before recording it. A worker
    // that starts after `answerBy` assumes that `pending` was the answer.
    const isTaken = raw.pendingWorkflowTask?.state === TASK_STARTED || historyLength > UNTOUCHED_EVENTS;
    const isPaused = statusName(raw.workflowExecutionInfo?.status) !== 'RUNNING';
    if (isTaken || isPaused || phase !== 'screening' || decision !== 'pending') throw workerSilent();
    const input = await inputOf(context, description);
    const { adopt, answerBy, fingerprint: known } = inputSchema.safeParse(input).data ?? {};
    // An adoption may still be refused, and then nothing is screened.
    if (adopt !== undefined) throw workerSilent();
    // A call can end before its deadline, such as when Temporal restarts.
    if (answerBy !== undefined && millis(answerBy) > Date.now()) throw workerSilent();
    if (known !== undefined && known !== request.fingerprint) throw attemptMismatch();
    return pendingByPolicy(request);
  });
}

const inputSchema = z.object({
  adopt: z.unknown().optional(),
  answerBy: z.string().optional(),
  fingerprint: z.string().optional(),
});

/**
 * @returns `pending` with the policy's action, or `skipped` for an order that policy skips. The worker gives the same answer
 * later
 */
export function pendingByPolicy({ integration, ...request }: CheckedScreenRequest): CheckoutAnswer {
  const { orderId, attempt } = request;
  const { name, passive } = integration;
  const order = { orderId, integration: name, attempt };
  const isSkipped = skipRuleFor(integration, request.transaction) !== undefined;
  const whenUnavailable = unavailableAction(integration.whenUnavailable, orderFactsOf(request.transaction));
  const unscreened = actionWithoutDecision({ workflow: request.workflow, whenUnavailable });
  const byPolicy = isSkipped ? 'proceed' : unscreened;
  const action = passive ? 'proceed' : byPolicy;
  const wouldBe = passive ? byPolicy : undefined;
  if (isSkipped) return defined({ ...order, decision: 'skipped', action, phase: 'decided', wouldBe });
  const declines = action === 'decline';
  return defined({
    ...order,
    decision: 'pending',
    action,
    phase: declines ? 'declined' : 'screening',
    reason: 'no-worker',
    message: declines ? integration.declineMessage : undefined,
    wouldBe,
  });
}

/**
 * Replaces a `pending` with the current answer (rule «pending becomes the decision»): an update id keeps its first outcome, and the order
 * may be decided since.
 * @returns the answer on the order's record, or the given one if the record has none
 */
export async function asOfNow(
  context: ClientContext,
  workflowId: string,
  given: CheckoutAnswer,
): Promise<CheckoutAnswer> {
  if (given.decision !== 'pending') return given;
  const order = await endingBy(Date.now() + ASK_WITHIN_MS, async () => {
    const description = await describeOrder(context, workflowId);
    if (description === undefined) return undefined;
    const record = await recordOfOrder(context, description);
    const { readings = 0, insights = 0 } = record.leftOut ?? {};
    if (readings + insights === 0) return record;
    // Includes every insight of the attempt's first reading, unless the history can't be read in time.
    return recordOfOrder(context, description, 'full').catch(() => record);
  });
  const answer = order && answerNow(order, given.attempt);
  // The record has no fingerprint.
  return answer === undefined ? given : defined({ ...answer, fingerprint: given.fingerprint });
}
