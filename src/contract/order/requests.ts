/**
 * What callers and people ask of an order. The API's routes, the commands and some of the client library's checks are derived from these
 * schemas; workflow code imports their types only. Portal actions are in `portal/`.
 */
import { z } from 'zod';
import { actorSchema, attemptSchema, momentSchema, reasonSchema, text, wordsSchema } from '../fields.ts';
import { GATEWAY_RESULTS, NOTE_LIMIT, OVERRIDE_ACTIONS } from '../words.ts';

export const gatewayResultSchema = z.strictObject({
  /** Required once the order has several attempts. */
  attempt: attemptSchema.exactOptional(),
  result: z.enum(GATEWAY_RESULTS, { error: 'must be "pass", "fail" or "error"' }),
  authcode: text(128).exactOptional(),
  transactionId: text(128).exactOptional().meta({ description: "The gateway's own transaction id" }),
});

/** Resolves what needs attention. */
export const acknowledgeSchema = z.strictObject({
  reason: reasonSchema,
  until: momentSchema.exactOptional().meta({
    description: 'Resolves only attention raised until then, such as the newest `since` that was read',
  }),
});
export type AcknowledgeRequest = z.infer<typeof acknowledgeSchema>;

/** A person's decision that overrides the screening service's. */
export const overrideSchema = z.strictObject({
  action: z.enum(OVERRIDE_ACTIONS, { error: `must be ${OVERRIDE_ACTIONS.join(' or ')}` }),
  reason: reasonSchema,
});
export type OverrideRequest = z.infer<typeof overrideSchema>;

/** What people who handle an order write on it: notes, an assignee, a snooze. */
export const HANDLING = {
  note: {
    summary: "Add a note to the order's journal",
    schema: z.strictObject({ text: wordsSchema(NOTE_LIMIT).meta({ description: 'The note' }) }),
    example: { text: 'called the customer, no answer' },
  },
  assign: {
    summary: 'Assign the order to a person, or to nobody',
    schema: z.strictObject({
      assignee: actorSchema.nullable().meta({ description: 'The person who handles it; `null`: nobody' }),
    }),
    example: { assignee: 'ada@example.com' },
  },
  snooze: {
    summary: "Put the order's attention off, at most until the end of its cancel window",
    schema: z.strictObject({
      until: momentSchema.meta({ description: 'A future time, at most the end of the cancel window' }),
      note: reasonSchema.meta({ description: 'The reason, for the journal' }),
    }),
    example: { until: '2030-01-31T12:00:00Z', note: 'the customer calls back' },
  },
} as const;
export type Handling = keyof typeof HANDLING;
export const HANDLINGS = Object.keys(HANDLING) as Handling[];
export interface HandlingRequests {
  note: z.infer<typeof HANDLING.note.schema>;
  /** Without an assignee: to nobody. */
  assign: Partial<z.infer<typeof HANDLING.assign.schema>>;
  snooze: z.infer<typeof HANDLING.snooze.schema>;
}
/** The same table, typed for code that handles any kind. */
export const handlingDefinition: (kind: Handling) => {
  summary: string;
  schema: z.ZodObject<Record<string, z.ZodType>>;
  example: Record<string, string>;
} = (kind) => HANDLING[kind];
