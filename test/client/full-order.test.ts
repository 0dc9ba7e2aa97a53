import { defaultPayloadConverter } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import type { OrderState } from '../../src/contract/state.ts';
import type { Insights } from '../../src/contract/terms.ts';
import { recordOf } from '../../src/orders/bounded-record.ts';
import { eventToSend, nextEvent } from '../../src/orders/events.ts';
import { memoOf } from '../../src/orders/order-memo.ts';
import { anOrder, answered, sinceStart } from '../fixtures/orders.ts';
import { aClient, described } from './fake-temporal.ts';

const order = { orderId: 'order-1' };
const payload = (value: unknown) => defaultPayloadConverter.toPayload(value);
const memo = (state: OrderState) => ({ record: payload(memoOf(recordOf(state)).record) });

const started = (state: OrderState, input: object = {}) => ({
  workflowExecutionStartedEventAttributes: {
    input: { payloads: [payload(input)] },
    memo: { fields: memo(state) },
  },
});
const written = (state: OrderState) => ({
  workflowPropertiesModifiedEventAttributes: { upsertedMemo: { fields: memo(state) } },
});
const marker = (result: object) => ({
  markerRecordedEventAttributes: { details: { result: { payloads: [payload(result)] } } },
});
const delivery = (events: object[]) => ({
  activityTaskScheduledEventAttributes: {
    activityType: { name: 'deliverEvents' },
    input: { payloads: [payload(events)] },
  },
});
const UNDECIPHERABLE = {
  activityTaskCompletedEventAttributes: {
    result: {
      payloads: [{ metadata: { encoding: Buffer.from('binary/encrypted') }, data: Buffer.alloc(60) }],
    },
  },
};

const INSIGHTS: Insights = {
  risk: Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [
      `${index}`,
      { description: `risk ${index} `.padEnd(80, '.'), impact: 'low' },
    ]),
  ),
};

/** An open order with this record, and this history. */
function anOpenOrder(state: OrderState, events: object[]) {
  const client = aClient();
  client.temporal.describe.mockResolvedValue(described('RUNNING', state.phase));
  client.temporal.record.mockResolvedValue(state);
  client.temporal.fetchHistory.mockResolvedValue({ events });
  return client;
}

describe('the full view of an open order', () => {
  it('has every insight, from what the activity returned', async () => {
    const outcome = { ...answered('review'), insights: INSIGHTS };
    const state = anOrder(outcome);
    const { orderScreening } = anOpenOrder(state, [
      started(state),
      UNDECIPHERABLE,
      marker({ policy: state.policy, rules: 1, outcome }),
      written(state),
    ]);
    expect(await orderScreening.get(order)).toMatchObject({ leftOut: { insights: expect.any(Number) } });
    const full = await orderScreening.get(order, { view: 'full' });
    expect(full).not.toHaveProperty('leftOut');
    expect(full.attempts[0]?.readings).toEqual(state.attempts[0]?.readings);
    expect(full.policy).toEqual(state.policy);
  });

  it('has every reading, portal action and journal entry, from the memos that were written', async () => {
    const state = anOrder('review');
    const history: object[] = [started(state)];
    for (let at = 1; at <= 30; at += 1) {
      state.attempts[0]?.readings.push({
        decision: at % 2 ? 'pass' : 'review',
        at: sinceStart(at),
        source: 'poll',
      });
      state.actions.push({
        number: at,
        kind: 'report-fraud',
        subject: `report-fraud:${at}`,
        status: 'done',
        by: 'caller',
        requestedAt: sinceStart(at),
      });
      state.journal = [...(state.journal ?? []), { at: sinceStart(at), what: 'override', because: `${at}` }];
      history.push(written(state));
    }
    const { orderScreening } = anOpenOrder(state, history);
    expect(Object.keys((await orderScreening.get(order)).leftOut ?? {})).toEqual([
      'actions',
      'journal',
      'readings',
    ]);
    const full = await orderScreening.get(order, { view: 'full' });
    expect(full).not.toHaveProperty('leftOut');
    expect(full.attempts).toEqual(
      recordOf(state).attempts.map((one) => ({ ...full.attempts[0], number: one.number })),
    );
    expect(full.attempts[0]?.readings).toEqual(state.attempts[0]?.readings);
    expect(full.actions).toEqual(state.actions);
    expect(full.journal).toEqual(state.journal);
  });

  it('counts what the history does not have', async () => {
    const state = anOrder({ ...answered('review'), insights: INSIGHTS });
    const { orderScreening } = anOpenOrder(state, [UNDECIPHERABLE, written(state)]);
    const { leftOut } = await orderScreening.get(order, { view: 'full' });
    expect(leftOut).toEqual((await orderScreening.get(order)).leftOut);
  });

  it('has what the run before handed on', async () => {
    const before = anOrder({ ...answered('review'), insights: INSIGHTS }, { events: 'all' });
    nextEvent(before, 'order.decided', sinceStart(0));
    const now = structuredClone(before);
    now.phase = 'closed';
    const { orderScreening, temporal } = anOpenOrder(now, [
      started(before, { resume: { state: before } }),
      written(now),
    ]);
    const full = await orderScreening.get(order, { view: 'full' });
    expect(full.attempts[0]?.readings).toEqual(before.attempts[0]?.readings);
    expect(full.events.last).toMatchObject([{ sequence: 1, type: 'order.decided' }]);
    expect(full).not.toHaveProperty('leftOut');
    temporal.start.mockResolvedValue({ result: async () => undefined });
    await orderScreening.redeliver(order, { sequence: 1 });
    const sent = before.events.last?.map((kept) => eventToSend(before, kept));
    expect(temporal.start).toHaveBeenCalledWith('redeliverEvent', expect.objectContaining({ args: sent }));
  });

  it('has the events that were sent, each to be sent again as it was', async () => {
    const state = anOrder({ ...answered('review'), insights: INSIGHTS }, { events: 'all' });
    const sent = eventToSend(state, nextEvent(state, 'order.decided', sinceStart(0)));
    const { orderScreening, temporal } = anOpenOrder(state, [delivery([sent]), written(state)]);
    const full = await orderScreening.get(order, { view: 'full' });
    expect(full.events.last).toMatchObject([
      { sequence: 1, type: 'order.decided', data: { decision: 'review' } },
    ]);
    temporal.start.mockResolvedValue({ result: async () => undefined });
    await orderScreening.redeliver(order, { sequence: 1 });
    expect(temporal.start).toHaveBeenCalledWith('redeliverEvent', expect.objectContaining({ args: [sent] }));
    await expect(orderScreening.redeliver(order, { sequence: 2 })).rejects.toMatchObject({
      code: 'unknown-event',
    });
  });
});
