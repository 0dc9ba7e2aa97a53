import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { afterEndWorkflowId, TASK_QUEUE } from '../../src/contract/ids.ts';
import { recheckSignal } from '../../src/contract/messages.ts';
import {
  LATE_DECISIONS,
  READ_AFTER_END,
  type ReadAfterEndInput,
  readAfterEndInput,
} from '../../src/orders/after-end.ts';
import type { readAfterEnd } from '../../src/workflows/index.ts';
import { aClosedOrder, CLOSED_TRANSACTION } from '../fixtures/orders.ts';
import { eventually } from '../support/index.ts';
import { historiesOf, replay } from '../support/replays.ts';
import { again, aPolicy, HOUR, MINUTE, type World, withOrders } from './support.ts';

const workflowModules = [fileURLToPath(import.meta.resolve('./long-history.ts'))];
const { order, environment } = withOrders({ workflowModules });
const workflowIds: string[] = [];

const EVENTS = { sequence: 4, delivered: 4, waiting: 0 };

/** An ended order that passed, in a world of its own. */
function anEnded(
  set: (world: World) => void = () => undefined,
  state: Parameters<typeof aClosedOrder>[1] = {},
) {
  const { integration, world } = order.prepare(set);
  let reads = 0;
  const { status } = world;
  let now = status;
  Object.defineProperty(world, 'status', {
    get: () => {
      reads += 1;
      return now;
    },
    set: (next: typeof status) => {
      now = next;
    },
  });
  const key = { integration, orderId: `order-${randomUUID()}` };
  const closed = aClosedOrder({}, { ...key, events: EVENTS, policy: aPolicy({ events: 'all' }), ...state });
  const { client } = environment();
  workflowIds.push(afterEndWorkflowId(key));
  const ask = (decisions: ReadAfterEndInput['decisions'] = []) =>
    client.workflow.signalWithStart<typeof readAfterEnd>(READ_AFTER_END, {
      workflowId: afterEndWorkflowId(key),
      taskQueue: TASK_QUEUE,
      args: [readAfterEndInput(closed, decisions)],
      signal: recheckSignal,
      signalArgs: [],
      memo: { [LATE_DECISIONS]: decisions },
    });
  const memo = async () => (await client.workflow.getHandle(afterEndWorkflowId(key)).describe()).memo;
  return { world, key, ask, memo, reads: () => reads, pass: (ms: number) => environment().sleep(ms) };
}

const failed = (world: World): void => {
  world.status = { kind: 'read', decision: 'fail' };
};

