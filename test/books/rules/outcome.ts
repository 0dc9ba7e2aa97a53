/** Does the order's record end with the decision and the action that the books mean? Judged where nothing else can have changed them. */
import { answersTo, attemptAsked, type BookedCall } from '../asked.ts';
import {
  type BookedTransaction,
  type Books,
  createsOf,
  type Finding,
  fails,
  finding,
  heardCanceled,
  iso,
  transactionOf,
} from '../books.ts';
import { nobodyCould, wasLate, wasReset } from '../facts.ts';

const A_READ_MS = 60_000;

export function outcome(books: Books): Finding[] {
  const { record, policy, adoptedFrom } = books;
  const newest = transactionOf(books, record.newest);
  if (policy.passive) return notPassive(books);
  if (newest === undefined || wasReset(books)) return [];
  const meant = adoptedFrom === undefined ? meantAction(books, newest) : undefined;
  return [
    ...missed(books, newest, books.endedAt ?? books.closedAt),
    ...notHeld(books, newest),
    ...notCanceled(books, newest),
    ...(meant === undefined || meant.action === record.action
      ? []
      : finding('action wrong', `${record.action}, not ${meant.action}: ${meant.because}`)),
  ];
}

/** Whatever the decision, a passive order says `proceed`. */
function notPassive({ world, record, arrivals }: Books): Finding[] {
  const said = [record.action, ...arrivals.map(({ event }) => event.data.action)];
  const wrong = said.find((action) => action !== undefined && action !== 'proceed');
  return wrong === undefined || world.brokeDown ? [] : finding('action wrong', `${wrong} of a passive order`);
}

/** A review is polled: what became of it is on record, unless the order was over before the next poll. */
function missed(books: Books, transaction: BookedTransaction, endedAt: number): Finding[] {
  const { id, decisions, createdAt, canceledAt = endedAt } = transaction;
  const { policy, record, calls } = books;
  const [before, last] = decisions.slice(-2);
  if (last === undefined || before?.decision !== 'review' || last.decision === 'error') return [];
  const due = last.at + policy.poll.maxMs + A_READ_MS;
  const open =
    due < Math.min(createdAt + policy.cancelWindowMs, canceledAt, endedAt) && record.decision === 'review';
  // A declined order is not polled.
  const disturbed = calls.some(
    ({ kind, checkout }) =>
      ['gateway-result', 'override', 'portal'].includes(kind) || checkout?.action === 'decline',
  );
  if (!open || disturbed || wasLate(books) || nobodyCould(books, last.at - A_READ_MS, due)) return [];
  const tried = books.requests.filter((one) => one.transactionId === id && one.sentAt > last.at);
  if (tried.some(({ heard }) => heard === 'unknown')) return [];
  return finding(
    'decision missed',
    `${id} was ${last.decision} at ${iso(last.at)}, on record ${record.decision}`,
  );
}

/** An order that heard that its transaction is canceled ends as canceled. */
function notCanceled(books: Books, { id }: BookedTransaction): Finding[] {
  const { record, endedAt } = books;
  if (endedAt === undefined || !heardCanceled(books, id) || books.world.losses) return [];
  if (record.phase === 'canceled') return [];
  return finding('phase wrong', `${record.phase}, and ${id} was canceled`);
}

/** A review that was always one, or a transaction that had failed when it was adopted, is left to a person. */
function notHeld(books: Books, { decisions, attempt }: BookedTransaction): Finding[] {
  const { record, policy, adoptedFrom, calls, requests } = books;
  const [only, ...others] = decisions;
  const disturbed = calls.some(isTaken);
  const canceled = requests.some(({ operation }) => operation === 'cancel-transaction');
  if (only === undefined || others.length > 0 || disturbed || canceled || policy.workflow === 'pre-gateway')
    return [];
  const failed = fails(only.decision);
  const held = record.action === 'hold' || (!failed && policy.onUnresolvedReview === 'cancel');
  const toHold =
    only.decision === 'review'
      ? answersTo(books, attempt)[0]?.answer.decision === 'review'
      : failed && adoptedFrom !== undefined;
  return toHold && !held ? finding('action wrong', `${record.action}, not hold, for ${only.decision}`) : [];
}

/** A cancel that was too late to be sent, or whose outcome is unknown, changes the action too: the order still requires it. */
function isTaken(call: BookedCall): boolean {
  const { kind, refusal } = call;
  const taken = refusal === undefined || ['cancel-window-closed', 'outcome-unknown'].includes(refusal);
  return taken && attemptAsked(call) === undefined && kind !== 'acknowledge';
}

function meantAction(
  books: Books,
  { id, attempt, decisions }: BookedTransaction,
): { action: string; because: string } | undefined {
  const { calls, record } = books;
  const requests = books.requests.filter(({ apart }) => !apart);
  if (heardCanceled(books, id) && !wasLate(books)) {
    return { action: 'cancel', because: `${id} was canceled` };
  }
  const asked = calls.filter(isTaken);
  if (requests.some(({ operation }) => operation === 'cancel-transaction')) return undefined;
  const [only, ...others] = asked;
  if (only?.kind === 'override' && others.length === 0 && record.attempts === 1) {
    return { action: only.request.action, because: 'a person decided' };
  }
  const [first] = answersTo(books, attempt);
  const same = new Set(decisions.map(({ decision }) => decision)).size === 1;
  const own = createsOf({ requests }, attempt);
  if (only !== undefined || first === undefined || !same || own.length !== 1 || wasLate(books))
    return undefined;
  if (first.answer.transactionId !== id || record.attempts !== attempt) return undefined;
  if (first.answer.decision === 'review' || first.answer.decision === 'error') return undefined;
  return {
    action: first.answer.action,
    because: `${first.answer.decision} was answered, and nothing changed it`,
  };
}
