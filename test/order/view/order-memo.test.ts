import { encodeMapToPayloads } from '@temporalio/common/lib/internal-non-workflow/codec-helpers.js';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { describe, expect, it } from 'vitest';
import { createDataConverter } from '../../../src/codec/index.ts';
import type { OrderState } from '../../../src/contract/order/state.ts';
import type { Insights } from '../../../src/contract/terms.ts';
import type { AttentionCode } from '../../../src/contract/words.ts';
import { raiseAttention } from '../../../src/order/attention.ts';
import { bytesOf } from '../../../src/order/bounds.ts';
import { applyReading } from '../../../src/order/decide.ts';
import { note } from '../../../src/order/journal.ts';
import type { Order } from '../../../src/order/order.ts';
import { queueAction } from '../../../src/order/portal/portal-records.ts';
import { addAttempt, newOrder } from '../../../src/order/record.ts';
import { recordOf } from '../../../src/order/view/bounded-record.ts';
import { memoOf, RECORD, recordIn, writtenMemo } from '../../../src/order/view/order-memo.ts';
import {
  aNewOrder,
  announced,
  anOrder,
  answered,
  aPolicy,
  screen,
  sinceStart,
} from '../../fixtures/orders.ts';

const KIB = 1_024;
const KEY = { id: 'k1', key: Buffer.alloc(32, 7) };
const CODES: readonly AttentionCode[] = ['portal-unconfirmed', 'portal-refused', 'portal-not-sent'];
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

  it('has no card reference and no fingerprint', () => {
    const order = aNewOrder();
    addAttempt(order, { cardRef: 'card-7', fingerprint: 'f-7' }, sinceStart(1));
    screen(order, answered('pass'));
    expect(JSON.stringify(memoOf(recordOf(order)))).not.toMatch(/card-7|f-7/);
  });

  it('shows the newest readings, portal actions, journal entries and matters, and counts the others', () => {
    const order = anOrderOf(answered('review'));
    const { state } = order;
    queueAction(state, { kind: 'cancel' }, 'caller', sinceStart(0));
    for (let at = 1; at <= 20; at += 1) {
      state.attempts[0]?.readings.push({ decision: 'review', at: sinceStart(at), source: 'poll' });
      note(order, { what: 'override', because: `reason ${at}` }, { key: 'ops' });
      const code = { kind: 'customer-code', customerCode: `code-${at}` } as const;
      queueAction(state, code, 'caller', sinceStart(at)).status = 'done';
    }
    const { attempts, actions, journal = [], leftOut } = readBack(state);
    const { readings = [], readingsLeftOut } = attempts[0] ?? {};
    const newest = [readings.at(-1)?.at, actions.at(-1)?.number, journal.at(-1)?.because];
    expect(newest).toEqual([sinceStart(20), 21, 'reason 20']);
    expect(readingsLeftOut).toBe(21 - readings.length);
    // It is under way.
    expect(actions[0]).toMatchObject({ number: 1, kind: 'cancel', status: 'queued' });
    const [left, done, noted] = [21 - readings.length, 21 - actions.length, 20 - journal.length];
    expect(leftOut).toEqual({ readings: left, actions: done, journal: noted });
  });

  it('has of all readings only the newest insights, the strongest that fit, and counts the others', () => {
    const order = anOrder({ ...answered('review'), insights: INSIGHTS });
    const later: Insights = {
      risk: {
        '0': { description: 'd'.repeat(250), impact: 'low' },
        '1': { description: 'D'.repeat(250), impact: 'high' },
      },
    };
    const read = { kind: 'read', decision: 'pass', insights: later } as const;
    applyReading(order, read, 'poll', sinceStart(1));
    const { attempts, leftOut } = readBack(order);
    const [first, second] = attempts[0]?.readings ?? [];
    expect([first?.insights, first?.insightsLeftOut]).toEqual([undefined, 3]);
    expect([second?.insights, second?.insightsLeftOut]).toEqual([{ risk: { '1': later.risk?.['1'] } }, 1]);
    expect(leftOut).toEqual({ insights: 4 });
  });

  it('stays under 16 KiB encrypted, whatever becomes of an order', async () => {
    const order = anOrderOf(answered('review'));
    const { state } = order;
    const wide = '€'.repeat(1_000);
    for (let number = 2; number <= 60; number += 1) {
      addAttempt(state, { fingerprint: 'f'.repeat(64) }, sinceStart(number));
      const id = `7b1e3c5e-1111-4f0e-9a53-${String(number).padStart(12, '0')}`;
      screen(state, { ...answered('fail', id), message: wide, insights: INSIGHTS, subStatus: wide });
      note(order, { what: 'override', because: wide }, { key: '€'.repeat(100), actor: '€'.repeat(100) });
      const fields = { reason_code: `${number}`, due_date: wide, notes: wide };
      queueAction(state, { kind: 'chargeback', ...fields }, 'caller', order.now);
      for (const code of CODES) raiseAttention(state, code, wide, { action: number }, order.now);
    }
    expect(bytesOf(state)).toBeGreaterThan(400_000);
    expect(await encryptedBytes(state)).toBeLessThan(16 * KIB);
    const { leftOut, attempts } = readBack(state);
    expect(attempts.at(-1)?.number).toBe(60);
    expect(leftOut).toMatchObject({ attempts: 60 - attempts.length, texts: expect.any(Number) });
  });
});

