/** Reviews with a known number of polls. */
import { eventually } from '../../test/support/eventually.ts';
import { decideAndTell, LIFE, type Living, type OrderKind } from './order-kinds.ts';

const POLLED_KIND = 'review, passed by webhook';
const WITHIN_MS = 3_600_000;
/** Long enough to end the polls after an exact number of them. */
const PAUSE_MS = 2_000;
/** Temporal's timers fire up to a second late. */
const POLL_TAKES_MS = 1_200;
const BEFORE_AND_AFTER_MS = 40_000;
/** A poll that is postponed this long is not repeated before the webhook. */
const POSTPONED_SECONDS = 3_600;

/** @returns reviews that a webhook ends after so many polls; their cancel window holds as many */
export function polledReview(polls: number): OrderKind {
  return {
    name: `${POLLED_KIND} after ${polls} ${polls === 1 ? 'poll' : 'polls'}`,
    limitsOf: POLLED_KIND,
    policy: {
      ...LIFE,
      cancelWindow: `${BEFORE_AND_AFTER_MS + polls * (PAUSE_MS + POLL_TAKES_MS)}ms`,
      poll: { first: `${PAUSE_MS}ms`, factor: 1, max: `${PAUSE_MS}ms` },
    },
    decision: 'review',
    after: async (living) => {
      await untilPolled(living, polls);
      await decideAndTell(living, 'pass');
    },
  };
}

/**
 * Waits for so many polls of a review. The last is answered with 429, which postpones the next one, as in a review that takes
 * days; a webhook then finds no poll running.
 */
async function untilPolled({ stack, order }: Living, polls: number): Promise<void> {
  const { sandbox } = stack;
  const made = () => sandbox.requests(order.orderId, 'status-by-url');
  const patience = { timeoutMs: WITHIN_MS, intervalMs: 50 };
  await eventually(async () => (await made()).length >= polls - 1, patience);
  const endFault = await sandbox.putOffPoll(order.orderId, POSTPONED_SECONDS);
  await eventually(async () => (await made()).some(({ fault }) => fault === '429'), patience);
  await endFault();
}
