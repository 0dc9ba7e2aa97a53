/** One try at a decision: look first where a create may have been sent, then create. */
import { log } from '@temporalio/activity';
import { type CardStash, CardStashError } from '../cards/index.ts';
import type { ScreeningOutcome, ScreenRequest } from '../orders/activity-contract.ts';
import { sameTransaction } from '../orders/ids.ts';
import type { Integration } from '../orders/policy.ts';
import { enrichedOf } from '../orders/record.ts';
import type { IntegrationWorkflow } from '../orders/words.ts';
import {
  type CardData,
  cardOfWorkflow,
  type Machine,
  parseTransaction,
  type ScreeningClient,
  ScreeningError,
  sleepOn,
  type Transaction,
  type TransactionResponse,
} from '../screening/index.ts';
import { LOOK_COUNTS_MS } from './tries.ts';

export interface Try {
  integration: Integration;
  workflow: IntegrationWorkflow;
  client: ScreeningClient;
  machine: Machine;
  cards: CardStash;
  /** When the try must be over, in milliseconds after the epoch. */
  until: number;
  /** Whether a transaction that was found by invoice is another order's. */
  isAnothers: (transactionId: string) => Promise<boolean>;
  /** The integrations whose account was seen to be of another mode: each worker says it once. */
  otherModes: Set<string>;
}

/** No answer this time. Its words hold no key, no address and no card data. */
export interface NoAnswer {
  kind: 'no-answer';
  reason: string;
  message: string;
  /** A create may have reached the service: in this try, or in one before it. */
  maybeSent: boolean;
  /** That create may still be on its way: none to be found proves nothing yet. */
  underWay: boolean;
  /** How long the service asks to wait. */
  retryAfterMs?: number;
}

export type Tried = Exclude<ScreeningOutcome, { kind: 'skipped' | 'unanswered' }> | NoAnswer;
type Answered = Extract<ScreeningOutcome, { kind: 'answered' }>;

/** What must be left of the time for a request to be worth sending, in milliseconds. */
export const LEAST_TIME_MS = 50;

const LOOK_EVERY_MS = 250;

/** None was found, and one may still come: another create would make two of it. */
export const EARLIER_TRY = {
  reason: 'earlier-try',
  message: 'a create sent before may still arrive',
} as const;

const MAY_STILL_COME: NoAnswer = { kind: 'no-answer', ...EARLIER_TRY, maybeSent: true, underWay: true };

/** @returns the transaction checked against the rules in force, or its faults with their paths */
export function checkTransaction(
  request: ScreenRequest,
  integration: Integration,
  workflow: IntegrationWorkflow,
) {
  return parseTransaction(request.transaction, {
    workflow,
    mode: integration.mode,
    now: new Date(),
    cardInStash: request.cardRef !== undefined,
  });
}

/**
 * Looks by invoice if something may have been sent before, takes what is found and new, else creates.
 * @param mayCreate false: a create of an earlier try may still be on its way, so that none to be found proves nothing
 */
export async function tryScreening(
  request: ScreenRequest,
  transaction: Transaction,
  t: Try,
  mayCreate = true,
): Promise<Tried> {
  const lookedAt = t.machine.now();
  if (request.lookFirst || !mayCreate) {
    const found = await look(request, t);
    if (typeof found !== 'string')
      return mayCreate || found.kind !== 'no-answer' ? found : { ...found, underWay: true };
    if (!mayCreate) return MAY_STILL_COME;
  }
  const card = await cardFor(request, t);
  if (card === 'gone') return { kind: 'refused', reason: 'card-data-expired' };
  if (card === 'unreachable') {
    return notSent(request, 'card-stash', 'the card stash did not answer');
  }
  if (t.until - t.machine.now() < LEAST_TIME_MS) {
    return notSent(request, 'no-time-left', 'no time was left to screen the order');
  }
  // A try that the server gave up, or whose order was reset, isn't told so: another one may create meanwhile.
  if (request.lookFirst && t.machine.now() - lookedAt > LOOK_COUNTS_MS) {
    return notSent(request, 'timeout', 'the look by invoice took too long to create on its word');
  }
  try {
    const response = await t.client.createTransaction(
      {
        transaction,
        enrich: t.integration.enrich,
        invoiceNumber: request.invoiceNumber,
        ...(card !== undefined && { card }),
      },
      { timeoutMs: left(t) },
    );
    return answeredBy(response, t, false);
  } catch (error) {
    if (!(error instanceof ScreeningError)) throw error;
    return afterCreate(request, error);
  }
}

/**
 * Looks for what an earlier try made until the time of this one is up, and creates nothing.
 * @param mayStillCome whether that create may be under way, so that none to be found proves nothing
 */
