/** What each try at a decision is called with; and the invoice number of each create, by which a lost one can be looked up. */
import type { ScreenRequest } from '../contract/activity-contract.ts';
import { withoutHash } from '../contract/ids.ts';
import type { Attempt } from '../contract/state.ts';
import { defined } from './defined.ts';
import type { Order } from './order.ts';
import { currentAttempt } from './record.ts';
import { knownTransactionIds, transactionOf } from './transactions.ts';

/** The request for a try at a decision of the newest attempt. */
export function screenRequest(order: Order, attempt: Attempt): ScreenRequest & { attempt: number } {
  const { state } = order;
  const transaction = transactionOf(state, attempt);
  const undecided = transaction?.decision === undefined ? transaction : undefined;
  // What became of the create before is found out first, by the number that it was sent with.
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
      workflow: order.policyMissing ? undefined : state.policy.workflow,
      cardRef: attempt.cardRef,
      fingerprintMissing: (attempt.fingerprint ?? state.adopted) === undefined ? (true as const) : undefined,
    }),
  };
}

const LONGEST_INVOICE = 64;
/** The separator that no shop uses in its order numbers. */
const SEPARATOR = '~';

export function invoiceNumberNow({ state, transactions }: Order, attempt: Attempt): string {
  const info = (transactions[attempt.number] ?? transactions[currentAttempt(state).number])?.order;
  const own =
    typeof info === 'object' && info !== null && 'invoiceNumber' in info ? info.invoiceNumber : undefined;
  const perAttempt = state.policy.invoicePerAttempt;
  const earlier = state.attempts.filter((one) => one.number < attempt.number);
  const used = [...state.transactions, ...earlier].map((one) => one.invoiceNumber);
  const numbered = (create: number) =>
    invoiceNumberOf(state.orderId, own, { attempt: attempt.number, create }, perAttempt);
  let create = 1;
  // After a reset it is the number of a create that the attempt has forgotten: so that one is found.
  while (perAttempt && used.includes(numbered(create))) create += 1;
  return numbered(create);
}

/**
 * Returns the invoice number of a create, at most 64 characters: the order id unless the transaction names one. With `perAttempt`
 * each create has its own number: attempt 2 has `<invoice>~2`, and its first rescreen `<invoice>~2.2`. A rescreen that a reset made
 * the order forget never has the number of another attempt.
 *
 * @param own the invoice number that the transaction names, if it names one
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
  // A number that already ends like one of ours gets a suffix from the first create on: it is not a later create of another order.
  return cutTo(invoice, suffix === '' && /~\d+(?:\.\d+)?$/.test(invoice) ? `${SEPARATOR}1` : suffix);
}

function suffixOf(attempt: number, create: number): string {
  if (create > 1) return `${SEPARATOR}${attempt}.${create}`;
  return attempt > 1 ? `${SEPARATOR}${attempt}` : '';
}

function cutTo(invoice: string, suffix: string): string {
  if (invoice.length + suffix.length <= LONGEST_INVOICE) return invoice + suffix;
  const mark = `${SEPARATOR}${hashOf(invoice)}`;
  // Half a character at the cut would survive in no address.
  const cut = invoice.slice(0, LONGEST_INVOICE - mark.length - suffix.length).replace(/[\uD800-\uDBFF]$/, '');
  return cut + mark + suffix;
}

/** Tells numbers apart that are cut to the same beginning (FNV-1a). @returns eight hexadecimal digits */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
