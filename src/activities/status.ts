/** Activities that read the status of a transaction: once, with retries, or until its decision changes. */
import { activityInfo, log } from '@temporalio/activity';
import {
  type CheckoutRequest,
  type LastReadRequest,
  type LookUpOutcome,
  type LookUpRequest,
  POLL_UNCHANGED,
  type PollRequest,
  type ReadRequest,
  type ScreeningOutcome,
  type StatusOutcome,
  type StatusRequest,
} from '../contract/activity-contract.ts';
import type { Refusal } from '../contract/errors.ts';
import type { Adoption } from '../contract/order/state.ts';
import type { Policy } from '../contract/policy.ts';
import { type Instant, instant, millis } from '../contract/words.ts';
import { isUnusable } from '../order/decide.ts';
import { defined } from '../order/defined.ts';
import { adoptionErrors } from '../order/messages/check-messages.ts';
import { enrichedOf } from '../order/record.ts';
import { readForAdoption, type ScreeningClient, ScreeningError } from '../screening-service/index.ts';
import { type ActivityWorld, clientFor, invalidRequest } from './activity-world.ts';
import { lookByInvoice } from './screening/begin-screening.ts';
import { EARLIER_TRY } from './screening/try-screening.ts';
import type { Clock } from './server-clock.ts';
import {
  arrivalAfter,
  earlierHeartbeat,
  grownPauseMs,
  halfOfWhatIsLeft,
  isAfterReset,
  isForbidden,
  isForbiddenKnown,
  noteAnswered,
  pauseAfter,
  retryLater,
  retryWrongKey,
  sendHeartbeat,
  tryAgain,
  waitLonger,
} from './tries.ts';

/** Timeout of the read for an adoption. It is short because the read runs inside a workflow task. */
const QUICK_MS = 4_000;
const PATIENT_MS = 20_000;

/** Pause after the first of several reads without an answer, or without a usable one. */
const FIRST_PAUSE_MS = 2_000;

/** Pause after Temporal didn't list the fraud reports after an order's end: each try reads the status again. */
const REPORTS_PAUSE_MS = 10_000;
const NO_REPORTS = 'Temporal did not say whether fraud was reported after the order’s end';

/** Least polling interval of a review after the cancel window. */
const SLOW_POLL_MS = 3_600_000;

