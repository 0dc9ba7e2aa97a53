import { describe, expect, it } from 'vitest';
import type { OrderState } from '../../../src/contract/order/state.ts';
import type { Insights } from '../../../src/contract/terms.ts';
import { eventToSend, nextEvent } from '../../../src/order/events.ts';
import { anOrder, answered, sinceStart } from '../../fixtures/orders.ts';
import { aClientOf, ENCRYPTED, payload, recordField, taken } from '../fake-temporal.ts';

const order = { orderId: 'order-1' };

const started = (state: OrderState, input: object = {}) => ({
  workflowExecutionStartedEventAttributes: {
    input: { payloads: [payload(input)] },
    memo: { fields: recordField(state) },
  },
});
const written = (state: OrderState) => ({
  workflowPropertiesModifiedEventAttributes: { upsertedMemo: { fields: recordField(state) } },
});
const UNDECIPHERABLE = { activityTaskCompletedEventAttributes: { result: { payloads: [ENCRYPTED] } } };

const RISKS = Array.from({ length: 30 }, (_, index) => `risk ${index} `.padEnd(80, '.'));
const INSIGHTS: Insights = {
  risk: Object.fromEntries(RISKS.map((description, key) => [key, { description, impact: 'low' }])),
};
const reviewed = { ...answered('review'), insights: INSIGHTS };

/** An open order with this record, and this history. */
function anOpenOrder(state: OrderState, events: object[]) {
  const client = aClientOf(state);
  client.temporal.fetchHistory.mockResolvedValue({ events });
  return client;
}

describe('the full view of an open order', () => {
  it('has every reading, portal action and journal entry, from the memos that were written', async () => {
    const state = anOrder('review');
    const history: object[] = [started(state)];
    const done = { kind: 'report-fraud', status: 'done', by: 'caller' } as const;
    for (let number = 1; number <= 30; number += 1) {
      const at = sinceStart(number);
      const decision = number % 2 ? 'pass' : 'review';
      state.attempts[0]?.readings.push({ decision, at, source: 'poll' });
      state.actions.push({ ...done, number, subject: `report-fraud:${number}`, requestedAt: at });
      state.journal = [...(state.journal ?? []), { at, what: 'override', because: `${number}` }];
      history.push(written(state));
    }
    const { orderScreening } = anOpenOrder(state, history);
    const { leftOut = {} } = await orderScreening.get(order);
    expect(Object.keys(leftOut)).toEqual(['actions', 'journal', 'readings']);
    const full = await orderScreening.get(order, { view: 'full' });
    expect(full).not.toHaveProperty('leftOut');
    expect(full.attempts).toHaveLength(1);
    expect(full.attempts[0]?.readings).toEqual(state.attempts[0]?.readings);
    expect(full.actions).toEqual(state.actions);
    expect(full.journal).toEqual(state.journal);
  });

  it('has each note whole and once, also from before the run began', async () => {
    const before = anOrder('review');
    const text = (number: number) => `${number} `.padEnd(1_000, 'x');
    const note = (number: number) => ({ at: sinceStart(7), what: 'note' as const, because: text(number) });
    before.journal = [1, 2].map(note);
    const now = { ...before, journal: Array.from({ length: 14 }, (_, index) => note(index + 1)) };
    const { orderScreening } = anOpenOrder(now, [
      started(before, { resume: { state: before } }),
      ...now.journal.map((_, index) => written({ ...now, journal: now.journal.slice(0, index + 1) })),
    ]);
    const { journal } = await orderScreening.get(order, { view: 'full' });
    expect(journal).toEqual(now.journal);
  });

  it('counts what the history does not have', async () => {
    const state = anOrder(reviewed);
    const { orderScreening } = anOpenOrder(state, [UNDECIPHERABLE, written(state)]);
    const { leftOut } = await orderScreening.get(order, { view: 'full' });
    expect(leftOut).toEqual((await orderScreening.get(order)).leftOut);
  });

  it('has what the run before handed on', async () => {
    const before = anOrder(reviewed, { events: 'all' });
    const { sequence } = nextEvent(before, 'order.decided', sinceStart(0));
    const now = structuredClone(before);
    now.phase = 'closed';
    const { orderScreening, temporal } = anOpenOrder(now, [
      started(before, { resume: { state: before } }),
      written(now),
    ]);
    const full = await orderScreening.get(order, { view: 'full' });
    expect(full.attempts[0]?.readings).toEqual(before.attempts[0]?.readings);
    expect(full.events.last).toMatchObject([{ sequence, type: 'order.decided' }]);
    expect(full).not.toHaveProperty('leftOut');
    temporal.start.mockResolvedValue(taken(undefined));
    await orderScreening.redeliver(order, { sequence });
    const sent = before.events.last?.map((kept) => eventToSend(before, kept));
    expect(temporal.start).toHaveBeenCalledWith('redeliverEvent', expect.objectContaining({ args: sent }));
  });
});
