/** Reviews of which it is known how often they were polled. */
import type { WorkflowHandle } from '@temporalio/client';
import { eventually } from '../../test/support/eventually.ts';
import { LIFE, type Living } from './order-kinds.ts';

/** So few polls are counted only when there is time between them. */
const FEW = 10;
const WITHIN_MS = 3_600_000;
/** Temporal's timers come up to a second late, so that no review is polled much more than once a second. */
const POLL_TAKES_MS = 1_200;
const BEFORE_AND_AFTER_MS = 40_000;
/** The poll that is put off so long is not made again before the webhook comes. */
const PUT_OFF_SECONDS = 3_600;

/** @returns a policy that polls as often as can be, with a cancel window that holds so many polls */
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
 * Waits for so many polls of a review. The last is answered with 429, so that the next one is far off, as it is in a review
 * that takes days; a webhook that comes then finds the poll at rest.
 * @returns the polls that were made, and the tries of the activity, of which the first only begins the first pause
 */
export async function polledReview(
  { stack, order }: Living,
  polls: number,
  handle: WorkflowHandle,
): Promise<{ polls: number; tries: number }> {
  const { sandbox } = stack;
  const made = () => sandbox.requests(order.orderId, 'status-by-url');
  const patience = { timeoutMs: WITHIN_MS, intervalMs: 50 };
  await eventually(async () => (await made()).length >= polls - 1, patience);
  const answerAgain = await sandbox.putOffPoll(order.orderId, PUT_OFF_SECONDS);
  const counted = await eventually(async () => {
    const requests = await made();
    return requests.some(({ fault }) => fault === '429') ? requests.length : false;
  }, patience);
  await answerAgain();
  const { raw } = await handle.describe();
  const next = raw.pendingActivities?.find(
    ({ activityType }) => activityType?.name === 'pollStatus',
  )?.attempt;
  return { polls: counted, tries: (next ?? 1) - 1 };
}
