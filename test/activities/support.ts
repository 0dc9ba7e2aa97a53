import { inspect } from 'node:util';
import { ApplicationFailure, type MetricMeter, noopMetricMeter } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger, type Logger } from '@temporalio/worker';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { ActivitiesByQueue } from '../../src/activities/activity-world.ts';
import { type ActivityWorld, createActivities } from '../../src/activities/index.ts';
import type { OrderDirectory } from '../../src/activities/sweep/order-directory.ts';
import { createCardStash } from '../../src/card-stash/index.ts';
import type {
  CatchUpRequest,
  CheckedOut,
  CheckoutRequest,
  LookUpRequest,
  ReadRequest,
  RunFacts,
} from '../../src/contract/activity-contract.ts';
import type { Integration } from '../../src/contract/policy.ts';
import type { Refusal } from '../../src/order/order.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/create-sandbox.ts';
import type { FaultPlanInput } from '../../src/sandbox/fault-plan.ts';
import type { LedgerOperation } from '../../src/sandbox/model.ts';
import { MACHINE } from '../../src/screening-service/index.ts';
import { anIntegration, finding } from '../fixtures/integrations.ts';
import { DAY, fromNow } from '../fixtures/policies.ts';
import { aTransaction, TEST_CARD, withEmail } from '../fixtures/transactions.ts';

export { fromNow };

export const KEY = 'canary/test key+0123456789';
export const ORDER_ID = 'A-1';
/** When an order that catches up was started, and when a create of it was sent that nobody has seen. */
export const STARTED_AT = '2026-11-22T08:00:00.000Z';
export const UNSEEN_SINCE = '2026-11-22T09:00:00.000Z';
export const UNKNOWN_ID = '3f2c1a00-1b2c-4d5e-8f90-0123456789ab';

/** The run of the workflow whose activities are performed. */
const RUN_ID = '11111111-1111-4111-8111-111111111111';

/** The facts of an order's first run in its first workflow task. */
const FIRST_RUN: RunFacts = { runId: RUN_ID, wasReset: false, historyLength: 3, isReplaying: false };

/** An earlier execution of the order's first workflow task was lost. */
export const KEY_KNOWN: Attempt = { run: { forbiddenKnown: true } };
export const TASK_LOST: Attempt = { run: { historyLength: 7 } };
/** A run that a reset created called the activity. */
export const AFTER_RESET: Attempt = { run: { wasReset: true } };
/** The run before the reset called the activity. */
export const CALLED_BEFORE_RESET: Attempt = { run: { runId: '22222222-2222-4222-8222-222222222222' } };

/** Operators reset the activity in the Temporal UI, with its heartbeats or without: the server counts its tries from 1 again. */
export const ACTIVITY_RESET: [what: string, Attempt][] = [
  ['that keeps the heartbeats', { attempt: 1, heartbeatDetails: { reported: 1 } }],
  ['of the heartbeats, too', { attempt: 1, calledMs: Date.parse(UNSEEN_SINCE) }],
];

export let sandbox: Sandbox;

/** A sandbox for a test file, emptied after each test. */
export function withSandbox(): void {
  beforeAll(async () => {
    sandbox = await createSandbox({ port: 0, apiKeys: { test: KEY, live: 'canary-live-key' } });
  });
  afterEach(() => sandbox.control.reset());
  afterAll(() => sandbox.close());
}

type Fault = FaultPlanInput['faults'][number];

/** Lets every call of the operation meet a fault. */
export function plan(operation: Fault['operation'], kind: Fault['kind'], more: Partial<Fault> = {}): void {
  sandbox.control.setFaults({ faults: [{ operation, kind, ...more }] });
}

/** A namespace without orders. */
export const noOrders: OrderDirectory = {
  open: async () => ({ workflowIds: [] }),
  overdue: async () => [],
  countByPhase: async () => new Map(),
  countAttention: async () => 0,
  announce: async () => undefined,
  withTransaction: async () => [],
  ended: async () => undefined,
  isDone: async () => false,
  reportedAfterEnd: async () => undefined,
  isInDoubt: async () => false,
  lost: async () => [],
  pendingTask: async () => undefined,
};

