/** The floor, the least that a synchronous decision costs, and the plain way, a typical first implementation. */
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
  /** The floor stays open after the decision, as an order does until its cancel window closes. */
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

/** Runs one local activity and returns its result to the update that started the workflow. */
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

/** Runs one regular activity; the caller queries until there is a result. It stays open: queries to closed workflows cost more. */
export async function plain(input: FloorInput): Promise<void> {
  let decision: string | undefined;
  setHandler(plainDecision, () => decision);
  decision = await regular.callService(input);
  await condition(() => false, OPEN_FOR);
}
