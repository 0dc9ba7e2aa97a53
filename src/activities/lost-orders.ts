/** Orders that ended too early while they could still be canceled: terminated, timed out, or failed unexpectedly. */
import type { Client } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { attributesIn } from '../client/decode.ts';
import { describeOrder, instantOf, statusName } from '../client/describe-order.ts';
import { SCREEN_ORDER } from '../contract/messages.ts';
import { LOST_STATUSES, LOST_WITHIN_MS, type LostStatus } from '../contract/sweep.ts';
import { type Instant, instant, millis } from '../contract/words.ts';

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

export async function lostOrders(client: Client, limit: number, nowMs = Date.now()): Promise<LostOrder[]> {
  const { executions } = await client.workflowService.listWorkflowExecutions({
    namespace: client.options.namespace,
    query: lostQuery(nowMs),
    pageSize: limit,
  });
  const found = executions.map((one) => lostBy(one, nowMs)).filter((one) => one !== undefined);
  const lost: LostOrder[] = [];
  for (let from = 0; from < found.length; from += AT_A_TIME) {
    const some = found.slice(from, from + AT_A_TIME);
    const newest = await Promise.all(some.map((one) => isNewestRun(client, one)));
    lost.push(...some.filter((_one, index) => newest[index]));
  }
  return lost;
}

function lostBy(
  { execution, status: code, closeTime, searchAttributes }: temporal.api.workflow.v1.IWorkflowExecutionInfo,
  nowMs: number,
): LostOrder | undefined {
  const status = LOST_STATUSES.find((one) => one.toUpperCase() === statusName(code).replaceAll('_', ''));
  if (status === undefined) return undefined;
  const { phase, cancelBy } = attributesIn(searchAttributes?.indexedFields);
  if (phase === 'canceled' || phase === 'closed') return undefined;
  if (cancelBy !== undefined && millis(cancelBy) <= nowMs) return undefined;
  // Without a window it had no answer. One that failed then was refused when it was started, and its caller was told.
  if (cancelBy === undefined && (status === 'Failed' || (phase ?? 'screening') !== 'screening'))
    return undefined;
  const workflowId = execution?.workflowId ?? '';
  return { workflowId, runId: execution?.runId ?? '', status, since: instantOf(closeTime) ?? instant(nowMs) };
}

/** A reset terminates the run before it, and a refused start may be followed by a good one. */
async function isNewestRun(client: Client, { workflowId, runId }: LostOrder): Promise<boolean> {
  return (await describeOrder({ client }, workflowId))?.runId === runId;
}
