/** The checkout's screening, a further attempt's, and the catch-up after it. Design sections 3.1, 5 and 6. */
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { type Integration, policyFor } from '../orders/integration.ts';
import { orderFactsOf } from '../orders/order-facts.ts';
import type { Policy } from '../orders/policy.ts';
import { matchingSkipRule } from '../orders/rules.ts';
import type { FirstScreening, ScreeningOutcome } from '../orders/screening-outcome.ts';
import type { CatchUpRequest, CheckoutRequest, ScreenRequest } from '../orders/world.ts';
import { type Fault, ScreeningError } from '../screening/index.ts';
import { type ActivityWorld, clientOf, integrationOf } from './activity-world.ts';
import { retryLater, retryWrongKey } from './retry-later.ts';
import { adopt, checkTransaction, type Try, tryScreening } from './try-screening.ts';

/** The longest that a create may take when no customer waits for it. */
const PATIENT_MS = 30_000;

/** What must be left of the budget for a request to be worth sending. */
const LEAST_BUDGET_MS = 50;

export function screeningActivities(world: ActivityWorld) {
  const begin = (request: ScreenRequest, integration: Integration, until: number): Try => ({
    integration,
    workflow: request.workflow ?? integration.workflow,
    client: clientOf(integration),
    cards: world.cards,
    until,
  });

  return {
    /**
     * Screens an order for a waiting customer: policy, skip rules, checks, budget, then one request. A local activity.
     * @throws `unknown-integration` or `invalid-request`, which fail the order at once
     */
    async screenAtCheckout(request: CheckoutRequest): Promise<FirstScreening> {
      const integration = knownIntegration(world, request);
      const policy = await policyOf(world, request, integration);
      const rule = matchingSkipRule(integration.skip, orderFactsOf(request.transaction));
      if (rule !== undefined) return { policy, outcome: { kind: 'skipped', rule } };
      const checked = checkTransaction(request, integration, policy.workflow);
      if (!checked.ok) throw invalid(checked.faults);
      const budget = budgetOf(request, integration);
      if (budget < LEAST_BUDGET_MS) {
        return { policy, outcome: { kind: 'unanswered', reason: 'no-time-left', maybeSent: false } };
      }
      return { policy, outcome: await inTime(request, begin(request, integration, Date.now() + budget)) };
    },

    /** The policy alone. A local activity, for when the screening itself broke down. */
    async policyInForce(request: ScreenRequest): Promise<Policy> {
      return policyOf(world, request, knownIntegration(world, request));
    },

    /** Screens a further attempt for a waiting customer. Called a second time it looks first. */
    async screenRetry(request: ScreenRequest): Promise<ScreeningOutcome> {
      const integration = integrationOf(world, request.integration);
      const lookFirst = request.lookFirst || activityInfo().attempt > 1;
      const until = Date.now() + integration.checkoutBudgetMs;
      return inTime({ ...request, lookFirst }, begin(request, integration, until));
    },

    /** Screens an order that has no decision yet, until the service has answered. The server calls it again. */
    async catchUp(request: CatchUpRequest): Promise<ScreeningOutcome> {
      const integration = integrationOf(world, request.integration);
      const lookFirst = request.lookFirst || activityInfo().attempt > 1;
      const until = Date.now() + PATIENT_MS;
      const outcome = await tryScreening({ ...request, lookFirst }, begin(request, integration, until));
      if (outcome instanceof ScreeningError) throw retryLater(outcome);
      if (outcome.kind === 'forbidden' && request.forbiddenKnown) throw retryWrongKey();
      return outcome;
    },
  };
}

/** A try for somebody who waits: an unknown outcome is looked up if there is time, never sent a second time. */
async function inTime(request: ScreenRequest, t: Try): Promise<ScreeningOutcome> {
  const outcome = await tryScreening(request, t);
  if (!(outcome instanceof ScreeningError)) return outcome;
  const maybeSent = outcome.outcome === 'unknown';
  if (maybeSent && t.until - Date.now() > LEAST_BUDGET_MS) {
    const found = await adopt(request, t).catch(() => undefined);
    if (found !== undefined) return { ...found, adopted: false };
  }
  return { kind: 'unanswered', reason: outcome.reason, maybeSent };
}

/** The budget, less the time spent queued; nothing for a caller who has gone. Without a deadline nobody has. */
function budgetOf(request: CheckoutRequest, integration: Integration): number {
  if (request.answerBy === undefined) return integration.checkoutBudgetMs;
  const untilAnswer = Date.parse(request.answerBy) - Date.now();
  return Math.min(integration.checkoutBudgetMs - request.queuedMs, untilAnswer);
}

async function policyOf(
  world: ActivityWorld,
  request: ScreenRequest,
  integration: Integration,
): Promise<Policy> {
  const facts = orderFactsOf(request.transaction);
  return policyFor(integration, request.workflow, facts, world.events !== undefined);
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

function invalid(faults: Fault[]): ApplicationFailure {
  const errors = faults.map(({ path, message }) => ({
    path: path === '' ? 'transaction' : `transaction.${path}`,
    message,
  }));
  const where = errors.map(({ path, message }) => `${path} ${message}`).join('; ');
  return ApplicationFailure.create({
    type: 'invalid-request',
    message: `The transaction breaks a rule: ${where}.`,
    nonRetryable: true,
    details: [{ errors }],
  });
}
