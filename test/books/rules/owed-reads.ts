/**
 * Is each hint and each recheck followed by a read of the status in time, and is each pass read shortly before its window closes? After
 * the order's end, is a decision that was read sent as an event?
 */
import { isDeclined, portalAsked } from '../asked.ts';
import {
  type BookedNews,
  type BookedRequest,
  type Books,
  type Finding,
  finding,
  iso,
  TELL_DECISIONS,
  transactionOf,
} from '../books.ts';
import {
  downForThreeDays,
  mayBeOlder,
  nobodyCould,
  ONE_TASK_MS,
  takenBack,
  unnoticedMs,
  wasLate,
  wasReset,
} from '../facts.ts';

const FIRST_SPACING_MS = 2_000;
const LONGEST_SPACING_MS = 5 * 60_000;
/** For a read that was under way, and one that is tried again. */
const A_READ_MS = 30_000;

/** Between a 403 and the next try. */
const A_MINUTE_MS = 60_000;

/** A read that failed is tried again, at pauses that grow to five minutes. */
const TRIED_AGAIN_MS = 6 * 60_000;
/** The same for a read that brought no decision, or was answered 429: the pauses are up to an hour. */
const LATER_AGAIN_MS = 61 * 60_000;
const NO_ANSWER: BookedRequest['heard'][] = ['unknown', 'not-done', undefined];

/** What a read must follow. */
type Cause = Omit<BookedNews, 'what'> & { what: BookedNews['what'] | 'pass' };

export function owedReads(books: Books): Finding[] {
  return [...books.news, ...passes(books)].flatMap((news: Cause, index) => {
    const one = { ...news, at: Math.max(news.at, knownFrom(books, news)) };
    const within = Math.min(LONGEST_SPACING_MS, FIRST_SPACING_MS * 2 ** index) + A_READ_MS;
    const by = one.at + within + pauseBefore(books, one.at);
    if (!isOwed(books, one, by) || wasLate(books) || nobodyCould(books, one.at - within, by)) return [];
    const sent = books.requests.filter(
      (read) => TELL_DECISIONS.includes(read.operation) && read.sentAt >= news.at,
    );
    const facts = `${one.what} of ${iso(one.at)}, not read for by ${iso(by)}`;
    if (!sent.some(({ sentAt }) => sentAt <= by)) return finding('read owed', facts);
    const isPolled = decisionKnown(books, one.at) === 'review';
    const last = by + againWithin(books, one.at);
    if (!isOwed(books, one, last) || nobodyCould(books, one.at, last)) return [];
    const again = sent.some(
      (read) =>
        read.sentAt <= last &&
        (sent.some(({ endedAt }) => endedAt <= read.sentAt) ||
          (read.endedAt <= last && answers(read, isPolled))),
    );
    return again ? [] : finding('read owed', `${facts}, nor tried again by ${iso(last)}`);
  });
}

/** A decision that is not polled is read again where it can't be read. */
function answers(read: BookedRequest, isPolled: boolean): boolean {
  return (isPolled || !isUnusable(read)) && !NO_ANSWER.includes(read.heard);
}

function isUnusable({ heard, decision }: BookedRequest): boolean {
  return heard === 'unreadable' || decision === 'error';
}

/** The pauses between tries may have grown before the cause. */
function againWithin({ requests }: Books, at: number): number {
  const reads = requests.filter(({ operation }) => TELL_DECISIONS.includes(operation));
  const before = reads.findLast(({ endedAt }) => endedAt <= at);
  const isAskedToWait = reads.some(({ sentAt, heard }) => sentAt >= at && heard === 'not-done');
  return isAskedToWait || (before !== undefined && isUnusable(before)) ? LATER_AGAIN_MS : TRIED_AGAIN_MS;
}

/** @returns the decision of the newest transaction, as it was read last */
function decisionKnown({ transactions, requests }: Books, at: number): BookedRequest['decision'] {
  const newest = transactions.findLast(({ createdAt }) => createdAt <= at);
  const heard = requests.filter((one) => one.transactionId === newest?.id && one.heard === 'transaction');
  return heard.findLast(({ endedAt, decision }) => endedAt <= at && decision !== 'error')?.decision;
}

/** When the window of each transaction that passed is about to close, and nobody has read it since. */
function passes(books: Books): Cause[] {
  const { policy, record, calls, adoptedFrom } = books;
  const { passive, recheckLeadTimeMs } = policy;
  // An adoption also looks up the invoice number, but only to compare the transaction's id.
  const isRead = ({ operation }: BookedRequest) =>
    operation !== 'status-by-invoice' || adoptedFrom === undefined;
  const requests = books.requests.filter(isRead);
  const isReported = calls.some((one) => portalAsked(one)?.kind === 'report-fraud');
  if (passive || recheckLeadTimeMs === 0 || isReported) return [];
  return record.transactions.flatMap(({ id, cancelBy }) => {
    const at = cancelBy - recheckLeadTimeMs;
    const about = requests.filter(
      (one) => one.transactionId === id && one.heard === 'transaction' && !takenBack(books, one.endedAt),
    );
    const last = about.findLast((one) => one.endedAt <= at);
    const since = at - unnoticedMs(books) - ONE_TASK_MS;
    const isNew = about.some((one) => one.sentAt < at && one.endedAt > since);
    return last?.decision === 'pass' && !isNew ? [{ at, what: 'pass', transactionId: id }] : [];
  });
}

