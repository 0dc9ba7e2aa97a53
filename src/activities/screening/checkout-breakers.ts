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

/** Carries an outcome past a closed breaker, which counts a thrown error neither as a success nor as a failure. */
class Uncounted extends Error {
  readonly outcome: ScreeningOutcome;
  constructor(outcome: ScreeningOutcome) {
    super();
    this.outcome = outcome;
  }
}

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
    const isTest = breaker.state === CircuitState.Open;
    try {
      const ended = await breaker.execute(async () => {
        const outcome = await screening();
        const isCounted = !saysNothing(outcome, isHurried);
        // A thrown error would close the breaker after a test call.
        if (!isCounted && !isTest) throw new Uncounted(outcome);
        return { outcome, failed: !isCounted || isFailure(outcome) };
      });
      return ended.outcome;
    } catch (error) {
      if (error instanceof Uncounted) return error.outcome;
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
