/** Schemas shared by several answers. Workflow code imports only the types. */
import { z } from 'zod';
import { PORTAL_ACTIONS } from './portal/portal-kinds.ts';
import {
  ACTIONS,
  type AttentionCode,
  type Decision,
  type OperationName,
  ORDER_DECISIONS,
  ORDER_EVENT_TYPES,
  OVERRIDE_ACTIONS,
  PHASES,
  type ReadingSource,
} from './words.ts';

export const phaseSchema = z.enum(PHASES);
export const decisionSchema = z.enum(ORDER_DECISIONS);
export const actionSchema = z.enum(ACTIONS);
export const instantSchema = z.iso.datetime();
export const eventTypeSchema = z.enum(ORDER_EVENT_TYPES);

/**
 * The status of a portal action. `not-sent`: its time limit passed before it could be sent; `withdrawn`: a person withdrew it
 * before it was sent; `unconfirmed`: it may have succeeded.
 */
export const actionStatusSchema = z.enum([
  'queued',
  'running',
  'done',
  'refused',
  'unconfirmed',
  'too-late',
  'not-sent',
  'withdrawn',
]);

/** Marks the answer to a repeated request. */
export const repeated = z.literal(true).exactOptional().meta({
  description: 'The order has already answered a request with this `Idempotency-Key`: nothing was done again',
});

const fieldErrorSchema = z.object({ path: z.string(), message: z.string() });
/** An error of one field. `path` names the field; `message` describes the error and the fix, and never contains the value. */
export type FieldError = z.infer<typeof fieldErrorSchema>;
export const fieldErrors = z.array(fieldErrorSchema).exactOptional();

/** Additional data of an error. Plain data, since Temporal transports it as a failure's details. */
export const errorDetails = {
  errors: fieldErrors,
  cancelBy: instantSchema.exactOptional(),
  repeated,
  /** The screening service's answer to a refused portal action. */
  serviceCode: z.string().exactOptional(),
  serviceMessage: z.string().exactOptional(),
  action: actionSchema.exactOptional().meta({
    description: 'Of a checkout: what policy does until the same request, sent again, is answered',
  }),
  /** Beside `action`: no answer confirms that the order is recorded. */
  recorded: z.literal(false).exactOptional().meta({
    description: 'Of a checkout: nobody screens the order unless the same request is sent again',
  }),
};
export type OrderErrorDetails = z.infer<z.ZodObject<typeof errorDetails>>;

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

const enriched = {
  insights: insightsSchema.exactOptional(),
  /** The number of insights in the reply that were not stored. */
  insightsLeftOut: z.int().exactOptional(),
  /** The mode of the API key's account. */
  accountMode: z.enum(['live', 'test']).exactOptional(),
  passiveMode: z.boolean().exactOptional(),
  subStatus: z.string().exactOptional(),
};
/** Additional data in the screening service's answer, beside the decision. */
export interface Enriched extends z.infer<z.ZodObject<typeof enriched>> {
  insights?: Insights;
}

export const readingSchema = z.object({
  decision: decisionSchema,
  at: instantSchema,
  source: z.string(),
  ...enriched,
});
/** A decision read from the screening service, with the additional data of the answer. */
export interface Reading extends z.infer<typeof readingSchema>, Enriched {
  insights?: Insights;
  source: ReadingSource;
}

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

// The parts of an order.

export const failedTries = {
  tries: z.int().exactOptional().meta({ description: 'How many tries have failed; absent: none' }),
  lastError: z.string().exactOptional().meta({ description: 'Why the last try failed' }),
  nextTryAt: instantSchema
    .exactOptional()
    .meta({ description: 'When the next try is due; absent while one is running' }),
};
/** Failed tries of a running call. Temporal's server counts them, so only an order that is read has them. */
export type FailedTries = z.infer<z.ZodObject<typeof failedTries>>;

export const requestedAction = {
  kind: z.enum(PORTAL_ACTIONS),
  requestedAt: instantSchema,
  ...failedTries,
};
export const portalAction = {
  ...requestedAction,
  status: actionStatusSchema,
  transactionId: z.guid().exactOptional(),
  finishedAt: instantSchema.exactOptional(),
  /** The screening service's reply. */
  code: z.string().exactOptional(),
  message: z.string().exactOptional(),
  chargeback: chargebackEcho,
};
export const numberedAction = { ...portalAction, number: z.int() };

/** A portal action; `number` counts the order's from 1. */
export interface ActionRecord extends z.infer<z.ZodObject<typeof numberedAction>> {
  /** The request as one string. An identical request joins this action or gets its answer. */
  subject: string;
  /** Why it must stop after it started: a person withdrew it, or its time limit passed. */
  stop?: 'withdrawn' | 'overdue';
  /** A cancel's withdrawal: a different decision was read after it. */
  overtaken?: true;
  /** An activity that ended without a result, such as one that failed permanently, may have sent it. */
  maybeSent?: true;
  /** A cancel of the newest transaction: the index of the first one that it covers, too, if the same attempt made it. */
  coversFrom?: number;
  /** Order-screening refused it itself and sent nothing. */
  local?: true;
  by: 'caller' | 'policy';
  /** The request's `reason`, in the caller's own words. */
  because?: string;
}

export const attentionSchema = z.object({
  code: z.string(),
  words: z.string(),
  since: instantSchema,
  cause: z.object({
    operation: z.string().exactOptional(),
    transactionId: z.guid().exactOptional(),
    action: z.int().exactOptional(),
    attempt: z.int().exactOptional(),
  }),
});

/** An open issue. It ends when its cause ends, or when a person resolves it. */
export interface Attention extends z.infer<typeof attentionSchema> {
  code: AttentionCode;
  cause: AttentionCause;
}
/** The cause of an open issue: the call that failed, and its transaction, portal action or attempt. Fields are absent for the order as a whole. */
export type AttentionCause = Omit<z.infer<typeof attentionSchema>['cause'], 'operation'> & {
  operation?: OperationName;
};

export const overrideSchema = z.object({
  action: z.enum(OVERRIDE_ACTIONS),
  /** The person's own words. */
  reason: z.string(),
  by: z.literal('person'),
  at: instantSchema,
});
export type Override = z.infer<typeof overrideSchema>;

export const transaction = {
  id: z.guid(),
  /** The number of the attempt that created it. */
  attempt: z.int(),
  /** The invoice number in the create request. */
  invoiceNumber: z.string(),
  /** Earliest time at which the create was sent; `sentUntil` is the latest. */
  sentFrom: instantSchema,
  sentUntil: instantSchema,
  /** How the order found it: by the answer to the create, by a lookup by invoice number, or by adoption. */
  found: z.enum(['created', 'lookup', 'adopted']),
  /** The screening service's last decision, when it was read, and what triggered the read. Absent: none could be read. */
  decision: decisionSchema.exactOptional(),
  decidedAt: instantSchema.exactOptional(),
  source: z.string().exactOptional(),
  cancelBy: instantSchema,
};
/** A transaction at the screening service that belongs to the order. */
export interface OrderTransaction extends z.infer<z.ZodObject<typeof transaction>> {
  decision?: Decision;
  source?: ReadingSource;
}

export const leftOutSchema = z.partialRecord(
  z.enum([
    'attempts',
    'readings',
    'insights',
    'transactions',
    'attention',
    'actions',
    'journal',
    'events',
    /** Truncated texts, which end in `…`. */
    'texts',
  ]),
  z.int(),
);
/** The numbers of parts that an order's record leaves out. */
export type LeftOut = z.infer<typeof leftOutSchema>;
