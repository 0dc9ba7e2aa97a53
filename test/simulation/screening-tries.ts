/** The activities that may create a transaction, as the real ones behave against the service. */

import type {
  Call,
  FirstScreening,
  ScreeningOutcome,
  ScreenRequest,
} from '../../src/orders/activity-contract.ts';
import { actionAtCheckout } from '../../src/orders/decide.ts';
import { RULES_WRITTEN } from '../../src/orders/order.ts';
import type { Adoption } from '../../src/orders/state.ts';
import { millis } from '../../src/orders/words.ts';
import { SKIP_BELOW } from '../chaos/policies.ts';
import type { Code } from './process.ts';
import {
  answered,
  askedPauseMs,
  type Context,
  grownPauseMs,
  LOOK_COUNTS_MS,
  moment,
  PATIENT_MS,
  retryWrongKey,
  type Try,
  underWayMs,
  wallClock,
} from './tries.ts';

const LEAST_TIME_MS = 50;
const QUICK_MS = 4_000;
const LOOK_EVERY_MS = 250;

/** A request whose `lookFirst` and time are known. */
type Screening = Omit<ScreenRequest, 'workflow'>;

interface NoAnswer {
  kind: 'no-answer';
  reason: string;
  maybeSent: boolean;
  underWay: boolean;
  retryAfterMs?: number;
}
type Tried = Exclude<ScreeningOutcome, { kind: 'skipped' | 'unanswered' }> | NoAnswer;

const MAY_STILL_COME: NoAnswer = {
  kind: 'no-answer',
  reason: 'earlier-try',
  maybeSent: true,
  underWay: true,
};

/** The checkout's screening: once, in the time that its caller gives it. */
export function* firstScreening(
  context: Context,
  call: Extract<Call, { kind: 'first-screening' }>['request'],
  lookFirst: boolean,
): Try {
  const { life } = context;
  const request = { ...call, lookFirst };
  const ended = (outcome: ScreeningOutcome): { end: { how: 'done'; result: FirstResult } } => ({
    end: {
      how: 'done',
      result: {
        kind: 'first-screening',
        policy: life.policy,
        rules: RULES_WRITTEN,
        outcome,
        ...((lookFirst || call.wasReset) && { again: true as const }),
        ...moment(context),
      },
    },
  });
  if (context.breaksDown) return { end: { how: 'failed' } };
  if (call.adopt !== undefined) {
    const read = yield* readAdopted(call.adopt, call.invoiceNumber);
    return read.kind === 'refused' ? { end: { how: 'failed', refused: NOT_ADOPTED } } : ended(read);
  }
  if (life.amount < SKIP_BELOW) return ended({ kind: 'skipped', rule: 0 });
  const budget = budgetOf(context, request);
  const waits = budget >= LEAST_TIME_MS;
  const noTimeLeft = (maybeSent: boolean): ScreeningOutcome => ({
    kind: 'unanswered',
    reason: 'no-time-left',
    maybeSent,
  });
  if (!waits && (!lookFirst || call.wasReset)) return ended(noTimeLeft(lookFirst));
  const until = context.agenda.now + (waits ? budget : life.checkoutBudgetMs);
  const tried = yield* lookFirst
    ? awaitEarlier(context, request, until, waits)
    : tryScreening(context, request, until, true);
  const outcome = yield* inTime(context, request, until, tried);
  if (waits || outcome.kind !== 'answered' || life.policy.passive) return ended(outcome);
  return ended(actionAtCheckout(outcome.decision, life.policy) === 'decline' ? noTimeLeft(true) : outcome);
}
type FirstResult = { kind: 'first-screening' } & FirstScreening & ReturnType<typeof moment>;

const NOT_ADOPTED = { code: 'screening-service-unavailable', message: 'It could not be read.' } as const;

