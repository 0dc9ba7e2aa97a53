/** Spares checkouts an outage: after a few failures in a row they are answered at once. */
import {
  BrokenCircuitError,
  type CircuitBreakerPolicy,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhenResult,
} from 'cockatiel';
import type { ScreeningOutcome } from '../orders/activity-contract.ts';
import { EARLIER_TRY } from './try-screening.ts';

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
export class CheckoutBreakers {
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
