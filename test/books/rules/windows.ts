/** Does each recorded cancel window match the screening service's? */
import {
  type BookedTransaction,
  type Books,
  createsOf,
  type Finding,
  finding,
  foundNone,
  iso,
} from '../books.ts';
import { mayBeOlder, reportWasLost, unnoticedMs } from '../facts.ts';
import type { PublicRecord } from '../record-of.ts';
import { ARRIVES_WITHIN_MS } from './creates.ts';

export function windows(books: Books): Finding[] {
  return books.record.transactions.flatMap((recorded) => {
    const transaction = books.transactions.find(({ id }) => id === recorded.id);
    return transaction === undefined ? [] : windowOf(books, transaction, recorded);
  });
}

function windowOf(
  books: Books,
  transaction: BookedTransaction,
  { id, attempt, cancelBy }: PublicRecord['transactions'][number],
): Finding[] {
  const { cancelableUntil } = transaction;
  if (cancelBy > cancelableUntil + books.world.notedLateMs) {
    return finding('window too long', `${id} by ${cancelBy - cancelableUntil} ms: ${iso(cancelBy)}`);
  }
  const known = earliestSending(books, transaction);
  const isOlder = attempt !== transaction.attempt && mayBeOlder(books, attempt);
  const from = isOlder || reportWasLost(books) ? Math.min(books.startedAt, known) : known;
  const earliest = from + books.policy.cancelWindowMs;
  if (cancelBy >= earliest - unnoticedMs(books)) return [];
  const facts = `${id} by ${earliest - cancelBy} ms: ${iso(cancelBy)}, the screening service says ${iso(cancelableUntil)}`;
  return finding('window too short', facts);
}

/** The earliest moment at which the product must believe that the transaction's create may have been sent. */
function earliestSending(books: Books, { id, attempt, createdAt }: BookedTransaction): number {
  if (books.adoptedFrom !== undefined) return createdAt;
  const sent = createsOf(books, attempt);
  const own = sent.find((one) => one.transactionId === id && one.committed);
  if (own === undefined) return createdAt;
  if (own.heard === 'transaction') return own.sentAt;
  const possible = sent.filter((one) => one.invoice === own.invoice && !isExcluded(books, one));
  return Math.min(own.sentAt, ...possible.map(({ sentAt }) => sentAt));
}

/** It certainly left nothing, or left another transaction, or a lookup after it had time to arrive found none. */
function isExcluded(books: Books, { heard, endedAt, invoice }: Books['requests'][number]): boolean {
  if (heard !== undefined && heard !== 'unknown' && heard !== 'unreadable') return true;
  return books.requests.some(
    (one) => foundNone(one) && one.invoice === invoice && one.sentAt >= endedAt + ARRIVES_WITHIN_MS,
  );
}
