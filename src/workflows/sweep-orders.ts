/** Run by a schedule: looks over the open orders. */
import type { SweepResult } from '../orders/sweep.ts';
import { sweep } from './activities.ts';

/** Looks over the next open orders. @returns what it found, for the next sweep to go on from */
export async function sweepOrders(): Promise<SweepResult> {
  return sweep();
}
