/** Describes workflow runs by Temporal's API. Needs no worker. */
import { type Client, isGrpcServiceError } from '@temporalio/client';
import type { Timestamp } from '@temporalio/common';
import proto, { type temporal } from '@temporalio/proto';
import { type Instant, instant } from '../../contract/words.ts';
import { defined } from '../../order/defined.ts';
import { quoted, STARTED } from '../../order/view/search-attributes.ts';
import { listWorkflows } from '../lists/visibility.ts';
import { grpcCode, READ_WITHIN_MS, toOrderError, within } from '../temporal-errors.ts';
import type { ClientContext } from '../types.ts';
import { type Attributes, attributesIn } from './decode.ts';

/** A run of an order, or of another workflow, as descriptions and lists have it. */
export interface Run {
  workflowId: string;
  runId: string;
  /** `closed`: terminated, timed out or canceled, so the workflow returned no result. `open` includes paused. */
  status: 'open' | 'completed' | 'failed' | 'closed';
  startedAt: Instant;
  closedAt?: Instant;
  attributes: Attributes;
  memo: temporal.api.common.v1.IMemo['fields'];
}

export interface DescribedOrder extends Run {
  historyLength: number;
  raw: Awaited<ReturnType<Client['workflowService']['describeWorkflowExecution']>>;
}

/**
 * Describes an order. Unlike the SDK's `describe`, it doesn't fail if the memo can't be decrypted.
 * @param runId absent: the newest run
 * @returns undefined if the order doesn't exist
 */
export async function describeOrder(
  { client }: Pick<ClientContext, 'client'>,
  workflowId: string,
  runId?: string,
): Promise<DescribedOrder | undefined> {
  const { namespace } = client.options;
  try {
    const raw = await within(client, Date.now() + READ_WITHIN_MS, () =>
      client.workflowService.describeWorkflowExecution({
        namespace,
        execution: { workflowId, ...defined({ runId }) },
      }),
    );
    const info = raw.workflowExecutionInfo ?? {};
    return { ...runOf(info), workflowId, historyLength: Number(info.historyLength ?? 0), raw };
  } catch (error) {
    if (isUnknownOrder(error)) return undefined;
    throw toOrderError(error);
  }
}

/**
 * Describes the newest run of an order, unless its start was refused, as of a failed adoption: then the run before, if there is one. Only
 * then it queries visibility, which may still list the refused run as running.
 */
export async function newestStarted(
  context: Pick<ClientContext, 'client'>,
  workflowId: string,
): Promise<DescribedOrder | undefined> {
  const newest = await describeOrder(context, workflowId);
  if (newest === undefined || !isRefusedStart(newest)) return newest;
  return (await startedBefore(context, newest)) ?? newest;
}

/** Returns the newest of an order's other runs whose start was not refused. Lists may still show a refused one as running. */
export async function startedBefore(
  context: Pick<ClientContext, 'client'>,
  { workflowId, runId }: Pick<Run, 'workflowId' | 'runId'>,
): Promise<DescribedOrder | undefined> {
  const query = `WorkflowId = ${quoted(workflowId)} AND RunId != ${quoted(runId)} AND ${STARTED}`;
  const { executions } = await listWorkflows(context.client, query, MOST_REFUSED + 1);
  for (const other of executions.map(runOf)) {
    const described = await describeOrder(context, workflowId, other.runId);
    if (described !== undefined && !isRefusedStart(described)) return described;
  }
  return undefined;
}

/** How many refused starts a list may still show as running. */
const MOST_REFUSED = 9;

export function isRefusedStart({
  status,
  attributes,
}: Pick<DescribedOrder, 'status' | 'attributes'>): boolean {
  return status === 'failed' && attributes.cancelBy === undefined;
}

/** The ids of runs that a later run has replaced, which are not described again. */
const replacedRuns = new WeakMap<Client, Set<string>>();

/** Only the newest run counts: a reset terminates the previous run, and a lost order may be adopted again. */
export async function isNewestRun(
  { client }: Pick<ClientContext, 'client'>,
  { workflowId, runId }: Pick<Run, 'workflowId' | 'runId'>,
): Promise<boolean> {
  const replaced = replacedRuns.get(client) ?? new Set();
  replacedRuns.set(client, replaced);
  if (replaced.has(runId)) return false;
  const newest = await newestStarted({ client }, workflowId);
  // Without a cancel window the newest run may still be refused.
  if (newest?.runId !== runId && newest?.attributes.cancelBy !== undefined) replaced.add(runId);
  return newest?.runId === runId;
}

/** A missing namespace has the same code: only the message distinguishes it. */
function isUnknownOrder(error: unknown): boolean {
  if (!isGrpcServiceError(error) || error.code !== grpcCode.notFound) return false;
  return !/^Namespace \S+ is not found/i.test(error.details);
}

export function runOf(info: temporal.api.workflow.v1.IWorkflowExecutionInfo): Run {
  const name = statusName(info.status).toLowerCase();
  // The order continues in the next run.
  const closedAt = name === 'continued_as_new' ? undefined : instantOf(info.closeTime);
  const ended = name === 'completed' || name === 'failed' ? name : 'closed';
  return {
    workflowId: info.execution?.workflowId ?? '',
    runId: info.execution?.runId ?? '',
    status: closedAt === undefined ? 'open' : ended,
    startedAt: instantOf(info.startTime) ?? '',
    ...defined({ closedAt }),
    attributes: attributesIn(info.searchAttributes?.indexedFields),
    memo: info.memo?.fields,
  };
}

const { WorkflowExecutionStatus } = proto.temporal.api.enums.v1;

/** Returns the name of a workflow status, such as `TIMED_OUT`. */
export function statusName(code: number | null | undefined): string {
  return (WorkflowExecutionStatus[code ?? 0] ?? '').replace('WORKFLOW_EXECUTION_STATUS_', '');
}

/** Converts a timestamp of Temporal's API, to the millisecond; undefined without one. */
export function instantOf(at: Timestamp | null | undefined): Instant | undefined {
  const ms = msOf(at);
  return ms === undefined ? undefined : instant(ms);
}

/** Converts a timestamp or duration of Temporal's API to milliseconds; undefined without one. */
export function msOf(time: Timestamp | null | undefined): number | undefined {
  if (time === null || time === undefined) return undefined;
  return Number(time.seconds ?? 0) * 1_000 + Math.floor((time.nanos ?? 0) / 1_000_000);
}
