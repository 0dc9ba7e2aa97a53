/** Was every cancel sent that was wanted and would have been accepted, and no other? */
import { answersTo, isDeclined, isOverride, portalAsked } from '../asked.ts';
import {
  type BookedRequest,
  type BookedTransaction,
  type Books,
  createsOf,
  type Finding,
  fails,
  finding,
  iso,
  requestsAbout,
} from '../books.ts';
import {
  HANDED_ON_MS,
  isUnseen,
  mayBeOlder,
  nobodyCould,
  noTimeLeft,
  takenBack,
  wasReset,
} from '../facts.ts';

/** A cancel is not sent in the last stretch of its window. */
const LAST_STRETCH_MS = 30_000;

/** The pauses between the tries of a cancel, and how soon a worker begins one. */
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 5 * 60_000;
const STARTED_WITHIN_MS = 10_000;

/** A create is waited for so long, and looked up so much later. */
const SEEN_WITHIN_MS = 60_000;

export function cancels(books: Books): Finding[] {
  return books.transactions.flatMap((transaction) => {
    const sent = requestsAbout(books, transaction.id, 'cancel-transaction');
    const from = wantedFrom(books, transaction);
    return [
      ...sent.flatMap((one) => sentWrongly(transaction, one, from)),
      ...(sent.length > 0 ? givenUp(books, transaction, sent) : neverSent(books, transaction)),
    ];
  });
}

function sentWrongly(
  { id, cancelableUntil }: BookedTransaction,
  { sentAt }: BookedRequest,
  from: number,
): Finding[] {
  if (sentAt > cancelableUntil) {
    return finding('cancel late', `${id} at ${iso(sentAt)}, ${sentAt - cancelableUntil} ms after the end`);
  }
  return sentAt >= from ? [] : finding('cancel unwanted', `${id} at ${iso(sentAt)}`);
}

/** @returns the earliest moment at which somebody or the policy may want a cancel: of what was found later of the same attempt, too */
function wantedFrom(books: Books, transaction: BookedTransaction): number {
  if (books.policy.passive) return Number.POSITIVE_INFINITY;
  const { losses, lateByMs } = books.world;
  // A reset may forget that it was found before.
  const isForgotten = losses || wasReset(books);
  const until = isForgotten
    ? Number.POSITIVE_INFINITY
    : foundAt(books, transaction) + SEEN_WITHIN_MS + lateByMs;
  const others = othersOf(books, transaction).map((one) => wishedFrom(books, one));
  return Math.min(wishedFrom(books, transaction), ...others.filter((at) => at <= until));
}

function othersOf({ transactions }: Books, { id, attempt }: BookedTransaction): BookedTransaction[] {
  return transactions.filter((one) => one.id !== id && one.attempt === attempt);
}

/** @returns when the product first heard of the transaction */
function foundAt({ requests }: Books, { id }: BookedTransaction): number {
  const heard = requests.filter((one) => one.transactionId === id && one.heard === 'transaction');
  return Math.min(...heard.map(({ endedAt }) => endedAt));
}

/** @returns the earliest moment at which somebody or the policy may want a cancel of this transaction */
function wishedFrom(books: Books, transaction: BookedTransaction): number {
  const { autoCancel, onUnresolvedReview } = books.policy;
  return Math.min(
    ...asked(books, transaction),
    ...(autoCancel ? [failedAt(books, transaction)] : []),
    ...(onUnresolvedReview === 'cancel' ? [dueAt(books, transaction)] : []),
  );
}

/** @returns when callers and persons asked for a cancel that may be of this transaction */
function asked(books: Books, { id }: BookedTransaction): number[] {
  return books.calls.flatMap((call) => {
    // After a reset the order takes again what it refused before.
    const isTaken = isOverride(call) || wasReset(books);
    if (call.kind === 'override' && isTaken && call.request.action === 'cancel') return [call.sentAt];
    const fields = portalAsked(call);
    const isMeant = fields?.kind === 'cancel' && (fields.transactionId ?? id) === id;
    return isMeant ? [call.sentAt] : [];
  });
}

/** @returns when the product was first told that the transaction fails */
function failedAt(books: Books, { id }: BookedTransaction): number {
  return Math.min(
    ...books.requests
      .filter(
        (one) =>
          fails(one.decision) &&
          one.transactionId === id &&
          one.arrivedAt !== undefined &&
          one.heard === 'transaction',
      )
      .map(({ endedAt }) => endedAt),
  );
}

/** Returns the answers about the transaction; what a create told is lost with a record that its answer outran. */
function readingsOf(books: Books, { id }: BookedTransaction): BookedRequest[] {
  return books.requests.filter(
    (one) =>
      one.transactionId === id &&
      one.heard === 'transaction' &&
      !(one.operation === 'create-transaction' && books.world.recordLost),
  );
}

