/** A release reads a number of rules one release before it writes it, so that going back one release is always possible. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../src/dev/embedded-temporal.ts';
import { orderWorkflowId, TASK_QUEUE } from '../../src/orders/ids.ts';
import { reviewHintSignal } from '../../src/orders/messages.ts';
import { workflowBundle } from '../../src/temporal/workflow-bundle.ts';
import type { screenOrder } from '../../src/workflows/index.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { eventually } from '../support/index.ts';
import { readState } from '../support/read-state.ts';
import { historiesOf } from '../support/replays.ts';
import { aPolicy, startWorkers } from '../workflows/support.ts';
import { decided, World, Worlds } from '../workflows/world.ts';

const HINT = { source: 'webhook', receivedAt: '2026-03-02T10:00:00.000Z' };
const worlds = new Worlds();
let server: EmbeddedTemporal | undefined;
let environment: TestWorkflowEnvironment | undefined;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  server = await startEmbeddedTemporal({ port: 0 });
  environment = await TestWorkflowEnvironment.createFromExistingServer({ address: server.address });
});
afterAll(async () => {
  await environment?.teardown();
  await server?.stop();
});

/** The workflows of the release before rules 2, and of the one that reads them. */
const releases = {
  before: () => workflowBundle(),
  reading: () => workflowBundle({ workflowsPath: fileURLToPath(import.meta.resolve('./rules-two.ts')) }),
};

async function withWorkersOf(release: keyof typeof releases, during: () => Promise<void>): Promise<void> {
  const stop = await startWorkers(env().nativeConnection, worlds, {
    workflowBundle: await releases[release](),
  });
  try {
    await during();
  } finally {
    await stop();
  }
}

function env(): TestWorkflowEnvironment {
  if (environment === undefined) throw new Error('the environment is there from beforeAll on');
  return environment;
}

/** Starts an order that goes into review under these rules. */
async function orderOf(rules: number) {
  const world = new World();
  decided('review', aPolicy({ poll: { firstMs: 100, factor: 1, maxMs: 100 } }))(world);
  world.rules = rules;
  const integration = `integration-${randomUUID()}`;
  worlds.add(integration, world);
  const orderId = `order-${rules}`;
  const handle = await env().client.workflow.start<typeof screenOrder>('screenOrder', {
    taskQueue: TASK_QUEUE,
    workflowId: orderWorkflowId(integration, orderId),
    args: [{ orderId, integration, transaction: { ...aTransaction() } }],
  });
  const phase = async () => (await readState(env().client, handle.workflowId)).phase;
  await eventually(async () => expect(await phase()).toBe('review'));
  return { world, handle, phase };
}

/** A task that failed is tried again after a pause that grows. */
const PATIENTLY = { timeoutMs: 60_000 };

it('orders of rules 1 and 2 live side by side, and on after going back one release and forth again', {
  timeout: 180_000,
}, async () => {
  const orders: Awaited<ReturnType<typeof orderOf>>[] = [];
  await withWorkersOf('reading', async () => {
    orders.push(await orderOf(1), await orderOf(2));
    await eventually(() => expect(orders[0]?.world.polls).toBeGreaterThan(3));
  });
  const [first, second] = orders;
  if (first === undefined || second === undefined) throw new Error('two orders were started');
  expect(second.world.polls).toBe(0);

  // A release that can't read rules 2 leaves their orders waiting, and lives the others.
  await withWorkersOf('before', async () => {
    for (const { world, handle } of orders) {
      world.status = { kind: 'read', decision: 'pass' };
      await handle.signal(reviewHintSignal, HINT);
    }
    await eventually(async () => expect(await first.phase()).toBe('decided'), PATIENTLY);
    // Its workflow task fails, so that it answers nothing.
    await expect(env().client.withDeadline(Date.now() + 2_000, second.phase)).rejects.toThrow();
    expect(second.world.reads).toBe(0);
  });
  await withWorkersOf('reading', async () => {
    await eventually(async () => expect(await second.phase()).toBe('decided'), PATIENTLY);
  });
  const ids = orders.map(({ handle }) => handle.workflowId);
  const options = { workflowBundle: await releases.reading() };
  for await (const { error } of Worker.runReplayHistories(options, historiesOf(env().client, ids))) {
    expect(error).toBeUndefined();
  }
});