export type TestWorld = ActivityWorld & ActivitiesByQueue;

/** A machine on which no time passes within a try, so that its pauses are exact. */
export const STILL = { machine: { ...MACHINE, elapsed: () => 0 } };

/** The activities, standing on the sandbox and an empty card stash. @param changes of the integration `default` */
export function aWorld(changes: Partial<Integration> = {}, parts: Partial<ActivityWorld> = {}): TestWorld {
  const integration = anIntegration({
    baseUrl: sandbox.testBaseUrl,
    portalBaseUrl: sandbox.portalBaseUrl,
    enrich: false,
    checkoutBudgetMs: 3_000,
    apiKey: () => KEY,
    ...changes,
  });
  const world: ActivityWorld = {
    machine: MACHINE,
    findIntegration: finding(integration),
    cards: createCardStash('memory:'),
    otherModes: new Set<string>(),
    ...parts,
  };
  return { ...world, ...createActivities(world) };
}

/** The checkout of an order that the sandbox decides by the word. */
export function aCheckout(decision = 'pass', changes: Partial<CheckoutRequest> = {}): CheckoutRequest {
  return {
    orderId: ORDER_ID,
    integration: 'default',
    attempt: 1,
    transaction: { ...withEmail(`${decision}@example.com`, aTransaction()) },
    invoiceNumber: ORDER_ID,
    knownTransactionIds: [],
    ...queued(0),
    ...changes,
  };
}

/** An order that waited for so long until it was screened, in milliseconds. */
export function queued(ms: number): Pick<CheckoutRequest, 'startedAt' | 'begun'> {
  return { startedAt: fromNow(-ms), begun: fromNow(0) };
}

export function aCatchUp(decision = 'pass', changes: Partial<CatchUpRequest> = {}): CatchUpRequest {
  const { orderId, integration, transaction, invoiceNumber, knownTransactionIds } = aCheckout(decision);
  const request = { orderId, integration, transaction, invoiceNumber, knownTransactionIds };
  return { ...request, startedAt: STARTED_AT, attempt: 2, until: fromNow(5 * DAY), ...changes };
}

/** A lookup of a create of the order that catches up. */
export function aLookUp(changes: Partial<LookUpRequest> = {}): LookUpRequest {
  return {
    integration: 'default',
    attempt: 1,
    invoiceNumber: ORDER_ID,
    knownTransactionIds: [],
    unseenSince: UNSEEN_SINCE,
    startedAt: STARTED_AT,
    cancelBy: fromNow(5 * DAY),
    ...changes,
  };
}

/** A read of the transaction's status. */
export function aRead(changes: Partial<ReadRequest> = {}): ReadRequest {
  return { integration: 'default', attempt: 1, ...changes };
}

/** What the server would tell the activity. */
export interface Attempt {
  attempt?: number;
  heartbeatDetails?: unknown;
  /** When the server scheduled the try, in milliseconds after the epoch. */
  scheduledMs?: number;
  /** When it scheduled the activity, if not at the same time. */
  calledMs?: number;
  /** The type of the workflow that called the activity. */
  workflowType?: string;
  /** Where the activity logs to, if not to the console. */
  logger?: Logger;
  /** What counts what the activity counts. */
  metricMeter?: MetricMeter;
  /** How the run that calls the activity differs from an order's first run. */
  run?: Partial<RunFacts>;
}

/** An activity as the workflow calls it. */
type Activity<Request, Result> = (request: Request, run: RunFacts) => Promise<Result>;

/** The environment of one try of an activity. */
export function anEnvironment({
  attempt = 1,
  heartbeatDetails,
  scheduledMs = Date.now(),
  calledMs = scheduledMs,
  workflowType = 'test',
  logger,
  metricMeter = noopMetricMeter,
}: Attempt = {}) {
  return new MockActivityEnvironment(
    {
      attempt,
      heartbeatDetails,
      workflowExecution: { workflowId: 'test', runId: RUN_ID },
      workflowType,
      currentAttemptScheduledTimestampMs: scheduledMs,
      scheduledTimestampMs: calledMs,
    },
    { logger: logger ?? new DefaultLogger('ERROR'), metricMeter },
  );
}

