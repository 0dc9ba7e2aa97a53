/** One try at a decision: look up a create that nobody has seen, else create. */
import { log } from '@temporalio/activity';
import { CardStashError } from '../cards/index.ts';
import type { Fingerprinted, ScreeningOutcome, ScreenRequest, Sent } from '../contract/activity-contract.ts';
import type { Integration } from '../contract/policy.ts';
import { type Instant, type IntegrationWorkflow, millis } from '../contract/words.ts';
import { defined } from '../orders/defined.ts';
import { enrichedOf } from '../orders/record.ts';
import {
  type CardData,
  cardOfWorkflow,
  fingerprint,
  fingerprintOfRaw,
  parseTransaction,
  type ScreeningClient,
  ScreeningError,
  sleepOn,
  type Transaction,
  type TransactionResponse,
} from '../screening/index.ts';
import type { ActivityWorld } from './activity-world.ts';
import { lookByInvoice } from './look-by-invoice.ts';
import type { Beginning } from './server-clock.ts';
import { CREATE_WITHIN_MS, GIVEN_UP_AFTER_MS, SEND_WITHIN_MS } from './tries.ts';

export interface Try {
  world: ActivityWorld;
  integration: Integration;
  workflow: IntegrationWorkflow;
  client: ScreeningClient;
  /** The server's time now. */
  time: () => Instant;
  beginning: Beginning;
  /** When it must be over, by the machine's monotonic clock. */
  until: number;
  /** Hears when a create is about to be sent: should this try be lost, the next one knows since when. */
  beforeCreate?: (sentFrom: Instant) => void;
  /** The integrations whose account was seen to be of another mode: each worker says it once. */
  otherModes: Set<string>;
}

/** A create whose transaction nobody has seen. */
export interface Unseen {
  /** Not sent before. */
  since: Instant;
  /** It may still arrive: a lookup that finds nothing proves nothing yet. */
  underWay: boolean;
}

/** No answer this time. Its words hold no key, no address and no card data. */
export interface NoAnswer {
  kind: 'no-answer';
  reason: string;
  message: string;
  /** The earliest time at which a create may have been sent whose transaction nobody has seen, in this try or one before it. */
  unseenSince?: Instant;
  /** That create may still arrive. */
  underWay: boolean;
  /** How long the service asks to wait. */
  retryAfterMs?: number;
}

export type Tried = Exclude<ScreeningOutcome, { kind: 'skipped' | 'unanswered' }> | NoAnswer;
type Answered = Extract<ScreeningOutcome, { kind: 'answered' }>;

/** What must be left of the time for a request to be worth sending, in milliseconds. */
export const LEAST_TIME_MS = 50;

const LOOK_EVERY_MS = 250;

/** A create that was sent before may still arrive, or can't be seen: a second one would make two transactions. */
export const EARLIER_TRY = {
  reason: 'earlier-try',
  message: 'a create sent before may still arrive',
} as const;

function mayStillCome(unseenSince: Instant): NoAnswer {
  return { ...noAnswer(EARLIER_TRY, unseenSince), underWay: true };
}

/**
 * Checks the transaction against the rules in force. `content` has the fingerprint that the client library computes, for an order that
 * another tool started without one.
 */
export function checkTransaction(
  request: ScreenRequest,
  { mode }: Integration,
  workflow: IntegrationWorkflow,
): { checked: ReturnType<typeof parseTransaction>; content: Fingerprinted } {
  const { transaction, cardRef, fingerprintMissing } = request;
  const rules = { workflow, mode, now: new Date(), cardInStash: cardRef !== undefined };
  const checked = parseTransaction(transaction, rules);
  if (fingerprintMissing !== true) return { checked, content: {} };
  const content = checked.ok ? fingerprint(checked.transaction) : fingerprintOfRaw(transaction);
  return { checked, content: { fingerprint: content } };
}

/**
 * Looks up what may have been sent before, else creates. A lookup by invoice shows the first transaction only: while it shows
 * one of another attempt or order, a create that was lost can't be seen, so none is sent again.
 */
export async function tryScreening(
  request: ScreenRequest,
  transaction: Transaction,
  t: Try,
  unseen: Unseen | undefined,
): Promise<Tried> {
  let sendableSince = t.beginning.began;
  if (unseen !== undefined) {
    sendableSince = t.time();
    const found = await look(request, t, unseen.since);
    if (typeof found !== 'string')
      return found.kind === 'no-answer' ? { ...found, underWay: unseen.underWay } : found;
    if (found === 'known' || unseen.underWay) return mayStillCome(unseen.since);
  }
  const card = await cardFor(request, t);
  if (card === 'gone') return { kind: 'refused', reason: 'card-data-expired' };
  // The lookup found nothing, but a create that is not sent at once needs another one.
  const notSent = (reason: string, message: string) => noAnswer({ reason, message }, unseen?.since);
  if (card === 'unreachable') return notSent('card-stash', 'the card stash did not answer');
  const timeoutMs = Math.min(left(t), CREATE_WITHIN_MS);
  if (timeoutMs < LEAST_TIME_MS) return notSent('no-time-left', 'no time was left to screen the order');
  // Read last: a process that stands still after it sends its create late.
  const sentFrom = t.time();
  // The server may have given this try up, or the order may have been reset: the next try looks first, and may create meanwhile.
  const overdue = millis(sentFrom) - millis(t.beginning.handedOut) > GIVEN_UP_AFTER_MS;
  if (overdue || millis(sentFrom) - millis(sendableSince) > SEND_WITHIN_MS) {
    return notSent('stalled', 'the try took too long to send its create');
  }
  t.beforeCreate?.(sentFrom);
  try {
    const response = await t.client.createTransaction(
      {
        transaction,
        enrich: t.integration.enrich,
        invoiceNumber: request.invoiceNumber,
        ...defined({ card }),
      },
      { timeoutMs },
    );
    return answeredBy(response, t, { found: false, sentFrom });
  } catch (error) {
    if (!(error instanceof ScreeningError)) throw error;
    return afterCreate(error, { found: false, sentFrom, sentUntil: t.time() });
  }
}

