/** Adopts an order: starts it from a transaction that exists at the screening service. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { refuseCardData } from '../../card-data/card-data.ts';
import type { CheckoutAnswer } from '../../contract/answers.ts';
import { OrderScreeningError } from '../../contract/errors.ts';
import { orderWorkflowId } from '../../contract/ids.ts';
import { adoptUpdate } from '../../contract/messages.ts';
import type { OrderState } from '../../contract/order/state.ts';
import { instant } from '../../contract/words.ts';
import { adoptRefusal } from '../../order/messages/check-messages.ts';
import { orderFactsOf, policyFor } from '../../order/order-rules.ts';
import { attemptFor } from '../../order/portal/portal-records.ts';
import { newOrderState } from '../../order/record.ts';
import { applyAdoption } from '../../order/screening/checkout.ts';
import { readForAdoption } from '../../screening-service/index.ts';
import { refuseTaken } from '../lists/visibility.ts';
import { readBy } from '../messages/portal-options.ts';
import { startWithUpdate, updateOf } from '../messages/send-update.ts';
import { type CheckedAdoptRequest, readAdoptRequest } from '../read-requests.ts';
import { describeOrder } from '../reading/describe-order.ts';
import { closedOrder, recordOfOrder } from '../reading/read-orders.ts';
import { screeningClientOf } from '../reading/read-transaction.ts';
import { ANSWER_WITHIN_MS, isEnded, orderClosed, READ_WITHIN_MS, toOrderError } from '../temporal-errors.ts';
import type { ClientContext, PortalOptions } from '../types.ts';
import { orderStart } from './order-start.ts';

export async function adopt(
  context: ClientContext,
  raw: unknown,
  { dryRun = false, ...how }: { dryRun?: boolean } & Pick<PortalOptions, 'by'> = {},
): Promise<CheckoutAnswer> {
  refuseCardData(how);
  const by = readBy(how);
  const request = readAdoptRequest(raw, context.findIntegration);
  const key = { integration: request.integration.name, orderId: request.orderId };
  const workflowId = orderWorkflowId(key.integration, key.orderId);
  await refuseTaken(context, request.adoption.transactionId, key);
  const { fingerprint: _ours, ...answer } = dryRun
    ? await answerOfDryRun(context, request, workflowId)
    : await adopted(context, request, by, workflowId);
  return answer;
}

async function adopted(
  context: ClientContext,
  request: CheckedAdoptRequest,
  by: ReturnType<typeof readBy>,
  workflowId: string,
): Promise<CheckoutAnswer> {
  const { orderId, integration, workflow, adoption, transaction } = request;
  const input = { orderId, workflow, transaction, adopt: adoption };
  const start = orderStart(integration, input, { workflow, invoiceNumber: orderId });
  // A random update id, so that a refusal isn't kept forever. The order recognizes its own transaction.
  const update = updateOf(adoptUpdate, { transactionId: adoption.transactionId, ...by });
  try {
    return await startWithUpdate(context.client, Date.now() + ANSWER_WITHIN_MS, adoptUpdate, update, start);
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError) && !isEnded(error))
      throw toOrderError(error);
    return answerOnRecord(await closedOrder(context, workflowId), adoption.transactionId);
  }
}

/** Returns the answer that a real adoption would give, by the same rules. */
async function answerOfDryRun(
  context: ClientContext,
  request: CheckedAdoptRequest,
  workflowId: string,
): Promise<CheckoutAnswer> {
  const { orderId, integration, workflow, adoption, transaction } = request;
  const { transactionId } = adoption;
  const description = await describeOrder(context, workflowId);
  // A failed or terminated order may be adopted again.
  if (description?.status === 'open' || description?.status === 'completed') {
    return answerOnRecord(await recordOfOrder(context, description), transactionId);
  }
  const { name } = integration;
  const client = screeningClientOf(integration);
  const read = await readForAdoption(client, { ...adoption, invoiceNumber: orderId }, READ_WITHIN_MS);
  if (!('decision' in read)) throw new OrderScreeningError(read.code, read.message);
  const now = instant(Date.now());
  const order = newOrderState({ orderId, integration: name, adopt: adoption }, now);
  const policy = policyFor(integration, workflow, orderFactsOf(transaction), false);
  const outcome = {
    kind: 'answered',
    transactionId: read.id,
    decision: read.decision,
    found: true,
    sentFrom: adoption.screenedAt,
    sentUntil: adoption.screenedAt,
  } as const;
  order.policy = policy;
  order.workflow = policy.workflow;
  applyAdoption(order, adoption, outcome, now);
  return answerOnRecord(order, transactionId);
}

function answerOnRecord(order: OrderState, transactionId: string): CheckoutAnswer {
  const refused = adoptRefusal(order, { transactionId });
  if (refused !== undefined) throw new OrderScreeningError(refused.code, refused.message);
  const answer = attemptFor(order, transactionId)?.answer;
  if (answer === undefined) throw orderClosed();
  return answer;
}