export function statusActivities(world: ActivityWorld) {
  /**
   * Reads the status once, and reports to the sweep whether there was an answer. Without the integration's settings there is none.
   * @throws a failure that is retried, after `leastPauseMs` at the earliest, if the screening service doesn't answer. See `retryInTime`
   */
  async function read(
    { integration, transactionId, cancelBy, leadMs }: StatusRequest & { cancelBy?: Instant; leadMs?: number },
    time: Clock['time'],
    leastPauseMs?: number,
  ): Promise<StatusOutcome> {
    try {
      const outcome = await statusBy(clientFor(world, integration, leastPauseMs), transactionId);
      noteAnswered(true, time());
      return outcome;
    } catch (error) {
      noteAnswered(false, time());
      if (!(error instanceof ScreeningError)) throw error;
      throw retryInTime(error, leastPauseMs, { cancelBy, leadMs }, time());
    }
  }

  return {
    /** Reads the status no earlier than `notBefore`, until the screening service answers. Without a transaction, only reports the time. */
    async readStatus(request: ReadRequest, { time }: Clock): Promise<StatusOutcome | undefined> {
      const { transactionId, notBefore, reportsOf } = request;
      if (transactionId === undefined) return undefined;
      const pauseMs = notBefore === undefined ? 0 : millis(notBefore) - millis(time());
      if (pauseMs > 0) throw waitLonger('spacing', 'the status was read a moment ago', pauseMs);
      const outcome = await read({ ...request, transactionId }, time);
      if (outcome.kind === 'forbidden' && isForbiddenKnown()) throw retryWrongKey();
      if (reportsOf === undefined || outcome.kind !== 'read') return outcome;
      // After the read: the decision may be the answer to the report.
      const reports = reportsOf.map((id) => world.orders?.reportedAfterEnd(request.integration, id));
      const reported = await Promise.all(reports).catch((error: unknown) => {
        log.warn('could not check whether fraud was reported after an order’s end', { error });
        throw tryAgain('temporal-unavailable', NO_REPORTS, REPORTS_PAUSE_MS);
      });
      const reportedAt = reported.filter((at) => at !== undefined);
      return { ...outcome, ...(reportedAt.length > 0 && { reportedAt }) };
    },

    /** Polls at growing intervals until the decision changes. The first call only starts the first interval. */
    async pollStatus(request: PollRequest, { time }: Clock): Promise<StatusOutcome> {
      const { attempt } = activityInfo();
      const pauseMs = pollPauseMs(request, attempt, millis(time()));
      if (attempt === 1) throw unchanged(pauseMs);
      return newsOf(request, await read(request, time, pauseMs), pauseMs);
    },

    /** Reads at once, until there is a usable decision. Without news it doesn't end before the cancel window does. */
    async readStatusLast(request: LastReadRequest, { time }: Clock): Promise<StatusOutcome> {
      const outcome = await read(request, time);
      const leftMs = millis(request.cancelBy) - millis(time());
      const pauseMs = isUnusable(outcome, request.known)
        ? halfOfWhatIsLeft(grownPauseMs(FIRST_PAUSE_MS, SLOW_POLL_MS), leftMs)
        : Math.max(0, leftMs) + SLOW_POLL_MS;
      return newsOf(request, outcome, pauseMs);
    },

    async lookUp(
      request: LookUpRequest,
      { time }: Clock,
    ): Promise<{ outcome: LookUpOutcome; sentFrom: Instant }> {
      // After a reset the previous run may have sent it at any time.
      const sentFrom = isAfterReset() ? request.startedAt : request.unseenSince;
      return { outcome: await lookUp(request, time()), sentFrom };
    },
  };

  async function lookUp(request: LookUpRequest, now: Instant): Promise<LookUpOutcome> {
    // Until then a lookup that finds nothing proves nothing: the create may still arrive.
    const { arrivesBy = arrivalAfter(now) } = earlierHeartbeat();
    sendHeartbeat({ arrivesBy });
    const pauseMs = now < arrivesBy ? millis(arrivesBy) - millis(now) : undefined;
    const client = clientFor(world, request.integration, pauseMs);
    try {
      const found = await lookByInvoice(world, client, request, PATIENT_MS);
      if (found.kind === 'known') return { kind: 'hidden' };
      if (found.kind === 'found') {
        const { id: transactionId, decision } = found.transaction;
        return { kind: 'found', transactionId, ...defined({ decision }), ...enrichedOf(found.transaction) };
      }
    } catch (error) {
      if (!(error instanceof ScreeningError)) throw error;
      if (!isForbidden(error)) throw retryInTime(error, pauseMs, request, now);
      if (isForbiddenKnown()) throw retryWrongKey();
      return { kind: 'forbidden' };
    }
    if (pauseMs === undefined) return { kind: 'none' };
    throw waitLonger(EARLIER_TRY.reason, EARLIER_TRY.message, pauseMs);
  }
}

/** @throws ScreeningError if there was no answer */
async function statusBy(client: ScreeningClient, transactionId: string): Promise<StatusOutcome> {
  try {
    const read = await client.statusById(transactionId, { timeoutMs: PATIENT_MS });
    return { kind: 'read', decision: read.decision, ...enrichedOf(read) };
  } catch (error) {
    if (isForbidden(error)) return { kind: 'forbidden' };
    const words = error instanceof ScreeningError ? unreadableWords(error) : undefined;
    if (words === undefined) throw error;
    return { kind: 'unreadable', words };
  }
}

/** Rule «window not wasted»: @returns a failure that is retried after at most half of what is left */
function retryInTime(
  error: ScreeningError,
  leastMs: number | undefined,
  { cancelBy, leadMs = 0 }: { cancelBy?: Instant | undefined; leadMs?: number | undefined },
  now: Instant,
): Error {
  const pauseMs = pauseAfter(error, leastMs);
  const nowMs = millis(now);
  const leftMs = cancelBy === undefined ? Infinity : actsAt({ cancelBy, leadMs }, nowMs) - nowMs;
  return retryLater(error, halfOfWhatIsLeft(pauseMs, leftMs));
}

