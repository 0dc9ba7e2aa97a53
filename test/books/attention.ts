/** Does every attention stand at the end whose cause remains, and no other? */
import type { AttentionCode } from '../../src/contract/words.ts';
import { actionOf, type BookedRequest, type Books, type Finding, isDecided, iso } from './books.ts';
import { wasLate, wasReset } from './facts.ts';

export function attention(books: Books): Finding[] {
  if (wasReset(books)) return [];
  return [...wrongKey(books), ...ofPortalActions(books), ...ofTheGateway(books), ...ofTheDecision(books)];
}

/** None of these stands any more. */
function gone({ record }: Books, codes: AttentionCode[], because: string): Finding[] {
  const stale = record.attention.find((code) => codes.includes(code));
  return stale === undefined ? [] : [{ kind: `attention stale: ${stale}`, facts: because }];
}

/** GET shows nothing of the key while no call is answered 403. */
function wrongKey({ requests, shown }: Books): Finding[] {
  if (requests.some(({ heard }) => heard === 'forbidden' || heard === undefined)) return [];
  const wrong = shown.find((one) => one.attention.includes('wrong-key'));
  return wrong === undefined ? [] : [{ kind: 'attention without a cause: wrong-key', facts: iso(wrong.at) }];
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
    const ever = requests.some((one) => one.heard === 'refused' && one.operation !== 'create-transaction');
    return ever ? [] : gone(books, ['portal-refused'], 'no portal action was refused');
  }
  const { operation, transactionId, endedAt } = refused;
  const stands = record.attention.some((code) => code === 'portal-refused' || code === 'portal-unconfirmed');
  const seen = calls.some((one) => one.asks === 'acknowledge' && one.taken && one.at >= endedAt);
  if (stands || seen) return [];
  const facts = `${operation} of ${transactionId} was refused ${iso(endedAt)}`;
  return [{ kind: 'attention missing: portal-refused', facts }];
}

/** An error of the payment gateway stands until it reports better; a result that was reported is not late. */
function ofTheGateway(books: Books): Finding[] {
  const last = books.calls
    .flatMap((one) => (one.asks === 'gateway-result' && one.taken ? [one] : []))
    .filter((one) => (one.attempt ?? 1) === books.record.attempts)
    .sort((a, b) => a.sentAt - b.sentAt)
    .at(-1);
  if (last === undefined || books.adoptedFrom !== undefined) return [];
  const codes: AttentionCode[] =
    last.result === 'error' ? ['gateway-late'] : ['gateway-late', 'gateway-error'];
  return gone(books, codes, `the result ${last.result} was reported`);
}

/** A decision that was told ends what was said about the want of one. */
function ofTheDecision(books: Books): Finding[] {
  const { requests, record, shown, endedAt, closedAt, startedAt, policy } = books;
  const told = requests.findLast(
    (one) =>
      one.transactionId === record.newest &&
      (one.heard === 'transaction' || one.heard === 'unreadable' || one.heard === 'not-found') &&
      one.endedAt < (endedAt ?? closedAt),
  );
  // What is read after the last deadline changes nothing.
  const ended = shown.find(({ phase }) => phase === 'closed' || phase === 'canceled')?.at;
  const over = Math.min(startedAt + policy.reviewLimitMs, ended ?? closedAt);
  if (wasLate(books) || record.newest === undefined) return [];
  if (told === undefined || told.heard !== 'transaction' || told.endedAt >= over) return [];
  const because = `${told.transactionId} was told to be ${told.decision} ${iso(told.endedAt)}`;
  const codes: AttentionCode[] = told.decision === 'pass' ? ['review-unresolved', 'review-limit'] : [];
  if (isDecided(told.decision) && record.decision === told.decision)
    codes.push('no-decision', 'unreadable-answer', 'status-error');
  return gone(books, codes, because);
}
