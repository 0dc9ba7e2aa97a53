import { expect, it } from 'vitest';
import { instant } from '../../src/contract/words.ts';
import { newOrderState } from '../../src/orders/record.ts';
import type { LedgerEntry } from '../../src/sandbox/model.ts';
import { creates } from '../books/creates.ts';
import { booksOf } from './books-of.ts';
import type { OrderEvidence } from './evidence.ts';
import { planOrder } from './plan.ts';
import { drawIntegrations } from './policies.ts';

const START = Date.parse('2026-03-02T12:00:00Z');
const ENTRY: LedgerEntry = {
  sequence: 1,
  at: '',
  wallAt: '',
  operation: 'create-transaction',
  base: 'test',
  transactionId: 'A',
  invoiceNumber: '',
  outcome: { status: 200, code: null, decision: 'error' },
  callerPort: null,
  committed: true,
  fault: null,
};
const HISTORY = {
  events: 20,
  failedTasks: {},
  timedOutTasks: 0,
  lostTries: 0,
  cutOff: false,
  eager: false,
  firstTaskLost: false,
};

it('takes no portal answer for a decision that was told, though the sandbox notes one with it', () => {
  const plan = planOrder(
    { seed: 1, orders: 1, loadMs: 1, cards: false, integrations: drawIntegrations(1) },
    0,
  );
  const { orderId, integration } = plan;
  const entry = (afterMs: number, more: Partial<LedgerEntry>) => ({
    entry: {
      ...ENTRY,
      wallAt: new Date(START + afterMs).toISOString(),
      invoiceNumber: orderId,
      ...more,
    },
  });
  const evidence: OrderEvidence = {
    plan,
    diary: { calls: [], strange: [], givenUp: [] },
    run: {
      status: 'RUNNING',
      state: newOrderState({ orderId, integration }, instant(START)),
      startedAt: START,
      history: HISTORY,
    },
    transactions: [],
    ledger: [
      entry(100, {}),
      entry(8_000, {
        operation: 'report-fraud',
        base: 'portal',
        outcome: { status: 200, code: 200, decision: 'fraudulent' },
      }),
      entry(60_000, { transactionId: 'B', invoiceNumber: `${orderId}~1.2` }),
    ],
    arrivals: [],
    portalRuns: [],
    at: START + 120_000,
  };
  const books = booksOf(evidence, {
    outages: [],
    rechecked: new Map(),
    hints: [],
    spans: { unreachable: [], wrongKey: [], receiverDown: [] },
  });
  if (books === undefined) throw new Error('the state could not be read');
  expect(books.requests.map(({ decision }) => decision)).toEqual(['error', undefined, 'error']);
  expect(creates(books).filter(({ kind }) => kind === 'second create')).toEqual([]);
});
