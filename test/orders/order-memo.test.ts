import { encodeMapToPayloads } from '@temporalio/common/lib/internal-non-workflow/codec-helpers.js';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { describe, expect, it } from 'vitest';
import { createDataConverter } from '../../src/codec/index.ts';
import type { OrderState } from '../../src/contract/state.ts';
import type { Insights } from '../../src/contract/terms.ts';
import type { AttentionCode } from '../../src/contract/words.ts';
import { raiseAttention } from '../../src/orders/attention.ts';
import { recordOf } from '../../src/orders/bounded-record.ts';
import { bytesOf } from '../../src/orders/bounds.ts';
import { note } from '../../src/orders/journal.ts';
import type { Order } from '../../src/orders/order.ts';
import { memoOf, RECORD, recordIn, WrittenMemo } from '../../src/orders/order-memo.ts';
import { queueAction } from '../../src/orders/portal-records.ts';
import { addAttempt, newOrder } from '../../src/orders/record.ts';
import { aNewOrder, announced, anOrder, answered, aPolicy, screen, sinceStart } from '../fixtures/orders.ts';

const KIB = 1_024;
const KEY = { id: 'k1', key: Buffer.alloc(32, 7) };
const NAME = { orderId: 'order-1', integration: 'default' };

/** Bytes of an order's memo as Temporal stores it. */
async function encryptedBytes(state: OrderState): Promise<number> {
  const converter = loadDataConverter(createDataConverter([KEY]));
  const context = { type: 'workflow', namespace: 'default', workflowId: 'order:default:order-1' } as const;
  const { [RECORD]: payload } = await encodeMapToPayloads(converter, memoOf(recordOf(state)), context);
  const metadata = Object.entries(payload?.metadata ?? {});
  return metadata.reduce((sum, [key, value]) => sum + key.length + value.length, payload?.data?.length ?? 0);
}

/** As a reader gets it. */
function readBack(state: OrderState) {
  const record = recordIn(JSON.parse(JSON.stringify(memoOf(recordOf(state))[RECORD])), state);
  if (record === undefined) throw new Error('the memo was not read');
  return record;
}

const INSIGHTS: Insights = {
  trust: {
    '0': { description: 'The billing address matches the card', impact: 'medium' },
    '1': { description: 'The customer has ordered before', impact: 'low' },
  },
  neutral: { '0': { description: 'The order was placed on a phone' } },
};

describe('the record of an order', () => {
  it('takes less than 1.5 KiB encrypted for an order that passed', async () => {
    const order = anOrder({ ...answered('pass'), insights: INSIGHTS }, { events: 'all' });
    announced(order, 'order.decided', 0);
    expect(await encryptedBytes(order)).toBeLessThan(1.5 * KIB);
  });

  it('is read as it was written, but for what of the policy no reader needs', () => {
    const order = anOrder({ ...answered('review'), insights: INSIGHTS });
    const { policy, ...record } = recordOf(order);
    const { policy: kept, ...shown } = readBack(order);
    expect(shown).toEqual(record);
    expect(policy).toMatchObject(kept ?? {});
    expect(kept).toMatchObject({ cancelWindowMs: policy?.cancelWindowMs, passive: false });
  });

  it('keeps the answer of an attempt that the order has moved on from', () => {
    const order = anOrder({ kind: 'unanswered', reason: 'timeout' });
    order.decision = 'pass';
    order.action = 'proceed';
    order.phase = 'decided';
    delete order.reason;
    expect(readBack(order).attempts[0]?.answer).toEqual(order.attempts[0]?.answer);
  });

  it('has no card reference and no fingerprint', () => {
    const order = aNewOrder();
    addAttempt(order, { cardRef: 'card-7', fingerprint: 'f-7' }, sinceStart(1));
    screen(order, answered('pass'));
    expect(JSON.stringify(memoOf(recordOf(order)))).not.toMatch(/card-7|f-7/);
  });

  it('shows the strongest insights and counts the others', () => {
    const insights: Insights = {
      risk: Object.fromEntries(
        Array.from({ length: 50 }, (_, index) => [
          `${index}`,
          { description: `risk ${index} `.padEnd(80, '.'), impact: index === 42 ? 'high' : 'low' } as const,
        ]),
      ),
    };
    const { attempts, leftOut } = readBack(anOrder({ ...answered('fail'), insights }));
    const [reading] = attempts[0]?.readings ?? [];
    const kept = Object.values(reading?.insights?.risk ?? {});
    expect(kept.map(({ impact }) => impact)).toContain('high');
    expect(kept.length).toBeGreaterThan(1);
    expect(reading?.insightsLeftOut).toBe(50 - kept.length);
    expect(leftOut).toEqual({ insights: 50 - kept.length });
  });

  it('shows the newest readings, portal actions, journal entries and matters, and counts the others', () => {
    const order = anOrderOf(answered('review'));
    const { state } = order;
    for (let at = 1; at <= 20; at += 1) {
      state.attempts[0]?.readings.push({ decision: 'review', at: sinceStart(at), source: 'poll' });
      note(order, { what: 'override', because: `reason ${at}` }, { key: 'ops' });
      addDone(state, at);
    }
    const record = readBack(state);
    expect(record.attempts[0]?.readings.at(-1)?.at).toBe(sinceStart(20));
    expect(record.attempts[0]?.readingsLeftOut).toBe(21 - (record.attempts[0]?.readings.length ?? 0));
    expect(record.actions.at(-1)?.number).toBe(20);
    expect(record.journal?.at(-1)?.because).toBe('reason 20');
    expect(record.leftOut).toEqual({
      readings: 21 - (record.attempts[0]?.readings.length ?? 0),
      actions: 20 - record.actions.length,
      journal: 20 - (record.journal?.length ?? 0),
    });
  });

  it('always shows portal actions that are under way', () => {
    const { state } = anOrderOf(answered('review'));
    queueAction(state, { kind: 'cancel' }, 'caller', sinceStart(0));
    for (let at = 1; at <= 30; at += 1) addDone(state, at);
    expect(readBack(state).actions[0]).toMatchObject({ number: 1, kind: 'cancel', status: 'queued' });
  });

  it('stays under 16 KiB encrypted, whatever becomes of an order', async () => {
    const order = anOrderOf(answered('review'));
    const { state } = order;
    const wide = '€'.repeat(1_000);
    for (let number = 2; number <= 300; number += 1) {
      addAttempt(state, { fingerprint: 'f'.repeat(64) }, sinceStart(number));
      const id = `7b1e3c5e-1111-4f0e-9a53-${String(number).padStart(12, '0')}`;
      screen(state, { ...answered('fail', id), message: wide, insights: INSIGHTS, subStatus: wide });
    }
    for (let at = 0; at < 200; at += 1) {
      note(order, { what: 'override', because: wide }, { key: '€'.repeat(100), actor: '€'.repeat(100) });
      queueAction(
        state,
        { kind: 'chargeback', reason_code: `${at}`, due_date: wide, notes: wide },
        'caller',
        order.now,
      );
    }
    for (const code of CODES) {
      for (let action = 0; action < 30; action += 1) raiseAttention(state, code, wide, { action }, order.now);
    }
    expect(bytesOf(state)).toBeGreaterThan(400_000);
    expect(await encryptedBytes(state)).toBeLessThan(16 * KIB);
    const { leftOut, attempts } = readBack(state);
    expect(attempts.at(-1)?.number).toBe(300);
    expect(leftOut).toMatchObject({ attempts: 300 - attempts.length, texts: expect.any(Number) });
  });
});

