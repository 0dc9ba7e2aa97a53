/** Orders from Temporal's visibility, newest first; up to 2 s behind. Design sections 5 and 8. */

import { createHash } from 'node:crypto';
import type { TypedSearchAttributes } from '@temporalio/common';
import { decodeTypedSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes.js';
import { z } from 'zod';
import { type OrderKey, orderOfWorkflowId } from '../orders/ids.ts';
import { SCREEN_ORDER } from '../orders/messages.ts';
import {
  cancelBy,
  needsAttention,
  orderAmount,
  screeningAction,
  screeningDecision,
  screeningIntegration,
  screeningPhase,
  transactionId,
} from '../orders/search-attributes.ts';
import { ACTIONS, type Instant, ORDER_DECISIONS, PHASES } from '../orders/words.ts';
import type { ClientContext } from './context.ts';
import { instantOf } from './instant-of.ts';
import { invalidRequest } from './read-requests.ts';
import { asOrderError } from './temporal-errors.ts';
import type { ListRequest, OrderList, OrderSummary } from './types.ts';
import { READ_WITHIN_MS, within } from './within.ts';

const DEFAULT_LIMIT = 50;
const CHECK_BYTES = 8;

const phases = z.enum(PHASES);
const decisions = z.enum(ORDER_DECISIONS);
const actions = z.enum(ACTIONS);

/** @see OrderScreening.list */
export async function listOrders({ client }: ClientContext, request: ListRequest = {}): Promise<OrderList> {
  const query = queryOf(request);
  const nextPageToken = request.cursor === undefined ? undefined : tokenOf(request.cursor, query);
  const page = await asOrderError(() =>
    within(client, Date.now() + READ_WITHIN_MS, () =>
      client.workflowService.listWorkflowExecutions({
        namespace: client.options.namespace,
        query,
        pageSize: request.limit ?? DEFAULT_LIMIT,
        ...(nextPageToken && { nextPageToken }),
      }),
    ),
  );
  const orders = page.executions.flatMap(
    ({ execution, searchAttributes, startTime, closeTime }): OrderSummary[] => {
      const name = orderOfWorkflowId(execution?.workflowId ?? '');
      const attributes = decodeTypedSearchAttributes(searchAttributes?.indexedFields);
      const closedAt = instantOf(closeTime);
      return name === undefined ? [] : [summaryOf(name, attributes, instantOf(startTime) ?? '', closedAt)];
    },
  );
  const more = page.nextPageToken;
  return { orders, ...(more.length > 0 && { cursor: cursorOf(more, query) }) };
}

/** @returns a visibility query @throws nothing: each value is one of ours, or quoted */
export function queryOf(request: ListRequest): string {
  const { integration, phase, decision, attention, queued, open } = request;
  const conditions = [
    `WorkflowType = '${SCREEN_ORDER}'`,
    "ExecutionStatus != 'ContinuedAsNew'",
    ...(integration === undefined ? [] : [`${screeningIntegration.name} = ${quoted(integration)}`]),
    ...(phase === undefined ? [] : [`${screeningPhase.name} = ${quoted(phase)}`]),
    ...(decision === undefined ? [] : [`${screeningDecision.name} = ${quoted(decision)}`]),
    ...(attention === undefined ? [] : [`${needsAttention.name} = ${attention}`]),
    ...(queued ? [`(${screeningPhase.name} = 'review' OR ${needsAttention.name} = true)`] : []),
    ...(open === undefined ? [] : [`ExecutionStatus ${open ? '=' : '!='} 'Running'`]),
    ...deadlineConditions(request.cancelBy),
  ];
  return conditions.join(' AND ');
}

function deadlineConditions(range: ListRequest['cancelBy']): string[] {
  if (range === undefined) return [];
  if (range === 'none') return [`${cancelBy.name} IS NULL`];
  const { from, until } = range;
  return [
    ...(from === undefined ? [] : [`${cancelBy.name} >= ${quoted(from)}`]),
    ...(until === undefined ? [] : [`${cancelBy.name} < ${quoted(until)}`]),
    // Without a bound at all, an order without the deadline would be among them.
    `${cancelBy.name} IS NOT NULL`,
  ];
}

/** @returns a value as a string of the query language */
export function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** @returns an order as Temporal's server shows it, without a worker */
export function summaryOf(
  name: OrderKey,
  attributes: TypedSearchAttributes,
  startedAt: Instant,
  closedAt: Instant | undefined,
): OrderSummary {
  const phase = phases.safeParse(attributes.get(screeningPhase));
  const decision = decisions.safeParse(attributes.get(screeningDecision));
  const action = actions.safeParse(attributes.get(screeningAction));
  const until = attributes.get(cancelBy);
  const amount = attributes.get(orderAmount);
  return {
    ...name,
    startedAt,
    ...(closedAt !== undefined && { closedAt }),
    needsAttention: attributes.get(needsAttention) ?? false,
    transactionIds: attributes.get(transactionId) ?? [],
    ...(phase.success && { phase: phase.data }),
    ...(decision.success && { decision: decision.data }),
    ...(action.success && { action: action.data }),
    ...(until !== undefined && { cancelBy: until.toISOString() }),
    ...(amount !== undefined && { amount }),
  };
}

/** The server answers a token that isn't its own by no answer at all, so a cursor carries a check of its own. */
function cursorOf(token: Uint8Array, query: string): string {
  return Buffer.concat([check(token, query), token]).toString('base64url');
}

function tokenOf(cursor: string, query: string): Uint8Array {
  const bytes = Buffer.from(cursor, 'base64url');
  const token = bytes.subarray(CHECK_BYTES);
  if (check(token, query).equals(bytes.subarray(0, CHECK_BYTES))) return token;
  throw invalidRequest([
    { path: 'cursor', message: 'must be the cursor of the answer before, with the same filters' },
  ]);
}

function check(token: Uint8Array, query: string): Buffer {
  return createHash('sha256').update(query).update(token).digest().subarray(0, CHECK_BYTES);
}
