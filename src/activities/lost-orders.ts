/** Orders that ended without a record while they could still be canceled: terminated, timed out, or failed unexpectedly. */
import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from '@temporalio/client';
import { orderAttributes } from '../orders/describe.ts';
import { SCREEN_ORDER } from '../orders/messages.ts';
import { LOST_STATUSES, LOST_WITHIN_MS, type LostStatus } from '../orders/sweep-contract.ts';
import { type Instant, instant } from '../orders/words.ts';

/** A lost order. */
export interface LostOrder {
  workflowId: string;
  runId: string;
  status: LostStatus;
  /** When its workflow ended. */
  since: Instant;
}

/** How many are looked at at a time. */
const AT_A_TIME = 10;

/** @returns the visibility query that finds each lost order, and a few that a later run has replaced */
export function lostQuery(nowMs: number): string {
  const statuses = LOST_STATUSES.map((status) => `'${status}'`).join(', ');
  const open = `CancelBy > '${instant(nowMs)}' OR StartTime > '${instant(nowMs - LOST_WITHIN_MS)}'`;
  return `WorkflowType = '${SCREEN_ORDER}' AND ExecutionStatus IN (${statuses}) AND (${open})`;
}

/** @returns the lost orders, at most so many */
export async function lostOrders(client: Client, limit: number, nowMs = Date.now()): Promise<LostOrder[]> {
  const found: LostOrder[] = [];
  for await (const execution of client.workflow.list({ query: lostQuery(nowMs) })) {
    const lost = lostBy(execution, nowMs);
    if (lost !== undefined) found.push(lost);
    if (found.length >= limit) break;
  }
  const lost: LostOrder[] = [];
  for (let from = 0; from < found.length; from += AT_A_TIME) {
    const some = found.slice(from, from + AT_A_TIME);
    const newest = await Promise.all(some.map((one) => isNewestRun(client, one)));
    lost.push(...some.filter((_one, index) => newest[index]));
  }
  return lost;
}

function lostBy(execution: WorkflowExecutionInfo, nowMs: number): LostOrder | undefined {
  const { workflowId, runId, closeTime, typedSearchAttributes: attributes } = execution;
  const status = LOST_STATUSES.find((one) => one.toUpperCase() === execution.status.name.replaceAll('_', ''));
  if (status === undefined) return undefined;
  const phase = attributes.get(orderAttributes.phase);
  if (phase === 'canceled' || phase === 'closed') return undefined;
  const cancelBy = attributes.get(orderAttributes.cancelBy);
  if (cancelBy !== undefined && cancelBy.getTime() <= nowMs) return undefined;
  // Without a window it had no answer. One that failed then was refused when it was started, and its caller was told.
  if (cancelBy === undefined && (status === 'Failed' || (phase ?? 'screening') !== 'screening'))
    return undefined;
  return { workflowId, runId, status, since: (closeTime ?? new Date(nowMs)).toISOString() };
}

/** A reset terminates the run before it, and a refused start may be followed by a good one. */
async function isNewestRun(client: Client, { workflowId, runId }: LostOrder): Promise<boolean> {
  try {
    return (await client.workflow.getHandle(workflowId).describe()).runId === runId;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