/** @returns the earliest moment at which an unresolved review may be due */
function dueAt(books: Books, { attempt, createdAt }: BookedTransaction): number {
  const sent = createsOf(books, attempt).map(({ sentAt }) => sentAt);
  return (
    Math.min(createdAt, books.startedAt, ...sent) +
    books.policy.cancelWindowMs -
    books.policy.reviewLeadTimeMs
  );
}

/** @returns until when a cancel must be sent. What the record shows may end earlier: `windows.ts` judges by how much */
export function lastCall({ record, policy }: Books, { id, cancelableUntil }: BookedTransaction): number {
  const { cancelBy = cancelableUntil } = record.transactions.find((one) => one.id === id) ?? {};
  return Math.min(cancelableUntil, cancelBy) - Math.min(LAST_STRETCH_MS, policy.cancelWindowMs / 100);
}

/** A cancel that was neither accepted nor refused is sent again, after at most half of the time that is left. */
function givenUp(books: Books, transaction: BookedTransaction, sent: BookedRequest[]): Finding[] {
  const { world } = books;
  const last = sent.at(-1);
  if (last === undefined || last.apart || last.heard === 'done' || last.heard === 'refused') return [];
  if (world.losses || world.endedByHand || wasReset(books)) return [];
  if (wasWithdrawn(books, transaction, last.sentAt)) return [];
  const end = lastCall(books, transaction);
  const pauseMs = Math.min(Math.max(SHORTEST_PAUSE_MS, (end - last.endedAt) / 2), LONGEST_PAUSE_MS);
  const by = last.endedAt + pauseMs + STARTED_WITHIN_MS + world.lateByMs;
  if (by >= end || nobodyCould(books, last.endedAt, by)) return [];
  return finding(
    'cancel given up',
    `${transaction.id} at ${iso(last.sentAt)}: ${last.heard}, not sent again by ${iso(by)}`,
  );
}

/** Returns whether a person withdrew the cancel that was sent last. An override withdraws none that was sent. */
function wasWithdrawn({ calls, record }: Books, { id }: BookedTransaction, sentAt: number): boolean {
  const own = record.actions.filter((one) => one.kind === 'cancel' && (one.transactionId ?? id) === id);
  return calls.some((call) => {
    if (call.kind !== 'withdraw' || call.refusal === 'action-ended') return false;
    const { number: withdrawn } = call.request;
    const isOwn = own.some(({ number }) => number === withdrawn);
    const isNewest = own.every(({ number }) => number <= withdrawn);
    return isOwn && (isNewest || call.at >= sentAt);
  });
}

function neverSent(books: Books, transaction: BookedTransaction): Finding[] {
  const { id } = transaction;
  if (isUnseen(books, transaction)) return [];
  const last = lastCall(books, transaction);
  const closed = books.shown.find(({ phase }) => phase === 'closed')?.at ?? books.closedAt;
  const over = Math.min(closed, books.endedAt ?? books.closedAt);
  const until = Math.min(last, books.closedAt);
  const why = [
    ...promised(books, transaction),
    ...covered(books, transaction),
    ...(mayBePolicy(books, transaction) ? byPolicy(books, transaction) : []),
  ];
  // Nobody cancels what nobody has seen yet: its answer, or a lookup after it, takes up to a minute.
  const seen = books.world.losses ? [] : [foundAt(books, transaction)];
  const known = Math.min(transaction.createdAt + SEEN_WITHIN_MS, ...seen);
  for (const { at: wantedAt, because } of why) {
    const at = Math.max(wantedAt, known);
    if (at >= until || at + HANDED_ON_MS >= over || takenBack(books, at)) continue;
    if (noTimeLeft(books, at, until)) continue;
    return finding('cancel missing', `${id} from ${iso(at)} until ${iso(until)}: ${because}`);
  }
  return [];
}

interface Wanted {
  at: number;
  because: string;
}

/** A caller or a person was told that it is canceled with the screening service. */
function promised(books: Books, transaction: BookedTransaction): Wanted[] {
  const { id, attempt } = transaction;
  const { calls, transactions, record } = books;
  return calls.flatMap((call): Wanted[] => {
    const { portal: told, at } = call;
    const fields = portalAsked(call);
    if (fields?.kind !== 'cancel' || told === undefined) return [];
    const isWithdrawn = calls.some(
      (one) =>
        (one.kind === 'withdraw' || isOverride(one)) &&
        one.sentAt + HANDED_ON_MS >= (call.wishedAt ?? call.sentAt),
    );
    if (isWithdrawn) return [];
    if (takenBack(books, at) && books.world.brokeDown) return [];
    const newest = transactions.filter(({ createdAt }) => createdAt <= at).at(-1)?.id;
    // What is only requested may end otherwise: the next transaction, or one that no lookup can show.
    const isOnly = transactions.length === 1 && record.attempts === 1;
    // One that was not found before the call, or had no decision, didn't count: the answer names the other.
    const counted = readingsOf(books, transaction).some(
      ({ decision, endedAt }) => endedAt <= at && decision !== 'error',
    );
    const isMeant = newest === id && ((told.transactionId ?? id) === id || counted);
    const isDone = told.status === 'done' && record.attempts === attempt && isMeant;
    const unnamed = isOnly || isDone ? id : undefined;
    const meant = fields.transactionId ?? unnamed;
    return meant === id ? [{ at, because: `a caller was told ${told.status}` }] : [];
  });
}

