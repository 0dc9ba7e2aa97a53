/** Circuit breakers for checkouts: after a few failures in a row, checkouts are answered immediately during an outage. */
import type { ScreeningOutcome } from '../../contract/activity-contract.ts';
import type { Try } from './begin-screening.ts';
import { EARLIER_TRY } from './try-screening.ts';

const FAILURES_IN_A_ROW = 5;
/** How long a breaker stays open before one checkout tests the screening service. */
const TRY_AGAIN_AFTER_MS = 5_000;
/** Reasons that say nothing about the screening service. */
const SAYS_NOTHING: readonly string[] = ['no-time-left', 'card-stash', EARLIER_TRY.reason];
/** A time-out after less time than this, and than half of the checkout budget, says nothing about it either. */
const FAIR_TIME_MS = 2_000;

/** Open from so many failures in a row. */
interface Breaker {
  failures: number;
  /** When an open one lets the next checkout through, by the monotonic clock. */
  testAt: number;
}

/**
 * Returns a function that runs a screening behind the circuit breaker of its integration, which all checkouts of the process share.
 * While the breaker is open it runs one screening now and then, as a test; instead of the others it returns undefined at once.
 */
export function checkoutBreakers() {
  const breakers = new Map<string, Breaker>();
  return async (
    { request: { integration }, integration: { checkoutBudgetMs }, until, world: { machine } }: Try,
    screening: () => Promise<ScreeningOutcome>,
  ): Promise<ScreeningOutcome | undefined> => {
    const now = machine.elapsed();
    const isHurried = until - now < Math.min(checkoutBudgetMs / 2, FAIR_TIME_MS);
    const breaker = breakers.get(integration) ?? { failures: 0, testAt: 0 };
    breakers.set(integration, breaker);
    const isOpen = () => breaker.failures >= FAILURES_IN_A_ROW;
    const isTest = isOpen();
    if (isTest) {
      if (now < breaker.testAt) return undefined;
      breaker.testAt = now + TRY_AGAIN_AFTER_MS;
    }
    const outcome = await screening();
    // Other checkouts may have opened it meanwhile: then only a test shows that the screening service is up.
    if (saysNothing(outcome, isHurried) || (isOpen() && !isTest)) return outcome;
    breaker.failures = isFailure(outcome) ? breaker.failures + 1 : 0;
    if (isOpen()) breaker.testAt = machine.elapsed() + TRY_AGAIN_AFTER_MS;
    return outcome;
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
