import { ApplicationFailure } from '@temporalio/common';
import type {
  CheckedOut,
  CheckoutRequest,
  Fingerprinted,
  Moment,
  RetryCheckoutRequest,
  ScreeningOutcome,
  ScreenRequest,
} from '../orders/activity-contract.ts';
import { actionAtCheckout, skipRuleFor } from '../orders/decide.ts';
import { isOrderErrorCode } from '../orders/errors.ts';
import type { Refusal } from '../orders/order.ts';
import type { Integration, Policy } from '../orders/policy.ts';
import { type Instant, millis } from '../orders/words.ts';
import { type ActivityWorld, clientOf, integrationOf, invalidTransaction } from './activity-world.ts';
import { type BeginTry, policyOf, refusedByRules, unanswered, unseenBefore } from './begin-screening.ts';
import { CheckoutBreakers } from './checkout-breakers.ts';
import { isAfterReset, mayHaveRun } from './earlier-run.ts';
import type { Beginning } from './server-clock.ts';
import { readAdopted } from './status.ts';
import {
  awaitEarlier,
  checkTransaction,
  contentFingerprint,
  findOwn,
  LEAST_TIME_MS,
  type Tried,
  type Try,
  tryScreening,
} from './try-screening.ts';

/** A result without the time that `withMoment` adds to it. */
type Untimed<Result> = Result extends Moment ? Omit<Result, keyof Moment> : never;

export function screeningActivities(world: ActivityWorld, begin: BeginTry) {
  const breakers = new CheckoutBreakers();

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
  };
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
