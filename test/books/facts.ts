/** What excuses an order: facts of the world that nobody in the product wrote, each with its reason. */
import { type BookedTransaction, type Books, requestsAbout, type Span } from './books.ts';

/** A reset takes back what the order did and said between its task and the reset. */
export function takenBack({ world }: Books, at: number): boolean {
  return world.resets.some((reset) => at > reset.to && at <= reset.at);
}

/** Whoever is told again after a reset may be told otherwise. */
export function wasReset({ world }: Books): boolean {
  return world.resets.length > 0;
}

/** What a create left is out of sight when its answer was not heard, and its invoice number leads to an older transaction. */
export function isShadowed(books: Books, { id, invoice, createdAt }: BookedTransaction): boolean {
  const heard = requestsAbout(books, id, 'create-transaction').some(
    (one) => one.heard === 'transaction' && !takenBack(books, one.endedAt) && !books.world.losses,
  );
  const older = books.transactions.some((one) => one.invoice === invoice && one.createdAt < createdAt);
  return older && !heard;
}

/** What was sent after the task of a reset, with a number that the new run never comes to, is no part of the order any more. */
export function isForgotten(books: Books, { attempt, createdAt, invoice }: BookedTransaction): boolean {
  const since = books.requests.some(
    (one) => one.invoice === invoice && !takenBack(books, one.sentAt) && one.sentAt > createdAt,
  );
  return takenBack(books, createdAt) && (attempt > books.record.attempts || !since);
}

/** A fast answer leaves before its record: if that is lost, the order is screened again by a lookup. */
export function answerOutranRecord({ world }: Books): boolean {
  return world.recordLost;
}

/** A first screening whose code fails reads no skip rule. */
export function firstScreeningFailed({ world }: Books): boolean {
  return world.brokeDown;
}

/** Nobody acts while no worker is there, and nothing is answered without the screening service or with a wrong key. */
export function nobodyCould({ world }: Books, from: number, until: number): boolean {
  return [...world.workersAway, ...world.unreachable, ...world.wrongKey].some(overlaps(from, until));
}

/** A cancel takes time, which is not left where nobody could send it until the end of the window. */
export function noTimeLeft({ world, policy }: Books, from: number, until: number): boolean {
  const spans = [...world.workersAway, ...world.unreachable, ...world.wrongKey];
  const lost = spans.reduce(
    (sum, one) => sum + Math.max(0, Math.min(one.until, until) - Math.max(one.from, from)),
    0,
  );
  return until - from - lost - world.lateByMs < Math.min(60_000, policy.cancelWindowMs / 3);
}

/** Events are tried for three days, the last time up to six hours before their end, and then given up. */
export function downForThreeDays({ world }: Books): boolean {
  return world.receiverDown.reduce((sum, { from, until }) => sum + until - from, 0) > 66 * 3_600_000;
}

/** An answer whose try was lost is unknown to the order, which asks a person to look. */
export function answerWasLost({ world, record }: Books): boolean {
  return world.losses && record.attention.includes('portal-unconfirmed');
}

/** A try that was cut off, and a run before a reset, reported nothing of the creates that they sent. */
export function reportWasLost({ world }: Books): boolean {
  return world.losses || world.resets.length > 0;
}

/** A try that waits for a worker for less than 2 s can't be told from a worker's clock that is off by as much. */
export const unnoticedMs = ({ world }: Books): number =>
  world.notedLateMs + (world.skewMs !== 0 || world.lateByMs > 0 ? 2_000 : 0);

/** What Temporal loses it tries again only after a time-out. */
export function wasLate({ world }: Books): boolean {
  return world.losses || world.lateByMs > 0 || world.workersAway.length > 0;
}

function overlaps(from: number, until: number): (span: Span) => boolean {
  return (span) => span.from < until && span.until > from;
}
