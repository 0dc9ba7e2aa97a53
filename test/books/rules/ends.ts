/** Does the order end, and does it say what it leaves undone? */
import { type Books, type Finding, finding, iso } from '../books.ts';

const DAY = 24 * 3_600_000;
/** An order that is over waits so long for what can still be done; events are tried for three days. */
const AFTER_ITS_END_MS = 3 * DAY + 6 * 3_600_000;

export function ends(books: Books): Finding[] {
  const latest = latestEnd(books);
  const at = books.endedAt ?? books.closedAt;
  if (at <= latest) return [];
  const what = books.endedAt === undefined ? 'runs still' : 'ended';
  return finding('no end', `it ${what} at ${iso(at)}, and was to end by ${iso(latest)}`);
}

/** The window of an order whose policy is unknown. */
const DEFAULT_WINDOW_MS = 5 * DAY;

/** The last deadline that anything in the books can begin. */
function latestEnd(books: Books): number {
  const { policy, startedAt, calls, news, transactions, world } = books;
  const moved = [
    startedAt,
    ...calls.map(({ at }) => at),
    ...news.map(({ at }) => at),
    ...transactions.map(({ createdAt }) => createdAt),
    ...transactions.flatMap(({ decisions }) => decisions.map(({ at }) => at)),
    ...[...world.workersAway, ...world.unreachable, ...world.wrongKey, ...world.receiverDown].map(
      ({ until }) => until,
    ),
    ...world.resets.map(({ at }) => at),
    ...world.continuedAt,
  ];
  const { screeningDeadlineMs, cancelWindowMs, reviewLimitMs, retryWithinMs, gatewayResultWithinMs } = policy;
  const withoutPolicy = books.world.brokeDown ? DEFAULT_WINDOW_MS : 0;
  const longest = Math.max(cancelWindowMs + reviewLimitMs, retryWithinMs, withoutPolicy);
  return Math.max(...moved) + screeningDeadlineMs + longest + gatewayResultWithinMs + AFTER_ITS_END_MS;
}
