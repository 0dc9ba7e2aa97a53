import { describe, expect, it } from 'vitest';
import type { OrderEvent, OrderEventType } from '../../src/orders/messages.ts';
import type { OrderState } from '../../src/orders/state.ts';
import { anOrderState } from '../fixtures/orders.ts';
import { aPolicy, DAY, HOUR, MINUTE } from '../fixtures/policies.ts';
import { differences, type Seen } from './compare.ts';
import { fold } from './fold.ts';
import type { Entry, Happening } from './log.ts';
import { expected } from './refusals.ts';

const START = Date.parse('2026-03-02T10:00:00.000Z');
const CANCEL_BY = START + 5 * DAY;

function told(...types: OrderEventType[]): OrderEvent[] {
  return types.map((type, index) => ({
    id: `event-${index + 1}`,
    type,
    orderId: 'o',
    integration: 'default',
    sequence: index + 1,
    occurredAt: new Date(START).toISOString(),
    data: { attention: [] },
  }));
}

function created(decision: 'pass' | 'review' | 'fail'): Entry {
  const result = { is: 'answered', tx: 'tx-1', decision, adopted: false } as const;
  return { kind: 'screened', by: 'checkout', result, lookedFirst: false, at: START };
}

const then = (ms: number, happening: Happening): Entry => ({ ...happening, at: START + ms });
const read = (ms: number, got: 'pass' | 'review' | 'fail'): Entry =>
  then(ms, { kind: 'read', tx: 'tx-1', got, by: 'poll' });
const canceled = (ms: number): Entry =>
  then(ms, {
    kind: 'portal',
    action: 'cancel',
    tx: 'tx-1',
    result: 'done',
    forced: false,
    subject: 'cancel',
  });

function anOrder(more: Partial<OrderState> = {}): OrderState {
  const attempt = {
    number: 1,
    startedAt: new Date(START).toISOString(),
    cancelBy: new Date(CANCEL_BY).toISOString(),
    transactionId: 'tx-1',
    transactionIds: ['tx-1'],
    decision: 'pass',
    readings: [],
    rescreens: 0,
    screenUntil: new Date(START + DAY).toISOString(),
  } as const;
  return anOrderState({
    phaseSince: new Date(START).toISOString(),
    startedAt: new Date(START).toISOString(),
    attempts: [{ ...attempt, transactionIds: ['tx-1'], readings: [] }],
    events: { sequence: 1, delivered: 1, waiting: 0 },
    ...more,
  });
}

function compare(log: Entry[], seen: Partial<Seen>, ms: number, policy = aPolicy()): string[] {
  const now = START + ms;
  const order = { state: anOrder(), events: told('order.decided'), completed: false, ...seen };
  return differences(fold(policy, START, log, now), order, log, now);
}

const attention = (code: 'review-unresolved' | 'no-decision') => ({
  attention: [{ code, words: 'x', since: new Date(START).toISOString() }],
});
const inReview = { phase: 'review', decision: 'review', action: 'hold' } as const;
const failed = { phase: 'decided', decision: 'fail', action: 'cancel' } as const;

