/** The checkout's screening, a further attempt's, and the catch-up after it. */
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import {
  BrokenCircuitError,
  type CircuitBreakerPolicy,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhenResult,
} from 'cockatiel';
import type {
  CatchUpRequest,
  CheckoutRequest,
  FirstScreening,
  InForce,
  RetryCheckoutRequest,
  ScreeningOutcome,
  ScreenRequest,
} from '../orders/activity-contract.ts';
import { actionAtCheckout, orderFactsOf, policyFor, skipRuleFor } from '../orders/decide.ts';
import type { Fault } from '../orders/errors.ts';
import { RULES_WRITTEN } from '../orders/order.ts';
import type { Integration, Policy } from '../orders/policy.ts';
import { millis } from '../orders/words.ts';
import type { Machine } from '../screening/index.ts';
import {
  type ActivityWorld,
  clientOf,
  faultWords,
  integrationOf,
  invalidTransaction,
  isAnothers,
  senderOf,
  underWayMs,
} from './activity-world.ts';
import { readAdopted } from './status.ts';
import { askedPauseMs, begunByAnotherRun, grownPauseMs, putOff, retryWrongKey, tryAgain } from './tries.ts';
import {
  awaitEarlier,
  checkTransaction,
  EARLIER_TRY,
  findOwn,
  LEAST_TIME_MS,
  type Tried,
  type Try,
  tryScreening,
} from './try-screening.ts';

/** The longest that a create may take when no customer waits for it. */
const PATIENT_MS = 30_000;
const FIRST_PAUSE_MS = 2_000;

