/** Is a decision after an order's end sent as an event once a hint or a recheck asks for a read? */
import { type BookedNews, type Books, type Finding, iso, transactionOf } from '../books.ts';
import { downForThreeDays, nobodyCould, wasLate, wasReset } from '../facts.ts';

/** For reads at their longest spacing, and tries that grow to five minutes. */
const READ_WITHIN_MS = 15 * 60_000;

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
    return [{ kind: 'late decision untold', facts }];
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