export async function awaitEarlier(request: ScreenRequest, t: Try, mayStillCome: boolean): Promise<Tried> {
  for (;;) {
    const found = await look(request, t);
    if (found === 'known' || (found === 'none' && !mayStillCome)) return MAY_STILL_COME;
    const unseen = found === 'none' ? MAY_STILL_COME : found;
    if (unseen.kind !== 'no-answer') return unseen;
    const pauseMs = Math.max(LOOK_EVERY_MS, unseen.retryAfterMs ?? 0);
    if (t.until - t.machine.now() < pauseMs + LEAST_TIME_MS) return unseen;
    await sleepOn(t.machine, pauseMs);
  }
}

/**
 * @returns the order's own transaction if the service has one that is new to the order; `known`: it shows an earlier
 * attempt's or another order's, and will never show another by this invoice
 * @throws ScreeningError when that can't be told
 */
export async function findOwn(request: ScreenRequest, t: Try): Promise<Answered | 'known' | 'none'> {
  const found = await lookByInvoice(t, request, left(t));
  if (found.kind === 'found') return answeredBy(found.transaction, t, true);
  return found.kind === 'known' ? 'known' : 'none';
}

/** @returns what was found, or why nobody can tell */
async function look(request: ScreenRequest, t: Try): Promise<Tried | 'known' | 'none'> {
  try {
    return await findOwn(request, t);
  } catch (error) {
    if (!(error instanceof ScreeningError)) throw error;
    if (error.reason === 'forbidden') return { kind: 'forbidden' };
    // It is there: without its id another create would make two of it, so it is looked for again.
    if (error.reason === 'missing-id') return noAnswer(error, { maybeSent: true });
    // A refusal to look is no refusal of the transaction.
    if (isUnreadable(error) || error.outcome === 'refused') return unreadable(error);
    return noAnswer(error, { maybeSent: true });
  }
}

function afterCreate(request: ScreenRequest, error: ScreeningError): Tried {
  if (error.reason === 'forbidden') return { kind: 'forbidden' };
  if (isUnreadable(error)) return unreadable(error);
  // The service has no 404 for this operation: it comes from a wrong address, and an operator can mend that.
  if (error.outcome === 'refused' && error.reason !== 'not-found') {
    return { kind: 'refused', reason: 'refused', words: error.words?.join('; ') ?? error.reason };
  }
  const underWay = error.outcome === 'unknown';
  return noAnswer(error, { maybeSent: request.lookFirst || underWay, underWay });
}

function isUnreadable({ reason }: ScreeningError): boolean {
  return reason === 'unknown-decision' || reason === 'missing-id';
}

function unreadable({ reason, transactionId }: ScreeningError): Tried {
  return { kind: 'unreadable', reason, ...(transactionId !== undefined && { transactionId }) };
}

function noAnswer(
  { reason, message, retryAfterMs }: ScreeningError,
  { maybeSent, underWay = false }: { maybeSent: boolean; underWay?: boolean },
): NoAnswer {
  return {
    kind: 'no-answer',
    reason,
    message,
    maybeSent,
    underWay,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

function notSent(request: ScreenRequest, reason: string, message: string): NoAnswer {
  return { kind: 'no-answer', reason, message, maybeSent: request.lookFirst, underWay: false };
}

function answeredBy(
  response: TransactionResponse,
  { integration: { name, mode }, otherModes }: Try,
  adopted: boolean,
): Answered {
  const otherMode = (response.accountMode ?? mode) !== mode && !otherModes.has(name);
  if (otherMode) otherModes.add(name);
  return {
    kind: 'answered',
    transactionId: response.id,
    decision: response.decision,
    adopted,
    ...(response.message !== undefined && { message: response.message }),
    ...enrichedOf(response),
    ...(otherMode && { otherMode }),
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
    const card = await t.cards.get({ integration, orderId, cardRef });
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
  return Math.max(1, t.until - t.machine.now());
}

/** What a look by invoice tells, which finds the first transaction only. */
export type Looked =
  /** One that is new to the order. */
  | { kind: 'found'; transaction: TransactionResponse }
  /** An earlier attempt's or another order's, which says nothing about this one. */
  | { kind: 'known' }
  | { kind: 'not-found' };

/** @throws ScreeningError when that can't be told; a `transactionId` in it is new to the order, and no other order's */
export async function lookByInvoice(
  { client, isAnothers }: Pick<Try, 'client' | 'isAnothers'>,
  { invoiceNumber, knownTransactionIds }: { invoiceNumber: string; knownTransactionIds: string[] },
  timeoutMs: number,
): Promise<Looked> {
  const isOld = async (id: string) =>
    knownTransactionIds.some((known) => sameTransaction(known, id)) || (await isAnothers(id));
  try {
    const transaction = await client.statusByInvoice(invoiceNumber, { timeoutMs });
    return (await isOld(transaction.id)) ? { kind: 'known' } : { kind: 'found', transaction };
  } catch (error) {
    if (!(error instanceof ScreeningError)) throw error;
    if (error.reason === 'not-found') return { kind: 'not-found' };
    if (error.transactionId !== undefined && (await isOld(error.transactionId))) return { kind: 'known' };
    throw error;
  }
}
