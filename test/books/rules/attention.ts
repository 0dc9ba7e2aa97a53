/** Does every attention stand at the end whose cause remains, and no other? */
import type { AttentionCode } from '../../../src/contract/words.ts';
import { answersTo, isDeclined, isOverride, portalAsked, reportsOf } from '../asked.ts';
import {
  actionOf,
  type BookedRequest,
  type Books,
  type Finding,
  finding,
  isDecided,
  iso,
  TELL_DECISIONS,
  transactionOf,
} from '../books.ts';
import { reportWasLost, wasLate, wasReset } from '../facts.ts';

export function attention(books: Books): Finding[] {
  if (wasReset(books)) return [];
  return [
    ...unshownKey(books),
    ...causelessKey(books),
    ...ofPortalActions(books),
    ...ofRefusedCancel(books),
    ...ofTheGateway(books),
    ...ofTheDecision(books),
  ];
}

/** None of these stands at the end any more. */
function gone({ record }: Books, codes: AttentionCode[], because: string): Finding[] {
  const standing = record.attention.find((code) => codes.includes(code));
  return standing === undefined ? [] : finding(`attention stale: ${standing}`, because);
}

const ANSWERS: BookedRequest['heard'][] = [
  'transaction',
  'unreadable',
  'done',
  'not-found',
  'refused',
  'forbidden',
];

/** Between an answer and the record that shows what it means, by the order's own tasks. */
const SHOWN_WITHIN_MS = 15_000;

/** A call that is answered 403 and made again later needs the key: until it is answered otherwise, GET shows it. */
function unshownKey(books: Books): Finding[] {
  if (wasLate(books) || reportWasLost(books)) return [];
  const { endedAt: over = Number.POSITIVE_INFINITY } = books.record;
  const repeats = new Map<string, BookedRequest[]>();
  for (const one of books.requests) {
    if (!ANSWERS.includes(one.heard) || one.sentAt >= over) continue;
    repeats.set(callOf(one), [...(repeats.get(callOf(one)) ?? []), one]);
  }
  for (const [call, requests] of repeats) {
    for (const [index, one] of requests.entries()) {
      const { heard, endedAt } = one;
      const next = requests[index + 1];
      if (heard !== 'forbidden' || next === undefined) continue;
      const hidden = books.shown.find(
        ({ at, attention: codes }) =>
          at > endedAt + SHOWN_WITHIN_MS &&
          at < next.endedAt - SHOWN_WITHIN_MS &&
          !codes.includes('wrong-key'),
      );
      if (hidden === undefined || isDropped(books, one, hidden.at)) continue;
      return finding(
        'attention missing: wrong-key',
        `${call} is answered 403, and ${iso(hidden.at)} shows nothing`,
      );
    }
  }
  return [];
}

/** A create is made again under another invoice number, and for another attempt. */
function callOf({ operation, invoice, transactionId, sent }: BookedRequest): string {
  const about = operation === 'status-by-invoice' ? invoice : transactionId;
  return `${operation} ${operation === 'create-transaction' ? '' : about} ${JSON.stringify(sent ?? '')}`;
}

/** @returns whether a call that was answered 403 need not be made again by then */
function isDropped({ calls, requests }: Books, { operation, endedAt }: BookedRequest, by: number): boolean {
  if (!TELL_DECISIONS.includes(operation)) return false;
  const before = calls.filter(({ sentAt }) => sentAt < by);
  // A person, the payment gateway or a decline decided: nothing is read again until somebody asks.
  if (before.some((one) => isOverride(one) || isDeclined(one))) return true;
  if (operation === 'status') return false;
  // An order that is to be canceled creates nothing; its lookup is a call of its own.
  if (before.some((one) => portalAsked(one)?.kind === 'cancel')) return true;
  // A lookup that is made in a create's place says more about the key.
  const isLookup = (one: BookedRequest) =>
    one.operation === 'status-by-invoice' && one.sentAt > endedAt && one.sentAt < by;
  return operation === 'create-transaction' && requests.some(isLookup);
}

/** GET shows nothing of the key while no call is answered 403. */
function causelessKey({ requests, shown }: Books): Finding[] {
  if (requests.some(({ heard }) => heard === 'forbidden' || heard === undefined)) return [];
  const first = shown.find(({ attention: codes }) => codes.includes('wrong-key'));
  return first === undefined ? [] : finding('attention without a cause: wrong-key', iso(first.at));
}

/** A portal action that the screening service refused last needs a person, until it is done after all. */
function ofPortalActions(books: Books): Finding[] {
  const { requests, calls, record } = books;
  const last = new Map<string, BookedRequest>();
  for (const one of requests) {
    const isAction = ['report-fraud', 'submit-chargeback', 'customer-code'].includes(one.operation);
    if (isAction && !one.apart && one.heard !== undefined) last.set(actionOf(one), one);
  }
  const refused = [...last.values()].find(({ heard }) => heard === 'refused');
  if (refused === undefined) {
    const ever = requests.some(
      ({ heard, operation }) => heard === 'refused' && operation !== 'create-transaction',
    );
    return ever ? [] : gone(books, ['portal-refused'], 'no portal action was refused');
  }
  const { operation, transactionId, endedAt } = refused;
  const stands = record.attention.some((code) => code === 'portal-refused' || code === 'portal-unconfirmed');
  const isAcknowledged = calls.some(
    ({ kind, refusal, at }) => kind === 'acknowledge' && refusal === undefined && at >= endedAt,
  );
  if (stands || isAcknowledged) return [];
  const facts = `${operation} of ${transactionId} was refused (${iso(endedAt)})`;
  return finding('attention missing: portal-refused', facts);
}

