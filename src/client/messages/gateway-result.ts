/** Reports the payment gateway's result to an order; after the order's end, directly to the screening service. */
import type { GatewayResultAnswer } from '../../contract/answers.ts';
import { hasCode, OrderScreeningError } from '../../contract/errors.ts';
import { type GatewayResultRequest, recordGatewayResultUpdate } from '../../contract/messages.ts';
import { instant } from '../../contract/words.ts';
import { withLateDecisions } from '../../order/after-end.ts';
import { gatewayReplyAfterEnd, RESULT_TOO_LATE } from '../../order/concerns/gateway.ts';
import { defined } from '../../order/defined.ts';
import { owedFor } from '../../order/transactions.ts';
import { readFailure, ScreeningError } from '../../screening-service/index.ts';
import { integrationOf } from '../read-requests.ts';
import { lateDecisions } from '../reading/after-end.ts';
import { newestStarted } from '../reading/describe-order.ts';
import { recordOfOrder } from '../reading/read-orders.ts';
import { screeningClientOf } from '../reading/read-transaction.ts';
import { ANSWER_WITHIN_MS, timeLeft, unknownOrder } from '../temporal-errors.ts';
import type { ClientContext } from '../types.ts';
import { update } from './send-update.ts';

export async function recordGatewayResult(
  context: ClientContext,
  workflowId: string,
  request: GatewayResultRequest,
): Promise<GatewayResultAnswer> {
  try {
    return await update(context, workflowId, recordGatewayResultUpdate, request);
  } catch (error) {
    // Also of an order that has ended and still delivers its last events.
    if (!hasCode(error, 'order-closed')) throw error;
  }
  const description = await newestStarted(context, workflowId);
  if (description === undefined) throw unknownOrder();
  const record = await recordOfOrder(context, description, 'full');
  // An order that was terminated recorded no end.
  const ended = { ...record, ...defined({ endedAt: record.endedAt ?? description.closedAt }) };
  const order = withLateDecisions({ order: ended, decisions: await lateDecisions(context, record) });
  const reply = gatewayReplyAfterEnd(order, request, instant(Date.now()));
  if ('refusal' in reply) throw new OrderScreeningError(reply.refusal.code, reply.refusal.message);
  const { gateway } = reply;
  const attempt = order.attempts.find(({ number }) => number === gateway.attempt);
  const owed = attempt && owedFor(order, attempt)?.id;
  // An order that is still open sends what it recorded. One that was terminated doesn't.
  const sendFor = reply.sendFor ?? (description.status === 'closed' ? owed : undefined);
  if (sendFor === undefined) return gateway;
  const client = screeningClientOf(integrationOf(context, order.integration));
  const { result, authcode, transactionId: gatewayTransactionId } = attempt?.gateway ?? request;
  const response = { transactionId: sendFor, result, ...defined({ authcode, gatewayTransactionId }) };
  try {
    // Sent once. An ended order keeps no record of it, and sending it again is safe: the caller repeats it after an error.
    await client.gatewayResponse(response, { timeoutMs: timeLeft(ANSWER_WITHIN_MS) });
    return gateway;
  } catch (error) {
    if (!(error instanceof ScreeningError)) throw error;
    if (error.outcome === 'refused' && error.reason !== 'forbidden') {
      throw new OrderScreeningError('order-closed', RESULT_TOO_LATE);
    }
    throw new OrderScreeningError('screening-service-unavailable', readFailure(error).message);
  }
}
