/** What a person must look at: each matter names its cause, and ends with it. */
import type { OrderEventType } from '../contract/messages.ts';
import type { ActionRecord, Attention, AttentionCause, OrderState } from '../contract/state.ts';
import type { AttentionCode, Instant } from '../contract/words.ts';
import { defined } from './defined.ts';
import { currentAttempt } from './record.ts';
import { cancelByOf, windowOpen } from './transactions.ts';

/** Of the reason for attention, in characters: it may quote the screening service. */
const MOST_WORDS = 1_000;

/**
 * Raises attention unless the same matter with the same cause is open already.
 * @param words the reason, for a person; no personal data
 * @returns whether it is new
 */
export function noteAttention(
  state: OrderState,
  code: AttentionCode,
  words: string,
  cause: AttentionCause,
  now: Instant,
): boolean {
  if (state.attention.some((one) => one.code === code && isSameCause(one.cause, cause))) return false;
  state.attention.push({ code, words: words.slice(0, MOST_WORDS), since: now, cause });
  return true;
}

/** Raises attention as `noteAttention` does. @returns the event that it means: none unless it is new */
export function raiseAttention(...matter: Parameters<typeof noteAttention>): OrderEventType[] {
  return noteAttention(...matter) ? ['order.attention'] : [];
}

export function isSameCause(one: AttentionCause, other: AttentionCause): boolean {
  return (
    one.operation === other.operation &&
    one.transactionId === other.transactionId &&
    one.action === other.action
  );
}

/** Ends matters whose cause has ended: those with one of the codes, and with what else is named. */
export function clear(
  state: OrderState,
  { codes, ...cause }: { codes: AttentionCode[] } & AttentionCause,
): void {
  state.attention = state.attention.filter(
    (one) =>
      !codes.includes(one.code) ||
      (cause.operation !== undefined && cause.operation !== one.cause.operation) ||
      (cause.transactionId !== undefined && cause.transactionId !== one.cause.transactionId) ||
      (cause.action !== undefined && cause.action !== one.cause.action),
  );
}

/** Returns whether a matter can't be resolved by a person: its call still fails, or a deadline is ahead. */
export function staysOpen(state: OrderState, { code }: Pick<Attention, 'code'>, nowMs: number): boolean {
  const { decision, phase, endedAt, policy } = state;
  const attempt = currentAttempt(state);
  if (endedAt !== undefined) return code === 'wrong-key';
  const open = windowOpen(cancelByOf(state, attempt), policy.cancelWindowMs, nowMs);
  switch (code) {
    case 'wrong-key':
      return true;
    case 'status-error':
      return decision === 'review';
    case 'review-unresolved':
      return decision === 'review' && open;
    case 'cancel-due':
      return phase !== 'canceled' && open;
    case 'gateway-late':
      return attempt.gateway === undefined;
    case 'transaction-unseen':
    case 'unreadable-answer':
      return phase === 'screening';
    default:
      return false;
  }
}

/** Ends the matters that a person may resolve. @returns how many */
export function resolveAttention(state: OrderState, nowMs: number): number {
  const left = state.attention.filter((one) => staysOpen(state, one, nowMs));
  const cleared = state.attention.length - left.length;
  state.attention = left;
  return cleared;
}

/** The cause of what a read of the transaction's status brings. */
export function statusCause(transactionId: string | undefined): AttentionCause {
  return { operation: 'status', ...defined({ transactionId }) };
}

/** A wrong key is an operator's mistake. @returns the event that it means: none unless it is new for this cause */
export function raiseWrongKey(state: OrderState, cause: AttentionCause, now: Instant): OrderEventType[] {
  return raiseAttention(state, 'wrong-key', wrongKeyWords(cause), cause, now);
}

/** Returns what was reported of reading the transaction's status: a read that knows of it reports when it ends. */
export function statusTrouble(
  state: OrderState,
  transactionId: string | undefined,
): { forbiddenKnown: boolean; troubleKnown: boolean } {
  return {
    forbiddenKnown: wrongKeyKnown(state, statusCause(transactionId)),
    troubleKnown: state.attention.some(({ code }) => code === 'status-error'),
  };
}

/** Returns whether the wrong key of this call was reported: then its activity retries without reporting it again. */
export function wrongKeyKnown({ attention }: Pick<OrderState, 'attention'>, cause: AttentionCause): boolean {
  return attention.some((one) => one.code === 'wrong-key' && isSameCause(one.cause, cause));
}

export function wrongKeyWords({ operation }: AttentionCause): string {
  return `The screening service does not accept the API key (403, ${operation}): set the right one.`;
}

/** The cause of what the sending of a result for the transaction brings. */
export function gatewayCause(transactionId: string): AttentionCause {
  return { operation: 'gateway-response', transactionId };
}

/** A refusal or an unknown outcome stands until the same action ends otherwise. */
export function clearWhatIsMended(state: OrderState): void {
  state.attention = state.attention.filter(({ code, cause }) => {
    const record = cause.action === undefined ? undefined : state.actions[cause.action - 1];
    const standing = STANDS_WHILE[code];
    if (record === undefined || standing === undefined) return true;
    const newest = state.actions.findLast(({ subject }) => subject === record.subject);
    return newest === record && record.status === standing;
  });
}

const STANDS_WHILE: Partial<Record<AttentionCode, ActionRecord['status']>> = {
  'portal-unconfirmed': 'unconfirmed',
  'portal-refused': 'refused',
  'portal-not-sent': 'not-sent',
};

/** The cause of what an action's end means. */
export function actionCause({ kind, transactionId, number }: ActionRecord): AttentionCause {
  return { operation: kind, ...defined({ transactionId }), action: number };
}

/** A cancel that is asked for again has the same cause. */
export function cancelCause({
  kind,
  transactionId,
}: Pick<ActionRecord, 'kind' | 'transactionId'>): AttentionCause {
  return { operation: kind, ...defined({ transactionId }) };
}
