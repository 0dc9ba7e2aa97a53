import { activityInfo, log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type {
  CheckoutRequest,
  Retried,
  Screened,
  ScreeningOutcome,
  ScreenRequest,
} from '../../contract/activity-contract.ts';
import type { FieldError, Refusal } from '../../contract/errors.ts';
import type { Adoption, OrderState } from '../../contract/order/state.ts';
import type { Integration, Policy } from '../../contract/policy.ts';
import { type Instant, laterBy, millis } from '../../contract/words.ts';
import { actionAtCheckout } from '../../order/decide.ts';
import { whyUnread } from '../../order/messages/check-messages.ts';
import { skipRuleFor } from '../../order/order-rules.ts';
import { ORDER_RESET } from '../../order/screening/apply-screening.ts';
import { type ScreeningClient, ScreeningError, type Transaction } from '../../screening-service/index.ts';
import { type ActivityWorld, clientOf, integrationOf, invalidRequest } from '../activity-world.ts';
import type { Clock } from '../server-clock.ts';
import { readAdopted, refusedAdoption } from '../status.ts';
import { askedPauseMs, isAfterReset, mayHaveRun } from '../tries.ts';
import { beginTry, policyOf, refusedByRules, type Try, unanswered, unseenBefore } from './begin-screening.ts';
import { checkoutBreakers } from './checkout-breakers.ts';
import {
  awaitEarlier,
  checkTransaction,
  LEAST_TIME_MS,
  look,
  type NoAnswer,
  tryScreening,
} from './try-screening.ts';

export function screeningActivities(world: ActivityWorld) {
  const behindBreaker = checkoutBreakers();

  /** Screens for a waiting caller. A create of an earlier run of this task may still be in flight, in this process or another. */
  const atCheckout = async (
    transaction: Transaction,
    t: Try,
    unseenSince: Instant | undefined,
  ): Promise<ScreeningOutcome> => {
    const screening = () =>
      unseenSince === undefined ? screenFresh(transaction, t) : screenRepeated(t, unseenSince, true);
    const outcome = await behindBreaker(t, screening);
    return heldAfterReset(outcome ?? unanswered('service-down', unseenSince));
  };

  /** @returns the outcome of a create that an earlier run or try may have sent; undefined if the screening service is known to be down */
  const lookUp = (request: ScreenRequest, unseenSince: Instant, integration: Integration, clock: Clock) => {
    const t = beginTry(world, request, integration, integration.checkoutBudgetMs, clock);
    return behindBreaker(t, () => screenRepeated(t, unseenSince, false));
  };

  /**
   * Looks up what an earlier run or try may have screened by earlier settings: the current ones skip or refuse it.
   * @returns the outcome of its transaction; undefined if there was no such run, or no transaction is found, also because the lookup failed
   */
  const foundBefore = async (
    request: ScreenRequest,
    unseenSince: Instant | undefined,
    integration: Integration,
    clock: Clock,
  ): Promise<ScreeningOutcome | undefined> => {
    if (unseenSince === undefined || !integration.apiKey()) return undefined;
    const outcome = await lookUp(request, unseenSince, integration, clock);
    return outcome?.kind === 'answered' || outcome?.kind === 'unreadable' ? outcome : undefined;
  };

  const firstScreening = async (
    request: CheckoutRequest,
    checked: ReturnType<typeof checkTransaction>['checked'],
    integration: Integration,
    policy: Policy,
    clock: Clock,
  ): Promise<ScreeningOutcome | { refusal: Refusal }> => {
    const unseenSince = mayHaveRun() ? request.startedAt : undefined;
    const rule = skipRuleFor(integration, request.transaction);
    if (rule !== undefined || !checked.ok) {
      const found = await foundBefore(request, unseenSince, integration, clock);
      if (found !== undefined) return heldAfterReset(foundTooLate(found, policy));
    }
    if (rule !== undefined) return { kind: 'skipped', rule };
    if (!checked.ok) return { refusal: invalidTransaction(checked.fieldErrors) };
    const budget = budgetOf(request, integration);
    if (budget >= LEAST_TIME_MS) {
      const t = beginTry(world, request, integration, budget, clock);
      return atCheckout(checked.transaction, t, unseenSince);
    }
    // Too late. A lost run of this task may have returned a decision to its caller, so look it up. After a reset the catch-up does.
    if (unseenSince === undefined || isAfterReset())
      return heldAfterReset(unanswered('no-time-left', unseenSince));
    const outcome = await lookUp(request, unseenSince, integration, clock);
    return outcome === undefined ? unanswered('service-down', unseenSince) : foundTooLate(outcome, policy);
  };

  /** @throws Error if the adoption is refused only after a reset: the order that was adopted must not end */
  const adopted = async (
    request: CheckoutRequest,
    adoption: Adoption,
    policy: Policy,
    client: ScreeningClient,
  ): Promise<ScreeningOutcome | { refusal: Refusal }> => {
    const wasAdopted = isAfterReset() && (await earlierRun(world)) !== undefined;
    // It was accepted before, perhaps by other settings, and when the screening was less long ago.
    const refusal = wasAdopted ? undefined : refusedAdoption(request, adoption, policy);
    const outcome = refusal ?? (await readAdopted(request, adoption, client));
    if (wasAdopted && 'refusal' in outcome)
      throw new Error(`the adopted transaction: ${outcome.refusal.code}`);
    return outcome;
  };

  return {
    /**
     * Screens an order for a waiting customer: policy, skip rules, checks, budget, then one request. Runs as a local activity. Returns
     * failures as an outcome, and a refusal if the order can't be screened at all.
     */
    async screenAtCheckout(request: CheckoutRequest, clock: Clock): Promise<Screened> {
      const integration = world.findIntegration(request.integration);
      if (integration === undefined) {
        // Rule «settings gone»: an earlier run may have screened it.
        if (mayHaveRun()) integrationOf(world, request.integration);
        const message = `No integration «${request.integration}» is configured.`;
        return { refusal: { code: 'unknown-integration', message } };
      }
      const policy = policyOf(world, request, integration);
      const ended = await earlierEnd(world, request);
      if (ended !== undefined) return ended;
      try {
        const { checked, content } = checkTransaction(request, integration);
        const outcome =
          request.adopt === undefined
            ? await firstScreening(request, checked, integration, policy, clock)
            : await adopted(request, request.adopt, policy, clientOf(world, integration));
        if ('refusal' in outcome) return outcome;
        return { policy, outcome, ...content, ...(mayHaveRun() && { again: true as const }) };
      } catch (error) {
        if (request.adopt !== undefined) throw error;
        return { policy, outcome: unanswered(...whyFailed(error, request)) };
      }
    },

    /**
     * Screens another attempt for a waiting customer, unless a skip rule applies. If a create may already have been sent, only looks it up:
     * that create may be in flight for longer than a customer waits.
     */
    async screenRetry(
      request: ScreenRequest,
      clock: Clock,
    ): Promise<{ outcome: ScreeningOutcome } & Retried> {
      const unseenSince = unseenBefore(request, clock.time())?.since;
      const integration = integrationOf(world, request.integration);
      const { checked, content } = checkTransaction(request, integration);
      const policy = policyOf(world, request, integration);
      const ended = (outcome: ScreeningOutcome) => ({
        outcome,
        ...content,
        whenUnavailable: policy.whenUnavailable,
        ...(isAfterReset() && { again: true as const }),
      });
      const rule = skipRuleFor(integration, request.transaction);
      if (rule !== undefined) {
        const found = await foundBefore(request, unseenSince, integration, clock);
        return ended(found ?? { kind: 'skipped', rule });
      }
      if (!checked.ok) return ended(refusedByRules(checked.fieldErrors, unseenSince));
      let t: Try;
      try {
        t = beginTry(world, request, integration, integration.checkoutBudgetMs, clock);
      } catch (error) {
        // With incomplete settings it sends nothing.
        return ended(heldAfterReset(unanswered(reasonOf(error), unseenSince)));
      }
      return ended(await atCheckout(checked.transaction, t, unseenSince));
    },
  };
}

/** Creates a transaction. After an unknown outcome it looks the transaction up if there is time, and never sends a second create. */
async function screenFresh(transaction: Transaction, t: Try): Promise<ScreeningOutcome> {
  const outcome = await tryScreening(transaction, t, undefined);
  if (outcome.kind !== 'no-answer') return withDeclineMessage(outcome, t);
  const { unseen } = outcome;
  if (unseen !== undefined && t.until - t.world.machine.elapsed() >= LEAST_TIME_MS) {
    const found = await look(t, unseen);
    if (typeof found !== 'string' && found.kind === 'answered') return found;
  }
  return withoutAnswer(outcome, t);
}

/** Returns the outcome for a waiting caller, with the time until which the screening service asked not to be called. */
function withoutAnswer(outcome: NoAnswer, { time }: Try): ScreeningOutcome {
  const pauseMs = askedPauseMs(outcome);
  const notBefore = pauseMs === undefined ? undefined : laterBy(pauseMs, time());
  return unanswered(outcome.reason, outcome.unseen?.since, notBefore);
}

/** Looks up the transaction that an earlier run may have created. Never creates one. */
async function screenRepeated(t: Try, unseenSince: Instant, again: boolean): Promise<ScreeningOutcome> {
  const outcome = await awaitEarlier(t, { since: unseenSince }, again);
  if (outcome.kind === 'forbidden') return unanswered('forbidden', unseenSince);
  return outcome.kind === 'no-answer' ? withoutAnswer(outcome, t) : outcome;
}

/** Rule «reset before an answer»: the caller was answered by the run before, so the policy's fallback doesn't apply. */
function heldAfterReset(outcome: ScreeningOutcome): ScreeningOutcome {
  return isAfterReset() && outcome.kind === 'unanswered' ? { ...outcome, reason: ORDER_RESET } : outcome;
}

/**
 * The outcome of a lookup that ran after the caller's deadline. The caller may already have received `hold`, so a decline
 * is not returned here: it follows as a later decision.
 */
function foundTooLate(outcome: ScreeningOutcome, policy: Policy): ScreeningOutcome {
  if (outcome.kind !== 'answered' || policy.passive) return outcome;
  if (actionAtCheckout(outcome.decision, policy) !== 'decline') return outcome;
  return unanswered('no-time-left', outcome.sentFrom);
}

/**
 * Milliseconds left for screening: the budget minus the time spent queued, and not past the caller's deadline if there is one.
 * Uses server time, so that a wrong worker clock does no harm.
 */
function budgetOf(
  { answerBy, begun, startedAt }: CheckoutRequest,
  { checkoutBudgetMs }: Integration,
): number {
  if (answerBy === undefined) return checkoutBudgetMs;
  const queuedMs = millis(begun) - millis(startedAt);
  return Math.min(checkoutBudgetMs - queuedMs, millis(answerBy) - millis(begun));
}

function invalidTransaction(fieldErrors: readonly FieldError[]): Refusal {
  const named = fieldErrors.map(({ path, message }) => ({
    path: path === '' ? 'transaction' : `transaction.${path}`,
    message,
  }));
  return invalidRequest(named, 'Invalid transaction');
}

/**
 * The reason of a failure, and since when a create may be unresolved. With incomplete settings this run sent nothing. Any other error may
 * have been thrown after a create.
 */
function whyFailed(
  error: unknown,
  { startedAt }: CheckoutRequest,
): [reason: string, unseenSince: Instant | undefined] {
  const isIncomplete = error instanceof ApplicationFailure;
  return [reasonOf(error), !isIncomplete || mayHaveRun() ? startedAt : undefined];
}

function reasonOf(error: unknown): string {
  return (error instanceof ApplicationFailure && error.type) || 'unexpected';
}

/**
 * Adds the message for a customer who is declined. Assumption «message of an enriched reply»: the enriched reply has none, so it is read
 * from the status in the time that is left. Without one the order uses the policy's.
 */
async function withDeclineMessage(outcome: ScreeningOutcome, t: Try): Promise<ScreeningOutcome> {
  if (outcome.kind !== 'answered' || outcome.decision !== 'fail' || outcome.message !== undefined)
    return outcome;
  const timeoutMs = t.until - t.world.machine.elapsed();
  if (!t.integration.enrich || t.workflow === 'post-acceptance' || timeoutMs < LEAST_TIME_MS) return outcome;
  try {
    const { decision, message } = await t.client.statusById(outcome.transactionId, { timeoutMs });
    return decision === 'fail' && message !== undefined ? { ...outcome, message } : outcome;
  } catch (error) {
    if (error instanceof ScreeningError) return outcome;
    throw error;
  }
}

/**
 * Rule «started again»: asks only where the start is no checkout that a customer waits for, since that costs time. If the orders can't be
 * listed, it is taken for a new order: none may be lost.
 * @returns the end of the order's earlier run; undefined if there is none
 */
async function earlierEnd(
  world: ActivityWorld,
  { answerBy, begun, adopt }: CheckoutRequest,
): Promise<Screened | undefined> {
  const awaited = answerBy !== undefined && begun <= answerBy;
  if (awaited || isAfterReset()) return undefined;
  try {
    const earlier = await earlierRun(world);
    // A lost order may be adopted.
    if (earlier === undefined || (earlier === 'lost' && adopt !== undefined)) return undefined;
    if (earlier === 'lost' || whyUnread(earlier) !== undefined) return { refusal: ENDED };
    return { earlier };
  } catch (error) {
    log.warn('could not check whether an order has ended before', { error });
    return undefined;
  }
}

async function earlierRun({ orders }: ActivityWorld): Promise<OrderState | 'lost' | undefined> {
  const run = activityInfo().workflowExecution;
  return run && orders?.ended(run);
}

const ENDED: Refusal = {
  code: 'order-closed',
  message: 'The order has ended before, without a record that can be read. Nothing was screened.',
};
