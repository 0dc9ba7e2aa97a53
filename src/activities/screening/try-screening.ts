/**
 * One activity attempt ("try") to get a decision: look up an unresolved create, else create. A create is unresolved ("unseen") while it
 * may have been sent and its transaction has not been seen.
 */
import { log } from '@temporalio/activity';
import { CardStashError } from '../../card-stash/index.ts';
import type {
  Fingerprinted,
  ScreeningOutcome,
  ScreenRequest,
  Sent,
} from '../../contract/activity-contract.ts';
import type { Integration } from '../../contract/policy.ts';
import { type Instant, millis } from '../../contract/words.ts';
import { defined } from '../../order/defined.ts';
import { enrichedOf } from '../../order/record.ts';
import {
  type CardData,
  cardOfWorkflow,
  fingerprint,
  fingerprintOfRaw,
  parseTransaction,
  ScreeningError,
  sleepOn,
  type Transaction,
  type TransactionResponse,
  transactionRules,
} from '../../screening-service/index.ts';
import { arrivalAfter, CREATE_WITHIN_MS, GIVEN_UP_AFTER_MS, SEND_WITHIN_MS } from '../tries.ts';
import { lookByInvoice, type Try, type Unseen } from './begin-screening.ts';

/** The screening service gave no answer. The message contains no key, address or card data. */
export interface NoAnswer {
  kind: 'no-answer';
  reason: string;
  message: string;
  /** The unresolved create of this attempt or an earlier one. */
  unseen?: Unseen;
  retryAfterMs?: number;
}

type Tried = Exclude<ScreeningOutcome, { kind: 'skipped' | 'unanswered' }> | NoAnswer;
type Answered = Extract<ScreeningOutcome, { kind: 'answered' }>;

/** With less time left than this, in milliseconds, no request is sent. */
export const LEAST_TIME_MS = 50;

const LOOK_EVERY_MS = 250;

/** An earlier create may still arrive or can't be looked up. A second create could make a second transaction. */
export const EARLIER_TRY = {
  reason: 'earlier-try',
  message: 'an earlier create may still arrive',
} as const;

/** @returns whether a lookup at that time proves nothing if it finds nothing */
export function mayStillArrive({ arrivesBy }: Unseen, at: Instant): boolean {
  return arrivesBy !== undefined && at < arrivesBy;
}

/**
 * Checks the transaction against the current rules. `content` has the fingerprint that the client library normally computes, for an
 * order that was started without one by another tool.
 */
export function checkTransaction(
  request: ScreenRequest,
  integration: Integration,
): { checked: ReturnType<typeof parseTransaction>; content: Fingerprinted } {
  const { transaction, cardRef, fingerprintMissing } = request;
  const rules = transactionRules(integration, request.workflow ?? integration.workflow);
  const checked = parseTransaction(transaction, { ...rules, cardInStash: cardRef !== undefined });
  if (fingerprintMissing !== true) return { checked, content: {} };
  const content = checked.ok ? fingerprint(checked.transaction) : fingerprintOfRaw(transaction);
  return { checked, content: { fingerprint: content } };
}

/**
 * Looks up an unresolved create, else creates. A lookup by invoice returns the first transaction only: if that belongs to
 * another attempt or order, a lost create can't be found, so no other create is sent.
 */
export async function tryScreening(
  transaction: Transaction,
  t: Try,
  unseen: Unseen | undefined,
): Promise<Tried> {
  let sendableSince = t.began;
  if (unseen !== undefined) {
    sendableSince = t.time();
    const found = await look(t, unseen);
    if (typeof found !== 'string') return found;
    if (found === 'known')
      return noAnswer(EARLIER_TRY, { ...unseen, arrivesBy: unseen.arrivesBy ?? arrivalAfter(t.time()) });
    if (mayStillArrive(unseen, sendableSince)) return noAnswer(EARLIER_TRY, unseen);
  }
  const card = await cardFor(t);
  // Although the lookup found nothing, the create stays unresolved: a later create needs a new lookup.
  if (card === 'gone') return refused('card-data-expired', unseen);
  const notSent = (reason: string, message: string) => noAnswer({ reason, message }, unseen);
  if (card === 'unreachable') return notSent('card-stash', 'the card stash did not give the card');
  const timeoutMs = Math.min(left(t), CREATE_WITHIN_MS);
  if (timeoutMs < LEAST_TIME_MS) return notSent('no-time-left', 'no time was left to screen the order');
  // Read the clock last, since a process that pauses after this line sends its create late.
  const sentFrom = t.time();
  // The server may have timed this attempt out, or the order may have been reset. The next attempt looks first, and may already create.
  const overdue = millis(sentFrom) - millis(t.handedOut) > GIVEN_UP_AFTER_MS;
  if (overdue || millis(sentFrom) - millis(sendableSince) > SEND_WITHIN_MS) {
    return notSent('stalled', 'the attempt took too long to send its create');
  }
  t.beforeCreate?.(sentFrom);
  try {
    const response = await t.client.createTransaction(
      {
        transaction,
        enrich: t.integration.enrich,
        invoiceNumber: t.request.invoiceNumber,
        ...defined({ card }),
      },
      { timeoutMs },
    );
    return answeredBy(response, t, { found: false, sentFrom });
  } catch (error) {
    if (!(error instanceof ScreeningError)) throw error;
    return afterCreate(error, { found: false, sentFrom, sentUntil: t.time() }, unseen);
  }
}

/**
 * Looks for the transaction of an earlier attempt until this attempt's deadline, since a customer waits. Creates nothing.
 * @param again whether the earlier create may be in flight, so that after a lookup that finds nothing it is worth looking again
 */
