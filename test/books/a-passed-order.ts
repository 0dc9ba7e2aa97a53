/** The books of an order with which nothing is wrong: it passed at checkout, and closed when its cancel window ended. */

import type { PortalFields } from '../../src/contract/messages.ts';
import type { Decision } from '../../src/contract/words.ts';
import { aPolicy, HOUR } from '../fixtures/policies.ts';
import type { BookedCall, BookedCheckoutAnswer } from './asked.ts';
import type { BookedArrival, BookedRequest, BookedTransaction, Books, World } from './books.ts';

export const START = Date.parse('2026-03-02T10:00:00.000Z');
export const ID = '00000000-0000-4000-8000-000000000001';
const WINDOW_MS = 120 * HOUR;
const END = START + WINDOW_MS + 1_000;

const CALM: World = {
  workersAway: [],
  unreachable: [],
  wrongKey: [],
  tasksWaited: [],
  receiverDown: [],
  resets: [],
  continuedAt: [],
  skewMs: 0,
  losses: false,
  lateByMs: 0,
  cutOff: false,
  endedByHand: false,
  brokeDown: false,
  recordLost: false,
  notedLateMs: 0,
};

/** @returns a request that was sent `ms` after the start and answered 20 ms later */
export function aRequest(ms: number, overrides: Partial<BookedRequest> = {}): BookedRequest {
  const sentAt = START + ms;
  return {
    sentAt,
    arrivedAt: sentAt + 10,
    endedAt: sentAt + 20,
    heard: 'transaction',
    operation: 'status',
    transactionId: ID,
    invoice: 'order-1',
    decision: 'pass',
    committed: false,
    ...overrides,
  };
}

export const CREATE = aRequest(20, { operation: 'create-transaction', attempt: 1, committed: true });

/** @returns the answer to a checkout that was sent at the start */
export function anAnswer(ms: number, overrides: Partial<BookedCheckoutAnswer> = {}): BookedCall {
  const checkout = {
    attempt: 1,
    decision: 'pass',
    action: 'proceed',
    transactionId: ID,
    ...overrides,
  } as const;
  const request = { attempt: checkout.attempt };
  return { kind: 'decision', request, sentAt: START, at: START + ms, checkout };
}

/** @returns an event that was taken `ms` after the start */
export function anArrival(
  sequence: number,
  type: string,
  ms: number,
  data: BookedArrival['event']['data'] = { decision: 'pass', attempt: 1, transactionId: ID },
): BookedArrival {
  const id = `default:order-1:${sequence}`;
  return {
    event: { id, type, orderId: 'order-1', integration: 'default', sequence, data },
    at: START + ms,
    taken: true,
  };
}

export const TRANSACTION: BookedTransaction = {
  id: ID,
  invoice: 'order-1',
  attempt: 1,
  createdAt: START + 30,
  cancelableUntil: START + 30 + WINDOW_MS,
  decisions: [{ decision: 'pass', at: START + 30 }],
};

/** The passed order's transaction with these decisions, each made so many ms after the start. */
export const becoming = (...decisions: [decision: Decision, at: number][]) => ({
  transactions: [
    { ...TRANSACTION, decisions: decisions.map(([decision, at]) => ({ decision, at: START + at })) },
  ],
});
/** @returns a portal action that the order service asked for, and was told is requested, or refused */
export const asksFor = (fields: PortalFields, ms: number, refusal?: string): BookedCall => ({
  kind: 'portal',
  request: { fields },
  sentAt: START + ms,
  at: START + ms + 10,
  ...(refusal === undefined ? { portal: { status: 'requested' } } : { refusal }),
});

/** @returns the books, with what is different */
export function books({
  record = {},
  world = {},
  ...overrides
}: Partial<Omit<Books, 'record' | 'world'>> & {
  record?: Partial<Books['record']>;
  world?: Partial<World>;
} = {}): Books {
  return {
    policy: aPolicy({ recheckLeadTimeMs: 0 }),
    startedAt: START,
    endedAt: END,
    closedAt: END + 1_000,
    checkoutBudgetMs: 7_000,
    attempts: [{ number: 1, skip: false, card: false }],
    transactions: [TRANSACTION],
    requests: [CREATE, aRequest(108 * HOUR)],
    calls: [anAnswer(80)],
    news: [],
    arrivals: [anArrival(1, 'order.decided', 200), anArrival(2, 'order.closed', WINDOW_MS + 500)],
    shown: [],
    world: { ...CALM, ...world },
    record: {
      phase: 'closed',
      decision: 'pass',
      action: 'proceed',
      attempts: 1,
      newest: ID,
      transactions: [{ id: ID, attempt: 1, cancelBy: START + 20 + WINDOW_MS }],
      attention: [],
      gatewayMatters: [],
      resultsNotSent: [],
      actions: [],
      eventsBefore: 0,
      events: 2,
      ...record,
    },
    ...overrides,
  };
}
