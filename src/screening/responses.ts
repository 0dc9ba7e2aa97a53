import { z } from 'zod';
import { DECISIONS, type Decision } from './vocabulary.ts';

const insightSchema = z.object({
  name: z.string().exactOptional(),
  description: z.string().exactOptional(),
  kind: z.string().exactOptional(),
});
const weighedInsightSchema = insightSchema.extend({
  impact: z.enum(['low', 'medium', 'high']).exactOptional(),
});

/** What the service saw in a transaction: four groups, each keyed by an index ("Transaction response (enriched)"). */
export const insightsSchema = z.object({
  risk: z.record(z.string(), weighedInsightSchema).exactOptional(),
  trust: z.record(z.string(), weighedInsightSchema).exactOptional(),
  neutral: z.record(z.string(), insightSchema).exactOptional(),
  recommendation: z.record(z.string(), insightSchema).exactOptional(),
});
export type Insights = z.infer<typeof insightsSchema>;

/** The standard Transaction response as the service sends it. */
const standardResponseSchema = z.object({
  id: z.guid(),
  decision: z.enum(DECISIONS),
  message: z.string().exactOptional(),
});

/** The enriched Transaction response as the service sends it, in definition spelling. */
export const enrichedResponseSchema = standardResponseSchema.extend({
  account_mode: z.enum(['live', 'test']).exactOptional(),
  passive_mode: z.boolean().exactOptional(),
  sub_status: z.string().exactOptional(),
  insights: insightsSchema.exactOptional(),
});

/** A Transaction response as the project uses it: one spelling, only what fits the interface document. */
export interface TransactionResponse {
  id: string;
  decision: Decision;
  message?: string;
  accountMode?: 'live' | 'test';
  passiveMode?: boolean;
  subStatus?: string;
  insights?: Insights;
}

/** The portal's reply. `code` is a string in the definition and a number in replies; here always a number. */
export interface PortalReply {
  code: number;
  message?: string;
}

/** The reply of submit-chargeback, which echoes the submitted fields. */
export interface ChargebackReply extends PortalReply {
  chargeback?: Record<string, string>;
}
