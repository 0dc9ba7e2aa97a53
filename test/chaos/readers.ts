/** People who look: at random moments, around kills too, they read orders and lists. */
import { randomInt } from 'node:crypto';
import { atRandom } from './at-random.ts';
import type { OrderPlan } from './plan.ts';

const READERS = 3;
const MOST_PAUSE_MS = 800;
const REQUEST_TIMEOUT_MS = 15_000;
/** An order that is not there yet, and an API without Temporal. */
const EXPECTED: readonly number[] = [200, 404, 503];

export interface Readers {
  /** Reads so far, by status; 0: without an answer. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Answers that no reader should get. */
  readonly strange: readonly { orderId: string; facts: string }[];
  stop(): Promise<void>;
}

/** Starts them. They read until they are stopped. */
export function startReaders(apiUrl: string, plans: readonly OrderPlan[], signal: AbortSignal): Readers {
  const statuses = new Map<number, number>();
  const strange: { orderId: string; facts: string }[] = [];
  const read = async ({ orderId, integration }: OrderPlan): Promise<void> => {
    const paths = [
      `/v1/orders/${orderId}?integration=${integration}`,
      `/v1/orders/${orderId}?integration=${integration}&view=full`,
      `/v1/orders?integration=${integration}&limit=20`,
    ];
    const path = paths[randomInt(paths.length)] ?? '';
    const response = await fetch(`${apiUrl}${path}`, {
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    }).catch(() => undefined);
    const text = await response?.text().catch(() => undefined);
    const status = text === undefined ? 0 : (response?.status ?? 0);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status !== 0 && !EXPECTED.includes(status))
      strange.push({ orderId, facts: `GET ${path}: ${status} ${text}` });
  };
  const stop = atRandom(plans, { people: READERS, mostPauseMs: MOST_PAUSE_MS, signal }, read);
  return { statuses, strange, stop };
}
