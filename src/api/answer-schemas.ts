/** What the API answers, for its documentation. */
import { z } from 'zod';
import { SCOPES } from '../config/index.ts';
import type { ActionStatus } from '../orders/state.ts';
import {
  ACTIONS,
  DECISIONS,
  GATEWAY_RESULTS,
  INTEGRATION_WORKFLOWS,
  JOURNALED,
  ORDER_DECISIONS,
  ORDER_EVENTS,
  OVERRIDE_ACTIONS,
  PHASES,
  PORTAL_ACTIONS,
} from '../orders/words.ts';
import { insightsSchema } from '../screening/index.ts';
import { afterEndSchema } from './after-end-schema.ts';

export const phaseSchema = z.enum(PHASES);
export const decisionSchema = z.enum(ORDER_DECISIONS);
const actionSchema = z.enum(ACTIONS);
const instantSchema = z.iso.datetime();
const eventTypeSchema = z.enum(Object.keys(ORDER_EVENTS));

const ACTION_STATUSES = [
  'queued',
  'running',
  'done',
  'refused',
  'unconfirmed',
  'too-late',
  'not-sent',
  'withdrawn',
] as const satisfies readonly ActionStatus[];
const chargebackEcho = z
  .record(z.string(), z.string())
  .optional()
  .meta({ description: 'The chargeback as the service echoed it' });

const orderName = { orderId: z.string(), integration: z.string() };

export const checkoutAnswerSchema = z.object({
  ...orderName,
  attempt: z.int(),
  transactionId: z.guid().optional(),
  decision: decisionSchema,
  action: actionSchema,
  phase: phaseSchema,
  message: z.string().optional().meta({ description: 'What the customer may be told on decline' }),
  insights: insightsSchema.optional(),
  cancelBy: instantSchema.optional(),
  wouldBe: actionSchema
    .optional()
    .meta({ description: 'Passive integrations: the action it would have been' }),
  reason: z.string().optional().meta({ description: 'Why there is no better decision, in one slug' }),
});

export const gatewayResultAnswerSchema = z.object({
  ...orderName,
  attempt: z.int(),
  result: z.enum(GATEWAY_RESULTS),
  decision: decisionSchema,
  action: actionSchema,
  phase: phaseSchema,
  transactionId: z.guid().optional(),
  cancelBy: instantSchema.optional(),
});

export const portalAnswerSchema = z.object({
  number: z
    .int()
    .optional()
    .meta({ description: "The action's number on the order's record, by which it can be withdrawn" }),
  orderId: z.string().optional(),
  integration: z.string(),
  kind: z.enum(PORTAL_ACTIONS),
  status: z.enum(['done', 'requested', 'withdrawn']),
  transactionId: z.guid().optional(),
  code: z.string().optional(),
  message: z.string().optional(),
  chargeback: chargebackEcho,
  at: instantSchema.optional(),
  phase: phaseSchema.optional(),
  action: actionSchema.optional(),
});

export const overrideAnswerSchema = z.object({
  ...orderName,
  attempt: z.int(),
  decision: decisionSchema.meta({ description: "The service's word, as it was" }),
  action: actionSchema,
  phase: phaseSchema,
  transactionId: z.guid().optional(),
  cancelBy: instantSchema.optional(),
  number: z
    .int()
    .optional()
    .meta({ description: 'The portal action that cancels with the service, by its number' }),
  notCanceled: z.string().optional().meta({
    description: 'Why nothing is canceled with the service, in a slug; the action stands all the same',
  }),
});

export const redeliveryAnswerSchema = z.object({
  ...orderName,
  sequence: z.int(),
  type: eventTypeSchema,
  status: z.enum(['delivered', 'requested']),
});

export const requestedSchema = z.object({ status: z.literal('requested') });
export const acknowledgedSchema = z.object({ cleared: z.int() });
export const cardRefSchema = z.object({ cardRef: z.string(), expiresAt: instantSchema });

const attentionSchema = z.object({
  code: z.string(),
  words: z.string(),
  since: instantSchema,
  cause: z.object({
    operation: z.string().optional(),
    transactionId: z.guid().optional(),
    action: z.int().optional(),
  }),
});

