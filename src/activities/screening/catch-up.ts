/** The catch-up: screens an order after its checkout, until the screening service answers. */
import { activityInfo } from '@temporalio/activity';
import { CARD_LIFETIME_MS } from '../../card-stash/index.ts';
import type { CatchUpRequest, Fingerprinted, ScreeningOutcome } from '../../contract/activity-contract.ts';
import type { Policy } from '../../contract/policy.ts';
import { millis } from '../../contract/words.ts';
import { defined } from '../../order/defined.ts';
import { skipRuleFor } from '../../order/order-rules.ts';
import { BROKE_DOWN } from '../../order/screening/checkout.ts';
import { type ActivityWorld, integrationOf } from '../activity-world.ts';
import type { Clock } from '../server-clock.ts';
import {
  askedToStop,
  grownPauseMs,
  halfOfWhatIsLeft,
  isForbiddenKnown,
  pauseAfter,
  retryLater,
  retryWrongKey,
  sendHeartbeat,
  thisTry,
  tryAgain,
  waitLonger,
} from '../tries.ts';
import {
  beginTry,
  policyOf,
  refusedByRules,
  type Try,
  type Unseen,
  unanswered,
  unseenBefore,
} from './begin-screening.ts';
import {
  checkTransaction,
  EARLIER_TRY,
  lookForEarlier,
  mayStillArrive,
  tryScreening,
} from './try-screening.ts';

/** Deadline of an attempt. It is long because no customer is waiting. */
const PATIENT_MS = 30_000;

/**
 * Returns the activity that screens an order without a decision. The server retries it until the screening service answers. It applies a
 * skip rule only if the checkout could not read the rules and no transaction is found that the checkout may have created.
 */
export function catchUpActivity(world: ActivityWorld) {
  return async (
    request: CatchUpRequest,
    clock: Clock,
  ): Promise<{ outcome: ScreeningOutcome; policy?: Policy } & Fingerprinted> => {
    const { time } = clock;
    const now = time();
    const unseen = unseenBefore(request, now);
    /** Reports the end of this attempt. @returns the least pause until the next one, in milliseconds */
    const report = ({ since: unseenSince, arrivesBy }: Partial<Unseen> = {}): number => {
      const at = time();
      sendHeartbeat({ reported: thisTry(), at, ...defined({ unseenSince, arrivesBy }) });
      return arrivesBy === undefined ? 0 : Math.max(0, millis(arrivesBy) - millis(at));
    };
    const waitMs = startMs(request) - millis(now);
    if (waitMs > 0) {
      const pauseMs = Math.max(waitMs, report(unseen));
      throw waitLonger('retry-after', 'the screening service asked for a pause', pauseMs);
    }
    let t: Try;
    try {
      const integration = integrationOf(world, request.integration);
      if (request.policyMissing) {
        const policy = policyOf(world, request, integration);
        return { policy, outcome: unanswered(BROKE_DOWN, unseen?.since) };
      }
      t = beginTry(world, request, integration, PATIENT_MS, clock);
    } catch (error) {
      // With incomplete settings, still wait long enough that the next lookup is conclusive.
      throw retryLater(error, Math.max(report(unseen), inTime(request, spreadPauseMs(), millis(time()))));
    }
    const { checked, content } = checkTransaction(request, t.integration);
    const ended = (outcome: ScreeningOutcome) => ({ outcome, ...content });
    const rule = request.mayBeSkipped ? skipRuleFor(t.integration, request.transaction) : undefined;
    const skipped = rule === undefined ? undefined : { kind: 'skipped' as const, rule };
    // An invalid transaction was never sent.
    if (!checked.ok) return ended(skipped ?? refusedByRules(checked.fieldErrors, unseen?.since));
    if (skipped !== undefined && unseen === undefined) return ended(skipped);
    // Until this attempt reports its end, assume that it may have sent a create at this time or later.
    t.beforeCreate = (at) => sendHeartbeat({ at, unseenSince: at });
    const outcome =
      skipped === undefined || unseen === undefined
        ? await tryScreening(checked.transaction, t, unseen)
        : await lookForEarlier(t, unseen);
    const noneFound = outcome.kind === 'no-answer' && outcome.reason === EARLIER_TRY.reason;
    if (skipped !== undefined && noneFound && !(unseen && mayStillArrive(unseen, now))) return ended(skipped);
    // The server doesn't retry an activity whose cancellation was requested, so this is its final result.
    if (outcome.kind === 'no-answer' && askedToStop()) {
      return ended(unanswered(outcome.reason, outcome.unseen?.since));
    }
    if (outcome.kind === 'no-answer') {
      const pauseMs = inTime(request, pauseAfter(outcome, spreadPauseMs()), millis(time()));
      throw tryAgain(outcome.reason, outcome.message, Math.max(report(outcome.unseen), pauseMs));
    }
    if (outcome.kind === 'forbidden' && isForbiddenKnown()) {
      report(outcome.unseenSince === undefined ? undefined : unseen);
      throw retryWrongKey();
    }
    return ended(outcome);
  };
}

/** Rule «window not wasted»: @returns the pause, or half of the time until the stash deletes the card or the order gives up */
function inTime({ cardSince, until }: CatchUpRequest, pauseMs: number, nowMs: number): number {
  const cardUntilMs = cardSince === undefined ? Infinity : millis(cardSince) + CARD_LIFETIME_MS;
  return halfOfWhatIsLeft(halfOfWhatIsLeft(pauseMs, cardUntilMs - nowMs), millis(until) - nowMs);
}

/** @returns when the first call may start, in milliseconds after the epoch */
function startMs({ notBefore, ...request }: CatchUpRequest): number {
  if (notBefore === undefined) return 0;
  const { scheduledTimestampMs } = activityInfo();
  return (
    scheduledTimestampMs + inTime(request, millis(notBefore) - scheduledTimestampMs, scheduledTimestampMs)
  );
}

/**
 * Exponential backoff with a random factor from 0.5 to 1.5, so that orders stopped by the same outage don't all retry at once.
 * @returns milliseconds
 */
function spreadPauseMs(): number {
  return Math.round(grownPauseMs() * (0.5 + Math.random()));
}
