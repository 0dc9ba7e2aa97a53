/** Orders are read by their memos, on a real server and encrypted: no test here needs a worker while it reads. */
import { randomBytes, randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decoded } from '../../src/client/decode.ts';
import { createPayloadCodec } from '../../src/codec/index.ts';
import { orderWorkflowId, TASK_QUEUE } from '../../src/contract/ids.ts';
import { recheckSignal } from '../../src/contract/messages.ts';
import { SWEEP_ID } from '../../src/contract/sweep.ts';
import type { Insights } from '../../src/contract/terms.ts';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../src/dev/embedded-temporal.ts';
import { recordIn } from '../../src/orders/order-memo.ts';
import { createOrderScreening } from '../../src/starter.ts';
import { workflowBundle } from '../../src/temporal/workflow-bundle.ts';
import { anIntegration } from '../fixtures/integrations.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { eventually } from '../support/index.ts';
import { answered, aPolicy, startWorkers, type World } from '../workflows/support.ts';
import { World as AWorld, Worlds } from '../workflows/world.ts';

const KEY = { id: 'e2e', key: randomBytes(32) };
const converterOf = (...keys: (typeof KEY)[]) => ({ payloadCodecs: [createPayloadCodec(keys)] });
const worlds = new Worlds();
let server: EmbeddedTemporal;
let environment: TestWorkflowEnvironment;
let client: Client;
let stopWorkers: (() => Promise<void>) | undefined;

const INSIGHTS: Insights = {
  risk: Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [
      `${index}`,
      { description: `risk ${index} `.padEnd(90, '.'), impact: index === 7 ? 'high' : 'low' } as const,
    ]),
  ),
};

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  server = await startEmbeddedTemporal({ port: 0 });
  environment = await TestWorkflowEnvironment.createFromExistingServer({ address: server.address });
  client = clientWith(KEY);
  // Nobody here works on it.
  await client.workflow.getHandle(SWEEP_ID).terminate();
});
afterAll(async () => {
  await stopWorkers?.();
  await environment?.teardown();
  await server?.stop();
});

function clientWith(...keys: (typeof KEY)[]): Client {
  const { connection, options } = environment.client;
  return new Client({ connection, namespace: options.namespace, dataConverter: converterOf(...keys) });
}

/** The client library of a process with these payload keys. */
function libraryOf(of: Client) {
  const findIntegration = (name: string) => anIntegration({ name, checkoutBudgetMs: 500 });
  return createOrderScreening({ client: of, findIntegration });
}

async function withWorkers(during: () => Promise<void>): Promise<void> {
  const longHistory = fileURLToPath(import.meta.resolve('../workflows/long-history.ts'));
  stopWorkers = await startWorkers(environment.nativeConnection, worlds, {
    workflowBundle: await workflowBundle({ workflowInterceptorModules: [longHistory] }),
    dataConverter: converterOf(KEY),
  });
  try {
    await during();
  } finally {
    await stopWorkers();
    stopWorkers = undefined;
  }
}

/** An order of its own integration, whose world is as given. */
function anOrder(set: (world: World) => void = () => undefined) {
  const integration = `shop-${randomUUID().slice(0, 8)}`;
  const orderId = `order-${randomUUID()}`;
  const world = new AWorld();
  world.policy = aPolicy({ events: 'all', poll: { firstMs: 100_000, factor: 1, maxMs: 100_000 } });
  set(world);
  worlds.add(integration, world);
  const workflowId = orderWorkflowId(integration, orderId);
  const name = { orderId, integration };
  return {
    name,
    world,
    workflowId,
    handle: () => client.workflow.getHandle(workflowId),
    screen: () => libraryOf(client).screen({ ...name, transaction: aTransaction() }),
    get: () => libraryOf(client).get(name),
    full: () => libraryOf(client).get(name, { view: 'full' }),
    row: (of = client) =>
      eventually(async () => {
        const [row] = (await libraryOf(of).list({ integration })).orders;
        if (row === undefined) throw new Error('visibility does not have it yet');
        return row;
      }),
  };
}

const inReview = (world: World) => {
  world.screenings = [answered('review', { insights: INSIGHTS })];
  world.status = { kind: 'read', decision: 'review' };
};

/** How often a run wrote its memo. */
async function written({ handle }: ReturnType<typeof anOrder>): Promise<number> {
  const { events } = await handle().fetchHistory();
  return (events ?? []).filter((event) => event.workflowPropertiesModifiedEventAttributes).length;
}

