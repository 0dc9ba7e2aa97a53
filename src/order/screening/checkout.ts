/** The checkout: the order's first screening, which runs alone, before everything else. A failed checkout is an outcome as well. */
import type {
  CheckedOut,
  CheckoutRequest,
  Retried,
  ScreeningOutcome,
  ScreenRequest,
} from '../../contract/activity-contract.ts';
import type { CheckoutAnswer } from '../../contract/answers.ts';
import { withoutHash } from '../../contract/ids.ts';
import type { ScreenOrderInput } from '../../contract/messages.ts';
import type { Adoption, Attempt, OrderState } from '../../contract/order/state.ts';
import { FALLBACK_POLICY, type Policy } from '../../contract/policy.ts';
import { type Instant, instant, laterBy, millis, type OrderEventType } from '../../contract/words.ts';
import { raiseAttention, statusCause } from '../attention.ts';
import { applyGatewayResult, attentionToPaid } from '../concerns/gateway.ts';
import { actionLater, actionWithoutDecision } from '../decide.ts';
import { defined } from '../defined.ts';
import { announce, eventsOfAnswer } from '../events.ts';
import { fieldsOf } from '../messages/shapes.ts';
import type { Order, Refusal } from '../order.ts';
import { currentAttempt, enrichedOf, newOrder, recordReading, setAction, settlePhase } from '../record.ts';
import { knownTransactionIds, transactionOf } from '../transactions.ts';
import { answerNow, checkoutAnswer } from '../view/answers.ts';
import { applyScreening } from './apply-screening.ts';
import { recordSeen } from './record-screening.ts';

export function checkoutRequest(order: Order): Omit<CheckoutRequest, 'begun'> {
  const { state, asked } = order;
  const attempt = currentAttempt(state);
  const { workflow: _unknown, ...request } = screenRequest(order, attempt);
  attempt.invoiceNumber = request.invoiceNumber;
  return { ...request, ...asked, ...defined({ adopt: state.adopted }) };
}

/**
 * Applies the checkout's result to a new order.
 * @param result undefined: the activity failed, and a create may have been sent
 * @returns why the order can't be screened at all, or undefined: it can
 */
export function applyCheckout(order: Order, result: CheckedOut | undefined): Refusal | undefined {
  const { state } = order;
  if (result !== undefined && result.at > order.now) order.now = result.at;
  if (result?.refusal !== undefined) return result.refusal;
  if (result !== undefined && 'earlier' in result) {
    order.state = result.earlier;
    return STARTED_AGAIN;
  }
  if (result === undefined && state.adopted !== undefined) return NOT_READ;
  if (result === undefined) order.policyMissing = true;
  const given = result ?? { outcome: failedScreening(state.startedAt) };
  if (state.adopted === undefined) announce(order, answerCheckout(order, given));
  else {
    noteChecked(order, currentAttempt(state), given);
    announce(order, applyAdoption(state, state.adopted, given.outcome, order.now));
  }
  return undefined;
}

type Screening = { outcome: ScreeningOutcome; policy?: Policy } & Retried;

/** Notes the policy, if the activity returned it, and the fingerprint of the attempt's request, with which later requests are compared. */
export function noteChecked(order: Order, attempt: Attempt, { policy, fingerprint }: Screening): void {
  if (fingerprint !== undefined) attempt.fingerprint ??= fingerprint;
  if (policy === undefined) return;
  const { state } = order;
  delete order.policyMissing;
  state.policy = { ...FALLBACK_POLICY, ...policy };
  state.workflow = state.policy.workflow;
  const newest = currentAttempt(state);
  // An operator may have had the order screened again, with a deadline of its own.
  if (newest.rescreens === 0)
    newest.screenUntil = laterBy(state.policy.screeningDeadlineMs, newest.startedAt);
  // The fallback policy isn't passive, so its action may have to become `proceed`.
  if (state.policy.passive) setAction(state, state.action);
}

