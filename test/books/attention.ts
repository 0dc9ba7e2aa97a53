/** Does every attention stand at the end whose cause remains, and no other? */
import type { AttentionCode } from '../../src/orders/words.ts';
import { actionOf, type BookedRequest, type Books, type Finding, iso } from './books.ts';
import { takenBack, wasLate, wasReset } from './facts.ts';

const DECIDED = ['pass', 'fail', 'review', 'fraudulent'];

export function attention(books: Books): Finding[] {
  const { attention: stands } = books.record;
  return expectations(books).flatMap(({ codes, means, because }) => {
    const standing = stands.find((code) => codes.includes(code));
    if (means === 'stands' && standing === undefined && !acknowledgedAfter(books, because.at)) {
      return [{ kind: `attention missing: ${codes[0]}`, facts: `${because.words} (${iso(because.at)})` }];
    }
    if (means === 'gone' && standing !== undefined) {
      return [{ kind: `attention stale: ${standing}`, facts: because.words }];
    }
    return [];
  });
}

interface Expectation {
  /** One of these stands, or none of them. */
  codes: AttentionCode[];
  means: 'stands' | 'gone';
  because: { at: number; words: string };
}

function expectations(books: Books): Expectation[] {
  if (wasReset(books)) return [];
  return [...ofTheKey(books), ...ofPortalActions(books), ...ofTheGateway(books), ...ofTheDecision(books)];
}

function acknowledgedAfter({ calls, startedAt }: Books, at: number): boolean {
  return calls.some((one) => one.asks === 'acknowledge' && one.taken && one.at >= at && at >= startedAt);
}

const ANSWERS: BookedRequest['heard'][] = [
  'transaction',
  'unreadable',
  'done',
  'not-found',
  'refused',
  'forbidden',
];

/** It stands while the last answer to a call is 403, and is gone when every call was answered otherwise. */
function ofTheKey(books: Books): Expectation[] {
  const lines = new Map<string, BookedRequest>();
  for (const one of books.requests) {
    if (!ANSWERS.includes(one.heard) || takenBack(books, one.endedAt)) continue;
    lines.set(
      `${one.operation} ${one.operation === 'status-by-invoice' ? one.invoice : one.transactionId}`,
      one,
    );
  }
  const last = [...lines.values()].sort((a, b) => a.endedAt - b.endedAt).at(-1);
  const refused = [...lines.values()].some(({ heard }) => heard === 'forbidden');
  if (!refused) {
    if (wasLate(books)) return [];
    const words = 'no call is answered 403 any more';
    return [{ codes: ['wrong-key'], means: 'gone', because: { at: last?.endedAt ?? 0, words } }];
  }
  if (last?.heard !== 'forbidden' || books.world.losses) return [];
  const because = { at: last.endedAt, words: `the last answer, to ${last.operation}, is 403` };
  return [{ codes: ['wrong-key'], means: 'stands', because }];
}

/** A portal action that the screening service refused last needs a person, until it is done after all. */
function ofPortalActions(books: Books): Expectation[] {
  const lines = new Map<string, BookedRequest>();
  for (const one of books.requests) {
    const isAction = ['report-fraud', 'submit-chargeback', 'customer-code'].includes(one.operation);
    if (!isAction || one.heard === undefined) continue;
    lines.set(actionOf(one), one);
  }
  const refused = [...lines.values()].filter(({ heard }) => heard === 'refused');
  const [first] = refused;
  if (first === undefined) {
    const ever = books.requests.some(
      ({ heard, operation }) => heard === 'refused' && operation !== 'create-transaction',
    );
    const because = { at: books.closedAt, words: 'no portal action was refused' };
    return ever ? [] : [{ codes: ['portal-refused'], means: 'gone', because }];
  }
  const because = { at: first.endedAt, words: `${first.operation} of ${first.transactionId} was refused` };
  return [{ codes: ['portal-refused', 'portal-unconfirmed'], means: 'stands', because }];
}

/** An error of the payment gateway stands until it reports better; a result that was reported is not late. */
function ofTheGateway(books: Books): Expectation[] {
  const { calls, record } = books;
  const results = calls
    .flatMap((one) => (one.asks === 'gateway-result' && one.taken ? [one] : []))
    .filter((one) => (one.attempt ?? 1) === record.attempts)
    .sort((a, b) => a.sentAt - b.sentAt);
  const last = results.at(-1);
  if (last === undefined || books.adoptedFrom !== undefined) return [];
  const late: Expectation = {
    codes: ['gateway-late'],
    means: 'gone',
    because: { at: last.at, words: `the result ${last.result} was reported` },
  };
  if (last.result === 'error') return [late];
  return [late, { ...late, codes: ['gateway-error'] }];
}

/** A decision that was told ends what was said about the want of one. */
function ofTheDecision({ requests, record, endedAt, closedAt, startedAt, policy }: Books): Expectation[] {
  const told = requests.findLast(
    (one) =>
      one.transactionId === record.newest &&
      (one.heard === 'transaction' || one.heard === 'unreadable' || one.heard === 'not-found') &&
      one.endedAt < (endedAt ?? closedAt),
  );
  // What is read after the last deadline changes nothing.
  const over = startedAt + policy.reviewLimitMs;
  if (
    told?.decision === undefined ||
    told.endedAt >= over ||
    told.heard !== 'transaction' ||
    record.newest === undefined
  )
    return [];
  const because = { at: told.endedAt, words: `${told.transactionId} was told to be ${told.decision}` };
  const found: Expectation[] = [];
  if (DECIDED.includes(told.decision) && record.decision === told.decision) {
    found.push({ codes: ['no-decision', 'unreadable-answer', 'status-error'], means: 'gone', because });
  }
  if (told.decision === 'pass')
    found.push({ codes: ['review-unresolved', 'review-limit'], means: 'gone', because });
  return found;
}
