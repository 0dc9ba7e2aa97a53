/** The workflows, for the worker's bundle. */
import { ActivityFailure, continueAsNew } from '@temporalio/workflow';
import type { By, OrderEvent } from '../contract/messages.ts';
import { shapeRefusal } from '../orders/check-messages.ts';
import { deliverAgain, failure, failureOf, runFacts, sweep } from './activities.ts';

// The SDK takes the stack of every promise that a workflow makes, for its own UI. An order says in words where it stands.
// Errors have no stack either: Temporal freezes `Error` in the context that all workflows share, so no code can raise the limit later.
// To find where an error was thrown, replay the workflow's history without this line.
Error.stackTraceLimit = 0;

export { portalAction } from './portal-action.ts';
export { readAfterEnd } from './read-after-end.ts';
export { screenOrder } from './screen-order.ts';

/** Runs for ever, one row a day in the list of workflows. Nothing that it is given or keeps needs a payload key. */
export async function sweepOrders(): Promise<never> {
  await sweep();
  return continueAsNew();
}

/**
 * Sends an event once more, with the same id and content.
 * @param _by who asked: it is on the workflow's record, and no part of what is sent
 * @throws `invalid-request` when the event can't be read; `event-not-delivered` when the receiver doesn't take it
 */
export async function redeliverEvent(event: OrderEvent, _by?: By): Promise<void> {
  const refused = shapeRefusal(event, {});
  if (refused !== undefined) throw failureOf(refused);
  try {
    await deliverAgain([event], runFacts());
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    throw failure(
      'event-not-delivered',
      `The event was not delivered: ${error.cause?.message ?? 'no words'}.`,
    );
  }
}