/** Applies the screening of an attempt whose caller waits, and answers it. @returns the events to send */
export function answerCheckout(order: Order, result: Screening): OrderEventType[] {
  const { state, now } = order;
  const { outcome } = result;
  noteChecked(order, currentAttempt(state), result);
  const { whenUnavailable } = result;
  if (whenUnavailable !== undefined) state.policy = { ...state.policy, whenUnavailable };
  // The catch-up of this checkout starts no earlier.
  delete order.notBefore;
  if (outcome.kind === 'unanswered' && outcome.notBefore !== undefined) order.notBefore = outcome.notBefore;
  const events = applyScreening(state, outcome, { source: 'checkout', now });
  const earlier = state.attempts.at(-2);
  if (earlier !== undefined) events.push(...attentionToPaid(state, earlier, now));
  currentAttempt(state).answer = checkoutAnswer(state);
  return eventsOfAnswer(order, events, result.again === true);
}

/**
 * Returns the answer that the order will record for its checkout, for a caller that can't wait for the record.
 * If the record is lost, the order is screened again with a lookup first, which finds this transaction.
 * @param input the order's input
 * @param request the request of its screening
 * @returns undefined if the answer must be recorded first: there is no final answer, or the customer is declined (or would be without a
 * decision), since a declined order accepts another attempt
 */
export function answerBeforeRecord(
  input: ScreenOrderInput,
  request: CheckoutRequest,
  checkedOut: CheckedOut,
): CheckoutAnswer | undefined {
  if (checkedOut.refusal !== undefined || 'earlier' in checkedOut) return undefined;
  const { outcome, policy } = checkedOut;
  if (outcome.kind !== 'answered' || outcome.found || outcome.decision === 'error') return undefined;
  if (actionWithoutDecision(policy) === 'decline') return undefined;
  const { integration, startedAt } = request;
  const order = newOrder({ ...input, integration }, startedAt);
  checkoutRequest(order);
  applyCheckout(order, checkedOut);
  const answer = answerNow(order.state, 1);
  return answer?.action === 'decline' ? undefined : answer;
}

// A screening whose activity failed, for example because its worker hung.

export const BROKE_DOWN = 'screening-broke-down';

/** Returns the outcome of a screening whose activity failed: a create may have been sent since it began. */
export function failedScreening(unseenSince: Instant): ScreeningOutcome {
  return { kind: 'unanswered', reason: BROKE_DOWN, unseenSince };
}

/** Rule «started again»: the order keeps the record of its earlier run. */
const STARTED_AGAIN: Refusal = { code: 'order-closed', message: 'The order has ended before.' };

/** Refuses an adoption whose transaction can't be read: continuing without a decision would create a transaction. */
const NOT_READ: Refusal = {
  code: 'screening-service-unavailable',
  message: 'The status could not be read, so nothing was adopted: send the same request again.',
};

/**
 * Applies the reading of an adopted order's transaction, and answers the adoption's caller (rule «nothing by itself»).
 * @returns the events to send, oldest first
 */
export function applyAdoption(
  state: OrderState,
  { screenedAt, gatewayResult }: Adoption,
  outcome: ScreeningOutcome,
  now: Instant,
): OrderEventType[] {
  if (outcome.kind !== 'answered') throw new TypeError(`an adoption was ${outcome.kind}`);
  const { transactionId, decision } = outcome;
  const attempt = currentAttempt(state);
  // Within the clock tolerance it may be in the future.
  const sentFrom = instant(Math.min(millis(screenedAt), millis(now)));
  recordSeen(state, attempt, { ...outcome, sentFrom, sentUntil: sentFrom }, { source: 'adoption', now });
  recordReading(state, attempt, { decision, at: now, source: 'adoption', ...enrichedOf(outcome) });
  const action = actionLater(decision);
  setAction(state, action === 'cancel' ? 'hold' : action);
  const events: OrderEventType[] = ['order.decided'];
  if (action === 'cancel') {
    const cause = statusCause(transactionId);
    events.push(...raiseAttention(state, 'failed-at-adoption', FAILED_AT_ADOPTION, cause, now));
  }
  if (gatewayResult !== undefined) {
    events.push(...applyGatewayResult(state, { result: gatewayResult }, now));
    if (attempt.gateway !== undefined) attempt.gateway.sent = 'recorded';
  }
  settlePhase(state, now);
  attempt.answer = checkoutAnswer(state);
  return events;
}

