/** Shared parts of the screening activities: the policy, the attempt, any unresolved create of an earlier attempt, and its lookup. */
import { activityInfo, log } from '@temporalio/activity';
import type { ScreeningOutcome, ScreenRequest } from '../../contract/activity-contract.ts';
import type { FieldError } from '../../contract/errors.ts';
import { sameTransaction } from '../../contract/ids.ts';
import type { Integration, Policy } from '../../contract/policy.ts';
import { type Instant, type IntegrationWorkflow, instant } from '../../contract/words.ts';
import { defined } from '../../order/defined.ts';
import { orderFactsOf, policyFor } from '../../order/order-rules.ts';
import {
  type ScreeningClient,
  ScreeningError,
  type TransactionResponse,
} from '../../screening-service/index.ts';
import { type ActivityWorld, clientOf, fieldErrorWords, senderOf } from '../activity-world.ts';
import type { Clock } from '../server-clock.ts';
import { arrivalAfter, earlierHeartbeat, isAfterReset, lastTry } from '../tries.ts';

export interface Try extends Clock {
  request: ScreenRequest;
  world: ActivityWorld;
  integration: Integration;
  workflow: IntegrationWorkflow;
  client: ScreeningClient;
  /** Deadline of the attempt by the machine's monotonic clock. */
  until: number;
  /** Called right before a create is sent, so that the next attempt learns the time if this one is lost. */
  beforeCreate?: (sentFrom: Instant) => void;
}

/** An unresolved create. */
export interface Unseen {
  /** The earliest time at which it may have been sent. */
  since: Instant;
  /** Until then it may still arrive: a lookup that finds nothing before proves nothing. */
  arrivesBy?: Instant | undefined;
}

export function beginTry(
  world: ActivityWorld,
  request: ScreenRequest,
  integration: Integration,
  forMs: number,
  clock: Clock,
): Try {
  const workflow = request.workflow ?? integration.workflow;
  const client = clientOf(world, integration);
  return { ...clock, request, world, integration, workflow, client, until: clock.elapsed + forMs };
}

export function policyOf(world: ActivityWorld, request: ScreenRequest, integration: Integration): Policy {
  const facts = orderFactsOf(request.transaction);
  return policyFor(integration, request.workflow, facts, senderOf(world, integration.name) !== undefined);
}

/**
 * Returns the unresolved create of an earlier attempt, effect or run:
 * - after a reset, the previous run may have sent one at any time since the order's start;
 * - on the first attempt, the order's state has it;
 * - after an attempt that reported its end, its report has it;
 * - after an attempt that did not report (its worker died, or it timed out), that attempt may have sent one just now. The heartbeat of an
 *   earlier attempt is newer than the order's state.
 */
export function unseenBefore(request: ScreenRequest, now: Instant): Unseen | undefined {
  const { reported, unseenSince, at, arrivesBy } = earlierHeartbeat();
  const last = lastTry();
  if (last > 0 && reported === last) {
    return unseenSince === undefined ? undefined : { since: unseenSince, arrivesBy };
  }
  const known = isAfterReset() ? request.startedAt : request.unseenSince;
  if (last === 0) return known === undefined ? undefined : { since: known, arrivesBy: arrivalAfter(now) };
  const since = unseenSince ?? at ?? known ?? instant(activityInfo().scheduledTimestampMs);
  return { since, arrivesBy: arrivalAfter(now) };
}

export function unanswered(
  reason: string,
  unseenSince: Instant | undefined,
  notBefore?: Instant,
): ScreeningOutcome {
  return { kind: 'unanswered', reason, ...defined({ unseenSince, notBefore }) };
}

export function refusedByRules(
  fieldErrors: FieldError[],
  unseenSince: Instant | undefined,
): ScreeningOutcome {
  return {
    kind: 'refused',
    reason: 'invalid-request',
    words: fieldErrorWords(fieldErrors),
    ...defined({ unseenSince }),
  };
}

/** Result of a lookup by invoice number, which returns the first transaction only. */
type Looked =
  /** A transaction that is new to the order and belongs to no other order. `decision` is absent if it is unknown. */
  | { kind: 'found'; transaction: Pick<TransactionResponse, 'id'> & Partial<TransactionResponse> }
  /** A transaction of an earlier attempt or another order, which says nothing about this attempt. */
  | { kind: 'known' }
  | { kind: 'none' };

/** @throws ScreeningError if the lookup fails for another reason than `not-found` */
export async function lookByInvoice(
  world: ActivityWorld,
  client: ScreeningClient,
  { invoiceNumber, knownTransactionIds }: { invoiceNumber: string; knownTransactionIds: string[] },
  timeoutMs: number,
): Promise<Looked> {
  const lookedAt = await client.statusByInvoice(invoiceNumber, { timeoutMs }).catch((error: unknown) => {
    if (!(error instanceof ScreeningError)) throw error;
    const { reason, transactionId: id } = error;
    if (reason === 'not-found') return undefined;
    if (id === undefined) throw error;
    return { id };
  });
  if (lookedAt === undefined) return { kind: 'none' };
  const { id } = lookedAt;
  const isKnown =
    knownTransactionIds.some((known) => sameTransaction(known, id)) || (await isAnothers(world, id));
  return isKnown ? { kind: 'known' } : { kind: 'found', transaction: lookedAt };
}

/**
 * @returns whether the transaction belongs to another order: two integrations with the same key may use the same invoice number. If the
 * list of orders can't be queried, returns false
 */
async function isAnothers({ orders }: ActivityWorld, transactionId: string): Promise<boolean> {
  if (orders === undefined) return false;
  const own = activityInfo().workflowExecution?.workflowId;
  try {
    return (await orders.withTransaction(transactionId)).some((workflowId) => workflowId !== own);
  } catch (error) {
    log.warn('could not check whether a transaction belongs to another order', { error });
    return false;
  }
}
