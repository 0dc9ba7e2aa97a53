import type { Client } from '@temporalio/client';

/** Thrown when a call to Temporal had no answer in time. Whether it was done isn't known. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

/** How long a caller waits for what an order answers, unless it is the decision; in milliseconds. */
export const ANSWER_WITHIN_MS = 10_000;

/** How long a read may take; in milliseconds. */
export const READ_WITHIN_MS = 5_000;

/** Beyond the call's own deadline, so that its error, which says more, comes first. */
const SLACK_MS = 100;

/**
 * Runs a call to Temporal that ends by `deadline` (ms after the epoch). The connection's own deadline isn't enough: while
 * the server can't be reached, a pause before the next try goes on for seconds after it.
 */
export async function within<T>(client: Client, deadline: number, call: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new DeadlinePassed('Temporal did not answer in time')),
      deadline - Date.now() + SLACK_MS,
    );
  });
  try {
    return await Promise.race([client.withDeadline(deadline, call), late]);
  } finally {
    clearTimeout(timer);
  }
}