/** A cancel that is done covers what is found later of its attempt. */
function covered(books: Books, transaction: BookedTransaction): Wanted[] {
  const { record, calls, adoptedFrom } = books;
  const isOfNewest = record.phase === 'canceled' && record.attempts === transaction.attempt;
  const isExcused =
    wasReset(books) || adoptedFrom !== undefined || calls.some(({ kind }) => kind === 'withdraw');
  if (!isOfNewest || isExcused) return [];
  const at = foundAt(books, transaction);
  const cancels = othersOf(books, transaction).flatMap(({ id }) =>
    requestsAbout(books, id, 'cancel-transaction'),
  );
  const isLater = cancels.some(({ heard, endedAt }) => heard === 'done' && endedAt + HANDED_ON_MS < at);
  return isLater ? [{ at, because: 'another transaction of its attempt was canceled before' }] : [];
}

/** Policy cancels the newest transaction, unless a person, the payment gateway or a decline stands in its way. */
function mayBePolicy(books: Books, { id }: BookedTransaction): boolean {
  const { policy, transactions, calls, record, adoptedFrom } = books;
  const disturbed = calls.some((one) => isOverride(one) || one.kind === 'withdraw' || isDeclined(one));
  const owner = record.transactions.find((one) => one.id === id)?.attempt ?? record.attempts;
  const isOlder = owner !== record.attempts && mayBeOlder(books, owner);
  const newest = transactions.at(-1)?.id === id && record.attempts === (transactions.at(-1)?.attempt ?? 0);
  return newest && !isOlder && !policy.passive && !disturbed && !wasReset(books) && adoptedFrom === undefined;
}

function byPolicy(books: Books, transaction: BookedTransaction): Wanted[] {
  const { policy } = books;
  const readings = readingsOf(books, transaction);
  const last = readings.at(-1);
  // What says that it fails, since the last reading that said otherwise.
  const arrived = readings.toSorted((a, b) => (a.arrivedAt ?? 0) - (b.arrivedAt ?? 0));
  const failing = arrived.slice(arrived.findLastIndex(({ decision }) => !fails(decision)) + 1);
  // A task that is lost takes the reading with it that it was about.
  const told = books.world.losses ? failing.slice(1).at(-1) : failing[0];
  // A fail at checkout is declined before acceptance, and nothing is canceled.
  const [created] = requestsAbout(books, transaction.id, 'create-transaction');
  const isDeclinable =
    policy.workflow !== 'post-acceptance' &&
    answersTo(books, transaction.attempt)[0]?.answer.decision !== 'pending';
  const cancelsFail = policy.autoCancel && !(fails(created?.decision) && isDeclinable);
  // An order that was reported as fraud may have shipped: a person cancels it, also if the report is sent later.
  const ofAttempt = books.transactions.filter(({ attempt }) => attempt === transaction.attempt);
  const reports = ofAttempt.flatMap(({ id }) =>
    requestsAbout(books, id, 'report-fraud').map(({ sentAt }) => sentAt),
  );
  const wishes = books.calls.filter((one) => portalAsked(one)?.kind === 'report-fraud');
  const reportedAt = Math.min(...reports, ...(reports.length > 0 ? wishes.map(({ sentAt }) => sentAt) : []));
  const isLeft = policy.cancelAfterReport === 'never' && told !== undefined && reportedAt <= told.endedAt;
  if (cancelsFail && told !== undefined && !isLeft)
    return [{ at: told.endedAt, because: 'the product was told that it fails' }];
  if (policy.onUnresolvedReview !== 'cancel' || last?.decision !== 'review') return [];
  const due = Math.max(transaction.cancelableUntil - policy.reviewLeadTimeMs, last.endedAt);
  const hadPassed = books.requests.some(
    (one) => one.transactionId === transaction.id && one.decision === 'pass' && one.endedAt <= reportedAt,
  );
  if (policy.cancelAfterReport === 'never' && reportedAt <= due && hadPassed) return [];
  return [{ at: due, because: 'its review is unresolved' }];
}
