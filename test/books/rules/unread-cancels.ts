/** Is a review read once more before policy cancels it? It may have been resolved since the last read. */
import { isOverride, portalAsked } from '../asked.ts';
import {
  type BookedTransaction,
  type Books,
  type Finding,
  fails,
  finding,
  iso,
  requestsAbout,
} from '../books.ts';
import { ONE_TASK_MS, unnoticedMs, wasLate, wasReset } from '../facts.ts';
import { lastCall } from './cancels.ts';

export function unreadCancels(books: Books): Finding[] {
  const { policy, calls, transactions } = books;
  const isAsked = calls.some((one) => portalAsked(one)?.kind === 'cancel' || isOverride(one));
  // What is read before may arrive after.
  if (policy.onUnresolvedReview !== 'cancel' || isAsked || wasReset(books) || wasLate(books)) return [];
  return transactions.flatMap((one) => unread(books, one));
}

function unread(books: Books, transaction: BookedTransaction): Finding[] {
  const { id, attempt, createdAt } = transaction;
  const { policy, record, transactions } = books;
  const [sent] = requestsAbout(books, id, 'cancel-transaction');
  const others = transactions.filter((one) => one.attempt === attempt && one.id !== id);
  // A cancel covers what is found later of its attempt.
  if (sent === undefined || others.length > 0) return [];
  const told = books.requests.filter(
    (one) => one.transactionId === id && one.heard === 'transaction' && one.endedAt <= sent.sentAt,
  );
  const { cancelBy = transaction.cancelableUntil } = record.transactions.find((one) => one.id === id) ?? {};
  const due = cancelBy - policy.reviewLeadTimeMs - unnoticedMs(books) - ONE_TASK_MS;
  const end = Math.min(lastCall(books, transaction), createdAt + policy.reviewLimitMs);
  // Where it can't be read, half of the time that is left is waited.
  const isOverdue = sent.sentAt >= (due + end) / 2 - ONE_TASK_MS;
  if (isOverdue || told.some(({ endedAt, decision }) => endedAt >= due || fails(decision))) return [];
  return finding('cancel unread', `${id} at ${iso(sent.sentAt)}, not read since ${iso(due)}`);
}