const FAILED_AT_ADOPTION =
  'The transaction had already failed when the order was adopted, or when it was reset: cancel it unless it is canceled already.';

/** Returns the request for a try at a decision of the newest attempt. */
export function screenRequest(order: Order, attempt: Attempt): ScreenRequest {
  const { state, asked, policyMissing } = order;
  const transaction = transactionOf(state, attempt);
  const undecided = transaction?.decision === undefined ? transaction : undefined;
  // An unconfirmed create is looked up first, by the invoice number that it was sent with.
  const kept = attempt.unseen?.invoiceNumber ?? undecided?.invoiceNumber;
  return {
    integration: state.integration,
    attempt: attempt.number,
    orderId: state.orderId,
    transaction: asked.transaction,
    invoiceNumber: kept ?? invoiceNumberNow(order, attempt),
    knownTransactionIds: knownTransactionIds(state, attempt),
    startedAt: state.startedAt,
    ...defined({
      unseenSince: attempt.unseen?.since ?? undecided?.sentFrom,
      workflow: policyMissing ? asked.workflow : state.policy.workflow,
      cardRef: attempt.cardRef,
      fingerprintMissing: (attempt.fingerprint ?? state.adopted) === undefined ? (true as const) : undefined,
    }),
  };
}

const MAX_INVOICE_LENGTH = 64;
/** A separator that no shop uses in its order numbers. */
const SEPARATOR = '~';

function invoiceNumberNow({ state, asked }: Order, attempt: Attempt): string {
  const { invoiceNumber: own } = fieldsOf(asked.transaction.order);
  // The other system sent it with this number, whatever it looks like.
  if (state.adopted !== undefined) return invoiceOf(state.orderId, own);
  const perAttempt = state.policy.invoicePerAttempt;
  const earlier = state.attempts.filter((one) => one.number < attempt.number);
  const used = [...state.transactions, ...earlier].map((one) => one.invoiceNumber);
  const numbered = (create: number) =>
    invoiceNumberOf(state.orderId, own, { attempt: attempt.number, create }, perAttempt);
  let create = 1;
  // After a reset this is the number of a create that the attempt has forgotten, so the lookup finds that create.
  while (perAttempt && used.includes(numbered(create))) create += 1;
  return numbered(create);
}

/**
 * Assumption «first of an invoice number». Returns the invoice number of a create, at most 64 characters: the transaction's own number, else the order id. With `perAttempt` each
 * create has a different number: attempt 2 has `<invoice>~2`, and its first rescreen `<invoice>~2.2`. Even a rescreen that the order forgot
 * in a reset never shares its number with another attempt.
 *
 * @param own the transaction's own invoice number, if any
 * @param which the attempt, and its create (the first screening, then its rescreens), both counted from 1
 */
export function invoiceNumberOf(
  orderId: string,
  own: unknown,
  { attempt, create }: { attempt: number; create: number },
  perAttempt: boolean,
): string {
  const invoice = invoiceOf(orderId, own);
  const which = create > 1 ? `${attempt}.${create}` : attempt > 1 ? `${attempt}` : '';
  const suffix = perAttempt && which !== '' ? `${SEPARATOR}${which}` : '';
  // An own number that already ends like a suffix gets `~1`, so that it can't equal the number of another order's later create.
  return cutTo(invoice, suffix === '' && /~\d+(?:\.\d+)?$/.test(invoice) ? `${SEPARATOR}1` : suffix);
}

function invoiceOf(orderId: string, own: unknown): string {
  return withoutHash(typeof own === 'string' && own !== '' ? own : orderId);
}

function cutTo(invoice: string, suffix: string): string {
  if (invoice.length + suffix.length <= MAX_INVOICE_LENGTH) return invoice + suffix;
  const mark = `${SEPARATOR}${hashOf(invoice)}`;
  // The cut must not split a surrogate pair: half of one can't be encoded in a URL.
  const cut = invoice
    .slice(0, MAX_INVOICE_LENGTH - mark.length - suffix.length)
    .replace(/[\uD800-\uDBFF]$/, '');
  return cut + mark + suffix;
}

/** Distinguishes numbers that are cut to the same prefix (FNV-1a). @returns eight hexadecimal digits */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