/** An error of the payment gateway stands until it reports better of that attempt; a result that was reported is not late. */
function ofTheGateway(books: Books): Finding[] {
  const { record, closedAt, adoptedFrom } = books;
  if (adoptedFrom !== undefined) return [];
  return books.attempts.flatMap(({ number }) => {
    const reports = reportsOf(books)
      .filter(({ attempt, at }) => attempt === number && at < (record.endedAt ?? closedAt))
      .sort((a, b) => a.sentAt - b.sentAt);
    const last = reports.at(-1);
    if (last === undefined) return [];
    const because = `the result ${last.result} of attempt ${number} was reported`;
    const isStale = last.result !== 'error' && record.gatewayMatters.includes(`gateway-error:${number}`);
    return [
      ...(number === record.attempts ? gone(books, ['gateway-late'], because) : []),
      ...(isStale ? finding('attention stale: gateway-error', because) : []),
      ...unknownPayment(books, number, last),
    ];
  });
}

/** An earlier attempt's payment of which nobody knows, or that succeeded although the customer tried again, stays in sight. */
function unknownPayment(books: Books, number: number, last: ReturnType<typeof reportsOf>[number]): Finding[] {
  const { calls, record } = books;
  const next = answersTo(books, number + 1)[0];
  if (next === undefined || number >= record.attempts || last.result === 'fail') return [];
  const first = calls
    .filter(({ kind, request, refusal }) => {
      if (kind !== 'gateway-result' || refusal !== undefined) return false;
      return (request.attempt ?? 1) === number && request.result === last.result;
    })
    .reduce((earliest, { sentAt }) => Math.min(earliest, sentAt), last.sentAt);
  const settled = calls.some(
    (one) => one.at >= first && ((one.cleared ?? 0) > 0 || portalAsked(one)?.kind === 'cancel'),
  );
  const code = last.result === 'error' ? 'gateway-error' : 'gateway-contradiction';
  if (settled || record.gatewayMatters.includes(`${code}:${number}`)) return [];
  return finding(`attention missing: ${code}`, `${last.result} of attempt ${number} at ${iso(last.at)}`);
}

/** A decision that was told ends what was said about the want of one. */
function ofTheDecision(books: Books): Finding[] {
  const { requests, record, shown, endedAt, closedAt, startedAt, policy, adoptedFrom } = books;
  if (wasLate(books)) return [];
  const told = requests.findLast(
    (one) =>
      one.transactionId === record.newest &&
      // An adoption reads the decision by id, and looks by invoice at the same time only whose transaction it is.
      (adoptedFrom === undefined || one.operation === 'status') &&
      (one.heard === 'transaction' || one.heard === 'unreadable' || one.heard === 'not-found') &&
      one.endedAt < (endedAt ?? closedAt),
  );
  // What is read after the last deadline changes nothing.
  const ended = shown.find(({ phase }) => phase === 'closed' || phase === 'canceled')?.at;
  // A review that policy cancels closes with its window.
  const isOpenReview = record.decision === 'review' && record.action !== 'cancel';
  const windows = isOpenReview ? [] : record.transactions.map(({ cancelBy }) => cancelBy);
  const newest = record.newest === undefined ? undefined : transactionOf(books, record.newest);
  const since = newest?.decisions.findLast((one) => one.decision === 'review')?.at ?? startedAt;
  const last = windows.length > 0 ? Math.max(...windows) : since + policy.reviewLimitMs;
  const over = Math.min(last, ended ?? closedAt);
  if (told?.heard !== 'transaction' || told.endedAt >= over || record.newest === undefined) return [];
  const { decision, transactionId } = told;
  const because = `${transactionId} was told to be ${decision}`;
  return [
    ...(isDecided(decision) && record.decision === decision
      ? gone(books, ['no-decision', 'unreadable-answer', 'status-error'], because)
      : []),
    ...(decision === 'pass' ? gone(books, ['review-unresolved', 'review-limit'], because) : []),
  ];
}

/** A refused cancel of the newest transaction stays in sight. */
function ofRefusedCancel({ requests, record, calls, world }: Books): Finding[] {
  const last = requests.findLast(
    (one) =>
      one.operation === 'cancel-transaction' &&
      one.transactionId === record.newest &&
      !one.apart &&
      one.heard !== undefined,
  );
  if (last?.heard !== 'refused' || record.phase === 'canceled' || world.losses || world.cutOff) return [];
  const stands = record.attention.some((code) => REFUSED_CANCEL.includes(code));
  const settled = calls.some(
    (one) => one.at >= last.endedAt && (one.kind === 'acknowledge' || isOverride(one)),
  );
  return stands || settled
    ? []
    : finding('attention missing: cancel-refused', `${last.transactionId} at ${iso(last.endedAt)}`);
}

const REFUSED_CANCEL: AttentionCode[] = ['cancel-refused', 'cancel-too-late', 'portal-unconfirmed'];
