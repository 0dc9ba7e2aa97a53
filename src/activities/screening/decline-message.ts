/** The message for a customer whose order an enriched reply declines. */
import type { ScreeningOutcome } from '../../contract/activity-contract.ts';
import { ScreeningError } from '../../screening-service/index.ts';
import { LEAST_TIME_MS, type Try } from './try-screening.ts';

/**
 * Adds the message for a customer who is declined. Assumption «message of an enriched reply»: the enriched reply has none, so it is read
 * from the status in the time that is left. Without one the order uses the policy's.
 */
export async function withDeclineMessage(outcome: ScreeningOutcome, t: Try): Promise<ScreeningOutcome> {
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
