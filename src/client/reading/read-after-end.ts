/** Starts the status read of an ended order, and returns the decisions of earlier reads. */
import { z } from 'zod';
import { hasCode, OrderScreeningError } from '../../contract/errors.ts';
import { afterEndWorkflowId, type OrderKey, orderWorkflowId, TASK_QUEUE } from '../../contract/ids.ts';
import { recheckSignal } from '../../contract/messages.ts';
import type { LateDecision } from '../../contract/order/order.ts';
import type { OrderState } from '../../contract/order/state.ts';
import { DECISIONS } from '../../contract/words.ts';
import { LATE_DECISIONS, READ_AFTER_END, readAfterEndInput } from '../../order/after-end.ts';
import { READ_WITHIN_MS, toOrderError, within } from '../temporal-errors.ts';
import type { ClientContext } from '../types.ts';
import { decoded } from './decode.ts';
import { describeOrder } from './describe-order.ts';
import { closedOrder } from './read-orders.ts';

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
 * @throws OrderScreeningError `temporal-unavailable`; PayloadCodecError
 */
export async function lateDecisions(
  context: ClientContext,
  key: OrderKey,
  withinMs: number = READ_WITHIN_MS,
): Promise<LateDecision[]> {
  const workflowId = afterEndWorkflowId(key);
  const description = await describeOrder(context, workflowId, withinMs);
  const payload = description?.raw.workflowExecutionInfo?.memo?.fields?.[LATE_DECISIONS];
  if (payload === undefined) return [];
  return lateDecisionsSchema.catch([]).parse(await decoded(context, workflowId, payload));
}
