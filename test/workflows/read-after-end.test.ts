import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { afterEndWorkflowId, TASK_QUEUE } from '../../src/contract/ids.ts';
import { recheckSignal } from '../../src/contract/messages.ts';
import type { OrderTransaction } from '../../src/contract/order/state.ts';
import { type Decision, KEY_MISSING } from '../../src/contract/words.ts';
import {
  LATE_DECISIONS,
  READ_AFTER_END,
  type ReadAfterEndInput,
  readAfterEndInput,
} from '../../src/order/after-end.ts';
import type { readAfterEnd } from '../../src/workflows/index.ts';
import { aClosedOrder, CLOSED_TRANSACTION } from '../fixtures/orders.ts';
import { eventually } from '../support/index.ts';
import { historiesOf, replay } from '../support/replays.ts';
import { again, aPolicy, DAY, HOUR, MINUTE, type World, withOrders } from './support.ts';

const workflowModules = [fileURLToPath(import.meta.resolve('./long-history.ts'))];
const { order, environment, mattersCounted } = withOrders({ workflowModules });
const workflowIds: string[] = [];

const EVENTS = { sequence: 4, delivered: 4, waiting: 0 };

const FAILED = { kind: 'read', decision: 'fail' } as const;
const PASSED = { kind: 'read', decision: 'pass' } as const;
const ERROR = { kind: 'read', decision: 'error' } as const;
const UNREADABLE = { kind: 'unreadable', words: 'The response has no known decision.' } as const;
const UNANSWERED = { kind: 'unanswered' } as const;

/** An ended order, that passed if nothing else is said, in a world of its own. */
function anEnded(
  status: World['status'] = PASSED,
  decision: Decision = 'pass',
  earlier: OrderTransaction[] = [],
) {
  const { integration, orderId, world } = order.prepare();
  world.status = status;
  const key = { integration, orderId };
  const closed = aClosedOrder(
    {},
    { ...key, events: EVENTS, policy: aPolicy({ events: 'all' }) },
    { decision, cancelBy: new Date(Date.now() - HOUR).toISOString() },
  );
  closed.transactions.unshift(...earlier);
  const workflowId = afterEndWorkflowId(key);
  const { workflow } = environment().client;
  workflowIds.push(workflowId);
  return {
    key,
    world,
    pass: (ms: number) => environment().sleep(ms),
    memo: async () => (await workflow.getHandle(workflowId).describe()).memo,
    ask: (decisions: ReadAfterEndInput['decisions'] = []) =>
      workflow.signalWithStart<typeof readAfterEnd>(READ_AFTER_END, {
        workflowId,
        taskQueue: TASK_QUEUE,
        args: [readAfterEndInput(closed, decisions)],
        signal: recheckSignal.name,
        signalArgs: [],
        memo: { [LATE_DECISIONS]: decisions },
      }),
  };
}

