/** The catch-up: screens an order after its checkout, until the screening service has answered. */
import { activityInfo } from '@temporalio/activity';
import type { CatchUpRequest, Fingerprinted, ScreeningOutcome } from '../contract/activity-contract.ts';
import type { Policy } from '../contract/policy.ts';
import type { Instant } from '../contract/words.ts';
import { BROKE_DOWN } from '../orders/checkout.ts';
import { skipRuleFor } from '../orders/decide.ts';
import { defined } from '../orders/defined.ts';
import { type ActivityWorld, integrationOf } from './activity-world.ts';
import { type BeginTry, policyOf, refusedByRules, unanswered, unseenBefore } from './begin-screening.ts';
import { underWayMs } from './earlier-run.ts';
import type { Beginning } from './server-clock.ts';
import {
  askedPauseMs,
  askedToStop,
  grownPauseMs,
  putOff,
  retryWrongKey,
  tellNextTry,
  tryAgain,
} from './tries.ts';
import { awaitEarlier, checkTransaction, EARLIER_TRY, type Try, tryScreening } from './try-screening.ts';

/** The longest that a try may take: no customer waits for it. */
const PATIENT_MS = 30_000;
const FIRST_PAUSE_MS = 2_000;

export function catchUpActivities(world: ActivityWorld, begin: BeginTry) {
  return {
    /**
     * Screens an order that has no decision yet, until the service has answered. The server calls it again. Skips it only if the
     * checkout could not read the skip rules, and no transaction is found that it may have created.
     */
    async catchUp(
      request: CatchUpRequest,
      time: () => Instant,
      beginning: Beginning,
    ): Promise<{ outcome: ScreeningOutcome; policy?: Policy } & Fingerprinted> {
      const unseen = unseenBefore(request);
      const report = (unseenSince: Instant | undefined): void =>
        tellNextTry({ reported: activityInfo().attempt, at: time(), ...defined({ unseenSince }) });
      let t: Try;
      try {
        const integration = integrationOf(world, request.integration);
        if (request.policyMissing) {
          const policy = policyOf(world, request, integration);
          return { policy, outcome: unanswered(BROKE_DOWN, unseen?.since) };
        }
        t = begin(request, integration, PATIENT_MS, time, beginning);
      } catch (error) {
        report(unseen?.since);
        // Settings that lack the integration don't make the next lookup come too early to be believed.
        throw unseen?.underWay ? putOff(error, underWayMs()) : error;
      }
      const { checked, content } = checkTransaction(request, t.integration, t.workflow);
      const ended = (outcome: ScreeningOutcome) => ({ outcome, ...content });
      const rule = request.mayBeSkipped ? skipRuleFor(t.integration, request.transaction) : undefined;
      const skipped = rule === undefined ? undefined : { kind: 'skipped' as const, rule };
      // An invalid transaction was never sent.
      if (!checked.ok) return ended(skipped ?? refusedByRules(checked.fieldErrors, unseen?.since));
      if (skipped !== undefined && unseen === undefined) return ended(skipped);
      // This try has not reported yet: should it be lost, a create may have been sent from then on.
      t.beforeCreate = (at) => tellNextTry({ at, unseenSince: at });
      const outcome =
        skipped === undefined || unseen === undefined
          ? await tryScreening(request, checked.transaction, t, unseen)
          : await awaitEarlier(request, t, unseen.since, false);
      const noneFound = outcome.kind === 'no-answer' && outcome.reason === EARLIER_TRY.reason;
      if (skipped !== undefined && noneFound && unseen?.underWay === false) return ended(skipped);
      // The server retries nothing that is asked to stop: this is the last report.
      if (outcome.kind === 'no-answer' && askedToStop()) {
        return ended(unanswered(outcome.reason, outcome.unseenSince));
      }
      if (outcome.kind === 'no-answer') {
        report(outcome.unseenSince);
        const leastMs = outcome.underWay ? underWayMs() : 0;
        const pauseMs = Math.max(leastMs, askedPauseMs(outcome) ?? spreadPauseMs());
        throw tryAgain(outcome.reason, outcome.message, pauseMs);
      }
      if (outcome.kind === 'forbidden' && request.forbiddenKnown) {
        report(outcome.unseenSince);
        throw retryWrongKey();
      }
      return ended(outcome);
    },
  };
}

/**
 * Growing pauses, each times 0.5 to 1.5 by chance: orders that an outage stopped together don't come back together.
 * @returns milliseconds
 */
function spreadPauseMs(): number {
  return Math.round(grownPauseMs(FIRST_PAUSE_MS) * (0.5 + Math.random()));
}