/**
 * Looks for what an earlier try made until the time of this one is up, and creates nothing.
 * @param mayStillArrive whether that create may be under way, so that it is worth looking again
 */
export async function awaitEarlier(
  request: ScreenRequest,
  t: Try,
  unseenSince: Instant,
  mayStillArrive: boolean,
): Promise<Tried> {
  for (;;) {
    const found = await look(request, t, unseenSince);
    if (found === 'known' || (found === 'none' && !mayStillArrive)) return mayStillCome(unseenSince);
    const unseen = found === 'none' ? mayStillCome(unseenSince) : found;
    if (unseen.kind !== 'no-answer') return unseen;
    const pauseMs = Math.max(LOOK_EVERY_MS, unseen.retryAfterMs ?? 0);
    if (t.until - t.world.machine.elapsed() < pauseMs + LEAST_TIME_MS) return unseen;
    await sleepOn(t.world.machine, pauseMs);
  }
}

/**
 * Looks for the transaction of a create that nobody has seen.
 * @returns what it found; `known`: the screening service shows a transaction that the order has, or another order's, and will never show
 * another by this invoice number
 */
export async function look(
  request: ScreenRequest,
  t: Try,
  unseenSince: Instant,
): Promise<Tried | 'known' | 'none'> {
  try {
    const found = await lookByInvoice(t.world, t.client, request, left(t));
    const how = { found: true, sentFrom: unseenSince };
    if (found.kind === 'found') return answeredBy(found.transaction, t, how);
    if (found.kind !== 'undecided') return found.kind;
    const { transactionId } = found;
    return {
      kind: 'unreadable',
      reason: 'unknown-decision',
      seen: { transactionId, ...how, sentUntil: t.time() },
    };
  } catch (error) {
    if (!(error instanceof ScreeningError)) throw error;
    if (error.reason === 'forbidden') return { kind: 'forbidden', unseenSince };
    // A refusal to look is no refusal of the transaction.
    if (error.outcome === 'refused') return { kind: 'unreadable', reason: error.reason, unseenSince };
    // One without an id exists: another create would make two of it, so it is looked for again.
    return noAnswer(error, unseenSince);
  }
}

/** A create is only sent where no other one is unseen: what this one left is all there may be. */
function afterCreate(error: ScreeningError, sent: Sent & { found: boolean }): Tried {
  const { outcome, reason, transactionId, words } = error;
  if (reason === 'forbidden') return { kind: 'forbidden' };
  if (transactionId !== undefined) return { kind: 'unreadable', reason, seen: { transactionId, ...sent } };
  // Without an id the transaction stays unseen.
  if (reason === 'missing-id') return { kind: 'unreadable', reason, unseenSince: sent.sentFrom };
  // The service has no 404 for this operation: it comes from a wrong address, and an operator can mend that.
  if (outcome === 'refused' && reason !== 'not-found') {
    return { kind: 'refused', reason: 'refused', words: words?.join('; ') ?? reason };
  }
  const underWay = outcome === 'unknown';
  return { ...noAnswer(error, underWay ? sent.sentFrom : undefined), underWay };
}

function noAnswer(
  { reason, message, retryAfterMs }: Pick<ScreeningError, 'message' | 'retryAfterMs'> & { reason: string },
  unseenSince: Instant | undefined,
): NoAnswer {
  return {
    kind: 'no-answer',
    reason,
    message,
    underWay: false,
    ...defined({ unseenSince, retryAfterMs }),
  };
}

function answeredBy(
  response: TransactionResponse,
  { integration: { name, mode }, otherModes, time }: Try,
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

/** After the payment gateway an order can be screened without its full card data, which is left out then. */
async function cardFor(
  request: ScreenRequest,
  t: Try,
): Promise<CardData | 'gone' | 'unreachable' | undefined> {
  const { integration, orderId, cardRef } = request;
  if (cardRef === undefined) return undefined;
  const needed = t.workflow === 'pre-gateway';
  try {
    const card = await t.world.cards.get({ integration, orderId, cardRef });
    if (card === undefined) return needed ? 'gone' : undefined;
    return cardOfWorkflow(card, t.workflow);
  } catch (error) {
    // What a driver throws may name its address.
    const reason = error instanceof CardStashError ? error.reason : 'unexpected';
    log.warn('the card stash did not give the card', { integration, reason });
    return needed ? 'unreachable' : undefined;
  }
}

/** At least a moment, so that a look that is due is made and ends at once. */
function left(t: Try): number {
  return Math.max(1, t.until - t.world.machine.elapsed());
}
