/** The floor, the least that a synchronous decision costs, and the plain way that most would begin with. */
import {
  condition,
  defineQuery,
  defineUpdate,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
} from '@temporalio/workflow';

export interface FloorInput {
  orderId: string;
  transaction: Record<string, unknown>;
  /** As an order does that waits for its window to end, or for somebody to cancel it. */
  staysOpen?: boolean;
}

export interface FloorActivities {
  callService(input: FloorInput): Promise<string>;
}

export const floorDecision = defineUpdate<string>('decision');
export const plainDecision = defineQuery<string | undefined>('decision');

const local = proxyLocalActivities<FloorActivities>({
  startToCloseTimeout: '9 seconds',
  retry: { maximumAttempts: 1 },
});
const OPEN_FOR = '5 days';

const regular = proxyActivities<FloorActivities>({ startToCloseTimeout: '9 seconds' });

/** One local activity; its result is the answer to the update that started the workflow. */
export async function floor(input: FloorInput): Promise<void> {
  let decision: string | undefined;
  setHandler(floorDecision, async () => {
    await condition(() => decision !== undefined);
    return decision ?? '';
  });
  setHandler(plainDecision, () => decision);
  decision = await local.callService(input);
  if (input.staysOpen === true) await condition(() => false, OPEN_FOR);
}

/** One regular activity; the caller asks until there is a result. */
export async function plain(input: FloorInput): Promise<void> {
  let decision: string | undefined;
  setHandler(plainDecision, () => decision);
  decision = await regular.callService(input);
  if (input.staysOpen === true) await condition(() => false, OPEN_FOR);
}
