/** The transactions of an order: which there are, which one counts, until when each can be canceled, and what nobody has seen. */
import { sameTransaction } from '../contract/ids.ts';
import type { Attempt, OrderState, OrderTransaction } from '../contract/state.ts';
import { type Instant, laterBy, millis, type OrderDecision } from '../contract/words.ts';
import type { Order } from './order.ts';

/** Returns the transaction of that id, whatever the case of its letters. */
export function transactionNamed(state: OrderState, id: string | undefined): OrderTransaction | undefined {
  return id === undefined ? undefined : state.transactions.find((one) => sameTransaction(one.id, id));
}

/** Returns the attempt's transaction that counts: the last one with a usable decision, else the last one. */
export function transactionOf(state: OrderState, { number }: Attempt): OrderTransaction | undefined {
  const own = state.transactions.filter((one) => one.attempt === number);
  return own.findLast(({ decision }) => decision !== undefined && decision !== 'error') ?? own.at(-1);
}

/**
 * Returns the end of the attempt's cancel window: that of its transaction, else the one that a transaction would have which nobody
 * has seen. Undefined: there can be none.
 */
export function cancelByOf(state: OrderState, attempt: Attempt): Instant | undefined {
  const transaction = transactionOf(state, attempt);
  if (transaction !== undefined) return transaction.cancelBy;
  return unseenWindowEnd(state, attempt);
}

/** Returns the end of the window of the create whose transaction nobody has seen. */
function unseenWindowEnd({ policy }: OrderState, { unseen }: Attempt): Instant | undefined {
  return unseen && laterBy(policy.cancelWindowMs, unseen.since);
}

/** Returns the end of the last window that the attempt may have: a create that is under way opens another one than its transaction's. */
export function lastWindowOf(state: OrderState, attempt: Attempt): Instant | undefined {
  const known = cancelByOf(state, attempt);
  const opened = mayBeSeen(attempt) ? unseenWindowEnd(state, attempt) : undefined;
  return known === undefined || (opened !== undefined && opened > known) ? opened : known;
}

/** Returns the transactions whose decision is known: a lookup that finds one of them says nothing new. */
export function knownTransactionIds({ transactions }: OrderState): string[] {
  return transactions.filter(({ decision }) => decision !== undefined).map(({ id }) => id);
}

/**
 * Records a transaction, or what was learned of it since. Its window counts from the earliest time at which its create can have
 * been sent, and never becomes longer.
 */
export function recordTransaction(state: OrderState, found: Omit<OrderTransaction, 'cancelBy'>): void {
  const known = transactionNamed(state, found.id);
  if (known !== undefined) {
    const { decision, decidedAt, source } = found;
    if (decision !== undefined) Object.assign(known, { decision, decidedAt, source });
    return;
  }
  const attempt = state.attempts[found.attempt - 1];
  const before = attempt && transactionOf(state, attempt);
  state.transactions.push({ ...found, cancelBy: laterBy(state.policy.cancelWindowMs, found.sentFrom) });
  // The newest transaction gets the payment gateway's result, too.
  if (attempt?.gateway !== undefined && transactionOf(state, attempt) !== before) delete attempt.gateway.sent;
}

/**
 * Returns the attempt that a transaction found by this invoice number belongs to: the oldest one with a create of that number whose
 * transaction nobody has seen, since the screening service shows the first one only.
 */
export function ownerOf(state: OrderState, invoiceNumber: string): Attempt | undefined {
  return state.attempts.find(({ unseen }) => unseen?.invoiceNumber === invoiceNumber);
}

/** Returns whether the attempt has a create whose transaction a lookup may show. */
export function mayBeSeen({ unseen }: Attempt): boolean {
  return unseen !== undefined && unseen.hidden !== true;
}

const UNDECIDED: readonly OrderDecision[] = ['pending', 'error', 'skipped'];

/** Returns whether the screening service has decided about the attempt: what brings no decision replaces none (rule «no decision lost»). */
export function hasDecision(attempt: Attempt): boolean {
  return !UNDECIDED.includes(attempt.decision);
}

/** Rule «last call»: clocks differ, and requests take time. */
const LAST_STRETCH_MS = 30_000;

/** Returns the last moment at which a cancel may still be on its way. */
export function lastCall(cancelBy: Instant, cancelWindowMs: number): Instant {
  return laterBy(-Math.min(LAST_STRETCH_MS, cancelWindowMs / 100), cancelBy);
}

/** Returns whether a cancel may be sent at `nowMs`. */
export function windowOpen(cancelBy: Instant | undefined, cancelWindowMs: number, nowMs: number): boolean {
  return cancelBy !== undefined && nowMs < millis(lastCall(cancelBy, cancelWindowMs));
}

/** Returns whether a create may be on its way, required or not. */
export function createUnderWay({ state, running }: Order): boolean {
  const isUnanswered = state.attempts.some(({ answer }) => answer === undefined);
  return isUnanswered || running.some(({ effect: { call } }) => call.kind === 'catch-up');
}

/** Returns where an attempt of the order is, as answers say it. */
export function standingOf(state: OrderState, attempt: Attempt) {
  const { orderId, integration, decision, action, phase } = state;
  const transaction = transactionOf(state, attempt);
  const cancelBy = cancelByOf(state, attempt);
  return {
    ...{ orderId, integration, attempt: attempt.number, decision, action, phase },
    ...(transaction !== undefined && { transactionId: transaction.id }),
    ...(cancelBy !== undefined && { cancelBy }),
  };
}
