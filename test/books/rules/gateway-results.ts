/** Was each result of the payment gateway sent on, for the newest transaction of its attempt, and no other? */
import { reportsOf } from '../asked.ts';
import { type BookedRequest, type Books, type Finding, finding, iso } from '../books.ts';
import { takenBack, wasReset } from '../facts.ts';

export function gatewayResults(books: Books): Finding[] {
  return [...neverReported(books), ...neverSent(books)];
}

function neverReported({ requests, calls }: Books): Finding[] {
  const isAsked = ({ sent, sentAt }: BookedRequest) =>
    calls.some((one) => one.kind === 'gateway-result' && one.request.result === sent && one.sentAt <= sentAt);
  return requests
    .filter((one) => one.operation === 'gateway-response' && !isAsked(one))
    .flatMap(({ sent, sentAt }) => finding('gateway result wrong', `${sent} at ${iso(sentAt)}`));
}

/** An order that ends has sent the last result to the screening service, or says for which transaction it gave the result up. */
function neverSent(books: Books): Finding[] {
  const { endedAt, closedAt, adoptedFrom, record, policy } = books;
  if (endedAt === undefined || adoptedFrom !== undefined || wasReset(books)) return [];
  if (policy.workflow !== 'pre-gateway') return [];
  return books.attempts.flatMap(({ number, skip }) => {
    const last = reportsOf(books).findLast(({ attempt }) => attempt === number);
    if (last === undefined || skip || takenBack(books, last.at)) return [];
    // Of an earlier attempt the record doesn't say which of its transactions counted. After the end it is the newest one that was known.
    const isOver = last.at >= (record.endedAt ?? closedAt);
    const isKnown = books.requests.some(
      (one) => one.transactionId === record.newest && one.endedAt <= last.at,
    );
    const isNewest = number === record.attempts && (!isOver || isKnown);
    const found = record.transactions.filter((one) => one.attempt === number).map(({ id }) => id);
    const counting = isNewest ? [record.newest ?? []].flat() : found;
    // Of two that cross, the order service can't tell which one counts.
    const crossed = reportsOf(books).some((one) => one.sentAt >= last.sentAt && one.result !== last.result);
    if (counting.length === 0 || crossed) return [];
    const sent = books.requests.some(
      (one) =>
        one.operation === 'gateway-response' &&
        counting.some((id) => one.transactionId === id) &&
        one.sent === last.result &&
        (one.committed || one.heard === 'refused' || one.heard === 'not-found'),
    );
    if (sent || counting.some((id) => record.resultsNotSent.includes(id))) return [];
    return finding('gateway result lost', `${last.result} of ${iso(last.at)} for ${counting.join(' or ')}`);
  });
}
