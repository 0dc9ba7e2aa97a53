/** What excuses an order: facts of the world that nobody in the product wrote, each with its reason. */
import { answersTo } from './asked.ts';
import { type BookedTransaction, type Books, requestsAbout, type Span, type World } from './books.ts';

/** Between an answer that an activity heard and the order that acts on it. */
export const HANDED_ON_MS = 1_000;
/** The order learns of a read and of the time in one task, and dates the read by its own clock. */
export const ONE_TASK_MS = 100;

/** A reset takes back what the order did and said between its task and the reset. */
export const takenBack = ({ world }: Books, at: number, by = Number.POSITIVE_INFINITY): boolean =>
  world.resets.some((reset) => at >= reset.to && at <= reset.at && reset.at <= by);
/** Whoever is told again after it may be told otherwise. */
export const wasReset = ({ world }: Books): boolean => world.resets.length > 0;

/** What a create left is out of sight where no lookup ever showed it: a person is told, until one says so, to look in the portal. */
export function isUnseen(books: Books, { id }: BookedTransaction): boolean {
  const looks = requestsAbout(books, id, 'status-by-invoice').filter((one) => one.heard === 'transaction');
  // Neither the next run nor an order that is over hears what the run before was about to be told.
  const ends = [...books.world.continuedAt, ...(books.endedAt === undefined ? [] : [books.endedAt])];
  const isLost = (at: number) => ends.some((end) => end >= at && end < at + HANDED_ON_MS);
  const found = looks.some(({ endedAt }) => !takenBack(books, endedAt) && !isLost(endedAt));
  const settled = books.calls.some((one) => (one.cleared ?? 0) > 0);
  return (!found || books.world.losses) && (settled || books.record.attention.includes('transaction-unseen'));
}

/** By a shared invoice number the first transaction is shown, which belongs to the first attempt that may have one. */
export const mayBeOlder = (books: Books, attempt: number): boolean =>
  !books.policy.invoicePerAttempt &&
  (wasReset(books) ||
    answersTo(books, attempt).some(({ answer }) => ['pending', 'error'].includes(answer.decision)));

/** What was sent after the task of a reset is no part of the order any more, where the new run never comes to see it; and it may hide the rest. */
export function isForgotten(books: Books, { id, attempt, createdAt, invoice }: BookedTransaction): boolean {
  const about = books.requests.filter((one) => one.invoice === invoice);
  const since = about.some((one) => one.heard && one.sentAt > createdAt && !takenBack(books, one.sentAt));
  const others = about.filter((one) => (one.transactionId ?? id) !== id);
  if (others.some((one) => one.attempt && takenBack(books, one.sentAt))) return true;
  const sentAt = about.find((one) => one.transactionId === id)?.sentAt ?? createdAt;
  return takenBack(books, sentAt) && (attempt > books.record.attempts || !since || others.length > 0);
}

/** Nobody acts while no worker is there, and nothing is answered without the screening service or with a wrong key. */
export const nobodyCould = ({ world }: Books, from: number, until: number): boolean =>
  idle(world).some((span) => span.from < until && span.until > from);

/** What became of a pending is read from a worker: without one, the caller is told again what it was told first. */
export const noWorker = ({ world }: Books, at: number): boolean =>
  world.losses || world.workersAway.some(({ from, until }) => from <= at && at < until);

/** A cancel takes time, which is not left where nobody could send it until the end of the window; after a 403 it waits a minute, after a reset for what the run before may have sent. */
export function noTimeLeft({ world, policy }: Books, from: number, until: number): boolean {
  const pause = (at: number, ms: number): Span => ({ from: at, until: at + ms });
  const refused = world.wrongKey.map((span) => pause(span.until, 60_000));
  const pauses = [...refused, ...world.resets.map(({ at }) => pause(at, 38_000)), ...world.tasksWaited];
  const within = (one: Span): number => Math.max(0, Math.min(one.until, until) - Math.max(one.from, from));
  const lost = [...idle(world), ...pauses].reduce((sum, one) => sum + within(one), 0);
  return until - from - lost - world.lateByMs < Math.min(60_000, policy.cancelWindowMs / 3);
}

/** Events are tried for three days, the last time up to six hours before their end, and then given up. */
export const downForThreeDays = ({ world }: Books): boolean =>
  world.receiverDown.reduce((sum, { from, until }) => sum + until - from, 0) > 66 * 3_600_000;

/** A call that is lost, ends between two tries or ran before a reset reports nothing of the creates that it sent. */
export const reportWasLost = ({ world }: Books): boolean =>
  world.losses || world.resets.length > 0 || world.workersAway.length > 0 || world.cutOff;

/** A try that waits for a worker for less than 2 s can't be told from a worker's clock that is off by as much. */
export const unnoticedMs = ({ world }: Books): number =>
  world.notedLateMs + (world.skewMs !== 0 || world.lateByMs > 0 ? 2_000 : 0);

/** What Temporal loses it tries again only after a time-out. */
export const wasLate = ({ world }: Books): boolean =>
  world.losses || world.lateByMs > 0 || world.workersAway.length > 0;

const idle = (world: World): Span[] => [...world.workersAway, ...world.unreachable, ...world.wrongKey];