export const orderStateSchema = z
  .looseObject({
    ...orderName,
    workflow: z.enum(INTEGRATION_WORKFLOWS),
    phase: phaseSchema,
    phaseSince: instantSchema,
    decision: decisionSchema,
    action: actionSchema,
    wouldBe: actionSchema.optional(),
    message: z.string().optional(),
    reason: z.string().optional(),
    attempts: z.array(
      z.looseObject({
        number: z.int(),
        startedAt: instantSchema,
        invoiceNumber: z.string().optional(),
        decision: decisionSchema,
        readingsLeftOut: z.int().optional().meta({ description: 'Older readings that are not shown' }),
        readings: z.array(
          z.object({
            decision: decisionSchema,
            at: instantSchema,
            source: z.string(),
            insights: insightsSchema.optional(),
            insightsLeftOut: z.int().optional(),
            accountMode: z.enum(['live', 'test']).optional(),
            passiveMode: z.boolean().optional(),
            subStatus: z.string().optional(),
          }),
        ),
        override: z
          .object({
            action: z.enum(OVERRIDE_ACTIONS),
            reason: z.string(),
            by: z.literal('person'),
            at: instantSchema,
          })
          .optional()
          .meta({ description: 'What a person decided last in place of the service' }),
      }),
    ),
    transactions: z.array(
      z.looseObject({
        id: z.guid(),
        attempt: z.int(),
        invoiceNumber: z.string(),
        sentFrom: instantSchema,
        sentUntil: instantSchema,
        found: z.enum(['created', 'lookup', 'adopted']),
        decision: decisionSchema.optional(),
        decidedAt: instantSchema.optional(),
        source: z.string().optional(),
        cancelBy: instantSchema,
      }),
    ),
    attention: z.array(attentionSchema),
    actions: z.array(
      z.looseObject({
        number: z.int(),
        kind: z.enum(PORTAL_ACTIONS),
        status: z.enum(ACTION_STATUSES),
        transactionId: z.guid().optional(),
        requestedAt: instantSchema,
        finishedAt: instantSchema.optional(),
        code: z.string().optional(),
        message: z.string().optional(),
        chargeback: chargebackEcho,
      }),
    ),
    journal: z
      .array(
        z.object({
          at: instantSchema,
          what: z.enum(JOURNALED),
          by: z
            .object({ key: z.string().optional(), actor: z.string().optional() })
            .optional()
            .meta({ description: 'The name of the key, which was proved, and the person, as claimed' }),
          because: z.string().optional(),
          number: z.int().optional(),
          action: z.enum(OVERRIDE_ACTIONS).optional(),
        }),
      )
      .optional()
      .meta({
        description: 'What people did, oldest first: the last entries; with `view=full` the last 200',
      }),
    events: z
      .object({
        sequence: z.int(),
        delivered: z.int(),
        waiting: z.int(),
        last: z
          .array(z.looseObject({ sequence: z.int(), type: eventTypeSchema, occurredAt: instantSchema }))
          .optional()
          .meta({
            description: 'With `view=full`: the last 50 events, oldest first. Each can be sent again',
          }),
      })
      .meta({ description: 'How many events the order has, and how many of them were delivered' }),
    startedAt: instantSchema,
    afterEnd: afterEndSchema,
    leftOut: z
      .partialRecord(
        z.enum([
          'attempts',
          'readings',
          'insights',
          'transactions',
          'attention',
          'actions',
          'journal',
          'events',
          'texts',
        ]),
        z.int(),
      )
      .optional()
      .meta({ description: 'How many of each are not shown; absent: none. `view=full` has them' }),
  })
  .meta({ description: 'An order' });

export const transactionSchema = z.object({
  id: z.guid(),
  decision: z.enum(DECISIONS),
  message: z
    .string()
    .optional()
    .meta({ description: "The account's message for the customer; with `fail` only" }),
  order: z.object(orderName).optional().meta({
    description: 'The order that owns the transaction; up to 2 s behind. Absent when there is none',
  }),
});

export const orderListSchema = z.object({
  orders: z.array(
    z.object({
      ...orderName,
      phase: phaseSchema.optional(),
      decision: decisionSchema.optional(),
      action: actionSchema.optional(),
      needsAttention: z.boolean(),
      cancelBy: instantSchema.optional(),
      amount: z.number().optional(),
      transactionIds: z.array(z.string()),
      startedAt: instantSchema,
      closedAt: instantSchema.optional(),
      reason: z.string().optional().meta({ description: 'Why there is no better decision, in one slug' }),
      attention: z
        .array(attentionSchema)
        .optional()
        .meta({ description: 'Open matters that a person must look at' }),
      problem: z.enum(['record-unreadable']).optional().meta({
        description:
          "The API's PAYLOAD_KEYS don't open the order's record: the rest is from search attributes",
      }),
    }),
  ),
  cursor: z.string().optional().meta({ description: 'For the next page; absent on the last' }),
});

/** RFC 9457. */
export const problemSchema = z.object({
  type: z.string().meta({ description: 'A stable slug, /problems/<code>' }),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  scope: z.enum(SCOPES).optional().meta({ description: 'What the API key may not do' }),
  cancelBy: instantSchema.optional(),
  serviceCode: z.string().optional(),
  serviceMessage: z.string().optional(),
});
