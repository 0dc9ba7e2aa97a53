/** Ends a wait for an order early when Temporal itself doesn't answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { temporalUnavailable, within } from '../temporal-errors.ts';

/** Together at most 2 s: a customer waits at the checkout. */
const ASK_AFTER_MS = 700;
const ANSWER_WITHIN_MS = 1_100;

/**
 * Rule «Temporal away»: runs a call, and meanwhile checks regularly that Temporal answers. The call may wait for a slow worker.
 * @throws OrderScreeningError `temporal-unavailable` once Temporal doesn't answer; the call's outcome is then unknown
 */
export async function whileReachable<T>(client: Client, call: () => Promise<T>): Promise<T> {
  const over = new AbortController();
  const { signal } = over;
  const away = async (): Promise<never> => {
    for (;;) {
      await sleep(ASK_AFTER_MS, undefined, { signal });
      const ping = () => client.workflowService.getSystemInfo({});
      await within(client, Date.now() + ANSWER_WITHIN_MS, ping).catch((cause: unknown) => {
        const words =
          'Temporal does not answer, so the outcome is unknown. Retrying the same request is safe';
        throw temporalUnavailable(cause, words);
      });
    }
  };
  try {
    return await Promise.race([call(), away()]);
  } finally {
    over.abort();
  }
}