/** The transaction, and what the invoice number leads to: there is one of either. */
function* readAdopted({ transactionId }: Adoption, invoice: string): Code<ScreeningOutcome> {
  const read = answered(yield { ask: { operation: 'status', transactionId }, timeoutMs: QUICK_MS });
  const found = answered(yield { ask: { operation: 'status-by-invoice', invoice }, timeoutMs: QUICK_MS });
  const usable = read.is === 'transaction' && read.decision !== 'error' && found.is === 'transaction';
  if (!usable || found.id !== transactionId) return { kind: 'refused', reason: 'not-adopted' };
  return { kind: 'answered', transactionId, decision: read.decision, adopted: true };
}

function budgetOf(
  context: Context,
  { answerBy, startedAt }: Extract<Call, { kind: 'first-screening' }>['request'],
): number {
  const { checkoutBudgetMs } = context.life;
  if (answerBy === undefined) return checkoutBudgetMs;
  const queuedMs = context.scheduledAt - millis(startedAt);
  return Math.min(checkoutBudgetMs - queuedMs, millis(answerBy) - wallClock(context));
}

/** A further attempt's screening. Where a create may have been sent before, it only looks. */
export function* retryScreening(
  context: Context,
  asked: Extract<Call, { kind: 'retry-screening' }>['request'],
  begunHere: boolean,
): Try {
  const lookFirst = asked.lookFirst || context.attempt > 1 || !begunHere;
  const request = { ...asked, lookFirst };
  const until = context.agenda.now + context.life.checkoutBudgetMs;
  const tried = yield* lookFirst
    ? awaitEarlier(context, request, until, true)
    : tryScreening(context, request, until, true);
  const outcome = yield* inTime(context, request, until, tried);
  return { end: { how: 'done', result: { kind: 'retry-screening', outcome, ...moment(context) } } };
}

/** Screens an order that has no decision yet, until the service has answered. */
export function* catchUp(
  context: Context,
  asked: Extract<Call, { kind: 'catch-up' }>['request'],
  begunHere: boolean,
): Try {
  const { attempt } = context;
  const request = { ...asked, lookFirst: asked.lookFirst || attempt > 1 || !begunHere };
  const mayCreate = !((asked.maybeUnderWay || !begunHere) && attempt === 1);
  const outcome = yield* tryScreening(context, request, context.agenda.now + PATIENT_MS, mayCreate);
  if (outcome.kind === 'no-answer') {
    const spread = Math.round(grownPauseMs(context, 2_000) * (0.5 + context.chance()));
    const least = outcome.underWay ? underWayMs(context) : 0;
    return { again: outcome.reason, pauseMs: Math.max(least, askedPauseMs(outcome) ?? spread) };
  }
  if (outcome.kind === 'forbidden' && asked.forbiddenKnown) return retryWrongKey();
  return { end: { how: 'done', result: { kind: 'catch-up', outcome, ...moment(context) } } };
}

/** A try for somebody who waits: an unknown outcome is looked up if there is time, never sent a second time. */
function* inTime(context: Context, request: Screening, until: number, tried: Tried): Code<ScreeningOutcome> {
  if (tried.kind === 'forbidden' && request.lookFirst) {
    return { kind: 'unanswered', reason: 'forbidden', maybeSent: true };
  }
  if (tried.kind !== 'no-answer') return tried;
  const { reason, maybeSent } = tried;
  if (maybeSent && until - context.agenda.now >= LEAST_TIME_MS) {
    const found = yield* look(context, request, until);
    if (typeof found !== 'string' && found.kind === 'answered') {
      return { ...found, adopted: request.lookFirst };
    }
  }
  return { kind: 'unanswered', reason, maybeSent };
}