describe('while no worker runs', () => {
  const review = anOrder(inReview);
  const terminated = anOrder(inReview);
  const passed = anOrder((world) => {
    world.policy = aPolicy({ cancelWindowMs: 3_000, recheckLeadTimeMs: 0, events: 'all' });
  });

  beforeAll(async () => {
    await withWorkers(async () => {
      for (const order of [review, terminated, passed]) await order.screen();
      await terminated.handle().terminate('by the test');
      await passed.handle().result();
      await eventually(async () => expect((await review.get()).events.waiting).toBe(0));
    });
  });

  it('an order in review is read, with its strongest insights', async () => {
    const record = await review.get();
    expect(record).toMatchObject({
      phase: 'review',
      decision: 'review',
      action: 'hold',
      events: { waiting: 0 },
    });
    const risks = Object.values(record.attempts[0]?.readings[0]?.insights?.risk ?? {});
    expect(risks).toContainEqual(expect.objectContaining({ impact: 'high' }));
    expect(record.leftOut).toMatchObject({ insights: 20 - risks.length });
  });

  it('the full view has all of it', async () => {
    const full = await review.full();
    expect(full.attempts[0]?.readings[0]?.insights).toEqual(INSIGHTS);
    expect(full.events.last).toMatchObject([{ sequence: 1, type: 'order.decided' }]);
    expect(full).not.toHaveProperty('leftOut');
    expect(full.policy).toEqual(review.world.policy);
  });

  it('the list has it, and why it needs attention', async () => {
    expect(await review.row()).toMatchObject({ phase: 'review', decision: 'review', action: 'hold' });
  });

  it('a terminated order is read as it was', async () => {
    expect(await terminated.get()).toMatchObject({ phase: 'review', decision: 'review' });
    expect(await libraryOf(client).inspect(terminated.name)).toMatchObject({
      state: { phase: 'review' },
      summary: { closedAt: expect.any(String) },
    });
    expect(await terminated.row()).toMatchObject({ phase: 'review' });
  });

  it('a closed order is read from its last memo, which costs two events in its life', async () => {
    expect(await passed.get()).toMatchObject({
      phase: 'closed',
      decision: 'pass',
      events: { sequence: 2, delivered: 2, waiting: 0 },
    });
    expect(await written(passed)).toBe(2);
  });
});

describe('an order that continues as new', () => {
  it('hands its record on: the new run has it from its start', async () => {
    const order = anOrder(inReview);
    await withWorkers(async () => {
      await order.screen();
      const { runId } = await order.handle().describe();
      await eventually(
        async () => {
          await order.handle().signal(recheckSignal);
          expect((await order.handle().describe()).runId).not.toBe(runId);
        },
        { timeoutMs: 50_000 },
      );
    });
    expect(await order.get()).toMatchObject({
      phase: 'review',
      decision: 'review',
      lastRead: { source: 'operator' },
    });
    expect((await order.full()).attempts[0]?.readings[0]?.insights).toEqual(INSIGHTS);
    const { runId } = await order.handle().describe();
    const { events } = await client.workflow.getHandle(order.workflowId, runId).fetchHistory();
    const started = events?.[0]?.workflowExecutionStartedEventAttributes;
    const payload = started?.memo?.fields?.record;
    if (payload === undefined || payload === null) throw new Error('the run has no memo');
    expect(String(payload.metadata?.encoding)).toBe('binary/encrypted');
    const context = { client, findIntegration: () => undefined };
    expect(recordIn(await decoded(context, order.workflowId, payload), order.name)).toMatchObject({
      phase: 'review',
    });
  });
});

describe('an order that no worker has taken', () => {
  it('is read by what the client library started it with', async () => {
    const order = anOrder();
    expect(await order.screen()).toMatchObject({ decision: 'pending' });
    const waits = { phase: 'screening', decision: 'pending', action: 'hold' };
    expect(await order.get()).toMatchObject({ ...order.name, ...waits });
    expect(await order.row()).toMatchObject(waits);
  });

  it('is read also when it was started without a memo', async () => {
    const order = anOrder();
    await client.workflow.start('screenOrder', {
      workflowId: order.workflowId,
      taskQueue: TASK_QUEUE,
      args: [{ ...order.name, workflow: 'pre-gateway', transaction: aTransaction() }],
    });
    expect(await order.get()).toMatchObject({ phase: 'screening', decision: 'pending' });
    await eventually(async () => {
      const { orders: all } = await libraryOf(client).list({ open: true, limit: 100 });
      expect(all.map(({ orderId }) => orderId)).toContain(order.name.orderId);
    });
  });
});

describe('a memo that can’t be read', () => {
  const order = anOrder(inReview);
  const other = anOrder();

  beforeAll(async () => {
    await withWorkers(async () => {
      await order.screen();
    });
    await other.screen();
    await other.row();
  });

  it('fails neither the list nor another row, and says so', async () => {
    const stranger = clientWith({ id: 'other', key: randomBytes(32) });
    expect(await order.row(stranger)).toMatchObject({ phase: 'review', problem: 'record-unreadable' });
    expect(await order.row()).not.toHaveProperty('problem');
  });

  it('is a clear problem of a read, and a partial order of an inspection', async () => {
    const library = libraryOf(clientWith({ id: 'other', key: randomBytes(32) }));
    await expect(library.get(order.name)).rejects.toMatchObject({
      code: 'record-unreadable',
      message: expect.stringContaining('"e2e"'),
    });
    expect(await library.inspect(order.name)).toMatchObject({
      missing: 'undecryptable',
      summary: { phase: 'review', problem: 'record-unreadable' },
    });
  });

  it('is found also where somebody wrote something else into it', async () => {
    const strange = anOrder();
    await client.workflow.start('screenOrder', {
      workflowId: strange.workflowId,
      taskQueue: TASK_QUEUE,
      args: [{ ...strange.name, transaction: aTransaction() }],
      memo: { record: 'something else' },
    });
    await expect(strange.get()).rejects.toMatchObject({ code: 'record-unreadable' });
  });
});

it('a list goes on from the cursor of each page, over open and closed orders', async () => {
  const all = await libraryOf(client).list({ limit: 100 });
  const paged: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await libraryOf(client).list({ limit: 2, cursor });
    paged.push(...page.orders.map(({ orderId }) => orderId));
    cursor = page.cursor;
  } while (cursor !== undefined);
  expect(paged.length).toBeGreaterThan(4);
  expect(paged).toEqual(all.orders.map(({ orderId }) => orderId));
});
