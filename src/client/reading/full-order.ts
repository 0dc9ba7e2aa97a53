/**
 * Reads the parts of an order that its record leaves out: from the result of a completed order, else from the history, which has every
 * memo, activity result and event that was sent. Needs no worker.
 */
import type { Payload } from '@temporalio/common';
import { z } from 'zod';
import type { BackgroundActivities } from '../../contract/activity-contract.ts';
import { orderOfWorkflowId } from '../../contract/ids.ts';
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
  // A payload that can't be decrypted leaves a gap, which the record counts.
  const read = (payloads: Payload[] | null | undefined, hasEvents = false): Promise<unknown> =>
    decoded(context, workflowId, payloads?.[0]).catch((error: unknown) => {
      if (hasEvents) traces.unread = error;
    });
  for (const event of events ?? []) {
    const started = event.workflowExecutionStartedEventAttributes;
    const { state } = inputSchema.safeParse(await read(started?.input?.payloads, true)).data?.resume ?? {};
    if (state !== undefined) {
      traces.records.push(state);
      traces.policy = state.policy;
      for (const kept of state.events.last ?? []) {
        const sent = eventToSend(state, kept);
        traces.events.push({ ...sent, data: { ...sent.data, ...kept.data } });
      }
    }
    const memo = started?.memo ?? event.workflowPropertiesModifiedEventAttributes?.upsertedMemo;
    const written = memo?.fields?.[RECORD];
    const record = recordIn(await read(written && [written]), order);
    if (record !== undefined) traces.records.push(record);
    const scheduled = event.activityTaskScheduledEventAttributes;
    const delivery = scheduled?.activityType?.name === DELIVERY ? scheduled.input?.payloads : undefined;
    traces.events.push(...(deliverySchema.safeParse(await read(delivery, true)).data ?? []));
    // The result of a local activity is in a marker.
    const result =
      event.activityTaskCompletedEventAttributes?.result ??
      event.markerRecordedEventAttributes?.details?.result;
    const { outcome, policy } = resultSchema.safeParse(await read(result?.payloads)).data ?? {};
    if (outcome !== undefined && countOf(outcome.insights) > 0) traces.said.push(outcome);
    if (policy !== undefined) traces.policy = policy;
  }
  return traces;
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