describe('the comparison with the model', () => {
  it('finds nothing where an order does as the design says', () => {
    expect(compare([created('pass')], {}, HOUR)).toEqual([]);
    expect(compare([created('review')], { state: anOrder(inReview) }, MINUTE)).toEqual([]);
  });

  it.each<[string, Entry[], Partial<Seen>, number, RegExp]>([
    ['a wrong phase', [created('pass')], { state: anOrder({ phase: 'review' }) }, HOUR, /^phase/],
    [
      'a wrong action',
      [created('review')],
      { state: anOrder({ ...inReview, action: 'proceed' }) },
      MINUTE,
      /^action/,
    ],
    ['a decision that a reading changed', [created('pass'), read(HOUR, 'review')], {}, HOUR, /^decision/m],
    [
      'a window from another moment',
      [created('pass')],
      {
        state: anOrder({
          attempts: anOrder().attempts.map((one) => ({
            ...one,
            cancelBy: new Date(CANCEL_BY + MINUTE).toISOString(),
          })),
        }),
      },
      HOUR,
      /^cancelBy/,
    ],
    [
      'a review that nobody is told of',
      [created('review'), read(4.6 * DAY, 'review')],
      { state: anOrder(inReview) },
      4.6 * DAY,
      /attention is missing: review unresolved/,
    ],
    [
      'attention for nothing',
      [created('pass')],
      { state: anOrder(attention('no-decision')) },
      HOUR,
      /without a cause/,
    ],
    ['an order that never closes', [created('pass'), read(4.5 * DAY, 'pass')], {}, 6 * DAY, /^completed/m],
    ['a lost event', [created('pass')], { events: [] }, HOUR, /^events/],
    [
      'a gap in the events',
      [created('pass')],
      { events: told('order.decided').map((one) => ({ ...one, sequence: 2 })) },
      HOUR,
      /sequence/,
    ],
    [
      'an event after the end',
      [created('pass')],
      { events: told('order.closed', 'order.decided') },
      HOUR,
      /after order.closed/,
    ],
    [
      'a review that isn’t polled',
      [created('review')],
      { state: anOrder(inReview) },
      2 * HOUR,
      /was not read/,
    ],
    ['a pass that isn’t read once more', [created('pass')], {}, 4.8 * DAY, /once more/],
    ['a hint that isn’t followed', [created('pass'), then(MINUTE, { kind: 'hint' })], {}, HOUR, /a hint/],
    [
      'a cancel that the policy wants and nobody sends',
      [created('pass'), read(HOUR, 'fail')],
      { state: anOrder(failed), events: told('order.decided', 'order.decision_changed') },
      2 * HOUR,
      /was not sent/,
    ],
    ['a cancel that nobody asked for', [created('pass'), canceled(HOUR)], {}, HOUR, /nobody asked/],
    [
      'a cancel in the last stretch',
      [
        created('pass'),
        read(4.5 * DAY, 'pass'),
        then(5 * DAY - 20_000, { kind: 'cancel' }),
        canceled(5 * DAY - 15_000),
      ],
      {},
      5 * DAY - 10_000,
      /after the last moment/,
    ],
    [
      'a cancel that is sent twice',
      [created('pass'), then(HOUR, { kind: 'cancel' }), canceled(HOUR), canceled(HOUR + 1)],
      {},
      2 * HOUR,
      /made again/,
    ],
    [
      'a second create without a look',
      [
        then(0, { kind: 'screened', by: 'checkout', result: { is: 'unanswered' }, lookedFirst: false }),
        created('pass'),
      ],
      {},
      HOUR,
      /without a look/,
    ],
    [
      'a create after the decision',
      [created('pass'), { ...created('pass'), at: START + HOUR }],
      {},
      HOUR,
      /screened again/,
    ],
    [
      'a reading after the cancel',
      [created('pass'), then(HOUR, { kind: 'cancel' }), canceled(HOUR), read(3 * HOUR, 'pass')],
      {},
      4 * HOUR,
      /read in phase canceled/,
    ],
  ])('finds %s', (_case, log, seen, ms, words) => {
    expect(compare(log, seen, ms).join('\n')).toMatch(words);
  });

  it('finds a portal call in passive mode', () => {
    const log = [created('pass'), then(HOUR, { kind: 'cancel' }), canceled(HOUR)];
    expect(compare(log, {}, 2 * HOUR, aPolicy({ passive: true })).join()).toMatch(/passive/);
  });
});

describe('the model', () => {
  it.each([
    [{ do: 'cancel' }, HOUR, 'taken'],
    [{ do: 'cancel' }, 5 * DAY - 20_000, 'cancel-window-closed'],
    [{ do: 'cancel', tx: 'another' }, HOUR, 'unknown-transaction'],
    [{ do: 'retry', attempt: 2, otherContent: false }, HOUR, 'retry-out-of-turn'],
    [{ do: 'retry', attempt: 1, otherContent: true }, HOUR, 'attempt-mismatch'],
    [{ do: 'decision', attempt: 2, otherContent: false }, HOUR, 'unknown-attempt'],
    [{ do: 'gateway-result', attempt: 1, result: 'pass' }, HOUR, 'refused'],
  ] as const)('answers %o after %i ms of a pass with %s', (request, ms, code) => {
    expect(expected(fold(aPolicy(), START, [created('pass')], START + ms), request, START + ms)).toBe(code);
  });
});
