/** Run by a schedule: looks over the open orders and remembers what it told. Design section 8. */
import { workflowInfo } from '@temporalio/workflow';
import type { SweepResult } from '../orders/sweep.ts';
import { sweeping } from './world.ts';

/**
 * Looks over the next open orders.
 * @returns what it found, and where the next sweep goes on: the schedule hands it to that one
 */
export async function sweepOrders(): Promise<SweepResult> {
  const last = lastResult();
  return sweeping.sweep({
    known: last?.found ?? [],
    ...(last?.cursor !== undefined && { cursor: last.cursor }),
  });
}

function lastResult(): SweepResult | undefined {
  const { lastResult: last } = workflowInfo();
  return typeof last === 'object' && last !== null && 'found' in last ? (last as SweepResult) : undefined;
}
