/** Schemas of the answers about one order. The client library's types and the API's documentation are derived from them. */
import { z } from 'zod';
import type { OrderErrorCode } from './errors.ts';
import { PORTAL_ACTIONS } from './portal/portal-kinds.ts';
import {
  actionSchema,
  chargebackEcho,
  decisionSchema,
  eventTypeSchema,
  fieldErrors,
  handled,
  insightsSchema,
  instantSchema,
  orderName,
  phaseSchema,
  repeated,
  standing,
} from './terms.ts';
import { DECISIONS, GATEWAY_RESULTS } from './words.ts';

const wouldBe = actionSchema
  .exactOptional()
  .meta({ description: 'Passive integrations: the action that the decision would have led to' });

export const checkoutAnswerSchema = z.object({
  ...standing,
  message: z.string().exactOptional().meta({ description: 'A message for the customer, on decline' }),
  insights: insightsSchema.exactOptional(),
  wouldBe,
  reason: z.string().exactOptional().meta({ description: 'Why there is no better decision, as a slug' }),
  warnings: fieldErrors.meta({
    description: 'Fields of the transaction that were not sent, or that are probably a mistake',
  }),
});
/** The answer to a checkout. `fingerprint` is the answered request's, so that the client can detect an `attempt-mismatch`. */
export type CheckoutAnswer = z.infer<typeof checkoutAnswerSchema> & { fingerprint?: string };

export const gatewayResultAnswerSchema = z.object({
  ...standing,
  wouldBe,
  result: z.enum(GATEWAY_RESULTS),
});
/** `result` is the recorded result. */
export type GatewayResultAnswer = z.infer<typeof gatewayResultAnswerSchema>;

export const portalAnswerSchema = z.object({
  number: z
    .int()
    .exactOptional()
    .meta({ description: "The action's number on the order's record, by which it can be withdrawn" }),
  orderId: z.string().exactOptional(),
  integration: z.string(),
  kind: z.enum(PORTAL_ACTIONS),
  status: z.enum(['done', 'requested', 'withdrawn']),
  transactionId: z.guid().exactOptional(),
  code: z.string().exactOptional(),
  message: z.string().exactOptional(),
  chargeback: chargebackEcho,
  at: instantSchema.exactOptional(),
  phase: phaseSchema.exactOptional(),
  action: actionSchema.exactOptional(),
  repeated,
});
/** `requested`: the action is still running. `code` and `message` are the screening service’s reply; absent when nothing was sent. */
export type PortalAnswer = z.infer<typeof portalAnswerSchema>;

export const overrideAnswerSchema = z.object({
  ...standing,
  decision: decisionSchema.meta({ description: "The screening service's decision, unchanged" }),
  number: z
    .int()
    .exactOptional()
    .meta({ description: 'The number of the portal action that cancels the transaction' }),
  notCanceled: z.string().exactOptional().meta({
    description: 'Why the transaction is not canceled, as a slug; the override still applies',
  }),
  repeated,
});
export type OverrideAnswer = Omit<z.infer<typeof overrideAnswerSchema>, 'notCanceled'> & {
  notCanceled?: OrderErrorCode;
};

export const redeliveryAnswerSchema = z.object({
  ...orderName,
  sequence: z.int(),
  type: eventTypeSchema,
  status: z.enum(['delivered', 'requested']),
});
/** `requested`: the delivery is still running. */
export type RedeliveryAnswer = z.infer<typeof redeliveryAnswerSchema>;

export const requestedSchema = z.object({ status: z.literal('requested') });
export const acknowledgedSchema = z.object({ cleared: z.int(), repeated });
/** The answer to a note, an assignment or a snooze: who handles the order, and until when it is snoozed. */
export const handlingSchema = z.object({ ...orderName, ...handled, repeated });
export type HandlingAnswer = z.infer<typeof handlingSchema>;
export type AcknowledgeAnswer = z.infer<typeof acknowledgedSchema>;
export const cardRefSchema = z.object({
  cardRef: z.string(),
  expiresAt: instantSchema,
  warnings: fieldErrors.meta({ description: 'Fields of the card that were not kept' }),
});
export type CardRefAnswer = z.infer<typeof cardRefSchema>;

export const transactionSchema = z.object({
  id: z.guid(),
  decision: z.enum(DECISIONS),
  message: z
    .string()
    .exactOptional()
    .meta({ description: "The account's message for the customer; only with `fail`" }),
  order: z.object(orderName).exactOptional().meta({
    description: 'The order that owns the transaction; up to 2 s behind. Absent if no order owns it',
  }),
});
/** A transaction as the screening service reports it now. */
export type TransactionStatus = z.infer<typeof transactionSchema>;
