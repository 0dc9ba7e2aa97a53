import { describe, expect, it } from 'vitest';
import { checksOf } from '../../../src/api/queue/timeline.ts';
import { anOrder, anOrderState, DAY, MINUTE, START, sinceStart } from '../../fixtures/orders.ts';

const NOW = Date.parse('2026-03-02T10:00:00.000Z');
const EARLIER = '2026-03-02T09:00:00.000Z';
const LATER = '2026-03-02T09:30:00.000Z';

describe('the last check', () => {
  it('is the newer one of what the order has on record and of the poll', () => {
    const state = anOrderState({ phase: 'closed', lastRead: { at: EARLIER, source: 'webhook' } });
    const polled = { state, poll: { lastAt: LATER, answered: true } };
    expect(checksOf(polled, NOW).last).toEqual({ at: LATER, source: 'poll', answered: true });
    const newer = anOrderState({ phase: 'closed', lastRead: { at: LATER, source: 'webhook' } });
    const hinted = { state: newer, poll: { lastAt: EARLIER, answered: true } };
    expect(checksOf(hinted, NOW).last).toEqual({ at: LATER, source: 'webhook', answered: true });
  });

  it('says when the service did not answer the poll', () => {
    expect(checksOf({ poll: { lastAt: LATER, answered: false } }, NOW).last).toMatchObject({
      answered: false,
    });
  });

  it('is unknown for an order that nobody has read', () => {
    expect(checksOf({ state: anOrderState({ phase: 'closed' }) }, NOW)).toEqual({});
  });
});

describe('the next check', () => {
  const pass = () => anOrder('pass');

  it('is the nearest of the poll and of what the order does by itself', () => {
    const poll = { nextAt: sinceStart(15 * MINUTE) };
    expect(checksOf({ state: anOrder('review'), poll }, START).next).toEqual({
      at: poll.nextAt,
      source: 'poll',
    });
    const at = sinceStart(4.5 * DAY);
    expect(checksOf({ state: pass() }, START).next).toEqual({ at, source: 'recheck' });
  });

  it('is none when it lies behind, or was dealt with', () => {
    expect(checksOf({ state: pass() }, START + 4.6 * DAY).next).toBeUndefined();
    expect(checksOf({ state: { ...pass(), passed: ['recheck'] } }, START).next).toBeUndefined();
  });
});
