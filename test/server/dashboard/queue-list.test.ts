/** Which orders are in the queue, why, and in which lists. */
import { describe, expect, it } from 'vitest';
import type { ActionRecord } from '../../../src/contract/order/state.ts';
import { countTabs, entryOf, filtered, snapshotOf } from '../../../src/server/dashboard/queue/queue-list.ts';
import { aNewOrder, anOrder, MINUTE, START, sinceStart } from '../../fixtures/orders.ts';
import { anOrderSummary } from '../api/fake-order-screening.ts';
import { aQueuedOrder, inHours } from './support.ts';

const entry = (...order: Parameters<typeof aQueuedOrder>) => entryOf(aQueuedOrder(...order), Date.now());

const action = (minutes: number, status: ActionRecord['status'] = 'running'): ActionRecord => ({
  ...{ number: 1, kind: 'cancel', subject: 'x', status, by: 'policy' },
  requestedAt: inHours(-minutes / 60),
});
const attention = [{ code: 'cancel-due' as const, words: 'Refund by hand.', since: inHours(-1), cause: {} }];
const override = { action: 'proceed', reason: 'x', by: 'person', at: inHours(-1) } as const;
const decided = { attempts: anOrder('review').attempts.map((attempt) => ({ ...attempt, override })) };

describe('the queue', () => {
  it('has an order in review, with its strongest insight', () => {
    const { attempts } = anOrder('review');
    const risk = {
      '1': { description: 'A new address', impact: 'low' },
      '2': { description: 'Card used elsewhere', impact: 'high' },
    } as const;
    for (const reading of attempts[0]?.readings ?? []) reading.insights = { risk };
    const { tabs, band, why } = entry({}, { attempts });
    expect({ tabs, band, why }).toEqual({
      ...{ tabs: ['soon', 'all'], band: 'now', why: { words: 'Card used elsewhere' } },
    });
    expect(entry().why.words).toBe('In review at the screening service');
  });

  it('a decided order leaves the queue, unless it needs attention or its cancel is stuck', () => {
    expect(entry({}, decided).tabs).toEqual([]);
    expect(entry({ phase: 'decided' }).tabs).toEqual([]);
    expect(entry({ phase: 'screening' }, { ...decided, phase: 'screening' }).tabs).toEqual([]);
    expect(entry({ needsAttention: true, attention }, decided).tabs).toContain('attention');
    expect(entry({ phase: 'decided' }, { ...decided, actions: [action(25)] })).toMatchObject({
      tabs: ['soon', 'stuck', 'all'],
      why: { flag: 'Stuck', words: 'Cancel requested 25 min ago, not done yet' },
    });
  });

  it('a portal action that has just been requested is not stuck, nor one that has ended', () => {
    const tabsOf = (record: ActionRecord) => entry({}, { actions: [record] }).tabs;
    expect(tabsOf(action(0.5))).not.toContain('stuck');
    expect(tabsOf(action(25, 'done'))).not.toContain('stuck');
    expect(tabsOf(action(25, 'queued'))).toContain('stuck');
  });

  it('a portal action that failed is stuck at once, with its tries, the last error and the next try', () => {
    const failed = { tries: 9, lastError: 'HTTP 503.', nextTryAt: inHours(0.04) };
    const { tabs, why } = entry({}, { actions: [{ ...action(1), ...failed }] });
    expect(tabs).toContain('stuck');
    const words = 'Cancel failed 9 times (HTTP 503), next try in 2 min';
    expect(why).toEqual({ flag: 'Stuck', words });
  });

  it('a snoozed order is in its own list only', () => {
    expect(entry({ snoozedUntil: inHours(2) }).tabs).toEqual(['snoozed']);
    // The record keeps a snooze that is over until a worker ends it.
    expect(entry({}, { snoozedUntil: inHours(-2) }).tabs).toEqual(['soon', 'all']);
  });

  it('the reason for attention is in its words, and says how many more there are', () => {
    const more = [...attention, ...attention];
    expect(entry({ needsAttention: true, attention: more }).why).toEqual({
      flag: 'Attention',
      words: 'Refund by hand (and 1 more)',
    });
    expect(entry({ problem: 'record-unreadable' }).why.words).toContain('PAYLOAD_KEYS');
    expect(entry({ needsAttention: true }).why.words).toBe('Open the order to see the reason');
  });

  it('has orders that are held in an outage, but none whose checkout still runs', () => {
    const summary = anOrderSummary({ phase: 'screening', decision: 'pending', needsAttention: false });
    const held = anOrder({ kind: 'unanswered', reason: 'timeout', unseenSince: sinceStart(0) });
    const words = expect.stringMatching(/^Waiting .* for the screening service \(timeout\)$/);
    expect(entryOf({ summary, state: held }, Date.now()).why).toEqual({ flag: 'Held', words });
    const state = aNewOrder();
    expect(entryOf({ summary, state }, START + 9_000).tabs).toEqual([]);
    // While no worker runs, no answer is recorded.
    expect(entryOf({ summary, state }, START + 6 * MINUTE)).toMatchObject({
      tabs: expect.arrayContaining(['all', 'held']),
      why: { flag: 'Held', words: 'Waiting 6 min for a worker' },
    });
  });

  it('has a terminated order only while its transaction can be canceled', () => {
    const closedAt = inHours(-1);
    expect(entry({ closedAt })).toMatchObject({
      tabs: ['soon', 'all'],
      why: { words: 'The workflow was terminated during the review' },
    });
    expect(entry({ closedAt, cancelBy: inHours(-0.5) }).tabs).toEqual([]);
  });

  it('an adopted order has the age since it was screened', () => {
    const screenedAt = inHours(-50);
    expect(entry({}, { adopted: { transactionId: 'x', screenedAt } }).since).toBe(screenedAt);
  });

  it('counts of tabs and bands are of the whole list, and overdue means the same in both', () => {
    const orders = [-2, 0.6, 11, 13, 100, undefined].map((hours, index) => {
      const { cancelBy: _none, ...summary } = anOrderSummary({ orderId: `${index}`, integration: 'shop' });
      return { summary: { ...summary, ...(hours !== undefined && { cancelBy: inHours(hours) }) } };
    });
    const { entries, next } = snapshotOf(orders.toReversed(), false, Date.now());
    expect(entries.map(({ band }) => band)).toEqual(['overdue', 'now', 'now', 'soon', 'later', 'none']);
    expect(countTabs(entries, { list: 'soon' })).toEqual({
      ...{ overdue: 1, soon: 2, attention: 0, stuck: 0, held: 0, all: 6, snoozed: 0 },
    });
    expect(countTabs(entries, { list: 'all', integration: 'other' }).all).toBe(0);
    expect(filtered(entries, { list: 'overdue' }).map(({ summary }) => summary.orderId)).toEqual(['0']);
    expect(next?.orderId).toBe('1');
  });

  it.each([
    [{ decision: 'fail' }, 0],
    [{ decision: 'review', phase: 'review', integration: 'default' }, 1],
    [{ amountFrom: 125.5 }, 1],
    [{ amountTo: 125.5 }, 0],
  ] as const)('the filters %o leave %i orders', (filters, count) => {
    const { entries } = snapshotOf([aQueuedOrder()], false, Date.now());
    expect(filtered(entries, { list: 'all', ...filters })).toHaveLength(count);
  });
});