/**
 * Until a read that failed is tried again: a minute after a 403, else as long as its tries took so far, since their pauses double, or as its
 * answer asked. Tries without a key send nothing.
 */
function pauseBefore({ requests, world }: Books, at: number): number {
  const reads = requests.filter((one) => TELL_DECISIONS.includes(one.operation) && one.endedAt <= at);
  const last = reads.at(-1);
  if (last?.heard === 'forbidden') return A_MINUTE_MS;
  const [first] = reads.slice(reads.findLastIndex(({ heard }) => !NO_ANSWER.includes(heard)) + 1);
  const tried = last === undefined || first === undefined ? 0 : last.endedAt - first.sentAt;
  const unsent = world.wrongKey
    .filter(({ until }) => until <= at && at < until + TRIED_AGAIN_MS)
    .map(({ from, until }) => until - from);
  return Math.max(Math.min(Math.max(tried, ...unsent), TRIED_AGAIN_MS), last?.askedToWaitMs ?? 0);
}

/** @returns when the answer with the newest transaction arrived, if its request was in flight when the hint came */
function knownFrom({ transactions, requests }: Books, { at, what }: Cause): number {
  // A recheck during screening only returns that state.
  if (what !== 'hint') return at;
  const newest = transactions.findLast(({ createdAt }) => createdAt <= at);
  const about = requests.filter((one) => one.transactionId === newest?.id && one.sentAt <= at);
  return about.find((one) => one.heard === 'transaction' && one.decision !== 'error')?.endedAt ?? at;
}

/** The order is open, has a decision, and the news is about its newest transaction. */
function isOwed(books: Books, { at, what, transactionId }: Cause, by: number): boolean {
  const { transactions, calls, policy, endedAt, closedAt } = books;
  const newest = transactions.findLast(({ createdAt }) => createdAt <= at);
  if (what === 'cancellation' || newest === undefined || takenBack(books, at)) return false;
  if (transactionId !== undefined && transactionId !== newest.id) return false;
  const canceled = (newest.canceledAt ?? Number.POSITIVE_INFINITY) <= by;
  const over = by >= (endedAt ?? closedAt) || by >= newest.createdAt + policy.cancelWindowMs - A_READ_MS;
  const told = books.requests.some(
    (one) =>
      one.transactionId === newest.id &&
      one.heard === 'transaction' &&
      one.endedAt <= at &&
      !takenBack(books, one.endedAt) &&
      one.decision !== 'error',
  );
  const moved = transactions.some(({ createdAt }) => createdAt > at && createdAt <= by);
  const known = books.record.transactions.find(({ id }) => id === newest.id)?.attempt;
  const attempt = known !== undefined && mayBeOlder(books, known) ? known : newest.attempt;
  // A later attempt that was taken replaces an earlier one, also while it has no transaction. A reset may take one that was refused before.
  const isReplaced = wasReset(books) && books.record.attempts > attempt;
  const declined = calls.some(
    (one) => isDeclined(one) || ((one.checkout?.attempt ?? 0) > attempt && one.at <= by),
  );
  return told && !canceled && !over && !moved && !declined && !isReplaced;
}

/** For reads at their longest spacing, and tries that grow to five minutes. */
const READ_WITHIN_MS = 15 * 60_000;

/** Is a decision after an order's end sent as an event once a hint or a recheck asks for a read? */
export function lateDecisions(books: Books): Finding[] {
  const { arrivals, policy, record, world } = books;
  // An operator who fails the read by hand ends it.
  if (policy.events === false || downForThreeDays(books) || wasReset(books) || world.cutOff) return [];
  return record.transactions.flatMap(({ id }) => {
    const last = transactionOf(books, id)?.decisions.at(-1);
    if (last === undefined || last.decision === 'error') return [];
    const news = newsSince(books, last.at);
    if (news === undefined || knownAtEnd(books, id) === last.decision) return [];
    const told = arrivals.findLast(({ event, taken }) => taken && event.data.transactionId === id);
    if (told?.event.data.decision === last.decision) return [];
    const facts = `${id} became ${last.decision} at ${iso(last.at)}, and no event followed the news of ${iso(news.at)}`;
    return finding('late decision untold', facts);
  });
}

/** @returns the first news after the end that came since this decision, and that a read could follow */
function newsSince(books: Books, decidedAt: number): BookedNews | undefined {
  const { endedAt = Number.POSITIVE_INFINITY, closedAt, news } = books;
  return news.find(
    ({ at, what }) =>
      what !== 'cancellation' &&
      at > Math.max(endedAt, decidedAt) &&
      at + READ_WITHIN_MS < closedAt &&
      !wasLate(books) &&
      !nobodyCould(books, at, at + READ_WITHIN_MS),
  );
}

/** @returns the transaction's last decision that the order read; undefined if an event after the end changed it */
function knownAtEnd({ requests, arrivals, endedAt = 0 }: Books, id: string): string | undefined {
  const since = arrivals.some(({ event, at }) => event.data.transactionId === id && at > endedAt);
  const read = requests.findLast(
    (one) => one.transactionId === id && one.heard === 'transaction' && one.endedAt <= endedAt,
  );
  return since ? undefined : read?.decision;
}
