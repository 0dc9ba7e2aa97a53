/** Decodes payloads of Temporal's API. */
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { z } from 'zod';
import { ACTIONS, type Instant, instant, ORDER_DECISIONS, PHASES } from '../../contract/words.ts';
import { orderAttributes } from '../../order/view/search-attributes.ts';
import { callTemporal, READ_WITHIN_MS, recordUnreadable } from '../temporal-errors.ts';
import type { ClientContext } from '../types.ts';

/** Decodes a payload; undefined without one. @throws OrderScreeningError `record-unreadable` */
export async function decoded(
  { client }: Pick<ClientContext, 'client'>,
  workflowId: string,
  payload: Payload | null | undefined,
): Promise<unknown> {
  if (!payload) return undefined;
  const { loadedDataConverter, namespace } = client.options;
  const { payloadCodecs, payloadConverter } = loadedDataConverter;
  const context = { type: 'workflow', namespace, workflowId } as const;
  let payloads = [payload];
  try {
    for (const codec of payloadCodecs.toReversed()) payloads = await codec.decode(payloads, context);
    return payloads[0] && payloadConverter.fromPayload(payloads[0]);
  } catch (cause) {
    throw recordUnreadable(cause);
  }
}

/** Reads the input with which an order was started, or continued as new. */
export async function inputOf(
  { client }: Pick<ClientContext, 'client'>,
  { workflowId, runId }: { workflowId: string; runId: string },
): Promise<unknown> {
  const { namespace } = client.options;
  const { history } = await callTemporal(client, READ_WITHIN_MS, () =>
    client.workflowService.getWorkflowExecutionHistory({
      namespace,
      execution: { workflowId, runId },
      maximumPageSize: 1,
    }),
  );
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  return decoded({ client }, workflowId, started?.input?.payloads?.[0]);
}

const attributesSchema = z.object({
  phase: z.enum(PHASES).optional().catch(undefined),
  decision: z.enum(ORDER_DECISIONS).optional().catch(undefined),
  action: z.enum(ACTIONS).optional().catch(undefined),
  cancelBy: z.coerce
    .date()
    .transform((at): Instant => instant(at.getTime()))
    .optional()
    .catch(undefined),
  needsAttention: z.boolean().optional().catch(undefined),
  transactionId: z.array(z.string()).catch([]),
  invoiceNumber: z.array(z.string()).catch([]),
  amount: z.number().optional().catch(undefined),
  reviewHours: z.number().optional().catch(undefined),
});

/** Search attributes of an order. Missing ones, and values of other releases, are undefined. */
export type Attributes = z.output<typeof attributesSchema>;

/** Reads search attributes, which are never encrypted. */
export function attributesIn(fields: { [name: string]: Payload } | null | undefined): Attributes {
  const values = Object.entries(orderAttributes).map(([key, { name }]) => {
    const payload = fields?.[name];
    return [key, payload && defaultPayloadConverter.fromPayload<unknown>(payload)];
  });
  return attributesSchema.parse(Object.fromEntries(values));
}