function unchanged(pauseMs: number): Error {
  return waitLonger(POLL_UNCHANGED, 'the decision is unchanged', pauseMs);
}

/** @returns what is wrong with an answer from which no decision can be read; undefined if there was no answer */
function unreadableWords({ reason, outcome }: ScreeningError): string | undefined {
  switch (reason) {
    case 'unknown-decision':
    case 'missing-id':
      return 'The screening service’s response has no id or no known decision.';
    case 'other-transaction':
      return 'The screening service returned a different transaction than the requested one.';
    case 'not-found':
      return outcome === 'refused' ? 'The screening service found no such transaction.' : undefined;
    default:
      return outcome === 'refused' ? 'The screening service refused to return the transaction.' : undefined;
  }
}

/** @returns the outcome if the order doesn't know it yet @throws a failure that is retried after the pause otherwise */
function newsOf(
  { known, troubleKnown }: LastReadRequest,
  outcome: StatusOutcome,
  pauseMs: number,
): StatusOutcome {
  if (outcome.kind === 'forbidden' && isForbiddenKnown()) throw retryWrongKey();
  // An unchanged decision is still returned if it resolves a problem that was reported.
  const isUnchanged = outcome.kind === 'read' && outcome.decision === known;
  if (isUnchanged && !troubleKnown && !isForbiddenKnown()) throw unchanged(pauseMs);
  if (troubleKnown && isUnusable(outcome, known))
    throw waitLonger('unusable', 'the screening service still returns no decision', pauseMs);
  return outcome;
}

/** @returns the refusal of an adoption that breaks a rule of the policy */
export function refusedAdoption(
  { begun }: Pick<CheckoutRequest, 'begun'>,
  adoption: Adoption,
  policy: Policy,
): { refusal: Refusal } | undefined {
  const fieldErrors = adoptionErrors(adoption, policy, millis(begun));
  return fieldErrors.length > 0 ? { refusal: invalidRequest(fieldErrors, 'Invalid adoption') } : undefined;
}

/** Reads the transaction of an adopted order, within the workflow's first task. @returns the decision, or a refusal of the order */
export async function readAdopted(
  { invoiceNumber }: Pick<CheckoutRequest, 'invoiceNumber'>,
  adoption: Adoption,
  client: ScreeningClient,
): Promise<ScreeningOutcome | { refusal: Refusal }> {
  const read = await readForAdoption(client, { ...adoption, invoiceNumber }, QUICK_MS);
  if (!('decision' in read)) return { refusal: read };
  const { id: transactionId, decision } = read;
  const sentFrom = instant(millis(adoption.screenedAt));
  const seen = { transactionId, found: true, sentFrom, sentUntil: sentFrom };
  return { kind: 'answered', decision, ...seen, ...enrichedOf(read) };
}

/** Rule «window not wasted»: @returns milliseconds until the next poll: a growing interval, and a long one after the cancel window */
export function pollPauseMs(
  request: Pick<PollRequest, 'pauses' | 'cancelBy' | 'leadMs'>,
  attempt: number,
  nowMs: number,
): number {
  const { firstMs, factor, maxMs } = request.pauses;
  const leftMs = actsAt(request, nowMs) - nowMs;
  if (leftMs < 0) return Math.max(maxMs, SLOW_POLL_MS);
  return halfOfWhatIsLeft(Math.round(Math.min(firstMs * factor ** (attempt - 1), maxMs)), leftMs);
}

/** @returns when an open review is acted on next: before its window closes, then when it does */
function actsAt({ cancelBy, leadMs }: Pick<PollRequest, 'cancelBy' | 'leadMs'>, nowMs: number): number {
  const endMs = millis(cancelBy);
  return nowMs < endMs - leadMs ? endMs - leadMs : endMs;
}
