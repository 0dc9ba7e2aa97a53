/** Reads orders from Temporal: one from its query or its result, many from the visibility store. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import {
  type Client,
  type WorkflowExecutionDescription,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { Timestamp, TypedSearchAttributes } from '@temporalio/common';
import { z } from 'zod';
import { orderAttributes } from '../orders/describe.ts';
import { type OrderErrorCode, OrderScreeningError } from '../orders/errors.ts';
import { type OrderKey, orderOfWorkflowId } from '../orders/ids.ts';
import { orderQuery, SCREEN_ORDER } from '../orders/messages.ts';
import type { OrderState } from '../orders/state.ts';
import { ACTIONS, type Instant, instant, ORDER_DECISIONS, PHASES } from '../orders/words.ts';
import { invalidRequest } from './read-requests.ts';
import { decodeTypedSearchAttributes } from './sdk-internals.ts';
import {
  asOrderError,
  orderClosed,
  READ_WITHIN_MS,
  toOrderError,
  unknownOrder,
  within,
} from './temporal-errors.ts';
import type { ClientContext, ListRequest, OrderList, OrderSummary } from './types.ts';

/** @returns the whole state @throws OrderScreeningError `unknown-order`, `temporal-unavailable` */
export async function readOrder(context: ClientContext, workflowId: string): Promise<OrderState> {
  const found = await findOrder(context, workflowId);
  if (found === undefined) throw unknownOrder();
  return found;
}

/** @returns the whole state; undefined when Temporal knows no such order */
export async function findOrder(context: ClientContext, workflowId: string): Promise<OrderState | undefined> {
  const description = await describeOrder(context, workflowId);
  if (description === undefined) return undefined;
  return isOpen(description) ? openState(context, workflowId) : finalRecord(context, workflowId);
}

/** @returns whether an order goes on; also one that an operator has paused, or is in a state of newer servers */
export function isOpen({ closeTime }: WorkflowExecutionDescription): boolean {
  return closeTime === undefined;
}

/** @returns the state of an open order, from a worker @throws OrderScreeningError `temporal-unavailable` without one */
export async function openState(
  { client }: ClientContext,
  workflowId: string,
  withinMs: number = READ_WITHIN_MS,
): Promise<OrderState> {
  return asOrderError(() =>
    within(client, Date.now() + withinMs, () => client.workflow.getHandle(workflowId).query(orderQuery)),
  );
}

/** @returns what the server knows of an order, which takes no worker; undefined when it knows none */
export async function describeOrder(
  { client }: ClientContext,
  workflowId: string,
  withinMs: number = READ_WITHIN_MS,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await within(client, Date.now() + withinMs, () =>
      client.workflow.getHandle(workflowId).describe(),
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw toOrderError(error);
  }
}

/** @returns the state that a closed order's workflow returned @throws OrderScreeningError when it has none */
export async function finalRecord(
  { client }: ClientContext,
  workflowId: string,
  withinMs: number = READ_WITHIN_MS,
): Promise<OrderState> {
  try {
    return await within(client, Date.now() + withinMs, () =>
      client.workflow.getHandle<() => Promise<OrderState>>(workflowId).result(),
    );
  } catch (error) {
    const known = toOrderError(error);
    if (known instanceof OrderScreeningError && NOTHING_ADOPTED.includes(known.code)) throw unknownOrder();
    if (error instanceof WorkflowFailedError && !(known instanceof OrderScreeningError)) throw orderClosed();
    throw known;
  }
}

/** With these an adoption fails before it is an order: there is none then. */
const NOTHING_ADOPTED: readonly OrderErrorCode[] = [
  'unknown-transaction',
  'transaction-without-decision',
  'invoice-mismatch',
  'screening-service-unavailable',
];

/**
 * Says what it means that an order took an update no more.
 * @returns the record of the closed order
 * @throws OrderScreeningError `unknown-order`, `temporal-unavailable`, `order-closed` for one that has no record
 */
export async function closedOrder(context: ClientContext, workflowId: string): Promise<OrderState> {
  const description = await describeOrder(context, workflowId);
  if (description === undefined) throw unknownOrder();
  try {
    return await finalRecord(context, workflowId);
  } catch (error) {
    // What was wrong when the order was started isn't wrong with what is asked of it now.
    const other = error instanceof OrderScreeningError && !TOLD_AS_IT_IS.includes(error.code);
    throw other ? orderClosed() : error;
  }
}

const TOLD_AS_IT_IS: readonly OrderErrorCode[] = ['temporal-unavailable', 'unknown-order'];

// Orders from Temporal's visibility, newest first; up to 2 s behind.

const DEFAULT_LIMIT = 50;
const CHECK_BYTES = 16;

const phases = z.enum(PHASES);
const decisions = z.enum(ORDER_DECISIONS);
const actions = z.enum(ACTIONS);

/** @see OrderScreening.list */
export async function listOrders({ client }: ClientContext, request: ListRequest = {}): Promise<OrderList> {
  if (request.integrations?.length === 0) return { orders: [] };
  const query = queryOf(request);
  const nextPageToken =
    request.cursor === undefined ? undefined : await tokenOf(client, request.cursor, query);
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
  return { orders, ...(more.length > 0 && { cursor: await cursorOf(client, more, query) }) };
}

