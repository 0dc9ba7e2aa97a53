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
import { startWithUpdate, updateOf } from '../messages/send-update.ts';
import { type CheckedAdoptRequest, readAdoptRequest } from '../read-adopt-request.ts';
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
  const request = readAdoptRequest(raw, context.findIntegration);
  const { orderId, integration, workflow, adoption, transaction, invoiceNumber } = request;
  const { transactionId } = adoption;
  // A random update id, so that a refusal isn't kept forever. The order recognizes its own transaction.
  const update = updateOf(adoptUpdate, { transactionId }, how);
  await refuseTaken(context, transactionId, { integration: integration.name, orderId });
  const adopted = async (): Promise<CheckoutAnswer> => {
    const input = { orderId, workflow, transaction, adopt: adoption };
    const start = orderStart(integration, input, { workflow, invoiceNumber });
    try {
      return await startWithUpdate(context.client, Date.now() + ANSWER_WITHIN_MS, adoptUpdate, update, start);
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError) && !isEnded(error))
        throw toOrderError(error);
      return answerOnRecord(await closedOrder(context, start.workflowId), transactionId);
    }
  };
  const { fingerprint: _ours, ...answer } = await (dryRun ? answerOfDryRun(context, request) : adopted());
  return answer;
}

/** Returns the answer that a real adoption would give, by the same rules. */
async function answerOfDryRun(
  context: ClientContext,
  { orderId, integration, workflow, adoption, transaction, invoiceNumber }: CheckedAdoptRequest,
): Promise<CheckoutAnswer> {
  const { name } = integration;
  const { transactionId } = adoption;
  const description = await describeOrder(context, orderWorkflowId(name, orderId));
  // A failed or terminated order may be adopted again.
  if (description?.status === 'open' || description?.status === 'completed') {
    return answerOnRecord(await recordOfOrder(context, description), transactionId);
  }
  const client = screeningClientOf(integration);
  const read = await readForAdoption(client, { ...adoption, invoiceNumber }, READ_WITHIN_MS);
  if (!('decision' in read)) throw new OrderScreeningError(read.code, read.message);
  const now = instant(Date.now());
  const order = newOrderState({ orderId, integration: name, adopt: adoption }, now);
  order.policy = policyFor(integration, workflow, orderFactsOf(transaction), false);
  order.workflow = order.policy.workflow;
  const outcome = {
    kind: 'answered',
    transactionId: read.id,
    decision: read.decision,
    found: true,
    sentFrom: adoption.screenedAt,
    sentUntil: adoption.screenedAt,
  } as const;
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
