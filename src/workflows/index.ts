/** The workflows, for the worker's bundle. */
import { ActivityFailure, continueAsNew } from '@temporalio/workflow';
import type { By, OrderEvent } from '../contract/messages.ts';
import { shapeRefusal } from '../order/messages/check-messages.ts';
import { deliverAgain, deliverEvents, failureOf, runFacts, sweep } from './activities.ts';

// The SDK collects the stack trace of every promise of a workflow for the Temporal UI. An order shows its state in words instead.
// Without this property, V8 collects none; with 0 it collects empty ones, at a cost per promise. Errors have no stack trace either: Temporal
// freezes `Error` in the context that all workflows share, so it can't be set later. To find where an error was thrown, replay the
// workflow's history without this line.
Reflect.deleteProperty(Error, 'stackTraceLimit');

export { portalAction } from './portal-action.ts';
export { readAfterEnd } from './read-after-end.ts';
export { screenOrder } from './screen-order.ts';

/** Runs forever, with one row per day in the list of workflows. Its input and results need no payload key. */
export async function sweepOrders(): Promise<never> {
  await sweep();
  return continueAsNew();
}

/**
 * Sends an event again, with the same id and content, or an event of the sweep.
 * @param _by who requested it: recorded in the workflow's input, not sent
 * @param isUnattended no caller waits for the result, so it is retried as long as an order's own events
 * @throws `invalid-request` if the event can't be read; `event-not-delivered` if the receiver doesn't accept it
 */
export async function redeliverEvent(event: OrderEvent, _by?: By, isUnattended?: boolean): Promise<void> {
  const refused = shapeRefusal(event, {});
  if (refused !== undefined) throw failureOf(refused);
  try {
    await (isUnattended === true ? deliverEvents : deliverAgain)([event], runFacts());
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const message = `The event was not delivered: ${error.cause?.message ?? 'no reason given'}.`;
    throw failureOf({ code: 'event-not-delivered', message });
  }
}
