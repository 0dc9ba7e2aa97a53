/** A start of an order that has ended: an operator can start a workflow again with its stored input, in the Temporal UI for example. */
import { activityInfo, log } from '@temporalio/activity';
import type { CheckoutRequest, Screened } from '../../contract/activity-contract.ts';
import type { Refusal } from '../../contract/errors.ts';
import { whyUnread } from '../../order/messages/check-messages.ts';
import type { ActivityWorld } from '../activity-world.ts';
import { isAfterReset } from '../earlier-run.ts';

/**
 * Rule «started again»: asks only where the start is no checkout that a customer waits for, since that costs time. If the orders can't be
 * listed, it is taken for a new order: none may be lost.
 * @returns the end of the order's earlier run; undefined if there is none
 */
export async function earlierEnd(
  { orders }: ActivityWorld,
  { answerBy, begun }: CheckoutRequest,
): Promise<Screened | undefined> {
  const awaited = answerBy !== undefined && begun <= answerBy;
  const workflowId = activityInfo().workflowExecution?.workflowId;
  if (orders === undefined || awaited || workflowId === undefined || isAfterReset()) return undefined;
  try {
    const earlier = await orders.ended(workflowId);
    if (earlier === undefined) return undefined;
    return whyUnread(earlier) === undefined ? { earlier } : { refusal: ENDED };
  } catch (error) {
    log.warn('could not check whether an order has ended before', { error: String(error) });
    return undefined;
  }
}

const ENDED: Refusal = {
  code: 'order-closed',
  message: 'The order has ended before, and its record can not be read. Nothing was screened.',
};
