/** The floor, the least that a synchronous decision costs. */
import { condition, defineUpdate, proxyLocalActivities, setHandler } from '@temporalio/workflow';

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

const local = proxyLocalActivities<FloorActivities>({
  startToCloseTimeout: '9 seconds',
  retry: { maximumAttempts: 1 },
});
const OPEN_FOR = '5 days';

/** Runs one local activity and returns its result to the update that started the workflow. */
export async function floor(input: FloorInput): Promise<void> {
  let decision: string | undefined;
  setHandler(floorDecision, async () => {
    await condition(() => decision !== undefined);
    return decision ?? '';
  });
  decision = await local.callService(input);
  if (input.staysOpen === true) await condition(() => false, OPEN_FOR);
}
