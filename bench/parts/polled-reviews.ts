/** Reviews with a known number of polls. */
import { eventually } from '../../test/support/eventually.ts';
import { LIFE, type Living } from './order-kinds.ts';

/** Up to this many polls are counted exactly only with time between them. */
const FEW = 10;
const WITHIN_MS = 3_600_000;
/** Temporal's timers fire up to a second late, so a review is polled hardly more than once per second. */
const POLL_TAKES_MS = 1_200;
const BEFORE_AND_AFTER_MS = 40_000;
/** A poll that is postponed this long is not repeated before the webhook. */
const POSTPONED_SECONDS = 3_600;

/** @returns a policy that polls as often as possible, with a cancel window that holds so many polls */
export function pollsPolicy(polls: number): object {
  const pause = polls < FEW ? '2s' : '20ms';
  const eachMs = polls < FEW ? 2_000 + POLL_TAKES_MS : POLL_TAKES_MS;
  return {
    ...LIFE,
    cancelWindow: `${BEFORE_AND_AFTER_MS + polls * eachMs}ms`,
    poll: { first: pause, factor: 1, max: pause },
  };
}

/**
 * Waits for so many polls of a review. The last is answered with 429, which postpones the next one, as in a review that takes
 * days; a webhook then finds no poll running.
 * @returns the number of polls made
 */
export async function pollReview({ stack, order }: Living, polls: number): Promise<number> {
  const { sandbox } = stack;
  const made = () => sandbox.requests(order.orderId, 'status-by-url');
  const patience = { timeoutMs: WITHIN_MS, intervalMs: 50 };
  await eventually(async () => (await made()).length >= polls - 1, patience);
  const endFault = await sandbox.putOffPoll(order.orderId, POSTPONED_SECONDS);
  const counted = await eventually(async () => {
    const requests = await made();
    return requests.some(({ fault }) => fault === '429') ? requests.length : false;
  }, patience);
  await endFault();
  return counted;
}
