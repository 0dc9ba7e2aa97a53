/**
 * Reads the parts of an order that its record leaves out, from the history of an order that is not completed: it has every memo,
 * activity result and event that was sent. Needs no worker.
 */
import type { Payload } from '@temporalio/common';
import { z } from 'zod';
import type { BackgroundActivities } from '../../contract/activity-contract.ts';
import { orderOfWorkflowId } from '../../contract/ids.ts';
import type { OrderEvent } from '../../contract/messages.ts';
import type { OrderRecord, RecordedAttempt } from '../../contract/order/order-record.ts';
import type { KeptEvent, OrderEventData, Reading } from '../../contract/order/state.ts';
import type { Policy } from '../../contract/policy.ts';
import { type Insights, insightsSchema, type LeftOut } from '../../contract/terms.ts';
import { type JournalEntry, millis, ORDER_DECISIONS } from '../../contract/words.ts';
import { eventToSend, KEPT_EVENTS } from '../../order/events.ts';
import { countOf } from '../../order/view/bounded-record.ts';
import { isOrderRecord, RECORD, recordIn } from '../../order/view/order-memo.ts';
import { callTemporal, READ_WITHIN_MS } from '../temporal-errors.ts';
import type { ClientContext } from '../types.ts';
import { decoded } from './decode.ts';
import type { DescribedOrder } from './describe-order.ts';

/** The parts of an order found in a run's history. */
interface Traces {
  /** Each record that was written, oldest first, beginning with the state that the previous run handed over. */
  records: OrderRecord[];
  /** The insights of the screening service. */
  said: Said[];
  /** The events that were sent, or are being sent. */
  events: SentEvent[];
  policy?: Policy;
  /** Why a payload that may have events can't be decrypted. */
  unread?: unknown;
}

const inputSchema = z.object({ resume: z.object({ state: z.custom<OrderRecord>(isOrderRecord) }) });
/** A decision with its insights, as an activity returned it. */
const saidSchema = z.object({
  decision: z.enum(ORDER_DECISIONS),
  insights: insightsSchema,
  insightsLeftOut: z.int().exactOptional(),
});
type Said = z.infer<typeof saidSchema>;
const resultSchema = z.object({
  outcome: saidSchema.optional().catch(undefined),
  policy: z
    .custom<Policy>(
      (value) => z.object({ cancelWindowMs: z.number(), passive: z.boolean() }).safeParse(value).success,
    )
    .optional()
    .catch(undefined),
});
type SentEvent = OrderEvent & { data: OrderEventData };
const isSent = z.looseObject({
  sequence: z.int(),
  type: z.string(),
  data: z.looseObject({ phase: z.string(), decision: z.string(), action: z.string(), attempt: z.int() }),
});
const deliverySchema = z.array(z.custom<SentEvent>((value) => isSent.safeParse(value).success));

const DELIVERY: keyof BackgroundActivities = 'deliverEvents';

/** Reads what a run's history has of an order that is not completed. */
export async function tracesOf(
  context: ClientContext,
  { workflowId, runId }: DescribedOrder,
): Promise<Traces> {
  const { client } = context;
  const { events } = await callTemporal(client, READ_WITHIN_MS, () =>
    client.workflow.getHandle(workflowId, runId).fetchHistory(),
  );
  const traces: Traces = { records: [], said: [], events: [] };
  const order = orderOfWorkflowId(workflowId);
  if (order === undefined) return traces;
  // A payload that can't be decrypted leaves a gap, which the record counts. Most events have none, so nothing is parsed for them.
  const read = async <Value>(
    schema: z.ZodType<Value>,
    payload: Payload | null | undefined,
    hasEvents = false,
  ): Promise<Value | undefined> => {
    if (!payload) return undefined;
    const value = await decoded(context, workflowId, payload).catch((error: unknown) => {
      if (hasEvents) traces.unread = error;
    });
    return schema.safeParse(value).data;
  };
  for (const event of events ?? []) {
    const started = event.workflowExecutionStartedEventAttributes;
    const { state } = (await read(inputSchema, started?.input?.payloads?.[0], true))?.resume ?? {};
    if (state !== undefined) {
      traces.records.push(state);
      traces.policy = state.policy;
      for (const kept of state.events.last ?? []) {
        const sent = eventToSend(state, kept);
        traces.events.push({ ...sent, data: { ...sent.data, ...kept.data } });
      }
    }
    const memo = started?.memo ?? event.workflowPropertiesModifiedEventAttributes?.upsertedMemo;
    const record = recordIn(await read(z.unknown(), memo?.fields?.[RECORD]), order);
    if (record !== undefined) traces.records.push(record);
    const scheduled = event.activityTaskScheduledEventAttributes;
    const delivery = scheduled?.activityType?.name === DELIVERY ? scheduled.input?.payloads?.[0] : undefined;
    traces.events.push(...((await read(deliverySchema, delivery, true)) ?? []));
    // The result of a local activity is in a marker.
    const result =
      event.activityTaskCompletedEventAttributes?.result ??
      event.markerRecordedEventAttributes?.details?.result;
    const { outcome, policy } = (await read(resultSchema, result?.payloads?.[0])) ?? {};
    if (outcome !== undefined && countOf(outcome.insights) > 0) traces.said.push(outcome);
    if (policy !== undefined) traces.policy = policy;
  }
  return traces;
}

const LISTS = ['attempts', 'transactions', 'actions', 'journal'] as const;

