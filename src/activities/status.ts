/** Activities that read the status of a transaction: once, with retries, or until its decision changes. */
import { activityInfo } from '@temporalio/activity';
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
import { adoptionErrors } from '../order/messages/check-messages.ts';
import { enrichedOf } from '../order/record.ts';
import { readForAdoption, type ScreeningClient, ScreeningError } from '../screening-service/index.ts';
import { type ActivityWorld, clientOf, integrationOf, invalidRequest } from './activity-world.ts';
import { lookByInvoice } from './screening/begin-screening.ts';
import { EARLIER_TRY } from './screening/try-screening.ts';
import type { Clock } from './server-clock.ts';
import {
  arrivalAfter,
  askedPauseMs,
  earlierHeartbeat,
  isAfterReset,
  isForbidden,
  noteAnswered,
  putOff,
  retryLater,
  retryWrongKey,
  sendHeartbeat,
  waitLonger,
} from './tries.ts';

/** Timeout of the read for an adoption. It is short because the read runs inside a workflow task. */
const QUICK_MS = 4_000;
const PATIENT_MS = 20_000;

/** Least polling interval of a review after the cancel window. */
const SLOW_POLL_MS = 3_600_000;

export function statusActivities(world: ActivityWorld) {
  /** Reads the status once, and reports to the sweep whether there was an answer. Without the integration's settings there is none. */
  async function read(request: StatusRequest, time: Clock['time']): Promise<StatusOutcome | ScreeningError> {
    let outcome: StatusOutcome | ScreeningError | undefined;
    try {
      outcome = await readBy(clientOf(world, integrationOf(world, request.integration)), request);
      return outcome;
    } finally {
      noteAnswered(outcome !== undefined && !(outcome instanceof ScreeningError), time());
    }
  }

  /** @throws a failure that is retried, after `pauseMs` if given, until an operator has configured the integration and its key */
  function clientFor({ integration }: LookUpRequest, pauseMs: number | undefined): ScreeningClient {
    try {
      return clientOf(world, integrationOf(world, integration));
    } catch (error) {
      throw pauseMs === undefined ? error : putOff(error, pauseMs);
    }
  }

  return {
    /** Reads the status no earlier than `notBefore`, until the screening service answers. Without a transaction, only reports the time. */
    async readStatus(request: ReadRequest, { time }: Clock): Promise<StatusOutcome | undefined> {
      const { transactionId, notBefore } = request;
      if (transactionId === undefined) return undefined;
      const pauseMs = notBefore === undefined ? 0 : millis(notBefore) - millis(time());
      if (pauseMs > 0) throw waitLonger('spacing', 'the status was read a moment ago', pauseMs);
      const outcome = await read({ ...request, transactionId }, time);
      if (outcome instanceof ScreeningError) throw retryLater(outcome);
      if (outcome.kind === 'forbidden' && request.forbiddenKnown) throw retryWrongKey();
      return outcome;
    },

    /** Polls at growing intervals until the decision changes. The first call only starts the first interval. */
    async pollStatus(request: PollRequest, { time }: Clock): Promise<StatusOutcome> {
      const { attempt } = activityInfo();
      const pauseMs = (): number => pollPauseMs(request, attempt, millis(time()));
      const again = (): Error => waitLonger(POLL_UNCHANGED, 'the decision is unchanged', pauseMs());
      if (attempt === 1) throw again();
      const outcome = await read(request, time);
      if (outcome instanceof ScreeningError)
        throw retryLater(outcome, Math.max(pauseMs(), askedPauseMs(outcome) ?? 0));
      return newsOf(request, outcome, again);
    },

    /** Reads at once, until the screening service answers. Without news it doesn't end before the cancel window does. */
    async readStatusLast(request: LastReadRequest, { time }: Clock): Promise<StatusOutcome> {
      const outcome = await read(request, time);
      if (outcome instanceof ScreeningError) throw retryLater(outcome);
      const afterWindowMs = Math.max(0, millis(request.cancelBy) - millis(time())) + SLOW_POLL_MS;
      return newsOf(request, outcome, () =>
        waitLonger(POLL_UNCHANGED, 'the decision is unchanged', afterWindowMs),
      );
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
    const client = clientFor(request, pauseMs);
    try {
      const found = await lookByInvoice(world, client, request, PATIENT_MS);
      if (found.kind === 'known') return { kind: 'hidden' };
      if (found.kind === 'undecided') return { kind: 'found', transactionId: found.transactionId };
      if (found.kind === 'found') {
        const { id: transactionId, decision } = found.transaction;
        return { kind: 'found', transactionId, decision, ...enrichedOf(found.transaction) };
      }
    } catch (error) {
      if (!(error instanceof ScreeningError)) throw error;
      if (!isForbidden(error))
        throw retryLater(error, pauseMs && Math.max(pauseMs, askedPauseMs(error) ?? 0));
      if (request.forbiddenKnown) throw retryWrongKey();
      return { kind: 'forbidden' };
    }
    if (pauseMs === undefined) return { kind: 'none' };
    throw waitLonger(EARLIER_TRY.reason, EARLIER_TRY.message, pauseMs);
  }
}

async function readBy(
  client: ScreeningClient,
  { transactionId }: StatusRequest,
): Promise<StatusOutcome | ScreeningError> {
  try {
    const read = await client.statusById(transactionId, { timeoutMs: PATIENT_MS });
    return { kind: 'read', decision: read.decision, ...enrichedOf(read) };
  } catch (error) {
    if (!(error instanceof ScreeningError)) throw error;
    if (isForbidden(error)) return { kind: 'forbidden' };
    const words = unreadableWords(error);
    return words === undefined ? error : { kind: 'unreadable', words };
  }
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

/** @returns the outcome if the order doesn't know it yet @throws a failure that is retried otherwise */
function newsOf(
  { known, troubleKnown, forbiddenKnown }: Omit<PollRequest, 'pauses'>,
  outcome: StatusOutcome,
  again: () => Error,
): StatusOutcome {
  if (outcome.kind === 'forbidden' && forbiddenKnown) throw retryWrongKey();
  if (outcome.kind === 'unreadable' && troubleKnown) throw again();
  if (outcome.kind === 'read') {
    // An unchanged decision is still returned if it resolves a problem that was reported.
    if (outcome.decision === known && !troubleKnown && !forbiddenKnown) throw again();
    if (outcome.decision === 'error' && troubleKnown) throw again();
  }
  return outcome;
}

/** Reads the transaction of an adopted order, within the workflow's first task. @returns the decision, or a refusal of the order */
export async function readAdopted(
  { invoiceNumber, begun }: Pick<CheckoutRequest, 'invoiceNumber' | 'begun'>,
  adoption: Adoption,
  policy: Policy,
  client: ScreeningClient,
): Promise<ScreeningOutcome | { refusal: Refusal }> {
  const fieldErrors = adoptionErrors(adoption, policy, millis(begun));
  if (fieldErrors.length > 0) return { refusal: invalidRequest(fieldErrors, 'Invalid adoption') };
  const read = await readForAdoption(client, { ...adoption, invoiceNumber }, QUICK_MS);
  if (!('decision' in read)) return { refusal: read };
  const { id: transactionId, decision } = read;
  const sentFrom = instant(millis(adoption.screenedAt));
  const seen = { transactionId, found: true, sentFrom, sentUntil: sentFrom };
  return { kind: 'answered', decision, ...seen, ...enrichedOf(read) };
}

/** @returns milliseconds until the next poll. The interval grows, and is long once the cancel window has closed */
export function pollPauseMs(
  request: Pick<PollRequest, 'pauses' | 'cancelBy'>,
  attempt: number,
  nowMs: number,
): number {
  const { firstMs, factor, maxMs } = request.pauses;
  if (nowMs > Date.parse(request.cancelBy)) {
    return Math.max(maxMs, SLOW_POLL_MS);
  }
  return Math.round(Math.min(firstMs * factor ** (attempt - 1), maxMs));
}