describe('the read after an order’s end', () => {
  it('of the recorded decision sends nothing, and ends after one read', async () => {
    const { ask, world, reads } = anEnded();
    expect(await (await ask()).result()).toEqual([]);
    expect(world.events).toEqual([]);
    expect(reads()).toBe(1);
  });

  it('of another decision sends one event, whose sequence goes on, and has it in its memo', async () => {
    const { ask, world, key, memo } = anEnded(failed);
    const handle = await ask();
    const decisions = await handle.result();
    const { integration, orderId } = key;
    expect(world.events).toEqual([
      {
        id: `${integration}:${orderId}:5`,
        type: 'order.decision_changed',
        integration,
        orderId,
        sequence: 5,
        occurredAt: decisions[0]?.at,
        data: {
          phase: 'closed',
          decision: 'fail',
          action: 'cancel',
          attempt: 1,
          transactionId: CLOSED_TRANSACTION,
          cancelBy: expect.any(String),
          afterClose: true,
          attention: [expect.stringContaining('refund and report by hand')],
        },
      },
    ]);
    const found = [
      {
        decision: 'fail',
        transactionId: CLOSED_TRANSACTION,
        attempt: 1,
        action: 'cancel',
        at: expect.any(String),
        event: { sequence: 5, status: 'delivered' },
      },
    ];
    expect(decisions).toEqual(found);
    expect(await memo()).toEqual({ [LATE_DECISIONS]: found });
  });

  it('sends nothing for the same decision read again, and the next event for the one after it', async () => {
    const { ask, world, memo } = anEnded(failed);
    const first = await (await ask()).result();
    expect(await (await ask(first)).result()).toEqual(first);
    expect(world.events).toHaveLength(1);
    world.status = { kind: 'read', decision: 'pass' };
    const second = await (await ask(first)).result();
    expect(second.map(({ decision, event }) => [decision, event?.sequence])).toEqual([
      ['fail', 5],
      ['pass', 6],
    ]);
    expect(world.events.map(({ sequence, data }) => [sequence, data.decision, data.action])).toEqual([
      [5, 'fail', 'cancel'],
      [6, 'pass', 'cancel'],
    ]);
    expect(await memo()).toEqual({ [LATE_DECISIONS]: second });
  });

  it('is made twice for many signals that come at once, a spacing apart', async () => {
    const { ask, reads, pass } = anEnded();
    const handle = await ask();
    await eventually(() => expect(reads()).toBe(1));
    await Promise.all(Array.from({ length: 50 }, () => handle.signal(recheckSignal)));
    expect(reads()).toBe(1);
    await pass(2_500);
    await eventually(() => expect(reads()).toBe(2));
    await handle.signal(recheckSignal);
    // The spacing is 4 s now.
    await pass(2_500);
    expect(reads()).toBe(2);
    await pass(2_500);
    await eventually(() => expect(reads()).toBe(3));
    await handle.result();
    expect(reads()).toBe(3);
  });

  it('is repeated until the screening service answers, with one more behind it', async () => {
    const { ask, world, reads, pass } = anEnded((one) => {
      one.status = { kind: 'unanswered' };
    });
    const handle = await ask();
    await eventually(() => expect(reads()).toBe(1));
    await Promise.all(Array.from({ length: 10 }, () => handle.signal(recheckSignal)));
    await pass(HOUR);
    world.status = { kind: 'read', decision: 'fraudulent' };
    expect((await handle.result()).map(({ decision }) => decision)).toEqual(['fraudulent']);
    expect(world.events).toHaveLength(1);
  });

  it('that nobody answers ends after a day, and sends nothing', async () => {
    const { ask, world } = anEnded((one) => {
      one.status = { kind: 'unanswered' };
    });
    expect(await (await ask()).result()).toEqual([]);
    expect(world.events).toEqual([]);
  });

  it('goes on while an event waits for its receiver', async () => {
    const { ask, world, reads, pass } = anEnded((one) => {
      failed(one);
      one.deliver = () => {
        throw again(MINUTE);
      };
    });
    const handle = await ask();
    await pass(HOUR);
    expect(world.events).toEqual([]);
    world.status = { kind: 'read', decision: 'pass' };
    await handle.signal(recheckSignal);
    await eventually(() => expect(reads()).toBe(2));
    world.deliver = () => undefined;
    await handle.result();
    expect(world.events.map(({ sequence }) => sequence)).toEqual([5, 6]);
  });

  it('continues as new when its history grows long, and forgets nothing', async () => {
    const { ask, world, memo, pass } = anEnded(failed);
    const handle = await ask();
    const { client } = environment();
    const latest = client.workflow.getHandle(handle.workflowId);
    const { runId } = await latest.describe();
    await eventually(() => expect(world.events).toHaveLength(1));
    for (let time = 1; (await latest.describe()).runId === runId; time += 1) {
      expect(time).toBeLessThan(30);
      await latest.signal(recheckSignal);
      await pass(Math.min(2_000 * 2 ** (time - 1), 5 * MINUTE) + 100);
    }
    expect(await memo()).toMatchObject({ [LATE_DECISIONS]: [{ decision: 'fail' }] });
    expect(await latest.result()).toMatchObject([{ decision: 'fail' }]);
    expect(world.events).toHaveLength(1);
  });

  it.each([null, 'text', { orderId: '1', integration: 'default' }])(
    'refuses the argument %j',
    async (input) => {
      const handle = await environment().client.workflow.start(READ_AFTER_END, {
        workflowId: `after:${randomUUID()}`,
        taskQueue: TASK_QUEUE,
        args: [input],
      });
      await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'invalid-request' } });
    },
  );
});

it('every history replays, also cut at each of its tasks', async () => {
  const { faults, whole } = await replay(historiesOf(environment().client, workflowIds), { workflowModules });
  expect(faults).toEqual(new Map());
  expect(whole).toBe(workflowIds.length);
});