/** Returns the record with the entries of earlier ones; `leftOut` counts the entries that none of them has. */
export async function withHistory(
  context: ClientContext,
  run: DescribedOrder,
  newest: OrderRecord,
): Promise<OrderRecord> {
  const { records, said, events, policy } = await tracesOf(context, run);
  const all = [...records, newest];
  const { attempts, missing: insights } = mergedAttempts(
    all.flatMap((one) => one.attempts),
    said,
  );
  const transactions = all.flatMap((one) => one.transactions);
  const actions = all.flatMap((one) => one.actions);
  const found = {
    attempts,
    transactions: byKey(transactions, ({ id }) => id),
    actions: byKey(actions, ({ number }) => number),
    journal: mergedJournal(all.flatMap((one) => one.journal ?? [])),
  };
  const last = byKey(events, ({ sequence }) => sequence).map(keptEvent);
  const { leftOut = {}, journal: _shortened, ...facts } = newest;
  const missing: LeftOut = {
    ...leftOut,
    readings: attempts.reduce((sum, { readingsLeftOut = 0 }) => sum + readingsLeftOut, 0),
    insights,
    events: (leftOut.events ?? 0) - last.length,
  };
  for (const list of LISTS) {
    missing[list] = (newest[list] ?? []).length + (leftOut[list] ?? 0) - found[list].length;
  }
  const { journal, ...lists } = found;
  const stillLeftOut: LeftOut = Object.fromEntries(Object.entries(missing).filter(([, count]) => count > 0));
  return {
    ...facts,
    ...lists,
    ...(journal.length > 0 && { journal }),
    ...(policy !== undefined && { policy }),
    events: { ...facts.events, ...(last.length > 0 && { last: last.slice(-KEPT_EVENTS) }) },
    ...(Object.keys(stillLeftOut).length > 0 && { leftOut: stillLeftOut }),
  };
}

/** Returns the last element of each key, or those that `replaces` prefers, in the order of the keys. */
function byKey<T>(
  list: readonly T[],
  keyOf: (one: T) => string | number,
  replaces: (one: T, before: T) => boolean = () => true,
): T[] {
  const found = new Map<string | number, T>();
  for (const one of list) {
    const before = found.get(keyOf(one));
    if (before === undefined || replaces(one, before)) found.set(keyOf(one), one);
  }
  return [...found.values()];
}

/** Characters of a text that every record has. */
const ALWAYS_SHOWN = 60;

/** Removes duplicates: several records have the same entry, some with a shortened text. */
function mergedJournal(entries: readonly JournalEntry[]): JournalEntry[] {
  return byKey(
    entries,
    (entry) => JSON.stringify({ ...entry, because: entry.because?.slice(0, ALWAYS_SHOWN) }),
    ({ because: one = '' }, { because: before = '' }) => one.length > before.length,
  ).sort((one, other) => millis(one.at) - millis(other.at));
}

/** Merges the versions of each attempt. `missing`: how many insights could not be found. */
function mergedAttempts(
  versions: readonly RecordedAttempt[],
  said: readonly Said[],
): { attempts: RecordedAttempt[]; missing: number } {
  let missing = 0;
  const attempts = byKey(versions, ({ number }) => number).map((attempt) => {
    const { readingsLeftOut: _before, ...facts } = attempt;
    // Each version has the newest readings, and counts the ones before.
    const placed = versions
      .filter(({ number }) => number === attempt.number)
      .flatMap(({ readings, readingsLeftOut = 0 }) =>
        readings.map((reading, index) => ({ reading, place: readingsLeftOut + index })),
      );
    const merged = byKey(
      placed,
      ({ place }) => place,
      (one, before) => one.reading.at !== before.reading.at || insightsIn(one) >= insightsIn(before),
    ).sort((one, other) => one.place - other.place);
    const readings = merged.map(({ reading }) => {
      const whole = withInsights(reading, said);
      if (whole === undefined) missing += reading.insightsLeftOut ?? 0;
      return whole ?? reading;
    });
    const gaps = (merged.at(-1)?.place ?? -1) + 1 - merged.length;
    return { ...facts, readings, ...(gaps > 0 && { readingsLeftOut: gaps }) };
  });
  return { attempts: attempts.sort((a, b) => a.number - b.number), missing };
}

const insightsIn = ({ reading }: { reading: Reading }): number => countOf(reading.insights ?? {});

const GROUPS = ['risk', 'trust', 'neutral', 'recommendation'] as const;

/** Completes the insights of a reading from the matching activity result: same decision and count, and it contains these insights. */
function withInsights(reading: Reading, said: readonly Said[]): Reading | undefined {
  const { insights = {}, insightsLeftOut = 0, ...facts } = reading;
  if (insightsLeftOut === 0) return reading;
  const count = countOf(insights) + insightsLeftOut;
  const whole = said.find(
    (one) =>
      one.decision === reading.decision &&
      countOf(one.insights) + (one.insightsLeftOut ?? 0) === count &&
      contains(one.insights, insights),
  );
  if (whole === undefined) return undefined;
  const { decision: _same, ...found } = whole;
  return { ...facts, ...found };
}

function contains(whole: Insights, part: Insights): boolean {
  return GROUPS.every((group) =>
    Object.entries(part[group] ?? {}).every(([key, { impact, kind }]) => {
      const same = whole[group]?.[key];
      return same !== undefined && same.impact === impact && same.kind === kind;
    }),
  );
}

/** Returns an event as an order keeps it: without the screening service's insights and modes. */
function keptEvent({ sequence, type, occurredAt, data }: SentEvent): KeptEvent {
  const { insights: _said, insightsLeftOut: _count, accountMode: _mode, ...rest } = data;
  const { passiveMode: _passive, subStatus: _status, ...short } = rest;
  return { sequence, type, occurredAt, data: short };
}
