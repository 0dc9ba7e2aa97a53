/** Was each result of the payment gateway sent on, for the newest transaction of its attempt, and no other? */
import { type BookedCall, type Books, type Finding, finding, iso } from '../books.ts';
import { takenBack, wasReset } from '../facts.ts';

type Reported = Extract<BookedCall, { asks: 'gateway-result' }>;

export function gatewayResults(books: Books): Finding[] {
  return [...neverReported(books), ...neverSent(books)];
}

/** Returns each result once: reporting it again is answered as the first time, and changes nothing. */
function reported({ calls }: Books): Reported[] {
  return calls
    .flatMap((one) => (one.asks === 'gateway-result' && one.taken ? [one] : []))
    .sort((a, b) => a.at - b.at)
    .filter(
      ({ attempt = 1, result }, index, all) =>
        all.findIndex((one) => (one.attempt ?? 1) === attempt && one.result === result) === index,
    );
}

function neverReported(books: Books): Finding[] {
  const asked = books.calls.flatMap((one) => (one.asks === 'gateway-result' ? [one] : []));
  return books.requests
    .filter((one) => one.operation === 'gateway-response')
    .filter(({ sent, sentAt }) => !asked.some((one) => one.result === sent && one.sentAt <= sentAt))
    .flatMap(({ sent, sentAt }) => finding('gateway result wrong', `${sent} at ${iso(sentAt)}`));
}

/** An order that ends has told the screening service of the last result, or was refused, or asks a person to look. */
function neverSent(books: Books): Finding[] {
  const { endedAt, adoptedFrom, record, policy } = books;
  if (endedAt === undefined || adoptedFrom !== undefined || wasReset(books)) return [];
  if (policy.workflow !== 'pre-gateway') return [];
  return books.attempts.flatMap(({ number, skip }) => {
    const last = reported(books).findLast((one) => (one.attempt ?? 1) === number);
    // Of an earlier attempt the record doesn't say which of its transactions counted.
    const found = record.transactions.filter((one) => one.attempt === number).map(({ id }) => id);
    const counting = number === record.attempts ? [record.newest ?? []].flat() : found;
    // Of two that cross, the order service can't tell which one counts.
    const crossed = reported(books).some(
      (one) => one.sentAt >= (last?.sentAt ?? 0) && one.result !== last?.result,
    );
    if (last === undefined || counting.length === 0 || crossed || skip || takenBack(books, last.at))
      return [];
    const sent = books.requests.some(
      (one) =>
        one.operation === 'gateway-response' &&
        counting.some((id) => one.transactionId === id) &&
        one.sent === last.result,
    );
    if (sent || record.attention.length > 0) return [];
    return finding('gateway result lost', `${last.result} of ${iso(last.at)} for ${counting.join(' or ')}`);
  });
}
