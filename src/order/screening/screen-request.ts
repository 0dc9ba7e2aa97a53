/** The request of each try at a decision, and the invoice number of each create, which makes a lost create findable. */
import type { RetryCheckoutRequest } from '../../contract/activity-contract.ts';
import { withoutHash } from '../../contract/ids.ts';
import type { Attempt } from '../../contract/order/state.ts';
import { defined } from '../defined.ts';
import { fieldsOf } from '../messages/shapes.ts';
import type { Order } from '../order.ts';
import { currentAttempt } from '../record.ts';
import { knownTransactionIds, transactionOf } from '../transactions.ts';

/** Returns the request for a try at a decision of the newest attempt. */
export function screenRequest(order: Order, attempt: Attempt): RetryCheckoutRequest {
  const { state } = order;
  const transaction = transactionOf(state, attempt);
  const undecided = transaction?.decision === undefined ? transaction : undefined;
  // An unconfirmed create is looked up first, by the invoice number that it was sent with.
  const kept = attempt.unseen?.invoiceNumber ?? undecided?.invoiceNumber;
  return {
    integration: state.integration,
    attempt: attempt.number,
    orderId: state.orderId,
    transaction: order.transactions[attempt.number] ?? {},
    invoiceNumber: kept ?? invoiceNumberNow(order, attempt),
    knownTransactionIds: knownTransactionIds(state),
    startedAt: state.startedAt,
    ...defined({
      unseenSince: attempt.unseen?.since ?? undecided?.sentFrom,
      workflow: order.policyMissing ? order.asked.workflow : state.policy.workflow,
      policyMissing: order.policyMissing,
      cardRef: attempt.cardRef,
      fingerprintMissing: (attempt.fingerprint ?? state.adopted) === undefined ? (true as const) : undefined,
    }),
  };
}

const MAX_INVOICE_LENGTH = 64;
/** A separator that no shop uses in its order numbers. */
const SEPARATOR = '~';

export function invoiceNumberNow({ state, transactions }: Order, attempt: Attempt): string {
  const transaction = transactions[attempt.number] ?? transactions[currentAttempt(state).number];
  const { invoiceNumber: own } = fieldsOf(transaction?.order);
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
  const invoice = withoutHash(typeof own === 'string' && own !== '' ? own : orderId);
  const suffix = perAttempt ? suffixOf(attempt, create) : '';
  // An own number that already ends like a suffix gets `~1`, so that it can't equal the number of another order's later create.
  return cutTo(invoice, suffix === '' && /~\d+(?:\.\d+)?$/.test(invoice) ? `${SEPARATOR}1` : suffix);
}

function suffixOf(attempt: number, create: number): string {
  if (create > 1) return `${SEPARATOR}${attempt}.${create}`;
  return attempt > 1 ? `${SEPARATOR}${attempt}` : '';
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