describe('the read after an order’s end', () => {
  it('is repeated until an answer can be read; another decision sends one event, whose sequence goes on, and is in its memo', async () => {
    const { ask, world, key, memo, pass } = anEnded(ERROR);
    const handle = await ask();
    await eventually(() => expect(world.reads).toBe(1));
    world.status = UNANSWERED;
    await pass(HOUR);
    world.status = UNREADABLE;
    await eventually(async () => {
      await pass(MINUTE);
      expect(world.reads).toBeGreaterThan(1);
    });
    world.status = FAILED;
    const decisions = await handle.result();
    const event = { ...key, id: `${key.integration}:${key.orderId}:5`, type: 'order.decision_changed' };
    const failed = { attempt: 1, decision: 'fail', action: 'cancel', transactionId: CLOSED_TRANSACTION };
    const attention = [expect.stringContaining('refund and report by hand')];
    const data = { ...failed, phase: 'closed', cancelBy: expect.any(String), afterClose: true, attention };
    const occurredAt = decisions[0]?.at;
    expect(world.events).toEqual([{ ...event, sequence: 5, occurredAt, data }]);
    const found = [{ ...failed, at: expect.any(String), event: { sequence: 5, status: 'delivered' } }];
    expect(decisions).toEqual(found);
    expect(await memo()).toEqual({ [LATE_DECISIONS]: found });
  });

  it('sends nothing for the same decision read again, and the next event for the one after it', async () => {
    const { ask, world, memo } = anEnded(FAILED);
    const first = await (await ask()).result();
    expect(await (await ask(first)).result()).toEqual(first);
    expect(world.events).toHaveLength(1);
    world.status = PASSED;
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
    const { ask, world, pass } = anEnded();
    const handle = await ask();
    const reads = (count: number) => eventually(() => expect(world.reads).toBe(count));
    await reads(1);
    await Promise.all(Array.from({ length: 50 }, () => handle.signal(recheckSignal)));
    expect(world.reads).toBe(1);
    await pass(2_500);
    await reads(2);
    await handle.signal(recheckSignal);
    // The spacing is 4 s now.
    await pass(2_500);
    expect(world.reads).toBe(2);
    await pass(2_500);
    await reads(3);
    expect(await handle.result()).toEqual([]);
    expect(world.reads).toBe(3);
    expect(world.events).toEqual([]);
  });

  it.each([
    ['can never be read', UNREADABLE],
    ['stays `error` in place of its decision', ERROR],
  ])('is repeated nine times at most, and ends, although the answer %s', async (_what, answer) => {
    const { ask, world } = anEnded(answer);
    expect(await (await ask()).result()).toEqual([]);
    expect(world.reads).toBe(9);
  });

  it('is made once of a transaction that was `error` before', async () => {
    const { ask, world } = anEnded(ERROR, 'error');
    expect(await (await ask()).result()).toEqual([]);
    expect(world.reads).toBe(1);
  });

  it('that nobody answers ends after a day, and sends nothing', async () => {
    const { ask, world } = anEnded(UNANSWERED);
    expect(await (await ask()).result()).toEqual([]);
    expect(world.events).toEqual([]);
  });

  it.each([
    ['it', CLOSED_TRANSACTION],
    ['an earlier transaction of the attempt', randomUUID()],
  ])('keeps the action if %s was reported as fraud since the end', async (_which, id) => {
    const earlierId = id === CLOSED_TRANSACTION ? randomUUID() : id;
    const earlier = aClosedOrder({}, {}, { id: earlierId, decision: 'error' }).transactions;
    const { ask, world } = anEnded({ kind: 'read', decision: 'fraudulent' }, 'pass', earlier);
    const at = new Date(await environment().currentTimeMs()).toISOString();
    world.reportedAfterEnd = { id, at };
    const fraudulent = { decision: 'fraudulent', action: 'proceed' };
    expect(await (await ask()).result()).toMatchObject([fraudulent, fraudulent]);
    const told = [[], [expect.stringMatching(/fraud report/)]];
    expect(world.events.map(({ data }) => data.attention)).toEqual(told);
  });

  it('goes on while an event waits for its receiver', async () => {
    const { ask, world, pass } = anEnded(FAILED);
    world.deliver = () => {
      throw again(MINUTE);
    };
    const handle = await ask();
    await pass(HOUR);
    expect(world.events).toEqual([]);
    world.status = PASSED;
    await handle.signal(recheckSignal);
    await eventually(() => expect(world.reads).toBe(2));
    world.deliver = () => undefined;
    await handle.result();
    expect(world.events.map(({ sequence }) => sequence)).toEqual([5, 6]);
  });

  it('counts what needs a person, and an event that nobody takes for three days', async () => {
    const { ask, world, key, pass } = anEnded(FAILED);
    world.deliver = () => {
      throw again(6 * HOUR);
    };
    const handle = await ask();
    await pass(3 * DAY + HOUR);
    expect(await handle.result()).toMatchObject([{ event: { status: 'undelivered' } }]);
    expect((await mattersCounted(key.integration)).sort()).toEqual([
      'events-undelivered',
      'failed-after-window',
    ]);
  });

  it('continues as new when its history grows long, and forgets nothing', async () => {
    const { ask, world, memo, pass } = anEnded(FAILED);
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

  it('reads again for a hint that its order got at its end, when it runs already', async () => {
    let taken = false;
    const ends = await order((world) => {
      world.policy = aPolicy({ events: 'all' });
      world.deliver = ({ type }) => {
        if (type === 'order.closed' && !taken) throw again(3_000);
      };
    });
    const { world, integration, orderId, handle, pass, until } = ends;
    await pass(5 * DAY - MINUTE);
    await pass(MINUTE);
    const closed = await until(({ phase }) => phase === 'closed');
    const workflowId = afterEndWorkflowId({ integration, orderId });
    workflowIds.push(workflowId);
    const { workflow } = environment().client;
    const args = [readAfterEndInput(closed, [])] as const;
    const after = await workflow.start(READ_AFTER_END, { workflowId, taskQueue: TASK_QUEUE, args });
    const readsBefore = world.reads;
    await eventually(() => expect(world.reads).toBe(readsBefore + 1));
    world.status = FAILED;
    await handle.signal(recheckSignal);
    taken = true;
    await pass(4_000);
    await handle.result();
    expect(await after.result()).toMatchObject([{ decision: 'fail' }]);
  });

  it('refuses an argument that the client library never sends', async () => {
    const workflowId = `after:${randomUUID()}`;
    const args = [{ orderId: '1', integration: 'default' }];
    const { workflow } = environment().client;
    const handle = await workflow.start(READ_AFTER_END, { workflowId, taskQueue: TASK_QUEUE, args });
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'invalid-request' } });
  });

  it('waits for a worker with the key of its argument', async () => {
    const workflowId = `after:${randomUUID()}`;
    const args = [`${KEY_MISSING}A payload was encrypted with the key "k2"`];
    const { client } = environment();
    const handle = await client.workflow.start(READ_AFTER_END, { workflowId, taskQueue: TASK_QUEUE, args });
    await eventually(async () => {
      const { events } = await handle.fetchHistory();
      const why = events?.map((event) => event.workflowTaskFailedEventAttributes?.failure?.message);
      expect(why).toContainEqual(expect.stringContaining('"k2"'));
    });
    await handle.terminate('done with the test');
  });
});

it('every history replays, also cut at each of its tasks', async () => {
  const { faults, whole } = await replay(historiesOf(environment().client, workflowIds), { workflowModules });
  expect(faults).toEqual(new Map());
  expect(whole).toBe(workflowIds.length);
});
