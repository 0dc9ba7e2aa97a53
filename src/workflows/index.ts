/** The workflows, for the worker's bundle. */
import type { SweepResult } from '../orders/activity-contract.ts';
import { sweep } from './activities.ts';

export { portalAction } from './portal-action.ts';
export { screenOrder } from './screen-order.ts';

/** Run by a schedule: looks over the next open orders. @returns what it found, for the next sweep to go on from */
export async function sweepOrders(): Promise<SweepResult> {
  return sweep();
}

/**
 * Temporal's SDK takes the stack of every promise that a workflow makes and keeps it for as long as the promise is waited
 * for, to show it in the UI. Nothing turns that off, and it was a quarter of the workflow thread's CPU. An order says in
 * words where it stands, so those stacks, which are of errors without words, are empty here, and the SDK keeps nothing. Any other
 * error has its own, with the lines of the bundle that was kept (V8's stack trace API, "Customizing stack traces").
 */
Error.prepareStackTrace = (error, frames) =>
  error.message === '' ? '' : [String(error), ...frames.map((frame) => `    at ${frame}`)].join('\n');
