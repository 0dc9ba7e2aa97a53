/** Matters that need an operator's attention. Each has a cause, and is cleared when the cause ends. */
import type { OrderEventType } from '../contract/messages.ts';
import type {
  ActionRecord,
  Attempt,
  Attention,
  AttentionCause,
  OrderState,
} from '../contract/order/state.ts';
import type { AttentionCode, Instant } from '../contract/words.ts';
import { defined } from './defined.ts';
import { isReplaced } from './portal/repeats.ts';
import { currentAttempt } from './record.ts';
import { cancelByOf, windowOpen } from './transactions.ts';

/** Maximum characters of a reason for attention, which may quote the screening service. */
const MAX_CHARACTERS = 1_000;

/** How long the attention of a closed order counts, in milliseconds. A closed order accepts no acknowledgement. */
export const CLOSED_ATTENTION_MS = 7 * 24 * 3_600_000;

/**
 * Raises attention unless the same matter with the same cause is already open.
 * @param words the reason, without personal data
 * @returns the event to send, if the matter is new
 */
export function raiseAttention(
  state: OrderState,
  code: AttentionCode,
  words: string,
  cause: AttentionCause,
  now: Instant,
): OrderEventType[] {
  if (state.attention.some((one) => one.code === code && isSameCause(one.cause, cause))) return [];
  state.attention.push({ code, words: words.slice(0, MAX_CHARACTERS), since: now, cause });
  delete state.snoozedUntil;
  return ['order.attention'];
}

export function needsAttention(state: Pick<OrderState, 'attention' | 'snoozedUntil'>): boolean {
  return state.attention.length > 0 && state.snoozedUntil === undefined;
}

export function isSameCause(one: AttentionCause, other: AttentionCause): boolean {
  return (
    one.operation === other.operation &&
    one.transactionId === other.transactionId &&
    one.attempt === other.attempt &&
    one.action === other.action
  );
}

/** Clears the matters with one of the codes that also match every given field of the cause. */
export function clear(
  state: OrderState,
  { codes, ...cause }: { codes: AttentionCode[] } & AttentionCause,
): void {
  state.attention = state.attention.filter(
    (one) => !codes.includes(one.code) || !isSameCause({ ...one.cause, ...cause }, one.cause),
  );
}

/** What resolves a matter, beside the end of its cause: a new attempt, a changed decision, a cancel that is done, an override. */
type Change = 'attempt' | 'decision' | 'cancel' | 'override';
const CLEARED_BY = new Map<AttentionCode, readonly Change[]>([
  ['no-decision', ['attempt', 'decision', 'cancel', 'override']],
  ['unreadable-answer', ['attempt', 'decision', 'cancel', 'override']],
  ['status-error', ['attempt', 'decision', 'cancel', 'override']],
  ['decision-after-override', ['attempt', 'decision', 'cancel', 'override']],
  ['fraud-confirmed', ['attempt', 'cancel', 'override']],
  ['review-unresolved', ['attempt', 'decision', 'cancel', 'override']],
  ['failed-at-adoption', ['attempt', 'decision', 'cancel', 'override']],
  ['cancel-due', ['attempt', 'cancel', 'override']],
  ['cancel-refused', ['cancel', 'override']],
  ['cancel-too-late', ['cancel', 'override']],
  ['gateway-late', ['attempt', 'cancel']],
  ['review-limit', ['override']],
  ['failed-after-window', ['override']],
]);

export function clearedBy(change: Change): AttentionCode[] {
  return [...CLEARED_BY].flatMap(([code, changes]) => (changes.includes(change) ? [code] : []));
}

const OF_ONE_CANCEL: readonly AttentionCode[] = ['cancel-refused', 'cancel-too-late', 'cancel-due'];

/**
 * Clears what a cancel that is done resolves. Another transaction that isn't canceled stays with a person.
 * @param isNewest the order is canceled with it
 */
export function clearCanceled(state: OrderState, canceled: string | undefined, isNewest: boolean): void {
  const resolved = clearedBy('cancel');
  state.attention = state.attention.filter(({ code, cause: { transactionId } }) => {
    if (!OF_ONE_CANCEL.includes(code)) return !isNewest || !resolved.includes(code);
    return transactionId !== canceled && (!isNewest || transactionId !== undefined);
  });
}

/**
 * Returns whether an operator can't resolve the matter: its call still fails, or a deadline is pending. A passive order's deadlines ask for
 * nothing: it takes no override and no cancel.
 */
export function staysOpen(state: OrderState, { code }: Pick<Attention, 'code'>, nowMs: number): boolean {
  const { decision, phase, endedAt, policy, passed } = state;
  const attempt = currentAttempt(state);
  if (endedAt !== undefined) return code === 'wrong-key';
  const open = windowOpen(cancelByOf(state, attempt), policy.cancelWindowMs, nowMs);
  switch (code) {
    case 'wrong-key':
      return true;
    case 'status-error':
      // A review is polled, and any other decision is read again while the window is open.
      if (decision === 'review' && (phase === 'review' || phase === 'awaiting-gateway')) return true;
      return open && (phase === 'decided' || phase === 'awaiting-gateway');
    case 'review-unresolved':
      return decision === 'review' && open && !policy.passive;
    case 'cancel-due':
      return phase !== 'canceled' && open;
    case 'cancel-refused':
      // Nothing reminds of the cancel any more.
      return phase !== 'canceled' && open && passed.includes('cancel-reminder');
    case 'gateway-late':
      return attempt.gateway === undefined && !policy.passive;
    case 'transaction-unseen':
    case 'unreadable-answer':
      return phase === 'screening';
    default:
      return false;
  }
}

export function statusCause(transactionId: string | undefined): AttentionCause {
  return { operation: 'status', ...defined({ transactionId }) };
}

/** Raises attention to a wrong API key. @returns the event to send, if it is new for this cause */
export function raiseWrongKey(state: OrderState, cause: AttentionCause, now: Instant): OrderEventType[] {
  return raiseAttention(state, 'wrong-key', wrongKeyWords(cause), cause, now);
}

/** Returns whether this call's wrong key was reported: its activity then retries without reporting it again. */
export function wrongKeyKnown({ attention }: OrderState, cause: AttentionCause | undefined): boolean {
  return attention.some((one) => one.code === 'wrong-key' && cause && isSameCause(one.cause, cause));
}

export function wrongKeyWords({ operation }: AttentionCause): string {
  return `The screening service does not accept the API key (403, ${operation}): set the right key.`;
}

export function gatewayCause(transactionId: string): AttentionCause {
  return { operation: 'gateway-response', transactionId };
}

/** The cause of matters that end with the attempt's own gateway result, not with another attempt's. */
export function attemptCause({ number }: Attempt): AttentionCause {
  return { attempt: number };
}

/** Clears matters of portal actions that were repeated with a different outcome. */
export function clearRepeatedActions(state: OrderState): void {
  state.attention = state.attention.filter(({ code, cause }) => {
    const record = cause.action === undefined ? undefined : state.actions[cause.action - 1];
    if (record === undefined || !code.startsWith('portal-')) return true;
    return code === `portal-${record.status}` && !isReplaced(state.actions, record);
  });
}

export function actionCause({ kind, transactionId, number }: ActionRecord): AttentionCause {
  return { operation: kind, ...defined({ transactionId }), action: number };
}