export async function awaitEarlier(t: Try, unseen: Unseen, again: boolean): Promise<Tried> {
  for (;;) {
    const found = await look(t, unseen);
    const outcome = outcomeOf(found, unseen);
    if (found === 'known' || (found === 'none' && !again)) return outcome;
    if (outcome.kind !== 'no-answer') return outcome;
    const pauseMs = Math.max(LOOK_EVERY_MS, outcome.retryAfterMs ?? 0);
    if (t.until - t.world.machine.elapsed() < pauseMs + LEAST_TIME_MS) return outcome;
    await sleepOn(t.world.machine, pauseMs);
  }
}

/** Looks once for the transaction of an earlier attempt. Creates nothing. */
export async function lookForEarlier(t: Try, unseen: Unseen): Promise<Tried> {
  return outcomeOf(await look(t, unseen), unseen);
}

function outcomeOf(found: Tried | 'known' | 'none', unseen: Unseen): Tried {
  return typeof found === 'string' ? noAnswer(EARLIER_TRY, unseen) : found;
}

/**
 * Looks for the transaction of an unresolved create.
 * @returns the outcome, or `none`, or `known`: the lookup returned a transaction already on the order or one of another order, and will
 * never return a different one for this invoice number
 */
export async function look(t: Try, unseen: Unseen): Promise<Tried | 'known' | 'none'> {
  const { since: unseenSince } = unseen;
  try {
    const found = await lookByInvoice(t.world, t.client, t.request, left(t));
    if (found.kind !== 'found') return found.kind;
    const how = { found: true, sentFrom: unseenSince };
    const { id: transactionId, decision } = found.transaction;
    if (decision !== undefined) return answeredBy({ ...found.transaction, decision }, t, how);
    const seen = { transactionId, ...how, sentUntil: t.time() };
    return { kind: 'unreadable', reason: 'unknown-decision', seen };
  } catch (error) {
    if (!(error instanceof ScreeningError)) throw error;
    if (error.reason === 'forbidden') return { kind: 'forbidden', unseenSince };
    // The screening service refused the lookup, not the transaction.
    if (error.outcome === 'refused') return { kind: 'unreadable', reason: error.reason, unseenSince };
    // A transaction returned without an id exists, and a second create would duplicate it, so it stays unresolved.
    return noAnswer(error, unseen);
  }
}

/**
 * Outcome of a failed create. If it may have created a transaction, it alone is unresolved: a lookup found nothing from before.
 * @param unseen an earlier create, which stays unresolved if this one created none: a later create needs a new lookup
 */
function afterCreate(
  error: ScreeningError,
  sent: Sent & { found: boolean },
  unseen: Unseen | undefined,
): Tried {
  const { outcome, reason, transactionId, words } = error;
  if (reason === 'forbidden') return { kind: 'forbidden', ...defined({ unseenSince: unseen?.since }) };
  if (transactionId !== undefined) return { kind: 'unreadable', reason, seen: { transactionId, ...sent } };
  // Without an id the transaction stays unresolved.
  if (reason === 'missing-id') return { kind: 'unreadable', reason, unseenSince: sent.sentFrom };
  // The screening service never returns 404 for this operation: the address is wrong, which an operator can fix.
  if (outcome === 'refused' && reason !== 'not-found') {
    return refused('refused', unseen, words?.join('; ') ?? reason);
  }
  if (outcome !== 'unknown') return noAnswer(error, unseen);
  return noAnswer(error, { since: sent.sentFrom, arrivesBy: arrivalAfter(sent.sentUntil) });
}

function refused(reason: string, unseen: Unseen | undefined, words?: string): Tried {
  return { kind: 'refused', reason, ...defined({ words, unseenSince: unseen?.since }) };
}

function noAnswer(
  { reason, message, retryAfterMs }: Pick<ScreeningError, 'message' | 'retryAfterMs'> & { reason: string },
  unseen: Unseen | undefined,
): NoAnswer {
  return { kind: 'no-answer', reason, message, ...defined({ unseen, retryAfterMs }) };
}

function answeredBy(
  response: TransactionResponse,
  { integration: { name, mode }, world: { otherModes }, time }: Try,
  how: { found: boolean; sentFrom: Instant },
): Answered {
  const otherMode = (response.accountMode ?? mode) !== mode && !otherModes.has(name);
  if (otherMode) otherModes.add(name);
  return {
    kind: 'answered',
    transactionId: response.id,
    decision: response.decision,
    ...how,
    sentUntil: time(),
    ...defined({ message: response.message, otherMode: otherMode || undefined }),
    ...enrichedOf(response),
  };
}

/**
 * Reads the card from the stash. With a post-gateway workflow an order can be screened without full card data, so a missing card
 * is left out.
 */
async function cardFor(t: Try): Promise<CardData | 'gone' | 'unreachable' | undefined> {
  const { integration, orderId, cardRef } = t.request;
  if (cardRef === undefined) return undefined;
  const needed = t.workflow === 'pre-gateway';
  try {
    const card = await t.world.cards.get({ integration, orderId, cardRef });
    if (card === undefined) return needed ? 'gone' : undefined;
    return cardOfWorkflow(card, t.workflow);
  } catch (error) {
    // A driver's error message may contain an address.
    const reason = error instanceof CardStashError ? error.reason : 'unexpected';
    log.warn('failed to read the card from the card stash', { integration, reason });
    return needed ? 'unreachable' : undefined;
  }
}

/** Milliseconds until the deadline, at least 1: a lookup that is due is always sent, and then times out at once. */
function left(t: Try): number {
  return Math.max(1, t.until - t.world.machine.elapsed());
}
