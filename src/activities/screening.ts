/** The checkout's screening, a further attempt's, and the catch-up after it. */
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type {
  CatchUpRequest,
  CheckedOut,
  CheckoutRequest,
  Fingerprinted,
  Moment,
  RetryCheckoutRequest,
  ScreeningOutcome,
  ScreenRequest,
} from '../orders/activity-contract.ts';
import { BROKE_DOWN } from '../orders/checkout.ts';
import { actionAtCheckout, orderFactsOf, policyFor, skipRuleFor } from '../orders/decide.ts';
import { type Fault, isOrderErrorCode } from '../orders/errors.ts';
import type { Refusal } from '../orders/order.ts';
import type { Integration, Policy } from '../orders/policy.ts';
import { type Instant, instant, millis } from '../orders/words.ts';
import {
  type ActivityWorld,
  clientOf,
  faultWords,
  integrationOf,
  invalidTransaction,
  isAnothers,
  senderOf,
} from './activity-world.ts';
import { CheckoutBreakers } from './checkout-breakers.ts';
import { isAfterReset, mayHaveRun, underWayMs } from './earlier-run.ts';
import type { Beginning } from './server-clock.ts';
import { readAdopted } from './status.ts';
import {
  askedPauseMs,
  askedToStop,
  lastTry,
  putOff,
  retryWrongKey,
  spreadPauseMs,
  tellNextTry,
  told,
  tryAgain,
} from './tries.ts';
import {
  awaitEarlier,
  checkTransaction,
  contentFingerprint,
  EARLIER_TRY,
  findOwn,
  LEAST_TIME_MS,
  type Tried,
  type Try,
  tryScreening,
  type Unseen,
} from './try-screening.ts';

/** A result without the time that `withMoment` adds to it. */
type Untimed<Result> = Result extends Moment ? Omit<Result, keyof Moment> : never;

/** The longest that a try may take when no customer waits for it. */
const PATIENT_MS = 30_000;

