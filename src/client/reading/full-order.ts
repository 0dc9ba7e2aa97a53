/**
 * Reads the parts of an order that its record leaves out: from the result of a completed order, else from the history, which has every
 * memo, activity result and event that was sent. Needs no worker.
 */
import type { Payload } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import { z } from 'zod';
import type { BackgroundActivities } from '../../contract/activity-contract.ts';
import { type OrderKey, orderOfWorkflowId } from '../../contract/ids.ts';
import type { OrderRecord } from '../../contract/order/order-record.ts';
import type { Policy } from '../../contract/policy.ts';
import { insightsSchema } from '../../contract/terms.ts';
import { ORDER_DECISIONS } from '../../contract/words.ts';
import { eventToSend } from '../../order/events.ts';
import { countOf } from '../../order/view/bounded-record.ts';
import { isOrderRecord, RECORD, recordIn } from '../../order/view/order-memo.ts';
import { callTemporal, READ_WITHIN_MS } from '../temporal-errors.ts';
import type { ClientContext } from '../types.ts';
import { decoded } from './decode.ts';
import type { DescribedOrder } from './describe-order.ts';
import type { SentEvent, Traces } from './merged-records.ts';

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
  for (const [payload, add] of (events ?? []).flatMap(payloadsIn)) {
    // A payload that can't be decrypted leaves a gap, which the record counts.
    if (!payload) continue;
    const value = await decoded(context, workflowId, payload).catch((error: unknown) => {
      if (add === addInput || add === addDelivery) traces.unread = error;
    });
    add(traces, value, order);
  }
  return traces;
}

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
type Add = (traces: Traces, value: unknown, order: OrderKey) => void;

const DELIVERY: keyof BackgroundActivities = 'deliverEvents';

/** Returns the payloads of an event that have traces, each with the function that adds them. */
function payloadsIn(event: HistoryEvent): [Payload | null | undefined, Add][] {
  const started = event.workflowExecutionStartedEventAttributes;
  const modified = event.workflowPropertiesModifiedEventAttributes;
  const scheduled = event.activityTaskScheduledEventAttributes;
  const completed = event.activityTaskCompletedEventAttributes;
  const isDelivery = scheduled?.activityType?.name === DELIVERY;
  return [
    [started?.input?.payloads?.[0], addInput],
    [started?.memo?.fields?.[RECORD], addRecord],
    [modified?.upsertedMemo?.fields?.[RECORD], addRecord],
    [isDelivery ? scheduled?.input?.payloads?.[0] : undefined, addDelivery],
    [completed?.result?.payloads?.[0], addResult],
    // The result of a local activity is in a marker.
    [event.markerRecordedEventAttributes?.details?.result?.payloads?.[0], addResult],
  ];
}

const inputSchema = z.object({ resume: z.object({ state: z.custom<OrderRecord>(isOrderRecord) }) });
const resultSchema = z.object({
  outcome: z
    .object({
      decision: z.enum(ORDER_DECISIONS),
      insights: insightsSchema,
      insightsLeftOut: z.int().exactOptional(),
    })
    .optional()
    .catch(undefined),
  policy: z
    .custom<Policy>(
      (value) => z.object({ cancelWindowMs: z.number(), passive: z.boolean() }).safeParse(value).success,
    )
    .optional()
    .catch(undefined),
});
const isSent = z.looseObject({
  sequence: z.int(),
  type: z.string(),
  data: z.looseObject({ phase: z.string(), decision: z.string(), action: z.string(), attempt: z.int() }),
});
const deliverySchema = z.array(z.custom<SentEvent>((value) => isSent.safeParse(value).success));

function addRecord(traces: Traces, value: unknown, order: OrderKey): void {
  const record = recordIn(value, order);
  if (record !== undefined) traces.records.push(record);
}

function addInput(traces: Traces, value: unknown): void {
  const { state } = inputSchema.safeParse(value).data?.resume ?? {};
  if (state === undefined) return;
  traces.records.push(state);
  for (const kept of state.events.last ?? []) {
    const sent = eventToSend(state, kept);
    traces.events.push({ ...sent, data: { ...sent.data, ...kept.data } });
  }
  if (state.policy !== undefined) traces.policy = state.policy;
}

function addDelivery(traces: Traces, value: unknown): void {
  const { data = [] } = deliverySchema.safeParse(value);
  const known = new Set(traces.events.map(({ sequence }) => sequence));
  traces.events.push(...data.filter(({ sequence }) => !known.has(sequence)));
}

function addResult(traces: Traces, value: unknown): void {
  const { outcome, policy } = resultSchema.safeParse(value).data ?? {};
  if (outcome !== undefined && countOf(outcome.insights) > 0) traces.said.push(outcome);
  if (policy !== undefined) traces.policy = policy;
}