describe('a memo is written', () => {
  /** Whether it is written once more after the change. */
  const isWritten = (before: OrderState, change: (order: OrderState) => void) => {
    const memo = new WrittenMemo();
    expect(memo.isNews(recordOf(before))).toBe(true);
    const after = structuredClone(before);
    expect(memo.isNews(recordOf(after))).toBe(false);
    change(after);
    return memo.isNews(recordOf(after));
  };
  const events = (delivered: number, waiting: number) => ({ sequence: 2, delivered, waiting });

  it.each<[string, (order: OrderState) => void]>([
    ['a decision', (order) => screen(order, answered('pass'))],
    ['an event', (order) => announced(order, 'order.attention', 0)],
    ['an event that is given up', (order) => Object.assign(order, { events: events(1, 0) })],
    ['a read that a person asked for', (order) => read(order, 'operator')],
    ['a read after a webhook', (order) => read(order, 'webhook')],
  ])('for %s', (_what, change) => {
    expect(isWritten({ ...anOrder('review'), events: events(1, 1) }, change)).toBe(true);
  });

  it.each<[string, (order: OrderState) => void]>([
    ['an event that arrives', (order) => Object.assign(order, { events: events(2, 0) })],
    [
      'the read before the window closes',
      (order) => {
        order.passed.push('recheck');
        for (const one of order.transactions)
          Object.assign(one, { decidedAt: sinceStart(99), source: 'recheck' });
        read(order, 'recheck');
      },
    ],
  ])('not for %s', (_what, change) => {
    expect(isWritten({ ...anOrder('review'), events: events(1, 1) }, change)).toBe(false);
  });

  function read(order: OrderState, source: 'operator' | 'webhook' | 'recheck'): void {
    order.lastRead = { at: sinceStart(99), source };
  }
});

describe('a memo that is no record', () => {
  it.each([
    undefined,
    null,
    'text',
    [],
    {},
    { attempts: [] },
    { ...memoOf(recordOf(anOrder('pass')))[RECORD], phase: 'gone' },
    { ...memoOf(recordOf(anOrder('pass')))[RECORD], attempts: [{}] },
    { ...memoOf(recordOf(anOrder('pass')))[RECORD], transactions: 'none' },
    { ...memoOf(recordOf(anOrder('pass')))[RECORD], attention: [{ words: 1 }] },
    { ...memoOf(recordOf(anOrder('pass')))[RECORD], events: { sequence: 'many' } },
  ])('is not read: %#', (memo) => {
    expect(recordIn(memo, NAME)).toBeUndefined();
  });
});

const CODES: readonly AttentionCode[] = [
  'portal-unconfirmed',
  'portal-refused',
  'portal-not-sent',
  'wrong-key',
];

function anOrderOf(outcome: Parameters<typeof screen>[1]): Order {
  const order = newOrder({ ...NAME, transaction: {} }, sinceStart(0));
  order.state.policy = aPolicy();
  screen(order.state, outcome);
  return order;
}

/** Adds a portal action that is done. */
function addDone(state: OrderState, at: number): void {
  const fields = { kind: 'customer-code', customerCode: `code-${at}` } as const;
  queueAction(state, fields, 'caller', sinceStart(at)).status = 'done';
}
