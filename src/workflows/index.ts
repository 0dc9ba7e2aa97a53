/** The workflows, for the worker's bundle. */
import type { SweepResult } from '../orders/activity-contract.ts';
import { sweep } from './activities.ts';
import './sdk-internals.ts';

export { portalAction } from './portal-action.ts';
export { screenOrder } from './screen-order.ts';

/** Run by a schedule: looks over the next open orders. @returns what it found, for the next sweep to go on from */
export async function sweepOrders(): Promise<SweepResult> {
  return sweep();
}
