/** Circuit breakers for checkouts: after a few failures in a row, checkouts are answered immediately during an outage. */
import {
  BrokenCircuitError,
  type CircuitBreakerPolicy,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhenResult,
} from 'cockatiel';
import type { ScreeningOutcome } from '../../contract/activity-contract.ts';
import { fieldsOf } from '../../order/messages/shapes.ts';
import type { Try } from './begin-screening.ts';
import { EARLIER_TRY } from './try-screening.ts';

const FAILURES_IN_A_ROW = 5;
/** How long a breaker stays open before one checkout tests the screening service. */
const TRY_AGAIN_AFTER_MS = 5_000;
/** Reasons that say nothing about the screening service. */
const SAYS_NOTHING: readonly string[] = ['no-time-left', 'card-stash', EARLIER_TRY.reason];
/** A time-out after less time than this, and than half of the checkout budget, says nothing about it either. */
const FAIR_TIME_MS = 2_000;

const WHEN_FAILED = handleWhenResult((ended) => fieldsOf(ended).failed === true);

/**
 * Returns a function that runs a screening behind the circuit breaker of its integration, which all checkouts of the process share.
 * While the breaker is open it runs nothing and returns undefined.
 */
export function checkoutBreakers() {
  const breakers = new Map<string, CircuitBreakerPolicy>();
  return async (
    { request: { integration }, integration: { checkoutBudgetMs }, until, world }: Try,
    screening: () => Promise<ScreeningOutcome>,
  ): Promise<ScreeningOutcome | undefined> => {
    const isHurried = until - world.machine.elapsed() < Math.min(checkoutBudgetMs / 2, FAIR_TIME_MS);
    const breaker =
      breakers.get(integration) ??
      circuitBreaker(WHEN_FAILED, {
        halfOpenAfter: TRY_AGAIN_AFTER_MS,
        breaker: new ConsecutiveBreaker(FAILURES_IN_A_ROW),
      });
    breakers.set(integration, breaker);
    // The library would make other checkouts wait for the test call.
    if (breaker.state === CircuitState.HalfOpen) return undefined;
    const isClosed = () => breaker.state === CircuitState.Closed;
    if (isClosed()) {
      const outcome = await screening();
      // Other checkouts may have opened it meanwhile.
      if (isClosed() && !saysNothing(outcome, isHurried))
        await breaker.execute(() => ({ failed: isFailure(outcome) }));
      return outcome;
    }
    try {
      // Only a test call that shows that the screening service is up closes the breaker.
      const { outcome } = await breaker.execute(async () => {
        const tested = await screening();
        return { outcome: tested, failed: saysNothing(tested, isHurried) || isFailure(tested) };
      });
      return outcome;
    } catch (error) {
      if (error instanceof BrokenCircuitError) return undefined;
      throw error;
    }
  };
}

function saysNothing(outcome: ScreeningOutcome, isHurried: boolean): boolean {
  if (outcome.kind !== 'unanswered') return false;
  return SAYS_NOTHING.includes(outcome.reason) || (isHurried && outcome.reason === 'timeout');
}

/** A rejected key is an answer: the screening service is up. */
function isFailure(outcome: ScreeningOutcome): boolean {
  return outcome.kind === 'unanswered' && outcome.reason !== 'forbidden';
}
