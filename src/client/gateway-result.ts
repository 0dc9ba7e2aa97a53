import { OrderScreeningError } from '../orders/errors.ts';
import { gatewayUpdateId } from '../orders/ids.ts';
import {
  type GatewayResultAnswer,
  type GatewayResultRequest,
  recordGatewayResultUpdate,
} from '../orders/messages.ts';
import type { ClientContext } from './context.ts';
import { readOrder } from './read-order.ts';
import { sendUpdate } from './send-update.ts';
import { toOpenOrder } from './to-open-order.ts';

/** @see OrderScreening.recordGatewayResult */
export async function recordGatewayResult(
  context: ClientContext,
  workflowId: string,
  request: GatewayResultRequest,
): Promise<GatewayResultAnswer> {
  const attempt = request.attempt ?? (await onlyAttempt(context, workflowId));
  const send = (afterError: boolean) =>
    toOpenOrder(context, workflowId, (handle) =>
      sendUpdate(gatewayUpdateId(attempt, afterError), (name) =>
        handle.executeUpdate(recordGatewayResultUpdate, { args: [{ ...request, attempt }], ...name }),
      ),
    );
  const first = await send(false);
  if (first.result === request.result) return first;
  // The first id gives its stored answer for ever, so a result that replaces `error` has an id of its own.
  const second = first.result === 'error' ? await send(true) : first;
  if (second.result === request.result) return second;
  throw new OrderScreeningError(
    'gateway-result-mismatch',
    `The gateway result ${second.result} was recorded for this attempt before`,
  );
}

async function onlyAttempt(context: ClientContext, workflowId: string): Promise<number> {
  const state = await readOrder(context, workflowId);
  if (state.attempts.length > 1) {
    throw new OrderScreeningError(
      'attempt-required',
      'The order has several attempts: say which one is meant',
    );
  }
  return 1;
}
