/** Orders that ended too early while they could still be canceled: terminated, timed out, or failed unexpectedly. */
import type { Client } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { inBatches } from '../../client/lists/in-batches.ts';
import { type Attributes, attributesIn } from '../../client/reading/decode.ts';
import { describeOrder, instantOf, statusName } from '../../client/reading/describe-order.ts';
import { SCREEN_ORDER } from '../../contract/messages.ts';
import { LOST_STATUSES, LOST_WITHIN_MS, type LostStatus } from '../../contract/sweep.ts';
import { type Instant, instant, millis } from '../../contract/words.ts';

export interface LostOrder {
  workflowId: string;
  runId: string;
  status: LostStatus;
  /** When the workflow ended. */
  since: Instant;
}

/** @returns the visibility query for lost orders. It also finds a few that a later run has replaced */
export function lostQuery(nowMs: number): string {
  const statuses = LOST_STATUSES.map((status) => `'${status}'`).join(', ');
  const open = `CancelBy > '${instant(nowMs)}' OR StartTime > '${instant(nowMs - LOST_WITHIN_MS)}'`;
  // Leaves out refused starts: a file of refused adoptions would fill the page.
  const started = "(ExecutionStatus != 'Failed' OR CancelBy IS NOT NULL)";
  return `WorkflowType = '${SCREEN_ORDER}' AND ExecutionStatus IN (${statuses}) AND (${open}) AND ${started}`;
}

export async function lostOrders(client: Client, limit: number, nowMs = Date.now()): Promise<LostOrder[]> {
  const { executions } = await client.workflowService.listWorkflowExecutions({
    namespace: client.options.namespace,
    query: lostQuery(nowMs),
    pageSize: limit,
  });
  const found = executions.map((one) => lostBy(one, nowMs)).filter((one) => one !== undefined);
  const isNewest = await inBatches(found, (one) => isNewestRun(client, one));
  return found.filter((_one, index) => isNewest[index]);
}

/**
 * @param code the status of the order's workflow in Temporal's API
 * @returns the status if the workflow ended too early. An order that failed without a cancel window did not: its start was refused, and
 *   the caller received the refusal
 */
export function tooEarly(
  code: number | null | undefined,
  { cancelBy }: Pick<Attributes, 'cancelBy'>,
): LostStatus | undefined {
  const status = LOST_STATUSES.find((one) => one.toUpperCase() === statusName(code).replaceAll('_', ''));
  return status === 'Failed' && cancelBy === undefined ? undefined : status;
}

function lostBy(
  { execution, status: code, closeTime, searchAttributes }: temporal.api.workflow.v1.IWorkflowExecutionInfo,
  nowMs: number,
): LostOrder | undefined {
  const attributes = attributesIn(searchAttributes?.indexedFields);
  const status = tooEarly(code, attributes);
  if (status === undefined) return undefined;
  const { phase, cancelBy } = attributes;
  if (phase === 'canceled' || phase === 'closed') return undefined;
  if (cancelBy !== undefined && millis(cancelBy) <= nowMs) return undefined;
  // Without a cancel window the order had no answer yet.
  if (cancelBy === undefined && (phase ?? 'screening') !== 'screening') return undefined;
  const workflowId = execution?.workflowId ?? '';
  return { workflowId, runId: execution?.runId ?? '', status, since: instantOf(closeTime) ?? instant(nowMs) };
}

/** Only the newest run counts: a reset terminates the previous run, and a refused start may be followed by a successful one. */
async function isNewestRun(client: Client, { workflowId, runId }: LostOrder): Promise<boolean> {
  return (await describeOrder({ client }, workflowId))?.runId === runId;
}
