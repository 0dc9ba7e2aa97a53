import { expect, it } from 'vitest';
import type { LedgerEntry } from '../../../src/sandbox/model.ts';
import { anOrder, START, TRANSACTION_ID } from '../../fixtures/orders.ts';
import { aPolicy } from '../../fixtures/policies.ts';
import type { Departure } from '../faults/departures.ts';
import { planRun } from '../plan/plan.ts';
import { drawIntegrations } from '../plan/policies.ts';
import { booksOf, type Happened } from './books-of.ts';
import type { OrderEvidence, Request } from './evidence.ts';
import { type Circumstances, judge } from './verdict.ts';

const [plan] = planRun({ seed: 1, orders: 1, loadMs: 1, integrations: drawIntegrations(1) });
if (plan === undefined) throw new Error('a run has orders');
const WORKFLOW_ID = 'order:default:order-1';
const iso = (ms: number): string => new Date(START + ms).toISOString();

/** A create whose sender got its answer, unless the entry or the departure is different. */
function request(ms: number, entry: Partial<LedgerEntry> = {}, departure: Partial<Departure> = {}): Request {
  const create: Partial<LedgerEntry> = {
    wallAt: iso(ms),
    operation: 'create-transaction',
    transactionId: TRANSACTION_ID,
    invoiceNumber: 'order-1',
    outcome: { status: 200, code: null, decision: 'pass' },
    committed: true,
    fault: null,
  };
  const end = { endedAt: START + ms + 20, answered: true };
  return {
    entry: { ...create, ...entry } as LedgerEntry,
    departure: { at: START + ms, amount: 20, end, ...departure },
  };
}

const checkout = { attempt: 1, decision: 'pass', action: 'proceed', transactionId: TRANSACTION_ID } as const;
const when = { sentAt: START, at: START + 80 };
const asked = { kind: 'decision', request: { attempt: 1 }, ...when, checkout } as const;
const diary = { calls: [asked], strange: [], givenUp: [] };
const history = {
  failedTasks: {},
  timedOut: false,
  cutOff: false,
  fastPathLost: false,
  begunAt: START,
  tasksWaited: [],
};
const run = { status: 'RUNNING', state: anOrder('pass'), startedAt: START, history };
const transaction = {
  id: TRANSACTION_ID,
  invoiceNumber: 'order-1',
  amount: '20.00',
  createdAt: iso(100),
  decisions: [{ decision: 'pass', at: iso(100), by: 'screening' }],
  canceledAt: null,
} as OrderEvidence['transactions'][number];

/** An open order that passed at checkout, with which nothing is wrong. */
const RIGHT: OrderEvidence = {
  plan: {
    ...plan,
    orderId: 'order-1',
    integration: 'default',
    policy: aPolicy({ events: 'changes' }),
    checkoutBudgetMs: 7_000,
    attempts: [{ decision: 'pass', amount: 20, skip: false }],
  },
  diary,
  run,
  transactions: [transaction],
  ledger: [request(20)],
  arrivals: [],
  portalRuns: [],
  at: START + 120_000,
};
const NOTHING_ELSE: Circumstances & Happened = {
  restless: new Set(),
  unreplayable: new Map(),
  outages: [],
  rechecked: new Map(),
  hints: [],
  spans: { unreachable: [], wrongKey: [], receiverDown: [] },
};

const anError = { outcome: { status: 200, code: null, decision: 'error' } };
const unanswered = { end: { endedAt: START + 50, answered: false } };
const reported = {
  operation: 'report-fraud',
  outcome: { status: 200, code: 200, decision: 'fraudulent' },
} as const;
const held = { ...asked, checkout: { ...checkout, decision: 'review', action: 'hold' } } as const;
const cancel = { workflowId: 'portal:default:cancel:order-1', kind: 'cancel', startedAt: START };
/** The order reported `pass`. The sandbox took a result, whose sender noted nothing. */
function tookResult(result: string): Partial<OrderEvidence> {
  const entry = { ...request(60_000).entry, operation: 'gateway-response', sequence: 2 } as LedgerEntry;
  const reported = { kind: 'gateway-result', request: { attempt: 1, result: 'pass' }, ...when } as const;
  const taken = { at: iso(60_000), result, authcode: null, transactionId: null };
  return {
    diary: { ...diary, calls: [asked, reported] },
    ledger: [request(20), { entry }],
    transactions: [{ ...transaction, gatewayResponses: [taken] }],
  };
}
const unreadable = { status: 'RUNNING', startedAt: START, history };
const failing = { ...history, failedTasks: { NON_DETERMINISTIC_ERROR: 1 } };

it.each<[string, Partial<OrderEvidence>, string[], Partial<Circumstances & Happened>?]>([
  ['with which nothing is wrong', {}, []],
  ['without an answer', { diary: { ...diary, calls: [] } }, ['never answered']],
  ['with a request given up', { diary: { ...diary, givenUp: ['cancel'] } }, ['never answered']],
  ['with a strange answer', { diary: { ...diary, strange: ['500'] } }, ['strange answer']],
  ['that Temporal lacks', { run: { ...unreadable, status: 'NONE' } }, ['order lost']],
  ['that failed', { run: { ...run, status: 'FAILED' } }, ['workflow failed']],
  ['whose record can’t be read', { run: unreadable }, ['workflow stuck']],
  ['whose portal action runs', { portalRuns: [{ ...cancel, status: 'RUNNING' }] }, ['workflow stuck']],
  ['whose task failed', { run: { ...run, history: failing } }, ['workflow failed']],
  ['that does not rest', {}, ['workflow stuck'], { restless: new Set(['order-1']) }],
  ['without a replay', {}, ['history does not replay'], { unreplayable: new Map([[WORKFLOW_ID, '!']]) }],
  ['created twice', { ledger: [request(20), request(60_000)] }, ['second create']],
  ['created blindly', { ledger: [request(20, {}, unanswered), request(60_000)] }, ['second create']],
  [
    'told pass after an error, created again, and a report whose answer has no decision',
    { ledger: [request(20, anError), request(30_000, reported), request(60_000)] },
    ['answer'],
  ],
  [
    'with another transaction',
    { transactions: [transaction, { ...transaction, id: 'other' }] },
    ['not on record'],
  ],
  ['told otherwise', { diary: { ...diary, calls: [held] } }, ['answer', 'event missing']],
  ['whose payment gateway’s result was sent by a worker that was killed', tookResult('pass'), []],
  ['that sent another result', tookResult('fail'), ['gateway result wrong']],
  ['with a hint', {}, ['read owed'], { hints: [{ orderId: 'order-1', at: START + 1_000 }] }],
])('the verdict on an order %s', (_case, evidence, kinds, circumstances) => {
  const given = { ...NOTHING_ELSE, ...circumstances };
  const all = { ...RIGHT, ...evidence };
  expect(judge(all, booksOf(all, given), given).map(({ kind }) => kind)).toEqual(kinds);
});
