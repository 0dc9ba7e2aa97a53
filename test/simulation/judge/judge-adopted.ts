/** What is wrong with an order that was adopted, beside what holds for every order. */
import type { OrderState } from '../../../src/contract/order/state.ts';
import { millis } from '../../../src/contract/words.ts';
import { cancelByOf } from '../../../src/order/transactions.ts';
import { fails } from '../../books/books.ts';
import type { OrderWorld } from '../order-world.ts';

export function judgeAdopted({ world, callers, run }: OrderWorld): string[] {
  const faults: string[] = [];
  if (world.service.ledger.some(({ operation }) => operation === 'create-transaction')) {
    faults.push('an adopted order created a transaction');
  }
  const { order } = run;
  if (order === undefined || run.refusal !== undefined) return faults;
  const { state } = order;
  const given = new Set(
    callers.book.flatMap(({ checkout }) =>
      checkout === undefined ? [] : [`${checkout.decision} → ${checkout.action}`],
    ),
  );
  // What was told before an operator's reset may be told otherwise after it.
  const reset = world.life.happenings.some((one) => one.do === 'reset');
  if (given.size > 1 && !reset) faults.push(`the adoption was answered ${[...given].join(' and ')}`);
  for (const record of state.actions) {
    if (record.by === 'policy' && !hasReason(state, record.requestedAt)) {
      faults.push(`action ${record.number} is because of what was so at the adoption`);
    }
  }
  return faults;
}

/** Something was read after the adoption that means a cancel, such as a review that is due, or a review came due after it. */
function hasReason(state: OrderState, at: string): boolean {
  const [attempt] = state.attempts;
  const [adoption, ...since] = attempt?.readings ?? [];
  const { policy } = state;
  const cancelBy = attempt && cancelByOf(state, attempt);
  if (cancelBy === undefined || adoption === undefined) return false;
  const due = millis(cancelBy) - policy.reviewLeadTimeMs;
  const cancelsReviews = policy.onUnresolvedReview === 'cancel';
  if (cancelsReviews && due > millis(adoption.at)) return true;
  if (cancelsReviews && since.some((one) => one.at <= at && one.decision === 'review')) return true;
  let before = adoption.decision;
  for (const reading of since) {
    if (reading.at <= at && fails(reading.decision) && !fails(before)) return true;
    before = reading.decision;
  }
  return false;
}
