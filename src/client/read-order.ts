/** Reads an order from Temporal: an open one by query, a closed one from its result, without a worker. */

import {
  type WorkflowExecutionDescription,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { OrderScreeningError } from '../orders/errors.ts';
import { orderQuery } from '../orders/messages.ts';
import type { OrderState } from '../orders/state.ts';
import type { ClientContext } from './context.ts';
import { asOrderError, orderClosed, toOrderError, unknownOrder } from './temporal-errors.ts';
import { READ_WITHIN_MS, within } from './within.ts';

/** @returns the whole state @throws OrderScreeningError `unknown-order`, `temporal-unavailable` */
export async function readOrder(context: ClientContext, workflowId: string): Promise<OrderState> {
  const found = await findOrder(context, workflowId);
  if (found === undefined) throw unknownOrder();
  return found;
}

/** @returns the whole state; undefined when Temporal knows no such order */
export async function findOrder(context: ClientContext, workflowId: string): Promise<OrderState | undefined> {
  const description = await describeOrder(context, workflowId);
  if (description === undefined) return undefined;
  return isOpen(description) ? openState(context, workflowId) : finalRecord(context, workflowId);
}

/** @returns whether an order goes on; also one that an operator has paused, or is in a state of newer servers */
export function isOpen({ closeTime }: WorkflowExecutionDescription): boolean {
  return closeTime === undefined;
}

/** @returns the state of an open order, from a worker @throws OrderScreeningError `temporal-unavailable` without one */
export async function openState(
  { client }: ClientContext,
  workflowId: string,
  withinMs: number = READ_WITHIN_MS,
): Promise<OrderState> {
  return asOrderError(() =>
    within(client, Date.now() + withinMs, () => client.workflow.getHandle(workflowId).query(orderQuery)),
  );
}

/** @returns what the server knows of an order, which takes no worker; undefined when it knows none */
export async function describeOrder(
  { client }: ClientContext,
  workflowId: string,
  withinMs: number = READ_WITHIN_MS,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await within(client, Date.now() + withinMs, () =>
      client.workflow.getHandle(workflowId).describe(),
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw toOrderError(error);
  }
}

/** @returns the state that a closed order's workflow returned @throws OrderScreeningError when it has none */
export async function finalRecord(
  { client }: ClientContext,
  workflowId: string,
  withinMs: number = READ_WITHIN_MS,
): Promise<OrderState> {
  try {
    return await within(client, Date.now() + withinMs, () =>
      client.workflow.getHandle<() => Promise<OrderState>>(workflowId).result(),
    );
  } catch (error) {
    const known = toOrderError(error);
    if (error instanceof WorkflowFailedError && !(known instanceof OrderScreeningError)) throw orderClosed();
    throw known;
  }
}

/**
 * Says what it means that an order took an update no more.
 * @returns the record of the closed order
 * @throws OrderScreeningError `unknown-order`, `temporal-unavailable`, `order-closed` for one that has no record
 */
export async function closedOrder(context: ClientContext, workflowId: string): Promise<OrderState> {
  const description = await describeOrder(context, workflowId);
  if (description === undefined) throw unknownOrder();
  try {
    return await finalRecord(context, workflowId);
  } catch (error) {
    // What was wrong when the order was started isn't wrong with what is asked of it now.
    const other = error instanceof OrderScreeningError && error.code !== 'temporal-unavailable';
    throw other ? orderClosed() : error;
  }
}