function* tryScreening(context: Context, request: Screening, until: number, mayCreate: boolean): Code<Tried> {
  const lookedAt = context.agenda.now;
  if (request.lookFirst) {
    const found = yield* look(context, request, until);
    if (typeof found !== 'string') {
      return mayCreate || found.kind !== 'no-answer' ? found : { ...found, underWay: true };
    }
    if (!mayCreate) return MAY_STILL_COME;
  }
  const { agenda, life, stash } = context;
  if (request.cardRef !== undefined && life.policy.workflow === 'pre-gateway') {
    const gone = (stash.until.get(request.cardRef) ?? 0) <= agenda.now;
    if (gone) return { kind: 'refused', reason: 'card-data-expired' };
  }
  if (until - agenda.now < LEAST_TIME_MS) {
    return { kind: 'no-answer', reason: 'no-time-left', maybeSent: request.lookFirst, underWay: false };
  }
  if (request.lookFirst && agenda.now - lookedAt > LOOK_COUNTS_MS) {
    return { kind: 'no-answer', reason: 'timeout', maybeSent: true, underWay: false };
  }
  const attempt = typeof request.transaction.attempt === 'number' ? request.transaction.attempt : 0;
  const ask = {
    operation: 'create-transaction' as const,
    invoice: request.invoiceNumber,
    attempt,
    wishes: life.wishes[attempt - 1] ?? [],
  };
  return afterCreate(request, answered(yield { ask, timeoutMs: until - agenda.now }));
}

function afterCreate(request: Screening, heard: ReturnType<typeof answered>): Tried {
  if (heard.is === 'transaction') {
    return { kind: 'answered', transactionId: heard.id, decision: heard.decision, adopted: false };
  }
  if (heard.is === 'refused') return { kind: 'refused', reason: 'refused', words: heard.words };
  if (heard.is !== 'failed') throw new TypeError(`a create was answered ${heard.is}`);
  const { reason, outcome, transactionId, retryAfterMs } = heard;
  if (reason === 'forbidden') return { kind: 'forbidden' };
  if (reason === 'unknown-decision' || reason === 'missing-id') {
    return { kind: 'unreadable', reason, ...(transactionId !== undefined && { transactionId }) };
  }
  const underWay = outcome === 'unknown';
  return {
    kind: 'no-answer',
    reason,
    maybeSent: request.lookFirst || underWay,
    underWay,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** Looks for what an earlier try made until the time is up, and creates nothing. */
function* awaitEarlier(
  context: Context,
  request: Screening,
  until: number,
  mayStillCome: boolean,
): Code<Tried> {
  for (;;) {
    const found: Tried | 'known' | 'none' = yield* look(context, request, until);
    if (found === 'known' || (found === 'none' && !mayStillCome)) return MAY_STILL_COME;
    const unseen = found === 'none' ? MAY_STILL_COME : found;
    if (unseen.kind !== 'no-answer') return unseen;
    const pauseMs = Math.max(LOOK_EVERY_MS, unseen.retryAfterMs ?? 0);
    if (until - context.agenda.now < pauseMs + LEAST_TIME_MS) return unseen;
    yield pauseMs;
  }
}

/** @returns what was found, or why nobody can tell */
function* look(context: Context, request: Screening, until: number): Code<Tried | 'known' | 'none'> {
  const ask = { operation: 'status-by-invoice' as const, invoice: request.invoiceNumber };
  const heard = answered(yield { ask, timeoutMs: Math.max(1, until - context.agenda.now) });
  const known = (id: string | undefined): boolean =>
    id !== undefined && request.knownTransactionIds.includes(id);
  if (heard.is === 'not-found') return 'none';
  if (heard.is === 'transaction') {
    if (known(heard.id)) return 'known';
    return { kind: 'answered', transactionId: heard.id, decision: heard.decision, adopted: true };
  }
  if (heard.is !== 'failed') throw new TypeError(`a look was answered ${heard.is}`);
  const { reason, transactionId, retryAfterMs } = heard;
  if (known(transactionId)) return 'known';
  if (reason === 'forbidden') return { kind: 'forbidden' };
  if (reason === 'unknown-decision') {
    return { kind: 'unreadable', reason, ...(transactionId !== undefined && { transactionId }) };
  }
  return {
    kind: 'no-answer',
    reason,
    maybeSent: true,
    underWay: false,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}
