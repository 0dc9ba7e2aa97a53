/** Schemas shared by several answers. Workflow code imports only the types. */
import { z } from 'zod';
import { ACTIONS, ORDER_DECISIONS, ORDER_EVENT_TYPES, PHASES } from './words.ts';

export const phaseSchema = z.enum(PHASES);
export const decisionSchema = z.enum(ORDER_DECISIONS);
export const actionSchema = z.enum(ACTIONS);
export const instantSchema = z.iso.datetime();
export const eventTypeSchema = z.enum(ORDER_EVENT_TYPES);

/**
 * The status of a portal action. `not-sent`: its time limit passed before it could be sent; `withdrawn`: a person withdrew it
 * before it was sent; `unconfirmed`: it may have succeeded.
 */
export const ACTION_STATUSES = [
  'queued',
  'running',
  'done',
  'refused',
  'unconfirmed',
  'too-late',
  'not-sent',
  'withdrawn',
] as const;
export type ActionStatus = (typeof ACTION_STATUSES)[number];

export const chargebackEcho = z
  .record(z.string(), z.string())
  .exactOptional()
  .meta({ description: 'The chargeback as the screening service echoed it' });

const insightSchema = z.object({
  name: z.string().exactOptional(),
  description: z.string().exactOptional(),
  kind: z.string().exactOptional(),
});
export const weighedInsightSchema = insightSchema.extend({
  impact: z.enum(['low', 'medium', 'high']).exactOptional(),
});

/** The screening service's insights about a transaction: four groups, each keyed by an index. */
export const insightsSchema = z.object({
  risk: z.record(z.string(), weighedInsightSchema).exactOptional(),
  trust: z.record(z.string(), weighedInsightSchema).exactOptional(),
  neutral: z.record(z.string(), insightSchema).exactOptional(),
  recommendation: z.record(z.string(), insightSchema).exactOptional(),
});
export type Insight = z.infer<typeof weighedInsightSchema>;
export type Insights = Partial<Record<keyof z.infer<typeof insightsSchema>, Record<string, Insight>>>;

/** What people have set on an order. */
export const handled = {
  assignee: z.string().exactOptional().meta({ description: 'The person who handles the order' }),
  snoozedUntil: instantSchema
    .exactOptional()
    .meta({ description: 'Until then the order needs no attention, unless something new does' }),
};

export const orderName = { orderId: z.string(), integration: z.string() };

/** The state of an order's attempt, included in every answer about one. */
export const standing = {
  ...orderName,
  attempt: z.int(),
  decision: decisionSchema,
  action: actionSchema,
  phase: phaseSchema,
  transactionId: z.guid().exactOptional(),
  cancelBy: instantSchema.exactOptional(),
};
