/** An order's world for workflow tests: a service that answers what the test says, and a record of what it was asked. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { WithStartWorkflowOperation, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { afterAll, beforeAll } from 'vitest';
import type { StatusOutcome } from '../../src/orders/apply-reading.ts';
import {
  BACKGROUND_TASK_QUEUE,
  decisionUpdateId,
  orderWorkflowId,
  POLLS_TASK_QUEUE,
  TASK_QUEUE,
} from '../../src/orders/ids.ts';
import {
  decisionUpdate,
  type OrderEvent,
  type OrderEventType,
  orderQuery,
  type ScreenOrderInput,
} from '../../src/orders/messages.ts';
import type { Policy } from '../../src/orders/policy.ts';
import type { PortalOutcome } from '../../src/orders/portal.ts';
import type { ScreeningOutcome } from '../../src/orders/screening-outcome.ts';
import type { CheckoutAnswer, OrderState } from '../../src/orders/state.ts';
import type { Decision } from '../../src/orders/words.ts';
import type {
  BackgroundActivities,
  GatewayOutcome,
  LocalActivities,
  LookUpOutcome,
  PollActivities,
  PortalRequest,
  RetryActivities,
  ScreenRequest,
} from '../../src/orders/world.ts';
import type { screenOrder } from '../../src/workflows/index.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { createTimeSkipping } from '../support/index.ts';

const HOUR = 3_600_000;

export function aPolicy(overrides: Partial<Policy> = {}): Policy {
  return {
    workflow: 'pre-acceptance',
    whenUnavailable: 'hold',
    declineMessage: 'Please try another way to pay.',
    screeningDeadlineMs: 24 * HOUR,
    rescreenOnError: { tries: 3, pauseMs: 60_000 },
    retryWithinMs: HOUR,
    gatewayResultWithinMs: 24 * HOUR,
    reviewBeforeGateway: 'proceed',
    poll: { firstMs: 60_000, factor: 1.5, maxMs: 900_000 },
    reviewLeadTimeMs: 12 * HOUR,
    onUnresolvedReview: 'alert',
    reviewLimitMs: 30 * 24 * HOUR,
    recheckLeadTimeMs: 12 * HOUR,
    autoCancel: true,
    cancelWindowMs: 120 * HOUR,
    passive: false,
    invoicePerAttempt: false,
    events: true,
    ...overrides,
  };
}

/** An answer of the service to a create. */
export function answered(
  decision: Decision,
  more: Partial<ScreeningOutcome & { kind: 'answered' }> = {},
): ScreeningOutcome {
  return { kind: 'answered', transactionId: randomUUID(), decision, adopted: false, ...more };
}

/** The world as one test wants it. What isn't set answers as a healthy service does. */
export class World {
  policy = aPolicy();
  /** Outcomes of screenings, in order; the last one stays. */
  screenings: ScreeningOutcome[] = [answered('pass')];
  /** What the status operations say now. */
  status: StatusOutcome = { kind: 'read', decision: 'pass' };
  portal: (request: PortalRequest) => Promise<PortalOutcome> = async () => ({
    kind: 'done',
    code: '200',
    message: 'done',
  });
  gateway: GatewayOutcome = { kind: 'sent' };
  found: LookUpOutcome = { kind: 'none' };
  deliver: (event: OrderEvent) => void = () => undefined;
  screenAtCheckout: (request: ScreenRequest) => Promise<ScreeningOutcome> = async () => this.nextScreening();

  readonly screened: ScreenRequest[] = [];
  readonly portalCalls: PortalRequest[] = [];
  readonly gatewayCalls: { transactionId: string; result: string }[] = [];
  readonly events: OrderEvent[] = [];
  readonly forgotten: string[] = [];
  polls = 0;
  reads = 0;

  nextScreening(): ScreeningOutcome {
    const [next, ...others] = this.screenings;
    if (next === undefined) throw new Error('the test names no screening');
    if (others.length > 0) this.screenings = others;
    return next;
  }

  eventTypes(): OrderEventType[] {
    return this.events.map((event) => event.type);
  }
}

export interface OrderTest {
  environment: () => TestWorkflowEnvironment;
  /** A new world for a test, with an order of its own. */
  order: (set?: (world: World) => void, input?: Partial<ScreenOrderInput>) => Promise<StartedOrder>;
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
}

