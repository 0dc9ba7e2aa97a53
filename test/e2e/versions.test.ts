/** The starter writes a version into an order's input. A worker that does not run that version leaves the order waiting. */
import { randomUUID } from 'node:crypto';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { orderWorkflowId, TASK_QUEUE } from '../../src/contract/ids.ts';
import { VERSION } from '../../src/contract/version.ts';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../src/dev/embedded-temporal.ts';
import { workflowBundle } from '../../src/temporal/workflow-bundle.ts';
import type { screenOrder } from '../../src/workflows/index.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { eventually } from '../support/index.ts';
import { readState } from '../support/read-state.ts';
import { startWorkers } from '../workflows/support.ts';
import { World, Worlds } from '../workflows/world.ts';

const worlds = new Worlds();
let server: EmbeddedTemporal | undefined;
let environment: TestWorkflowEnvironment | undefined;
let stop: (() => Promise<void>) | undefined;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  server = await startEmbeddedTemporal({ port: 0 });
  environment = await TestWorkflowEnvironment.createFromExistingServer({ address: server.address });
  stop = await startWorkers(environment.nativeConnection, worlds, { workflowBundle: await workflowBundle() });
});
afterAll(async () => {
  await stop?.();
  await environment?.teardown();
  await server?.stop();
});

function env(): TestWorkflowEnvironment {
  if (environment === undefined) throw new Error('the environment is there from beforeAll on');
  return environment;
}

async function orderOf(version: number | undefined) {
  const world = new World();
  const integration = `integration-${randomUUID()}`;
  worlds.add(integration, world);
  const orderId = `order-${version}`;
  const handle = await env().client.workflow.start<typeof screenOrder>('screenOrder', {
    taskQueue: TASK_QUEUE,
    workflowId: orderWorkflowId(integration, orderId),
    args: [{ orderId, integration, transaction: { ...aTransaction() }, ...(version && { version }) }],
  });
  return { world, handle };
}

it.each([undefined, VERSION])('an order of version %s runs', async (version) => {
  const { handle } = await orderOf(version);
  await eventually(async () =>
    expect(await readState(env().client, handle.workflowId)).toMatchObject({ decision: 'pass' }),
  );
});

it('an order of a later version waits, and nothing is sent for it', { timeout: 60_000 }, async () => {
  const { handle, world } = await orderOf(VERSION + 1);
  await eventually(
    async () => expect((await handle.describe()).raw.pendingWorkflowTask?.attempt).toBeGreaterThan(1),
    { timeoutMs: 30_000 },
  );
  expect(await handle.describe()).toMatchObject({ status: { name: 'RUNNING' } });
  expect(world.screened).toEqual([]);
});