export function screeningActivities(world: ActivityWorld) {
  const breakers = new CheckoutBreakers();
  const otherModes = new Set<string>();

  const begin = (request: ScreenRequest, integration: Integration, forMs: number): Try => ({
    integration,
    workflow: request.workflow ?? integration.workflow,
    client: clientOf(world, integration),
    machine: world.machine,
    cards: world.cards,
    isAnothers: (transactionId) => isAnothers(world, transactionId),
    otherModes,
    until: world.machine.now() + forMs,
  });

  /** Screens for somebody who waits, unless the service is down. */
  const atCheckout = async (
    request: ScreenRequest,
    t: Try,
    oneTry: () => Promise<Tried>,
  ): Promise<ScreeningOutcome> => {
    const outcome = await breakers.screen(request.integration, () => inTime(request, t, oneTry));
    return outcome ?? { kind: 'unanswered', reason: 'service-down', maybeSent: request.lookFirst };
  };

  /** Settings that lack the integration don't make the next try's look come too early to be believed. */
  const beginCatchUp = (request: CatchUpRequest, mayCreate: boolean): Try => {
    try {
      return begin(request, integrationOf(world, request.integration), PATIENT_MS);
    } catch (error) {
      throw mayCreate ? error : putOff(error, underWayMs(request));
    }
  };

  return {
    /**
     * Screens an order for a waiting customer: policy, skip rules, checks, budget, then one request. A local activity.
     * @throws `unknown-integration` or `invalid-request`, which fail the order at once
     */
    async screenAtCheckout(request: CheckoutRequest): Promise<FirstScreening> {
      const integration = knownIntegration(world, request);
      const policy = policyOf(world, request, integration);
      const ended = (outcome: ScreeningOutcome): FirstScreening => ({
        policy,
        rules: RULES_WRITTEN,
        outcome,
        ...((request.lookFirst || request.wasReset) && { again: true as const }),
      });
      if (request.adopt !== undefined) {
        return ended(await readAdopted(request, request.adopt, policy, clientOf(world, integration)));
      }
      const rule = skipRuleFor(integration, request.transaction);
      if (rule !== undefined) return ended({ kind: 'skipped', rule });
      const checked = checkTransaction(request, integration, policy.workflow);
      if (!checked.ok) throw invalidTransaction(checked.faults);
      const { lookFirst, wasReset } = request;
      const budget = budgetOf(world.machine, request, integration);
      const waits = budget >= LEAST_TIME_MS;
      // A lost run of this task may have told its caller a decision, so that it is looked up even without time. After a reset the answer is on record.
      if (!waits && (!lookFirst || wasReset)) return ended(noTimeLeft(lookFirst));
      const t = begin(request, integration, waits ? budget : integration.checkoutBudgetMs);
      // A run of this task that failed may have its create under way still, in this process or in another.
      const oneTry = lookFirst
        ? () => awaitEarlier(request, t, waits)
        : () => tryScreening(request, checked.transaction, t);
      const outcome = await atCheckout(request, t, oneTry);
      return ended(waits ? outcome : foundTooLate(outcome, policy));
    },

    /** The policy and the rules alone, for when the screening itself broke down. */
    async policyInForce(request: ScreenRequest): Promise<InForce> {
      return { policy: policyOf(world, request, knownIntegration(world, request)), rules: RULES_WRITTEN };
    },

    /**
     * Screens a further attempt for a waiting customer, unless a skip rule holds for it. Where a create may have been sent before, it only looks: that one may
     * be on its way for longer than a customer waits.
     */
    async screenRetry(asked: RetryCheckoutRequest): Promise<ScreeningOutcome> {
      const request = lookingAgain(asked);
      const integration = integrationOf(world, request.integration);
      const rule = skipRuleFor(integration, request.transaction);
      if (rule !== undefined) return { kind: 'skipped', rule };
      const t = begin(request, integration, integration.checkoutBudgetMs);
      const checked = checkTransaction(request, integration, t.workflow);
      if (!checked.ok) return refusedByRules(checked.faults);
      const oneTry = request.lookFirst
        ? () => awaitEarlier(request, t, true)
        : () => tryScreening(request, checked.transaction, t);
      return atCheckout(request, t, oneTry);
    },

    /**
     * Screens an order that has no decision yet, until the service has answered. The server calls it again. Skips it only if the
     * checkout could not read the skip rules, and no transaction is found that it may have created.
     */
    async catchUp(asked: CatchUpRequest): Promise<ScreeningOutcome> {
      const request = lookingAgain(asked);
      const underWay = asked.maybeUnderWay || begunByAnotherRun(asked);
      const mayCreate = !(underWay && activityInfo().attempt === 1);
      const t = beginCatchUp(request, mayCreate);
      const checked = checkTransaction(request, t.integration, t.workflow);
      const rule = asked.mayBeSkipped ? skipRuleFor(t.integration, request.transaction) : undefined;
      const skipped = rule === undefined ? undefined : { kind: 'skipped' as const, rule };
      // An invalid transaction was never sent.
      if (!checked.ok) return skipped ?? refusedByRules(checked.faults);
      const outcome = await tryScreening(request, checked.transaction, t, mayCreate && skipped === undefined);
      const isNoneFound = outcome.kind === 'no-answer' && outcome.reason === EARLIER_TRY.reason;
      if (skipped !== undefined && mayCreate && isNoneFound) return skipped;
      if (outcome.kind === 'no-answer') {
        const leastMs = outcome.underWay ? underWayMs(request) : 0;
        const pauseMs = Math.max(leastMs, askedPauseMs(outcome) ?? spreadPauseMs());
        throw tryAgain(outcome.reason, outcome.message, pauseMs);
      }
      if (outcome.kind === 'forbidden' && asked.forbiddenKnown) throw retryWrongKey();
      return outcome;
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

/** A try before this one may have sent its create: its answer was lost, its worker, or the run that began it. */
function lookingAgain<Request extends RetryCheckoutRequest>(request: Request): Request {
  const again = activityInfo().attempt > 1 || begunByAnotherRun(request);
  return { ...request, lookFirst: request.lookFirst || again };
}

/** A try for somebody who waits: an unknown outcome is looked up if there is time, never sent a second time. */
async function inTime(
  request: ScreenRequest,
  t: Try,
  oneTry: () => Promise<Tried>,
): Promise<ScreeningOutcome> {
  const outcome = await oneTry();
  if (outcome.kind === 'forbidden' && request.lookFirst) {
    return { kind: 'unanswered', reason: 'forbidden', maybeSent: true };
  }
  if (outcome.kind !== 'no-answer') return outcome;
  const { reason, maybeSent } = outcome;
  if (maybeSent && t.until - t.machine.now() >= LEAST_TIME_MS) {
    const found = await findOwn(request, t).catch(() => 'none' as const);
    // Made by this try, unless one before it may have made it.
    if (typeof found !== 'string') return { ...found, adopted: request.lookFirst };
  }
  return { kind: 'unanswered', reason, maybeSent };
}

/**
 * What was found when the caller had gone, and may have been told what the service said then: whoever was told to hold can't be
 * declined any more, so that a decline comes as a later decision.
 */
function foundTooLate(outcome: ScreeningOutcome, policy: Policy): ScreeningOutcome {
  if (outcome.kind !== 'answered' || policy.passive) return outcome;
  if (actionAtCheckout(outcome.decision, policy) !== 'decline') return outcome;
  return noTimeLeft(true);
}

function noTimeLeft(maybeSent: boolean): ScreeningOutcome {
  return { kind: 'unanswered', reason: 'no-time-left', maybeSent };
}

/** The budget, less the time spent queued; nothing for a caller who has gone. Without a deadline nobody has. */
function budgetOf({ now }: Machine, request: CheckoutRequest, integration: Integration): number {
  if (request.answerBy === undefined) return integration.checkoutBudgetMs;
  const untilAnswer = Date.parse(request.answerBy) - now();
  const queuedMs = millis(request.begun) - millis(request.startedAt);
  return Math.min(integration.checkoutBudgetMs - queuedMs, untilAnswer);
}

function policyOf(world: ActivityWorld, request: ScreenRequest, integration: Integration): Policy {
  const facts = orderFactsOf(request.transaction);
  return policyFor(integration, request.workflow, facts, senderOf(world, integration.name) !== undefined);
}

function knownIntegration(world: ActivityWorld, request: ScreenRequest): Integration {
  const integration = world.findIntegration(request.integration);
  if (integration !== undefined) return integration;
  throw ApplicationFailure.create({
    type: 'unknown-integration',
    message: `No integration «${request.integration}» is configured.`,
    nonRetryable: true,
    details: [{}],
  });
}

function refusedByRules(faults: Fault[]): ScreeningOutcome {
  return { kind: 'refused', reason: 'invalid-request', words: faultWords(faults) };
}

// Spares checkouts an outage: after a few failures in a row they are answered at once.

const FAILURES_IN_A_ROW = 5;
/** How long checkouts are spared before one is let through to see. */
const TRY_AGAIN_AFTER_MS = 5_000;
/** Why a service did not answer that says nothing about the service. */
const NOT_ITS_FAULT: ReadonlySet<string> = new Set([
  'no-time-left',
  'card-stash',
  'forbidden',
  EARLIER_TRY.reason,
]);

/** One circuit breaker for each integration, shared by the checkouts of a process. */
class CheckoutBreakers {
  readonly #breakers = new Map<string, CircuitBreakerPolicy>();

  /** @returns what the screening brought, or undefined: it wasn't begun, since the service is down */
  async screen(
    integration: string,
    screening: () => Promise<ScreeningOutcome>,
  ): Promise<ScreeningOutcome | undefined> {
    const breaker = this.#breakerOf(integration);
    // One is on its way to see; the library would have the others wait for it.
    if (breaker.state === CircuitState.HalfOpen) return undefined;
    try {
      return await breaker.execute(screening);
    } catch (error) {
      if (error instanceof BrokenCircuitError) return undefined;
      throw error;
    }
  }

  #breakerOf(integration: string): CircuitBreakerPolicy {
    const known = this.#breakers.get(integration);
    if (known !== undefined) return known;
    const made = circuitBreaker(handleWhenResult(isFailure), {
      halfOpenAfter: TRY_AGAIN_AFTER_MS,
      breaker: new ConsecutiveBreaker(FAILURES_IN_A_ROW),
    });
    this.#breakers.set(integration, made);
    return made;
  }
}

function isFailure(result: unknown): boolean {
  if (typeof result !== 'object' || result === null || !('kind' in result) || !('reason' in result))
    return false;
  return result.kind === 'unanswered' && !NOT_ITS_FAULT.has(String(result.reason));
}