/** Starts the server and the workers for a test file. */
export function withOrders(): OrderTest {
  const worlds = new Worlds();
  let environment: TestWorkflowEnvironment | undefined;
  let stop: (() => Promise<void>) | undefined;
  const env = (): TestWorkflowEnvironment => {
    if (environment === undefined) throw new Error('the environment is there from beforeAll on');
    return environment;
  };

  beforeAll(async () => {
    Runtime.install({ logger: new DefaultLogger('ERROR') });
    environment = await createTimeSkipping();
    const connection = environment.nativeConnection;
    const workers = [
      await Worker.create({
        connection,
        taskQueue: TASK_QUEUE,
        workflowsPath: fileURLToPath(import.meta.resolve('../../src/workflows/index.ts')),
        activities: { ...checkoutActivities(worlds) },
      }),
      await Worker.create({
        connection,
        taskQueue: BACKGROUND_TASK_QUEUE,
        activities: { ...backgroundActivities(worlds) },
      }),
      await Worker.create({
        connection,
        taskQueue: POLLS_TASK_QUEUE,
        activities: { ...pollActivities(worlds) },
      }),
    ];
    const runs = workers.map((worker) => worker.run());
    stop = async () => {
      for (const worker of workers) worker.shutdown();
      await Promise.all(runs);
    };
  });
  afterAll(async () => {
    await stop?.();
    await environment?.teardown();
  });

  return {
    environment: env,
    order: async (set = () => undefined, input = {}) => {
      const orderId = `order-${randomUUID()}`;
      const world = new World();
      set(world);
      const integration = `integration-${randomUUID()}`;
      worlds.add(integration, world);
      const { client } = env();
      const startWorkflowOperation = new WithStartWorkflowOperation<typeof screenOrder>('screenOrder', {
        taskQueue: TASK_QUEUE,
        workflowId: orderWorkflowId(integration, orderId),
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowRunTimeout: '60 days',
        args: [{ orderId, integration, transaction: { ...aTransaction() }, ...input }],
      });
      const answer = await client.workflow.executeUpdateWithStart(decisionUpdate, {
        args: [{ attempt: 1 }],
        updateId: decisionUpdateId(1),
        startWorkflowOperation,
      });
      const handle = await startWorkflowOperation.workflowHandle();
      return {
        world,
        handle,
        orderId,
        integration,
        answer,
        state: () => handle.query(orderQuery),
        pass: (ms) => env().sleep(ms),
      };
    },
  };
}

/** Every request names its integration, and each order here has one of its own. */
class Worlds {
  readonly #worlds = new Map<string, World>();

  add(integration: string, world: World): void {
    this.#worlds.set(integration, world);
  }

  of({ integration }: { integration: string }): World {
    const world = this.#worlds.get(integration);
    if (world === undefined) throw new Error('no such integration in this test');
    return world;
  }
}

function checkoutActivities(worlds: Worlds): LocalActivities & RetryActivities {
  return {
    screenAtCheckout: async (request) => {
      const world = worlds.of(request);
      world.screened.push(request);
      return { policy: world.policy, outcome: await world.screenAtCheckout(request) };
    },
    policyInForce: async (request) => worlds.of(request).policy,
    readStatus: async (request) => {
      const world = worlds.of(request);
      world.reads += 1;
      return world.status;
    },
    deliverEventsNow: async (events) => take(worlds, events),
    screenRetry: async (request) => {
      const world = worlds.of(request);
      world.screened.push(request);
      return world.nextScreening();
    },
  };
}

function backgroundActivities(worlds: Worlds): BackgroundActivities {
  return {
    catchUp: async (request) => {
      const world = worlds.of(request);
      world.screened.push(request);
      const outcome = world.nextScreening();
      if (outcome.kind === 'unanswered') throw ApplicationFailure.retryable('no answer', outcome.reason);
      return outcome;
    },
    lookUp: async (request) => worlds.of(request).found,
    readStatusDurably: async (request) => worlds.of(request).status,
    sendGatewayResponse: async (request) => {
      const world = worlds.of(request);
      world.gatewayCalls.push({ transactionId: request.transactionId, result: request.gateway.result });
      return world.gateway;
    },
    performPortalAction: async (request) => {
      const world = worlds.of(request);
      world.portalCalls.push(request);
      return world.portal(request);
    },
    deliverEvents: async (events) => take(worlds, events),
    forgetCard: async ({ cardRef }) => {
      worlds.of({ integration: cardRef }).forgotten.push(cardRef);
    },
  };
}

function pollActivities(worlds: Worlds): PollActivities {
  return {
    pollStatus: async (request) => {
      const world = worlds.of(request);
      world.polls += 1;
      const { status } = world;
      const unchanged = status.kind === 'read' && status.decision === request.known;
      if (!unchanged && world.polls > 1) return status;
      throw ApplicationFailure.create({
        type: 'unchanged',
        message: 'the decision stands',
        nextRetryDelay: request.pauses.maxMs,
        category: ApplicationFailureCategory.BENIGN,
      });
    },
  };
}

function take(worlds: Worlds, events: OrderEvent[]): void {
  for (const event of events) {
    const world = worlds.of(event);
    world.deliver(event);
    world.events.push(event);
  }
}
