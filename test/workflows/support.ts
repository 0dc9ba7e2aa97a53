/** Starts orders on a server that skips time, each in a world of its own. */
import { randomUUID } from 'node:crypto';
import { WithStartWorkflowOperation, type WorkflowHandle, type WorkflowOptions } from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import { afterAll, beforeAll, expect } from 'vitest';
import { updateOf } from '../../src/client/messages/send-update.ts';
import {
  BACKGROUND_TASK_QUEUE,
  decisionUpdateId,
  orderWorkflowId,
  POLLS_TASK_QUEUE,
  READS_TASK_QUEUE,
  TASK_QUEUE,
} from '../../src/contract/ids.ts';
import { decisionUpdate, type Envelope } from '../../src/contract/messages.ts';
import type { OrderState } from '../../src/contract/order/state.ts';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../src/dev/embedded-temporal.ts';
import { workflowBundle } from '../../src/platform/workflow-bundle.ts';
import type { screenOrder } from '../../src/workflows/index.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { createTimeSkipping, eventually, freePort } from '../support/index.ts';
import { readState } from '../support/read-state.ts';
import { historiesOf, replay } from '../support/replays.ts';
import {
  backgroundActivities,
  checkoutActivities,
  pollActivities,
  readActivities,
  World,
  Worlds,
} from './world.ts';

export { aPolicy, DAY, HOUR, MINUTE } from '../fixtures/policies.ts';
export { again, answered, decided, type World } from './world.ts';

type Inputs = Record<string, unknown>;
type Setting = (world: World) => void;

interface OrderTestOptions {
  /** Paths of workflow interceptors. */
  workflowModules?: string[];
  /** Uses a real server, and workers that keep this number of orders in memory. */
  known?: number;
  /** Returns the address at which the workers reach the server of this address. */
  workersLine?: (address: string) => Promise<string>;
}

/** Fewer than a file has orders, so that most tasks are replayed first. */
const KNOWN = 10;

