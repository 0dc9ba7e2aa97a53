/** Reads of a transaction's status, and look-ups by invoice, as the real activities behave. */
import type { Call, LookUpOutcome, PollRequest, StatusOutcome } from '../../src/orders/activity-contract.ts';
import type { EffectResult } from '../../src/orders/order.ts';
import { millis } from '../../src/orders/words.ts';
import type { Code } from './process.ts';
import {
  answered,
  askedPauseMs,
  type Context,
  moment,
  retryWrongKey,
  type Try,
  type TryEnd,
  underWayMs,
  wallClock,
} from './tries.ts';

const QUICK_MS = 4_000;
const READ_MS = 20_000;
const SLOW_POLL_MS = 3_600_000;

type Unanswered = { kind: 'no-answer'; reason: string; retryAfterMs?: number };

function* read(
  transactionId: string,
  timeoutMs: number,
): Code<Exclude<StatusOutcome, { kind: 'unanswered' }> | Unanswered> {
  const heard = answered(yield { ask: { operation: 'status', transactionId }, timeoutMs });
  switch (heard.is) {
    case 'transaction':
      return { kind: 'read', decision: heard.decision };
    case 'not-found':
      return { kind: 'unreadable', words: 'The service does not know the transaction.' };
    case 'failed': {
      const { reason, retryAfterMs } = heard;
      if (reason === 'forbidden') return { kind: 'forbidden' };
      if (reason === 'unknown-decision' || reason === 'missing-id') {
        return { kind: 'unreadable', words: 'The answer could not be read.' };
      }
      return { kind: 'no-answer', reason, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    }
    default:
      throw new TypeError(`a read was answered ${heard.is}`);
  }
}

/** Reads once, quickly; without a transaction it only tells the time. */
export function* look(context: Context, { transactionId }: Extract<Call, { kind: 'look' }>['request']): Try {
  const said = transactionId === undefined ? undefined : yield* read(transactionId, QUICK_MS);
  const outcome: StatusOutcome | undefined = said?.kind === 'no-answer' ? { kind: 'unanswered' } : said;
  return { end: { how: 'done', result: { kind: 'look', outcome, ...moment(context) } } };
}

/** Reads until the service answers. */
export function* readDurably(context: Context, request: Extract<Call, { kind: 'read' }>['request']): Try {
  const outcome = yield* read(request.transactionId, READ_MS);
  if (outcome.kind === 'no-answer') return putOff(outcome);
  if (outcome.kind === 'forbidden' && request.forbiddenKnown) return retryWrongKey();
  return done({ kind: 'read', outcome, ...moment(context) });
}

/** Reads at growing pauses until another decision stands; its first call only begins the first pause. */
export function* poll(context: Context, request: PollRequest): Try {
  const pauseMs = pollPauseMs(request, context.attempt, wallClock(context));
  const again = { again: 'unchanged', pauseMs };
  if (context.attempt === 1) return again;
  const outcome = yield* read(request.transactionId, READ_MS);
  if (outcome.kind === 'no-answer') {
    return { again: outcome.reason, pauseMs: Math.max(pauseMs, askedPauseMs(outcome) ?? 0) };
  }
  if (outcome.kind === 'forbidden' && request.forbiddenKnown) return retryWrongKey();
  if (outcome.kind === 'unreadable' && request.troubleKnown) return again;
  if (outcome.kind === 'read') {
    const troubled = request.troubleKnown || request.forbiddenKnown;
    if (outcome.decision === request.known && !troubled) return again;
    if (outcome.decision === 'error' && request.troubleKnown) return again;
  }
  return done({ kind: 'poll', outcome, ...moment(context) });
}

/** @returns milliseconds until the next poll */
export function pollPauseMs({ pauses, cancelBy }: PollRequest, attempt: number, nowMs: number): number {
  if (cancelBy !== undefined && nowMs > millis(cancelBy)) return Math.max(pauses.maxMs, SLOW_POLL_MS);
  return Math.round(Math.min(pauses.firstMs * pauses.factor ** (attempt - 1), pauses.maxMs));
}

/** Looks for a transaction by invoice, until the service answers; none the first time proves nothing. */
export function* lookUp(context: Context, request: Extract<Call, { kind: 'look-up' }>['request']): Try {
  const first = context.attempt === 1;
  const ask = { operation: 'status-by-invoice' as const, invoice: request.invoiceNumber };
  const heard = answered(yield { ask, timeoutMs: READ_MS });
  const ended = (outcome: LookUpOutcome): TryEnd => done({ kind: 'look-up', outcome, ...moment(context) });
  const known = (id: string | undefined): boolean =>
    id !== undefined && request.knownTransactionIds.includes(id);
  if (heard.is === 'transaction') {
    if (known(heard.id)) return ended({ kind: 'none' });
    return ended({ kind: 'found', transactionId: heard.id, decision: heard.decision });
  }
  if (heard.is === 'failed') {
    if (known(heard.transactionId)) return ended({ kind: 'none' });
    if (heard.reason === 'forbidden')
      return request.forbiddenKnown ? retryWrongKey() : ended({ kind: 'forbidden' });
    if (heard.transactionId !== undefined) {
      return ended({ kind: 'found', transactionId: heard.transactionId, decision: 'error' });
    }
    const asked = askedPauseMs(heard);
    if (first) return { again: heard.reason, pauseMs: Math.max(underWayMs(context), asked ?? 0) };
    return putOff(heard);
  }
  return first ? { again: 'earlier-try', pauseMs: underWayMs(context) } : ended({ kind: 'none' });
}

function putOff(heard: { reason: string; retryAfterMs?: number }): TryEnd {
  const pauseMs = askedPauseMs(heard);
  return { again: heard.reason, ...(pauseMs !== undefined && { pauseMs }) };
}

function done(result: EffectResult): TryEnd {
  return { end: { how: 'done', result } };
}
