import { describe, expect, it } from 'vitest';
import type { LedgerEntry } from '../../src/sandbox/model.ts';
import { anOrder, START, TRANSACTION_ID } from '../fixtures/orders.ts';
import { aPolicy } from '../fixtures/policies.ts';
import { booksOf, type Happened } from './books-of.ts';
import type { OrderEvidence, Request } from './evidence.ts';
import { planRun } from './plan.ts';
import { drawIntegrations } from './policies.ts';
import { type Circumstances, judge } from './verdict.ts';

const [plan] = planRun({ seed: 1, orders: 1, loadMs: 1, integrations: drawIntegrations(1) });
if (plan === undefined) throw new Error('a run has orders');
const iso = (ms: number): string => new Date(START + ms).toISOString();

/** A create whose sender got its answer, unless another request is given. */
function request(
  ms: number,
  entry: Partial<LedgerEntry> = {},
  departure: Request['departure'] | null = null,
): Request {
  return {
    entry: {
      sequence: ms,
      at: iso(ms),
      wallAt: iso(ms),
      operation: 'create-transaction',
      base: 'test',
      transactionId: TRANSACTION_ID,
      invoiceNumber: 'order-1',
      outcome: { status: 200, code: null, decision: 'pass' },
      callerPort: 1,
      committed: true,
      fault: null,
      ...entry,
    },
    departure: departure ?? { at: START + ms, amount: 20, end: { endedAt: START + ms + 20, answered: true } },
  };
}

const answer = { attempt: 1, decision: 'pass', action: 'proceed', transactionId: TRANSACTION_ID } as const;
const call = { asks: 'checkout', attempt: 1, sentAt: START, at: START + 80, answer } as const;
const transaction: OrderEvidence['transactions'][number] = {
  id: TRANSACTION_ID,
  mode: 'test',
  invoiceNumber: 'order-1',
  amount: '20.00',
  createdAt: iso(100),
  decision: 'pass',
  decisions: [{ decision: 'pass', at: iso(100), by: 'screening' }],
  canceledAt: null,
  fraudReports: [],
  chargebacks: [],
  covered: true,
  last4: null,
  gatewayResponses: [],
};
const history = { failedTasks: {}, timedOut: false, cutOff: false, fastPathLost: false, begunAt: START };
const run = { status: 'RUNNING', state: anOrder('pass'), startedAt: START, history };
const unanswered = { at: START + 20, amount: 20, end: { endedAt: START + 50, answered: false } };
const killed = { at: START + 20, amount: 20 };
const outages = [{ what: 'worker', from: START + 1_000, until: START + 2_000 }];
const lookup = {
  operation: 'status-by-invoice',
  transactionId: null,
  committed: false,
  outcome: { status: 404, code: null, decision: null },
} as const;

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
  diary: { calls: [call], strange: [], givenUp: [] },
  run,
  transactions: [transaction],
  ledger: [request(20)],
  arrivals: [],
  portalRuns: [],
  at: START + 120_000,
};

function verdictOn(
  evidence: Partial<OrderEvidence>,
  circumstances: Partial<Circumstances & Happened> = {},
): string[] {
  const given = {
    restless: new Set<string>(),
    unreplayable: new Map<string, string>(),
    outages: [],
    rechecked: new Map<string, number>(),
    hints: [],
    spans: { unreachable: [], wrongKey: [], receiverDown: [] },
    ...circumstances,
  };
  const all = { ...RIGHT, ...evidence };
  return judge(all, booksOf(all, given), given).map(({ kind }) => kind);
}

const portalRun = {
  workflowId: 'portal:default:cancel:order-1',
  kind: 'cancel',
  status: 'RUNNING',
  startedAt: START,
};
const unknown = { ...transaction, id: 'unknown' };
const report = {
  operation: 'report-fraud',
  base: 'portal',
  outcome: { status: 200, code: 200, decision: 'fraudulent' },
} as const;
const failedTasks = (failed: Record<string, number>) => ({
  run: { ...run, history: { ...history, failedTasks: failed } },
});

describe('the verdict on an order', () => {
  it.each<[string, Partial<OrderEvidence>, string[], Partial<Circumstances & Happened>?]>([
    ['with which nothing is wrong', {}, []],
    ['without an answer', { diary: { ...RIGHT.diary, calls: [] } }, ['never answered']],
    [
      'with a request that was given up',
      { diary: { ...RIGHT.diary, givenUp: ['cancel'] } },
      ['never answered'],
    ],
    ['with a strange answer', { diary: { ...RIGHT.diary, strange: ['500'] } }, ['strange answer']],
    ['that Temporal lacks', { run: { status: 'NONE', startedAt: 0, history } }, ['order lost']],
    ['that failed', { run: { ...run, status: 'FAILED' } }, ['workflow failed']],
    ['that can’t be read', { run: { status: 'RUNNING', startedAt: START, history } }, ['workflow stuck']],
    ['whose task failed', failedTasks({ nondeterminism: 1 }), ['workflow failed']],
    [
      'whose task was forced to fail, and failed once more',
      failedTasks({ forced: 3, nondeterminism: 1 }),
      [],
    ],
    ['whose portal action still runs', { portalRuns: [portalRun] }, ['workflow stuck']],
    ['that did not come to rest', {}, ['workflow stuck'], { restless: new Set(['order-1']) }],
    [
      'whose history does not replay',
      {},
      ['history does not replay'],
      { unreplayable: new Map([['order:default:order-1', 'TMPRL1100']]) },
    ],
    ['created twice', { ledger: [request(20), request(60_000)] }, ['second create']],
    [
      'created twice, the first time unheard, without a lookup',
      { ledger: [request(20, {}, unanswered), request(60_000)] },
      ['second create'],
    ],
    [
      'created twice, the first time unheard, with a lookup that found none',
      { ledger: [request(20, {}, unanswered), request(30_000, lookup), request(60_000)] },
      [],
    ],
    [
      'created twice, the first time by a worker that was killed, without a lookup',
      { ledger: [request(20, {}, killed), request(60_000)] },
      ['answer', 'second create'],
      { outages },
    ],
    [
      'created twice after a wrong key',
      { ledger: [request(20, { fault: '403', committed: false }), request(50)] },
      [],
    ],
    [
      'with a transaction that is not on its record',
      { transactions: [transaction, unknown] },
      ['not on record'],
    ],
    [
      'answered otherwise than decided',
      {
        diary: {
          ...RIGHT.diary,
          calls: [{ ...call, answer: { ...answer, decision: 'review', action: 'hold' } }],
        },
      },
      ['answer'],
    ],
    [
      'whose hint was not read for',
      {},
      ['read owed'],
      { hints: [{ orderId: 'order-1', at: START + 1_000 }] },
    ],
    [
      'reported as fraud: only a read returns a decision, though the sandbox notes one with each answer',
      { ledger: [request(20), request(30_000, report)] },
      [],
    ],
  ])('%s', (_case, evidence, kinds, circumstances) => {
    expect(verdictOn(evidence, circumstances)).toEqual(kinds);
  });
});
