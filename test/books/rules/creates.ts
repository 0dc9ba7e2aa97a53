/** Is each transaction created once, and on the record of its own attempt? */
import {
  type BookedRequest,
  type Books,
  type Finding,
  finding,
  foundNone,
  iso,
  requestsAbout,
} from '../books.ts';
import { isForgotten, isUnseen, mayBeOlder, takenBack } from '../facts.ts';

/** A create whose connection was lost may arrive so much later: a lookup before that proves nothing. */
export const ARRIVES_WITHIN_MS = 10_000;

export function creates(books: Books): Finding[] {
  return [...repeated(books), ...misplaced(books)];
}

function repeated(books: Books): Finding[] {
  const sent = books.requests.filter(({ operation }) => operation === 'create-transaction');
  return sent.flatMap((later, index) =>
    sent.slice(0, index).flatMap((earlier) => {
      if (earlier.attempt !== later.attempt) return [];
      const why = whyTooEarly(books, earlier, later.sentAt);
      if (why === undefined) return [];
      const facts = `attempt ${later.attempt}: ${later.invoice} at ${iso(later.sentAt)} after ${earlier.invoice} at ${iso(earlier.sentAt)}: ${why}`;
      return finding('second create', facts);
    }),
  );
}

/** @returns why nobody could know by then that the create left nothing, or only an `error` */
function whyTooEarly(books: Books, create: BookedRequest, at: number): string | undefined {
  const { heard, transactionId, endedAt, invoice } = create;
  if (heard === 'refused' || heard === 'forbidden' || heard === 'not-done') return undefined;
  if (heard === 'transaction') {
    const told = lastTold(books, transactionId, at);
    return told === 'error' ? undefined : `${transactionId} was told to be ${told}`;
  }
  if (endedAt > at) return 'both under way';
  // Its sender may have heard of the end before that was noted, and counts the time by a clock that may be off.
  const heardAt = endedAt - books.world.notedLateMs - books.world.skewMs;
  const looks = books.requests.filter(
    (one) => one.operation === 'status-by-invoice' && one.invoice === invoice && one.endedAt <= at,
  );
  const proved = looks.some(
    (one) =>
      (foundNone(one) && one.sentAt >= heardAt + ARRIVES_WITHIN_MS) ||
      (one.heard === 'transaction' && one.decision === 'error') ||
      one.heard === 'unreadable',
  );
  return proved ? undefined : `it ended ${heard ?? 'unheard'}, and no lookup proved anything`;
}

function lastTold(books: Books, transactionId: string | undefined, by: number): string | undefined {
  const told = books.requests.filter(
    (one) => one.transactionId === transactionId && one.heard !== undefined && one.endedAt <= by,
  );
  const [first, ...later] = told.filter(({ decision }) => decision !== undefined);
  return (later.findLast(({ endedAt }) => !takenBack(books, endedAt, by)) ?? first)?.decision;
}

/** Its create was still being sent when an operator failed the screening by hand. */
function isCutOff(books: Books, id: string): boolean {
  const creates = requestsAbout(books, id, 'create-transaction');
  return books.world.cutOff && creates.some(({ heard }) => heard === undefined);
}

/** Every transaction is on the record, and on that of the attempt whose content was sent. */
function misplaced(books: Books): Finding[] {
  const { transactions, record } = books;
  const booked = transactions.flatMap((transaction) => {
    const { id, attempt, invoice } = transaction;
    const at = record.transactions.find((one) => one.id === id)?.attempt;
    if (at !== undefined) {
      if (at === attempt || mayBeOlder(books, at)) return [];
      return finding('wrong attempt', `${id} is attempt ${attempt}'s, on record at ${at}`);
    }
    if (isUnseen(books, transaction) || isForgotten(books, transaction) || isCutOff(books, id)) return [];
    return finding('not on record', `${id} (${invoice})`);
  });
  const unknown = record.transactions.filter(({ id }) => !transactions.some((one) => one.id === id));
  return [...booked, ...unknown.flatMap(({ id }) => finding('not in the books', id))];
}
