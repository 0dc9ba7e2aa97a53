/** Does every attention stand at the end whose cause remains, and no other? */
import type { AttentionCode } from '../../../src/contract/words.ts';
import { actionOf, type BookedRequest, type Books, type Finding, finding, isDecided, iso } from '../books.ts';
import { reportWasLost, wasLate, wasReset } from '../facts.ts';

export function attention(books: Books): Finding[] {
  return [...(wasReset(books) ? [] : wrongKey(books)), ...atTheEnd(books)];
}

function atTheEnd(books: Books): Finding[] {
  const { attention: stands } = books.record;
  return expectations(books).flatMap(({ codes, means, because }) => {
    const standing = stands.find((code) => codes.includes(code));
    if (means === 'stands' && standing === undefined && !acknowledgedAfter(books, because.at)) {
      return finding(`attention missing: ${codes[0]}`, `${because.words} (${iso(because.at)})`);
    }
    if (means === 'gone' && standing !== undefined) {
      return finding(`attention stale: ${standing}`, because.words);
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
  return [...ofPortalActions(books), ...ofTheGateway(books), ...ofTheDecision(books)];
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

/** Between an answer and the record that shows what it means, by the order's own tasks. */
const SHOWN_WITHIN_MS = 15_000;

/**
 * A call that is answered 403 and made again later needs the key: until it is answered otherwise, GET shows it. It shows nothing
 * of the key while no call is answered so.
 */
function wrongKey(books: Books): Finding[] {
  const lines = new Map<string, BookedRequest[]>();
  for (const one of books.requests) {
    const isAfterEnd = one.sentAt >= (books.record.endedAt ?? Number.POSITIVE_INFINITY);
    if (!ANSWERS.includes(one.heard) || isAfterEnd) continue;
    const about = one.operation === 'status-by-invoice' ? one.invoice : one.transactionId;
    const sent = JSON.stringify(one.sent ?? '');
    const line = `${one.operation} ${one.operation === 'create-transaction' ? '' : about} ${sent}`;
    lines.set(line, [...(lines.get(line) ?? []), one]);
  }
  for (const [line, requests] of lines) {
    for (const [index, { heard, endedAt }] of requests.entries()) {
      const next = requests[index + 1];
      if (heard !== 'forbidden' || next === undefined) continue;
      const hidden = books.shown.find(
        ({ at, attention: codes }) =>
          at > endedAt + SHOWN_WITHIN_MS &&
          at < next.endedAt - SHOWN_WITHIN_MS &&
          !codes.includes('wrong-key'),
      );
      if (hidden === undefined || wasLate(books) || reportWasLost(books)) continue;
      // A lookup that is made in a create's place says more about the key.
      const lookedUp = books.requests.some(
        (one) => one.operation === 'status-by-invoice' && one.sentAt > endedAt && one.sentAt < hidden.at,
      );
      // An order that is to be canceled creates nothing; its lookup is a call of its own.
      const canceled = books.calls.some(
        (one) => one.sentAt < hidden.at && one.asks === 'portal' && one.fields.kind === 'cancel',
      );
      if (line.startsWith('create') && (lookedUp || canceled)) continue;
      if (line.startsWith('status-by-invoice') && canceled) continue;
      const reads = line.startsWith('create') || line.startsWith('status');
      if (reads && isDecidedElsewhere(books, hidden.at)) continue;
      return finding(
        'attention missing: wrong-key',
        `${line} is answered 403, and ${iso(hidden.at)} shows nothing`,
      );
    }
  }
  const refused = books.requests.some(({ heard }) => heard === 'forbidden' || heard === undefined);
  const shown = books.shown.find(({ attention: codes }) => codes.includes('wrong-key'));
  if (refused || shown === undefined) return [];
  return finding('attention without a cause: wrong-key', iso(shown.at));
}

/** A person, the payment gateway or a decline decided: nothing is read again until somebody asks. */
function isDecidedElsewhere({ calls }: Books, by: number): boolean {
  return calls.some(
    (one) =>
      one.sentAt < by &&
      ((one.asks === 'override' && one.taken) ||
        (one.asks === 'gateway-result' && one.taken && one.result === 'fail') ||
        (one.asks === 'checkout' && one.answer?.action === 'decline')),
  );
}

/** A portal action that the screening service refused last needs a person, until it is done after all. */
function ofPortalActions(books: Books): Expectation[] {
  const lines = new Map<string, BookedRequest>();
  for (const one of books.requests) {
    const isAction = ['report-fraud', 'submit-chargeback', 'customer-code'].includes(one.operation);
    if (!isAction || one.apart || one.heard === undefined) continue;
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
    .filter((one) => (one.attempt ?? 1) === record.attempts && one.at < (record.endedAt ?? books.closedAt))
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
function ofTheDecision(books: Books): Expectation[] {
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
  const over = Math.min(startedAt + policy.reviewLimitMs, ended ?? closedAt);
  if (
    told?.decision === undefined ||
    told.endedAt >= over ||
    told.heard !== 'transaction' ||
    record.newest === undefined
  )
    return [];
  const because = { at: told.endedAt, words: `${told.transactionId} was told to be ${told.decision}` };
  const found: Expectation[] = [];
  if (isDecided(told.decision) && record.decision === told.decision) {
    found.push({ codes: ['no-decision', 'unreadable-answer', 'status-error'], means: 'gone', because });
  }
  if (told.decision === 'pass')
    found.push({ codes: ['review-unresolved', 'review-limit'], means: 'gone', because });
  return found;
}