describe('a memo is written', () => {
  /** Whether it is written once more after the change. */
  const isWritten = (before: OrderState, change: (order: OrderState) => void) => {
    const memo = writtenMemo();
    expect(memo(recordOf(before))).toEqual(memoOf(recordOf(before)));
    const after = structuredClone(before);
    expect(memo(recordOf(after))).toBeUndefined();
    change(after);
    return memo(recordOf(after)) !== undefined;
  };
  const events = (delivered: number, waiting: number) => ({ sequence: 2, delivered, waiting });

  const read = (source: 'operator' | 'webhook') => (order: OrderState) => {
    order.lastRead = { at: sinceStart(99), source };
    for (const one of order.transactions) Object.assign(one, { decidedAt: sinceStart(99), source });
  };

  it.each<[boolean, string, (order: OrderState) => void]>([
    [true, 'a decision', (order) => screen(order, answered('pass'))],
    [true, 'an event', (order) => announced(order, 'order.attention', 0)],
    [true, 'an event that is given up', (order) => Object.assign(order, { events: events(1, 0) })],
    [true, 'a read that a person asked for', read('operator')],
    [true, 'a read after a webhook', read('webhook')],
    [false, 'an event that arrives', (order) => Object.assign(order, { events: events(2, 0) })],
    [false, 'the start of the last read', (order) => void order.passed.push('recheck')],
  ])('%s for %s', (written, _what, change) => {
    expect(isWritten({ ...anOrder('review'), events: events(1, 1) }, change)).toBe(written);
  });
});

const PASSED = memoOf(recordOf(anOrder('pass')))[RECORD];
describe('a memo that is no record', () => {
  it.each([
    undefined,
    'text',
    [],
    { attempts: [] },
    { ...PASSED, phase: 'gone' },
    { ...PASSED, attempts: [{}] },
    { ...PASSED, transactions: 'none' },
    { ...PASSED, attention: [{ words: 1 }] },
    { ...PASSED, events: { sequence: 'many' } },
  ])('is not read: %#', (memo) => {
    expect(recordIn(memo, NAME)).toBeUndefined();
  });
});

function anOrderOf(outcome: Parameters<typeof screen>[1]): Order {
  const order = newOrder({ ...NAME, transaction: {} }, sinceStart(0));
  order.state.policy = aPolicy();
  screen(order.state, outcome);
  return order;
}