/** The facts that the workflow sends with the call. */
export function runFactsOf({ run }: Attempt): RunFacts {
  return { ...FIRST_RUN, ...run };
}

/** Runs an activity as a worker would. */
export function perform<Request, Result>(
  activity: Activity<Request, Result>,
  request: Request,
  attempt: Attempt = {},
  heartbeats: unknown[] = [],
): Promise<Result> {
  const environment = anEnvironment(attempt);
  environment.on('heartbeat', (details: unknown) => heartbeats.push(details));
  return environment.run(activity, request, runFactsOf(attempt));
}

/** Runs an activity as a worker would. @returns the outcome alone, without when it was learned */
export async function outcomeOf<Request, Outcome>(
  activity: Activity<Request, { outcome: Outcome }>,
  request: Request,
  attempt: Attempt = {},
  heartbeats: unknown[] = [],
): Promise<Outcome> {
  return (await perform(activity, request, attempt, heartbeats)).outcome;
}

/** The failure that an activity ends with, after making sure that nothing secret stands in it. */
export async function failureOf(call: Promise<unknown>): Promise<ApplicationFailure> {
  const error: unknown = await call.then(
    (result) => {
      throw new Error(`no failure: ${inspect(result)}`);
    },
    (reason: unknown) => reason,
  );
  expectNoSecret(error);
  if (!(error instanceof ApplicationFailure)) throw new Error(`not an ApplicationFailure: ${inspect(error)}`);
  return error;
}

/** What would go into history must show neither key nor card, no e-mail and no address of the service. */
export function expectNoSecret(recorded: unknown): void {
  const stack = recorded instanceof Error ? recorded.stack : '';
  const shown = `${inspect(recorded, { depth: 10, showHidden: true })}\n${stack}\n${JSON.stringify(recorded)}`;
  const secrets = [encodeURIComponent(KEY), TEST_CARD.cardNumber, '@example.com', '127.0.0.1', 'http:'];
  for (const secret of ['canary', ...secrets]) expect(shown).not.toContain(secret);
}

/** How many requests of the operation reached the sandbox. */
export function requests(operation: LedgerOperation): number {
  return sandbox.control.ledger({ operation }).length;
}

/** The only transaction that the sandbox has of the order. */
export function theTransaction() {
  const [one, ...others] = sandbox.control.transactions(ORDER_ID);
  if (one === undefined || others.length > 0) throw new Error('not one transaction');
  return one;
}

type Screened = Extract<CheckedOut, { policy: unknown }>;

/** Screens an order at checkout as a worker would. @throws when the order is refused */
export async function checkOut(
  { checkout }: TestWorld,
  request: CheckoutRequest,
  attempt: Attempt = {},
): Promise<Screened> {
  const checkedOut = await perform(checkout.screenAtCheckout, request, attempt);
  if (!('policy' in checkedOut)) throw new Error(`not screened: ${inspect(checkedOut)}`);
  return checkedOut;
}

/** Screens an order at checkout that can't be screened at all. @returns why, without anything secret */
export async function refusalOf(
  { checkout }: TestWorld,
  request: CheckoutRequest,
  attempt: Attempt = {},
): Promise<Refusal> {
  const { refusal, ...moment } = await perform(checkout.screenAtCheckout, request, attempt);
  if (refusal === undefined) throw new Error(`not refused: ${inspect(moment)}`);
  expectNoSecret(refusal);
  return refusal;
}

/** Screens an order and returns its transaction's id. */
export async function screened(world: TestWorld, decision = 'pass'): Promise<string> {
  const { outcome } = await checkOut(world, aCheckout(decision));
  if (outcome.kind !== 'answered') throw new Error(`not screened: ${inspect(outcome)}`);
  return outcome.transactionId;
}