/** Starts the server and the workers for a test file. At its end every order's history must replay. */
export function withOrders({ workflowModules = [], known, workersLine }: OrderTestOptions = {}) {
  const worlds = new Worlds();
  const workflowIds: string[] = [];
  let metricsAddress = '';
  let server: EmbeddedTemporal | undefined;
  let connected: TestWorkflowEnvironment | undefined;
  let stop: (() => Promise<void>) | undefined;
  const environment = (): TestWorkflowEnvironment => {
    if (connected === undefined) throw new Error('the environment can be used from beforeAll on');
    return connected;
  };

  beforeAll(async () => {
    metricsAddress = `127.0.0.1:${await freePort()}`;
    const telemetryOptions = { metrics: { prometheus: { bindAddress: metricsAddress } } };
    Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions });
    server = known === undefined ? undefined : await startEmbeddedTemporal({ port: 0 });
    connected = await (server === undefined
      ? createTimeSkipping()
      : TestWorkflowEnvironment.createFromExistingServer({ address: server.address }));
    const line = server && (await workersLine?.(server.address));
    const own = line === undefined ? undefined : await NativeConnection.connect({ address: line });
    const ended = await startWorkers(own ?? connected.nativeConnection, worlds, {
      workflowBundle: await workflowBundle({ workflowInterceptorModules: workflowModules }),
      maxCachedWorkflows: known ?? KNOWN,
      maxConcurrentWorkflowTaskExecutions: (known ?? KNOWN) + 1,
    });
    stop = async () => {
      await ended();
      await own?.close();
    };
  });
  afterAll(async () => {
    await stop?.();
    try {
      const { faults } = await replay(historiesOf(environment().client, workflowIds), { workflowModules });
      expect(faults).toEqual(new Map());
    } finally {
      await connected?.teardown();
      await server?.stop();
    }
  });

  /** Makes a world, for an order or another workflow. */
  const prepare = (set: Setting = () => undefined) => {
    const [orderId, integration] = [`order-${randomUUID()}`, `integration-${randomUUID()}`];
    const world = new World();
    worlds.add(integration, world);
    set(world);
    const workflowId = orderWorkflowId(integration, orderId);
    workflowIds.push(workflowId);
    const options = { taskQueue: TASK_QUEUE, workflowId, workflowRunTimeout: '1000 days' } as const;
    const input = { orderId, integration, transaction: { ...aTransaction() } };
    return { world, orderId, integration, options, input };
  };
  /** Starts an order as the CLI does, with any argument. */
  const startOnly = async (more: Inputs) => {
    const { world, options, input } = prepare();
    const args: [Inputs] = [{ ...input, ...more }];
    const { client } = environment();
    const { workflowId } = await client.workflow.start('screenOrder', { ...options, args });
    return { world, handle: client.workflow.getHandle<typeof screenOrder>(workflowId) };
  };
  /** Starts an order, and waits for its checkout's answer. */
  const start = async (
    set?: Setting,
    more: (integration: string) => Inputs = () => ({}),
    settings: Pick<WorkflowOptions, 'workflowTaskTimeout'> = {},
  ) => {
    const { world, integration, orderId, options, input } = prepare(set);
    const startWorkflowOperation = new WithStartWorkflowOperation<typeof screenOrder>('screenOrder', {
      ...options,
      ...settings,
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [{ ...input, ...more(integration) }],
    });
    const answer = await environment().client.workflow.executeUpdateWithStart(decisionUpdate, {
      ...updateOf(decisionUpdate, { attempt: 1 }, {}, decisionUpdateId(1)),
      startWorkflowOperation,
    });
    const handle = await startWorkflowOperation.workflowHandle();
    return { world, orderId, integration, answer, handle, ...looksAt(handle) };
  };
  /** The matters of an integration that were counted. */
  const mattersCounted = async (integration: string): Promise<string[]> => {
    const lines = (await (await fetch(`http://${metricsAddress}/metrics`)).text()).split('\n');
    return lines.flatMap((line) => {
      const isOf = line.startsWith('order_screening_attention_total{') && line.includes(`"${integration}"`);
      return isOf ? (/reason="([^"]*)"/.exec(line)?.[1] ?? []) : [];
    });
  };
  return { environment, order: Object.assign(start, { prepare, startOnly }), mattersCounted };

  function looksAt(handle: WorkflowHandle<typeof screenOrder>) {
    const state = (): Promise<OrderState> => readState(environment().client, handle.workflowId);
    return {
      state,
      /** Sends an update, as the client library does. */
      update: <Answer, Body extends object>(
        definition: UpdateDefinition<Answer, [Envelope<Body>]>,
        ...given: [body: Body, options?: Parameters<typeof updateOf>[2], updateId?: string]
      ) => handle.executeUpdate(definition, updateOf(definition, ...given)),
      /** Lets time pass on the server. */
      pass: (ms: number) => environment().sleep(ms),
      /** Waits until the state is so, without letting time pass. */
      until: (isReached: (state: OrderState) => boolean) =>
        eventually(async () => {
          const now = await state();
          if (!isReached(now)) throw new Error(`the order is not there yet: ${JSON.stringify(now)}`);
          return now;
        }),
      attention: async () => (await state()).attention.map(({ code }) => code),
    };
  }
}

export type OrderStarter = ReturnType<typeof withOrders>['order'];
export type StartedOrder = Awaited<ReturnType<OrderStarter>>;

/** Starts a worker for each task queue. @returns what stops them */
async function startWorkers(
  connection: NativeConnection,
  worlds: Worlds,
  options: Partial<WorkerOptions>,
): Promise<() => Promise<void>> {
  const each: WorkerOptions[] = [
    { taskQueue: TASK_QUEUE, activities: checkoutActivities(worlds), ...options },
    { taskQueue: BACKGROUND_TASK_QUEUE, activities: backgroundActivities(worlds) },
    { taskQueue: POLLS_TASK_QUEUE, activities: pollActivities(worlds) },
    { taskQueue: READS_TASK_QUEUE, activities: readActivities(worlds) },
  ];
  const workers = await Promise.all(each.map((one) => Worker.create({ connection, ...one })));
  const runs = workers.map((worker) => worker.run());
  return async () => {
    for (const worker of workers) worker.shutdown();
    await Promise.all(runs);
  };
}
