/** Run by a schedule: looks over the open orders. Design section 8. */
import type { SweepResult } from '../orders/sweep.ts';
import { sweeping } from './world.ts';

/** Looks over the next open orders. @returns what it found, for the next sweep to go on from */
export async function sweepOrders(): Promise<SweepResult> {
  return sweeping.sweep();
}
