/** Reviews with a known number of polls. */
import { eventually } from '../../test/support/eventually.ts';
import { LIFE, type Living } from './order-kinds.ts';

const WITHIN_MS = 3_600_000;
/** Long enough to end the polls after an exact number of them. */
const PAUSE_MS = 2_000;
/** Temporal's timers fire up to a second late. */
const POLL_TAKES_MS = 1_200;
const BEFORE_AND_AFTER_MS = 40_000;
/** A poll that is postponed this long is not repeated before the webhook. */
const POSTPONED_SECONDS = 3_600;

/** @returns a policy whose cancel window holds so many polls */
export function pollsPolicy(polls: number): object {
  return {
    ...LIFE,
    cancelWindow: `${BEFORE_AND_AFTER_MS + polls * (PAUSE_MS + POLL_TAKES_MS)}ms`,
    poll: { first: `${PAUSE_MS}ms`, factor: 1, max: `${PAUSE_MS}ms` },
  };
}

/**
 * Waits for so many polls of a review. The last is answered with 429, which postpones the next one, as in a review that takes
 * days; a webhook then finds no poll running.
 */
export async function pollReview({ stack, order }: Living, polls: number): Promise<void> {
  const { sandbox } = stack;
  const made = () => sandbox.requests(order.orderId, 'status-by-url');
  const patience = { timeoutMs: WITHIN_MS, intervalMs: 50 };
  await eventually(async () => (await made()).length >= polls - 1, patience);
  const endFault = await sandbox.putOffPoll(order.orderId, POSTPONED_SECONDS);
  await eventually(async () => (await made()).some(({ fault }) => fault === '429'), patience);
  await endFault();
}