export function screeningActivities(world: ActivityWorld) {
  const breakers = new CheckoutBreakers();
  const otherModes = new Set<string>();

  const begin = (
    request: ScreenRequest,
    integration: Integration,
    forMs: number,
    time: () => Instant,
    beginning: Beginning,
  ): Try => {
    return {
      integration,
      workflow: request.workflow ?? integration.workflow,
      client: clientOf(world, integration),
      machine: world.machine,
      cards: world.cards,
      isAnothers: (transactionId) => isAnothers(world, transactionId),
      otherModes,
      time,
      beginning,
      until: beginning.elapsed + forMs,
    };
  };

  /** Screens for somebody who waits, unless the service is down. */
  const atCheckout = async (
    request: ScreenRequest,
    t: Try,
    unseenSince: Instant | undefined,
    oneTry: () => Promise<Tried>,
  ): Promise<ScreeningOutcome> => {
    const outcome = await breakers.screen(request.integration, () => inTime(request, t, unseenSince, oneTry));
    return outcome ?? unanswered('service-down', unseenSince);
  };

  const firstScreening = async (
    request: CheckoutRequest,
    integration: Integration,
    policy: Policy,
    time: () => Instant,
    beginning: Beginning,
  ): Promise<ScreeningOutcome> => {
    const rule = skipRuleFor(integration, request.transaction);
    if (rule !== undefined) return { kind: 'skipped', rule };
    const checked = checkTransaction(request, integration, policy.workflow);
    if (!checked.ok) throw invalidTransaction(checked.faults);
    const unseenSince = mayHaveRun() ? request.startedAt : undefined;
    const budget = budgetOf(request, integration);
    const waits = budget >= LEAST_TIME_MS;
    // A lost run of this task may have told its caller a decision, so that it is looked up even without time. After a reset the answer is on record.
    if (!waits && (unseenSince === undefined || isAfterReset()))
      return unanswered('no-time-left', unseenSince);
    const t = begin(request, integration, waits ? budget : integration.checkoutBudgetMs, time, beginning);
    // A run of this task that failed may have its create under way still, in this process or in another.
    const oneTry =
      unseenSince === undefined
        ? () => tryScreening(request, checked.transaction, t, undefined)
        : () => awaitEarlier(request, t, unseenSince, waits);
    const outcome = await atCheckout(request, t, unseenSince, oneTry);
    return waits ? outcome : foundTooLate(outcome, policy);
  };

  return {
    /**
     * Screens an order for a waiting customer: policy, skip rules, checks, budget, then one request. A local activity. Its failure is an
     * outcome; an order that can't be screened at all is refused.
     */
    async screenAtCheckout(
      request: CheckoutRequest,
      time: () => Instant,
      beginning: Beginning,
    ): Promise<Untimed<CheckedOut>> {
      const integration = world.findIntegration(request.integration);
      if (integration === undefined) return { refusal: unknownIntegration(request.integration) };
      const policy = policyOf(world, request, integration);
      try {
        if (request.adopt !== undefined) {
          return {
            policy,
            outcome: await readAdopted(request, request.adopt, policy, clientOf(world, integration)),
          };
        }
        const outcome = await firstScreening(request, integration, policy, time, beginning);
        const content = contentFingerprint(request, integration, policy.workflow);
        return { policy, outcome, ...content, ...(mayHaveRun() && { again: true as const }) };
      } catch (error) {
        const refusal = refusalIn(error);
        if (refusal !== undefined) return { refusal };
        if (request.adopt !== undefined) throw error;
        return { policy, outcome: unanswered(...whyFailed(error, request)) };
      }
    },

    /**
     * Screens a further attempt for a waiting customer, unless a skip rule holds for it. Where a create may have been sent before, it only looks: that one may
     * be on its way for longer than a customer waits.
     */
    async screenRetry(
      request: RetryCheckoutRequest,
      time: () => Instant,
      beginning: Beginning,
    ): Promise<{ outcome: ScreeningOutcome; again?: true } & Fingerprinted> {
      const unseenSince = unseenBefore(request)?.since;
      const integration = integrationOf(world, request.integration);
      const content = contentFingerprint(request, integration, request.workflow ?? integration.workflow);
      const ended = (outcome: ScreeningOutcome) => ({
        outcome,
        ...content,
        ...(isAfterReset() && { again: true as const }),
      });
      const rule = skipRuleFor(integration, request.transaction);
      if (rule !== undefined) return ended({ kind: 'skipped', rule });
      const t = begin(request, integration, integration.checkoutBudgetMs, time, beginning);
      const checked = checkTransaction(request, integration, t.workflow);
      if (!checked.ok) return ended(refusedByRules(checked.faults, unseenSince));
      const oneTry =
        unseenSince === undefined
          ? () => tryScreening(request, checked.transaction, t, undefined)
          : () => awaitEarlier(request, t, unseenSince, true);
      return ended(await atCheckout(request, t, unseenSince, oneTry));
    },

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
        tellNextTry({
          reported: activityInfo().attempt,
          at: time(),
          ...(unseenSince !== undefined && { unseenSince }),
        });
      let t: Try;
      try {
        t = begin(request, integrationOf(world, request.integration), PATIENT_MS, time, beginning);
      } catch (error) {
        report(unseen?.since);
        // Settings that lack the integration don't make the next lookup come too early to be believed.
        throw unseen?.underWay ? putOff(error, underWayMs()) : error;
      }
      if (request.policyMissing) {
        const policy = policyOf(world, request, t.integration);
        return { policy, outcome: unanswered(BROKE_DOWN, unseen?.since) };
      }
      const content = contentFingerprint(request, t.integration, t.workflow);
      const ended = (outcome: ScreeningOutcome) => ({ outcome, ...content });
      const checked = checkTransaction(request, t.integration, t.workflow);
      const rule = request.mayBeSkipped ? skipRuleFor(t.integration, request.transaction) : undefined;
      const skipped = rule === undefined ? undefined : { kind: 'skipped' as const, rule };
      // An invalid transaction was never sent.
      if (!checked.ok) return ended(skipped ?? refusedByRules(checked.faults, unseen?.since));
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
 * Returns the create of an earlier try, effect or run whose transaction nobody has seen:
 * - after a reset, the previous run may have sent one at any time since the order's start;
 * - on the first try, the order's state says it;
 * - after a try that reported its end, its report says it, and the pause since was long enough for it to arrive;
 * - after a try that did not report (its worker died, or it was given up), that try may have sent one just now. What an earlier try
 *   told is newer than what the order's state says.
 */
function unseenBefore(request: RetryCheckoutRequest): Unseen | undefined {
  const { reported, unseenSince, at } = told();
  const last = lastTry();
  if (last > 0 && reported === last) {
    return unseenSince === undefined ? undefined : { since: unseenSince, underWay: false };
  }
  const known = isAfterReset() ? request.startedAt : request.unseenSince;
  if (last === 0) return known === undefined ? undefined : { since: known, underWay: true };
  const { scheduledTimestampMs } = activityInfo();
  return { since: unseenSince ?? at ?? known ?? instant(scheduledTimestampMs), underWay: true };
}

/** A try for somebody who waits: an unknown outcome is looked up if there is time, never sent a second time. */
async function inTime(
  request: ScreenRequest,
  t: Try,
  unseenSince: Instant | undefined,
  oneTry: () => Promise<Tried>,
): Promise<ScreeningOutcome> {
  const outcome = await oneTry();
  if (outcome.kind === 'forbidden' && unseenSince !== undefined) return unanswered('forbidden', unseenSince);
  if (outcome.kind !== 'no-answer') return outcome;
  const { reason, unseenSince: since } = outcome;
  if (since !== undefined && t.until - t.machine.elapsed() >= LEAST_TIME_MS) {
    const found = await findOwn(request, t, since).catch(() => 'none' as const);
    if (typeof found !== 'string') return found;
  }
  return unanswered(reason, since);
}

/**
 * What was found when the caller had gone, and may have been told what the service said then: whoever was told to hold can't be
 * declined any more, so that a decline comes as a later decision.
 */
function foundTooLate(outcome: ScreeningOutcome, policy: Policy): ScreeningOutcome {
  if (outcome.kind !== 'answered' || policy.passive) return outcome;
  if (actionAtCheckout(outcome.decision, policy) !== 'decline') return outcome;
  return unanswered('no-time-left', outcome.sentFrom);
}

function unanswered(reason: string, unseenSince: Instant | undefined): ScreeningOutcome {
  return { kind: 'unanswered', reason, ...(unseenSince !== undefined && { unseenSince }) };
}

/**
 * The budget, less the time spent queued; nothing for a caller who has gone. Without a deadline nobody has. By server time: a
 * worker whose clock is wrong screens all the same.
 */
function budgetOf(
  { answerBy, begun, startedAt }: CheckoutRequest,
  { checkoutBudgetMs }: Integration,
): number {
  if (answerBy === undefined) return checkoutBudgetMs;
  const queuedMs = millis(begun) - millis(startedAt);
  return Math.min(checkoutBudgetMs - queuedMs, millis(answerBy) - millis(begun));
}

function policyOf(world: ActivityWorld, request: ScreenRequest, integration: Integration): Policy {
  const facts = orderFactsOf(request.transaction);
  return policyFor(integration, request.workflow, facts, senderOf(world, integration.name) !== undefined);
}

function unknownIntegration(name: string): Refusal {
  return { code: 'unknown-integration', message: `No integration «${name}» is configured.` };
}

/** @returns why the order can't be screened at all, if that is what the failure says */
function refusalIn(error: unknown): Refusal | undefined {
  if (!(error instanceof ApplicationFailure) || !isOrderErrorCode(error.type)) return undefined;
  const [details] = error.details ?? [];
  return { ...(typeof details === 'object' ? details : {}), code: error.type, message: error.message };
}

/** Settings without a key are an operator's mistake, and nothing was sent. What our own code threw may have been thrown after a create. */
function whyFailed(
  error: unknown,
  { startedAt }: CheckoutRequest,
): [reason: string, unseenSince: Instant | undefined] {
  if (!(error instanceof ApplicationFailure)) return ['unexpected', startedAt];
  return [error.type ?? 'unexpected', mayHaveRun() ? startedAt : undefined];
}

function refusedByRules(faults: Fault[], unseenSince: Instant | undefined): ScreeningOutcome {
  const refused = { kind: 'refused' as const, reason: 'invalid-request', words: faultWords(faults) };
  return { ...refused, ...(unseenSince !== undefined && { unseenSince }) };
}
