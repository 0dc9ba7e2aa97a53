/** What the API answers, for its documentation. */
import { z } from 'zod';
import type { ActionStatus } from '../orders/state.ts';
import {
  ACTIONS,
  GATEWAY_RESULTS,
  INTEGRATION_WORKFLOWS,
  ORDER_DECISIONS,
  PHASES,
  PORTAL_ACTIONS,
} from '../orders/words.ts';
import { insightsSchema } from '../screening/index.ts';

export const phaseSchema = z.enum(PHASES);
export const decisionSchema = z.enum(ORDER_DECISIONS);
export const actionSchema = z.enum(ACTIONS);
const instantSchema = z.iso.datetime();

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

export const requestedSchema = z.object({ status: z.literal('requested') });
export const acknowledgedSchema = z.object({ cleared: z.int() });
export const cardRefSchema = z.object({ cardRef: z.string(), expiresAt: instantSchema });

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
        cancelBy: instantSchema.optional(),
        invoiceNumber: z.string().optional(),
        transactionId: z.guid().optional(),
        transactionIds: z.array(z.guid()),
        decision: decisionSchema,
        readings: z.array(z.object({ decision: decisionSchema, at: instantSchema, source: z.string() })),
      }),
    ),
    attention: z.array(z.object({ code: z.string(), words: z.string(), since: instantSchema })),
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
    startedAt: instantSchema,
  })
  .meta({ description: 'The whole state of an order' });

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
  cancelBy: instantSchema.optional(),
  serviceCode: z.string().optional(),
  serviceMessage: z.string().optional(),
});
