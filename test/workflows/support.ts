/** Starts orders on a server that skips time, each in a world of its own. */
import { randomUUID } from 'node:crypto';
import { WithStartWorkflowOperation, type WorkflowHandle } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import {
  DefaultLogger,
  type NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import { afterAll, beforeAll, expect } from 'vitest';
import type { CheckoutAnswer } from '../../src/contract/answers.ts';
import {
  BACKGROUND_TASK_QUEUE,
  decisionUpdateId,
  orderWorkflowId,
  POLLS_TASK_QUEUE,
  READS_TASK_QUEUE,
  TASK_QUEUE,
} from '../../src/contract/ids.ts';
import { decisionUpdate } from '../../src/contract/messages.ts';
import type { OrderState } from '../../src/contract/state.ts';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../src/dev/embedded-temporal.ts';
import { workflowBundle } from '../../src/temporal/workflow-bundle.ts';
import type { screenOrder } from '../../src/workflows/index.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { createTimeSkipping, eventually } from '../support/index.ts';
import { readState } from '../support/read-state.ts';
import { historiesOf, replay } from '../support/replays.ts';
import {
  backgroundActivities,
  checkoutActivities,
  endedByHand,
  pollActivities,
  readActivities,
  World,
  Worlds,
} from './world.ts';

export { aPolicy, DAY, HOUR, MINUTE } from '../fixtures/policies.ts';
export { again, answered, decided, type World } from './world.ts';

export interface OrderTest {
  environment: () => TestWorkflowEnvironment;
  /** A new world for a test, with an order of its own. */
  order: OrderStarter;
}

type Inputs = Record<string, unknown>;

export interface OrderStarter {
  /** Starts an order and waits for its checkout's answer. */
  (set?: (world: World) => void, input?: Inputs | ((integration: string) => Inputs)): Promise<StartedOrder>;
  /** Makes a world, for a workflow that is no order. */
  prepare: (set: (world: World) => void) => { integration: string; world: World };
  /** Starts an order as the CLI does, with whatever argument. */
  startOnly: (input: Inputs, set?: (world: World) => void) => Promise<Pick<StartedOrder, 'handle' | 'world'>>;
}

export interface StartedOrder {
  world: World;
  handle: WorkflowHandle<typeof screenOrder>;
  orderId: string;
  integration: string;
  /** What the checkout was told. */
  answer: CheckoutAnswer;
  state: () => Promise<OrderState>;
  /** Lets time pass on the server. */
  pass: (ms: number) => Promise<void>;
  /** Waits for the state to be so, without letting time pass. */
  until: (reached: (state: OrderState) => boolean) => Promise<OrderState>;
  /** The codes of what a person must look at. */
  attention: () => Promise<string[]>;
  /** How many events its history has. */
  events: () => Promise<number>;
}

export interface OrderTestOptions {
  /** Paths of workflow interceptors. */
  workflowModules?: string[];
  /** A server of the real kind, and a worker that knows so many orders only, ten unless told: any other is new to it. */
  known?: number;
}

/** Fewer than a file has orders: most tasks are replayed first. */
const KNOWN = 10;

/** Starts the server and the workers for a test file. When all is done, every order's history must replay. */
export function withOrders({ workflowModules = [], known }: OrderTestOptions = {}): OrderTest {
  const worlds = new Worlds();
  const workflowIds: string[] = [];
  let environment: TestWorkflowEnvironment | undefined;
  let server: EmbeddedTemporal | undefined;
  let stop: (() => Promise<void>) | undefined;
  const env = (): TestWorkflowEnvironment => {
    if (environment === undefined) throw new Error('the environment is there from beforeAll on');
    return environment;
  };

  beforeAll(async () => {
    Runtime.install({ logger: new DefaultLogger('ERROR') });
    server = known === undefined ? undefined : await startEmbeddedTemporal({ port: 0 });
    environment = await (server === undefined
      ? createTimeSkipping()
      : TestWorkflowEnvironment.createFromExistingServer({ address: server.address }));
    const bundle = await workflowBundle({ workflowInterceptorModules: workflowModules });
    stop = await startWorkers(environment.nativeConnection, worlds, {
      workflowBundle: bundle,
      maxCachedWorkflows: known ?? KNOWN,
      maxConcurrentWorkflowTaskExecutions: (known ?? KNOWN) + 1,
    });
  });
  afterAll(async () => {
    await stop?.();
    try {
      const options = { workflowModules };
      const { faults } = await replay(historiesOf(env().client, workflowIds), options);
      expect(faults).toEqual(new Map());
    } finally {
      await environment?.teardown();
      await server?.stop();
    }
  });

  return {
    environment: env,
    order: Object.assign(
      async (
        set: (world: World) => void = () => undefined,
        more: Inputs | ((name: string) => Inputs) = {},
      ) => {
        const { world, integration, orderId, options } = newcomer();
        set(world);
        const given = typeof more === 'function' ? more(integration) : more;
        const startWorkflowOperation = new WithStartWorkflowOperation<typeof screenOrder>('screenOrder', {
          ...options,
          workflowIdConflictPolicy: 'USE_EXISTING',
          args: [{ orderId, integration, transaction: { ...aTransaction() }, ...given }],
        });
        const answer = await env().client.workflow.executeUpdateWithStart(decisionUpdate, {
          args: [{ attempt: 1 }],
          updateId: decisionUpdateId(1),
          startWorkflowOperation,
        });
        const handle = await startWorkflowOperation.workflowHandle();
        return startedOrder(env(), { world, handle, orderId, integration, answer });
      },
      {
        prepare: (set: (world: World) => void) => {
          const { world, integration } = newcomer();
          set(world);
          return { world, integration };
        },
        startOnly: async (input: Inputs, set: (world: World) => void = () => undefined) => {
          const { world, integration, orderId, options } = newcomer();
          set(world);
          const handle = await env().client.workflow.start<(input: Inputs) => Promise<OrderState>>(
            'screenOrder',
            {
              ...options,
              args: [{ orderId, integration, transaction: { ...aTransaction() }, ...input }],
            },
          );
          return { world, handle: env().client.workflow.getHandle<typeof screenOrder>(handle.workflowId) };
        },
      },
    ),
  };

  function newcomer() {
    const orderId = `order-${randomUUID()}`;
    const integration = `integration-${randomUUID()}`;
    const world = new World();
    worlds.add(integration, world);
    const workflowId = orderWorkflowId(integration, orderId);
    workflowIds.push(workflowId);
    const options = { taskQueue: TASK_QUEUE, workflowId, workflowRunTimeout: '1000 days' } as const;
    return { world, orderId, integration, options };
  }
}

/** Starts a worker for each task queue. @returns what stops them */
export async function startWorkers(
  connection: NativeConnection,
  worlds: Worlds,
  options: Partial<WorkerOptions>,
): Promise<() => Promise<void>> {
  const { dataConverter } = options;
  const others = { connection, ...(dataConverter !== undefined && { dataConverter }) };
  const workers = [
    await Worker.create({
      connection,
      taskQueue: TASK_QUEUE,
      activities: { ...checkoutActivities(worlds) },
      ...options,
    }),
    await Worker.create({
      ...others,
      taskQueue: BACKGROUND_TASK_QUEUE,
      activities: { ...backgroundActivities(worlds) },
      interceptors: { activity: [endedByHand(worlds)] },
    }),
    await Worker.create({
      ...others,
      taskQueue: POLLS_TASK_QUEUE,
      activities: { ...pollActivities(worlds) },
      interceptors: { activity: [endedByHand(worlds)] },
    }),
    await Worker.create({
      ...others,
      taskQueue: READS_TASK_QUEUE,
      activities: { ...readActivities(worlds) },
    }),
  ];
  const runs = workers.map((worker) => worker.run());
  return async () => {
    for (const worker of workers) worker.shutdown();
    await Promise.all(runs);
  };
}

function startedOrder(
  environment: TestWorkflowEnvironment,
  started: Pick<StartedOrder, 'world' | 'handle' | 'orderId' | 'integration' | 'answer'>,
): StartedOrder {
  const { handle } = started;
  const state = (): Promise<OrderState> => readState(environment.client, handle.workflowId);
  return {
    ...started,
    state,
    pass: (ms) => environment.sleep(ms),
    until: (reached) =>
      eventually(async () => {
        const now = await state();
        if (!reached(now)) throw new Error(`the order is not there yet: ${JSON.stringify(now)}`);
        return now;
      }),
    attention: async () => (await state()).attention.map((one) => one.code),
    events: () =>
      eventually(async () => {
        const events = (await handle.fetchHistory()).events ?? [];
        const last = events.at(-1);
        const open = last?.workflowTaskScheduledEventAttributes ?? last?.workflowTaskStartedEventAttributes;
        if (open) throw new Error('a workflow task is under way');
        return events.length;
      }),
  };
}
