/** Made-up evidence of orders with which nothing is wrong, for tests of the checker itself. */
import type { LedgerEntry, TransactionRecord } from '../../src/sandbox/model.ts';
import type { Diary } from './client.ts';
import type { Attempt, OrderEvidence, State } from './evidence.ts';
import type { HistoryFacts, RecordedRead } from './history-facts.ts';
import { type OrderPlan, planOrder } from './plan.ts';
import { type IntegrationName, policyOf } from './policies.ts';
import type { Arrival } from './receiver.ts';

export const START = Date.parse('2026-03-01T10:00:00.000Z');
export const ID = '00000000-0000-4000-8000-000000000001';

/** @returns the moment `seconds` after the order began, ISO 8601 */
export function moment(seconds: number): string {
  return new Date(START + seconds * 1000).toISOString();
}

/** @returns a plan of an order of the integration that is screened once, and then left alone */
export function aPlan(integration: IntegrationName, overrides: Partial<OrderPlan> = {}): OrderPlan {
  const drawn = planOrder({ seed: 1, orders: 1, loadMs: 1, cards: true }, 0);
  const { gateway: _gateway, afterReport: _report, ...plain } = drawn;
  return { ...plain, integration, amount: 150, attempts: ['pass'], analysts: [], actions: [], ...overrides };
}

/** @returns an attempt that passed at its checkout */
export function anAttempt(plan: OrderPlan, overrides: Partial<Attempt> = {}): Attempt {
  return {
    number: 1,
    startedAt: moment(0),
    cancelBy: new Date(START + policyOf(plan.integration).cancelWindowMs).toISOString(),
    invoiceNumber: plan.orderId,
    transactionId: ID,
    transactionIds: [ID],
    decision: 'pass',
    readings: [{ decision: 'pass', at: moment(0), source: 'checkout' }],
    rescreens: 0,
    answer: { decision: 'pass', action: 'proceed', phase: 'decided', transactionId: ID },
    ...overrides,
  };
}

/** @returns what the history of an order says that was read at its checkout and never again, though its recheck came */
export function someFacts(overrides: Partial<HistoryFacts> = {}): HistoryFacts {
  return {
    tasks: [0, 39, 45].map((at) => ({ from: START + at * 1_000, to: START + at * 1_000 + 20 })),
    lostTasks: [],
    recordedReads: [aRead(0, 0.02, { task: 0 })],
    readsUnderWay: [],
    portalTries: [],
    gatewayResults: [],
    overdueTimers: [],
    overInTask: 2,
    ...overrides,
  };
}

/** @returns a read whose try ran, and whose end was recorded, so many seconds after the order began */
export function aRead(from: number, to: number, overrides: Partial<RecordedRead> = {}): RecordedRead {
  const span = { from: START + from * 1_000, to: START + to * 1_000 };
  return { ...span, decision: 'pass', task: 1, triedAgainAfterLoss: false, ...overrides };
}

/** @returns the same evidence, whose history says something else */
export function withFacts(evidence: OrderEvidence, overrides: Partial<HistoryFacts>): OrderEvidence {
  const { run } = evidence;
  return { ...evidence, run: { ...run, history: { ...run.history, facts: someFacts(overrides) } } };
}

export function aState(plan: OrderPlan, overrides: Partial<State> = {}): State {
  return {
    orderId: plan.orderId,
    integration: plan.integration,
    workflow: policyOf(plan.integration).workflow,
    phase: 'closed',
    phaseSince: moment(45),
    decision: 'pass',
    action: 'proceed',
    attempts: [anAttempt(plan)],
    attention: [],
    actions: [],
    events: { sequence: 2, delivered: 2, waiting: 0 },
    passed: ['recheck', 'window-closes'],
    startedAt: moment(0),
    ...overrides,
  };
}

export function aTransactionRecord(
  plan: OrderPlan,
  overrides: Partial<TransactionRecord> = {},
): TransactionRecord {
  return {
    id: ID,
    mode: 'test',
    invoiceNumber: plan.orderId,
    amount: '150.00',
    last4: '1111',
    decision: 'pass',
    decisions: [{ decision: 'pass', at: moment(0), by: 'screening' }],
    createdAt: moment(0),
    gatewayResponses: [],
    fraudReports: [],
    canceledAt: null,
    covered: true,
    chargebacks: [],
    ...overrides,
  };
}

export function anEntry(plan: OrderPlan, overrides: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    sequence: 1,
    at: moment(0),
    wallAt: moment(0),
    operation: 'create-transaction',
    base: 'test',
    transactionId: ID,
    invoiceNumber: plan.orderId,
    outcome: { status: 200, code: null, decision: 'pass' },
    callerPort: null,
    committed: true,
    fault: null,
    ...overrides,
  };
}

export function anArrival(plan: OrderPlan, sequence: number, overrides: Partial<Arrival> = {}): Arrival {
  return {
    id: `${plan.orderId}:${sequence}`,
    type: sequence === 1 ? 'order.decided' : 'order.closed',
    orderId: plan.orderId,
    integration: plan.integration,
    sequence,
    occurredAt: moment(sequence),
    data: {
      phase: sequence === 1 ? 'decided' : 'closed',
      decision: 'pass',
      action: 'proceed',
      attempt: 1,
      transactionId: ID,
    },
    body: `body ${sequence}`,
    at: START + sequence,
    taken: true,
    ...overrides,
  };
}

export function aDiary(plan: OrderPlan, overrides: Partial<Diary> = {}): Diary {
  const answer = { orderId: plan.orderId, attempt: 1, decision: 'pass', action: 'proceed', phase: 'decided' };
  return {
    answers: [{ ...answer, transactionId: ID, at: START }],
    refusals: [],
    gateway: [],
    actions: [],
    strange: [],
    givenUp: [],
    ...overrides,
  };
}

/** @returns everything about an order that passed, closed at the end of its window, and told so */
export function evidenceOf(plan: OrderPlan, overrides: Partial<OrderEvidence> = {}): OrderEvidence {
  return {
    plan,
    diary: aDiary(plan),
    run: {
      status: 'COMPLETED',
      state: aState(plan),
      closedAt: START + 45_000,
      history: {
        events: 40,
        failedTasks: {},
        timedOutTasks: 0,
        eager: false,
        firstTaskLost: false,
        facts: someFacts(),
      },
    },
    transactions: [aTransactionRecord(plan)],
    ledger: [anEntry(plan)],
    arrivals: [anArrival(plan, 1), anArrival(plan, 2)],
    portalRuns: [],
    customerCodes: 0,
    departures: {},
    ...overrides,
  };
}

/** @returns the same evidence with another state */
export function withState(
  plan: OrderPlan,
  state: Partial<State>,
  more: Partial<OrderEvidence> = {},
): OrderEvidence {
  const { run, ...others } = evidenceOf(plan);
  return { ...others, run: { ...run, state: aState(plan, state) }, ...more };
}