/** @returns a visibility query @throws nothing: each value is one of ours, or quoted */
export function queryOf(request: ListRequest): string {
  const { integration, integrations, phase, decision, attention, queued, open } = request;
  const conditions = [
    `WorkflowType = '${SCREEN_ORDER}'`,
    "ExecutionStatus != 'ContinuedAsNew'",
    ...(integration === undefined ? [] : [`${orderAttributes.integration.name} = ${quoted(integration)}`]),
    ...(integrations === undefined ? [] : [oneOf(orderAttributes.integration.name, integrations)]),
    ...(phase === undefined ? [] : [`${orderAttributes.phase.name} = ${quoted(phase)}`]),
    ...(decision === undefined ? [] : [`${orderAttributes.decision.name} = ${quoted(decision)}`]),
    ...(attention === undefined ? [] : [`${orderAttributes.needsAttention.name} = ${attention}`]),
    ...(queued
      ? [`(${orderAttributes.phase.name} = 'review' OR ${orderAttributes.needsAttention.name} = true)`]
      : []),
    ...(open === undefined ? [] : [`ExecutionStatus ${open ? '=' : '!='} 'Running'`]),
    ...deadlineConditions(request.cancelBy),
  ];
  return conditions.join(' AND ');
}

function deadlineConditions(range: ListRequest['cancelBy']): string[] {
  if (range === undefined) return [];
  if (range === 'none') return [`${orderAttributes.cancelBy.name} IS NULL`];
  const { from, until } = range;
  return [
    ...(from === undefined ? [] : [`${orderAttributes.cancelBy.name} >= ${quoted(from)}`]),
    ...(until === undefined ? [] : [`${orderAttributes.cancelBy.name} < ${quoted(until)}`]),
    // Without a bound at all, an order without the deadline would be among them.
    `${orderAttributes.cancelBy.name} IS NOT NULL`,
  ];
}

function oneOf(attribute: string, values: readonly string[]): string {
  return `(${values.map((value) => `${attribute} = ${quoted(value)}`).join(' OR ')})`;
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
  const phase = phases.safeParse(attributes.get(orderAttributes.phase));
  const decision = decisions.safeParse(attributes.get(orderAttributes.decision));
  const action = actions.safeParse(attributes.get(orderAttributes.action));
  const until = attributes.get(orderAttributes.cancelBy);
  const amount = attributes.get(orderAttributes.amount);
  return {
    ...name,
    startedAt,
    ...(closedAt !== undefined && { closedAt }),
    needsAttention: attributes.get(orderAttributes.needsAttention) ?? false,
    transactionIds: attributes.get(orderAttributes.transactionId) ?? [],
    ...(phase.success && { phase: phase.data }),
    ...(decision.success && { decision: decision.data }),
    ...(action.success && { action: action.data }),
    ...(until !== undefined && { cancelBy: until.toISOString() }),
    ...(amount !== undefined && { amount }),
  };
}

/** The server answers a token that isn't its own by no answer at all: rule «own cursors». */
async function cursorOf(client: Client, token: Uint8Array, query: string): Promise<string> {
  return Buffer.concat([check(await cursorKey(client), token, query), token]).toString('base64url');
}

async function tokenOf(client: Client, cursor: string, query: string): Promise<Uint8Array> {
  const bytes = Buffer.from(cursor, 'base64url');
  const given = bytes.subarray(0, CHECK_BYTES);
  const token = bytes.subarray(CHECK_BYTES);
  const expected = check(await cursorKey(client), token, query);
  if (given.length === CHECK_BYTES && timingSafeEqual(expected, given)) return token;
  throw invalidRequest([
    { path: 'cursor', message: 'must be the cursor of the answer before, with the same filters' },
  ]);
}

function check(key: string, token: Uint8Array, query: string): Buffer {
  return createHmac('sha256', key)
    .update(JSON.stringify(query))
    .update(token)
    .digest()
    .subarray(0, CHECK_BYTES);
}

const cursorKeys = new WeakMap<Client, Promise<string>>();

/**
 * The id that the server gave the namespace at random: the one thing that all processes of a deployment know without
 * a setting, and that callers don't. Who can ask Temporal for it can list every order there as well.
 */
function cursorKey(client: Client): Promise<string> {
  const known = cursorKeys.get(client);
  if (known !== undefined) return known;
  const { namespace } = client.options;
  const asked = asOrderError(() =>
    within(client, Date.now() + READ_WITHIN_MS, () =>
      client.workflowService.describeNamespace({ namespace }),
    ),
  ).then(({ namespaceInfo }) => namespaceInfo?.id ?? '');
  cursorKeys.set(client, asked);
  asked.catch(() => cursorKeys.delete(client));
  return asked;
}

/** An order's transaction doesn't move: a flood of webhooks about one asks visibility, which is slow and limited, once in a while. */
const KEPT_MS = 5_000;

/** Look-ups of what is kept for a short time once it is found. Those that come meanwhile share one. */
export class LookUps<Found> {
  readonly #known = new Map<string, Promise<Found | undefined>>();

  /** @returns what `ask` found under the key, now or a moment ago; what wasn't found is asked for again */
  find(key: string, ask: () => Promise<Found | undefined>): Promise<Found | undefined> {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const asked = ask();
    this.#known.set(key, asked);
    const forget = (): void => void this.#known.delete(key);
    asked.then((found) => {
      if (found === undefined) forget();
      else setTimeout(forget, KEPT_MS).unref();
    }, forget);
    return asked;
  }
}

/** @returns a moment of Temporal's API as the product writes it, to the millisecond; undefined when it is none */
export function instantOf(at: Timestamp | null | undefined): Instant | undefined {
  const ms = msOf(at);
  return ms === undefined ? undefined : instant(ms);
}

/** @returns milliseconds of a moment or a duration of Temporal's API; undefined when it is none */
export function msOf(time: Timestamp | null | undefined): number | undefined {
  if (time === null || time === undefined) return undefined;
  return Number(time.seconds ?? 0) * 1_000 + Math.floor((time.nanos ?? 0) / 1_000_000);
}
