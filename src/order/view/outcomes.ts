/** What the statistics count of an order: how long its review took, how a person's override turned out, and chargebacks. Pure. */
import type { Attempt, OrderState } from '../../contract/order/state.ts';
import { millis, type Outcome } from '../../contract/words.ts';

const HOUR_MS = 3_600_000;

/** Returns the order's outcomes. The list never becomes empty again, so its search attribute is never removed. */
export function outcomesOf({ attempts, actions }: OrderState): Outcome[] {
  const charged = actions.find(({ kind, status }) => kind === 'chargeback' && status === 'done');
  return [...new Set([...attempts.flatMap(overrideOutcomes), ...(charged ? ['chargeback' as const] : [])])];
}

function overrideOutcomes({ override, readings }: Attempt): Outcome[] {
  if (override === undefined) return [];
  const later = readings.findLast(({ at, decision }) => at > override.at && DECIDED.includes(decision));
  if (later === undefined) return ['overridden'];
  const agrees = (later.decision === 'pass') === (override.action === 'proceed');
  return ['overridden', agrees ? 'override-confirmed' : 'override-contradicted'];
}

const DECIDED: readonly string[] = ['pass', 'fail', 'fraudulent'];

/** Returns how many hours the order's newest review took until the screening service or a person decided; undefined: none has ended. */
export function reviewHours({ attempts }: OrderState): number | undefined {
  const hours = attempts.flatMap(({ readings, override }) => {
    const decided = readings.filter(({ decision }) => DECIDED.includes(decision));
    const ends = [...decided, ...(override ? [override] : [])].map(({ at }) => at).sort();
    return readings.flatMap(({ at: from, decision }, index) => {
      const isBegun = decision === 'review' && readings[index - 1]?.decision !== 'review';
      const until = ends.find((at) => at > from);
      return isBegun && until !== undefined ? [(millis(until) - millis(from)) / HOUR_MS] : [];
    });
  });
  return hours.at(-1);
}
