import { setTimeout as wait } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { reviewHintSignal } from '../../src/contract/messages.ts';
import { eventually, heldLine } from '../support/index.ts';
import { withOrders } from './support.ts';

const HINT = { source: 'webhook', receivedAt: '2026-03-02T10:00:00.000Z' } as const;
const TASK_MS = 3_000;
let line: Awaited<ReturnType<typeof heldLine>>;
// After the workers have stopped.
afterAll(() => line.close());
const { environment, order } = withOrders({
  known: 50,
  workersLine: async (address) => {
    line = await heldLine(address);
    return line.address;
  },
});

describe('a first task whose next attempts a frozen worker gets late, one after the other', () => {
  it('loses no signals', { timeout: 90_000 }, async () => {
    // The worker knows the way.
    await order();
    let [isScreening, mayEnd] = [false, false];
    const { world, options, input } = order.prepare((one) => {
      one.screenAtCheckout = async () => {
        isScreening = true;
        await eventually(() => mayEnd);
        return one.nextScreening();
      };
    });
    onTestFinished(() => line.release());
    line.hold();
    const begun = Date.now();
    /** Waits until a point of time, in first tasks. The worker asks for more time 0.8 tasks after it got an attempt. */
    const until = (tasks: number) => wait(begun + tasks * TASK_MS - Date.now());
    const { client } = environment();
    const handle = await client.workflow.start('screenOrder', {
      ...options,
      workflowTaskTimeout: TASK_MS,
      args: [input],
    });
    await until(0.7);
    line.release();
    await eventually(() => isScreening);
    await until(0.8);
    line.hold();
    await eventually(async () => expect(await taskOf(handle)).toBe(2));
    for (const _ of ['first', 'second']) await handle.signal(reviewHintSignal, HINT);
    await until(1.4);
    line.release();
    await eventually(async () => expect(await taskOf(handle)).toBe(1));
    await wait(100);
    mayEnd = true;
    await eventually(() => expect(world.reads).toBe(2));
  });
});

/** Which attempt of its workflow task runs. */
async function taskOf(handle: WorkflowHandle): Promise<number | undefined> {
  const { raw } = await handle.describe();
  const { startedTime, attempt } = raw.pendingWorkflowTask ?? {};
  return startedTime && attempt ? attempt : undefined;
}
