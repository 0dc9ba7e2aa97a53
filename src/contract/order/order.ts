/** Schemas of an order in read and list answers, including what happened after its end. */
import { z } from 'zod';
import {
  type Attention,
  actionSchema,
  actionStatusSchema,
  attentionSchema,
  decisionSchema,
  eventTypeSchema,
  failedTries,
  handled,
  instantSchema,
  leftOutSchema,
  numberedAction,
  orderName,
  overrideSchema,
  phaseSchema,
  portalAction,
  readingSchema,
  requestedAction,
  transaction,
} from '../terms.ts';
import { DECISIONS, INTEGRATION_WORKFLOWS, JOURNALED, OVERRIDE_ACTIONS } from '../words.ts';
import { shownSchema } from './shown.ts';

const afterEndSchema = z
  .object({
    decisions: z
      .array(
        z.object({
          decision: z.enum(DECISIONS),
          transactionId: z.guid(),
          attempt: z.int(),
          action: actionSchema,
          wouldBe: actionSchema.exactOptional(),
          at: instantSchema,
          event: z
            .object({ sequence: z.int(), status: z.enum(['waiting', 'delivered', 'undelivered']) })
            .exactOptional()
            .meta({ description: 'The event order.decision_changed; absent without an events receiver' }),
        }),
      )
      .meta({ description: 'The last 50 decisions that differ from the previous one' }),
    actions: z
      .array(z.object({ ...portalAction, status: actionStatusSchema.exclude(['queued', 'withdrawn']) }))
      .meta({ description: 'Portal actions; up to 2 s behind' }),
    redeliveries: z
      .array(
        z.object({
          sequence: z.int(),
          status: z.enum(['running', 'delivered', 'undelivered']),
          requestedAt: instantSchema,
          finishedAt: instantSchema.exactOptional(),
        }),
      )
      .meta({ description: 'Redelivered events; up to 2 s behind' }),
    incomplete: z
      .literal(true)
      .exactOptional()
      .meta({ description: 'Some of it could not be read: read the order again' }),
  })
  .meta({ description: 'What happened after the end of the order, oldest first. Absent: nothing' });
export type AfterEnd = z.infer<typeof afterEndSchema>;
/** A decision that was read after the order's end and differs from the previous one. */
export type LateDecision = AfterEnd['decisions'][number];
/** A portal action of an ended order. */
export type LateAction = AfterEnd['actions'][number];
/** An event of the order that was redelivered after its end. */
export type Redelivery = AfterEnd['redeliveries'][number];

const held = z
  .object(failedTries)
  .exactOptional()
  .meta({ description: 'The checkout got no decision, and the order is still being screened' });

const currency = z
  .string()
  .exactOptional()
  .meta({
    description: 'The currency of its amount, in three letters; absent if it is unknown',
    examples: ['EUR'],
  });

export const orderStateSchema = z
  .looseObject({
    ...orderName,
    workflow: z.enum(INTEGRATION_WORKFLOWS),
    phase: phaseSchema,
    phaseSince: instantSchema,
    decision: decisionSchema,
    action: actionSchema,
    wouldBe: actionSchema.exactOptional(),
    currency,
    message: z.string().exactOptional(),
    reason: z.string().exactOptional(),
    attempts: z.array(
      z.looseObject({
        number: z.int(),
        startedAt: instantSchema,
        invoiceNumber: z.string().exactOptional(),
        decision: decisionSchema,
        readingsLeftOut: z.int().exactOptional().meta({ description: 'Older readings that are not shown' }),
        readings: z.array(readingSchema),
        override: overrideSchema
          .exactOptional()
          .meta({ description: "A person's last override of the screening service's decision" }),
      }),
    ),
    transactions: z.array(z.looseObject(transaction)),
    attention: z.array(attentionSchema),
    actions: z.array(z.looseObject(numberedAction)),
    held,
    shown: shownSchema.exactOptional(),
    ...handled,
    journal: z
      .array(
        z.object({
          at: instantSchema,
          what: z.enum(JOURNALED),
          by: z
            .object({ key: z.string().exactOptional(), actor: z.string().exactOptional() })
            .exactOptional()
            .meta({ description: 'The name of the verified key, and the person as claimed' }),
          because: z.string().exactOptional(),
          number: z.int().exactOptional(),
          joined: z.literal(true).exactOptional().meta({
            description: 'The portal action was already pending: the request joined it',
          }),
          action: z.enum(OVERRIDE_ACTIONS).exactOptional(),
          assignee: z.string().exactOptional(),
          until: instantSchema.exactOptional(),
        }),
      )
      .exactOptional()
      .meta({
        description: 'The last actions of people, oldest first; with `view=full` the last 200',
      }),
    events: z
      .object({
        sequence: z.int(),
        delivered: z.int(),
        waiting: z.int(),
        last: z
          .array(z.looseObject({ sequence: z.int(), type: eventTypeSchema, occurredAt: instantSchema }))
          .exactOptional()
          .meta({
            description: 'With `view=full`: the last 50 events, oldest first. Each can be redelivered',
          }),
      })
      .meta({ description: "The `sequence` of the order's newest event, and how many were delivered" }),
    startedAt: instantSchema,
    closedAt: instantSchema.exactOptional().meta({
      description:
        'Only of a lost order, whose workflow was terminated or timed out then: nothing reads or cancels the order',
    }),
    afterEnd: afterEndSchema.exactOptional(),
    leftOut: leftOutSchema
      .exactOptional()
      .meta({ description: 'How many of each are left out; absent: none. `view=full` has them' }),
  })
  .meta({ description: 'An order' });

export const orderListSchema = z.object({
  orders: z.array(
    z.object({
      ...orderName,
      phase: phaseSchema.exactOptional(),
      decision: decisionSchema.exactOptional(),
      action: actionSchema.exactOptional(),
      needsAttention: z.boolean(),
      cancelBy: instantSchema.exactOptional(),
      amount: z.number().exactOptional(),
      currency,
      transactionIds: z.array(z.string()),
      startedAt: instantSchema,
      closedAt: instantSchema.exactOptional(),
      reason: z.string().exactOptional().meta({ description: 'Why there is no better decision, as a slug' }),
      attention: z
        .array(attentionSchema)
        .exactOptional()
        .meta({ description: 'Open issues that need a person' }),
      actions: z
        .array(
          z.object({
            ...requestedAction,
            number: z.int(),
            status: actionStatusSchema.extract(['queued', 'running']),
          }),
        )
        .exactOptional()
        .meta({ description: 'Portal actions that have not ended; one with `tries` is stuck' }),
      held,
      ...handled,
      problem: z.enum(['record-unreadable']).exactOptional().meta({
        description:
          "The API's PAYLOAD_KEYS can't decrypt the order's record. The other fields come from search attributes",
      }),
    }),
  ),
  cursor: z.string().exactOptional().meta({ description: 'For the next page; absent on the last' }),
});
type ListedOrder = z.infer<typeof orderListSchema>['orders'][number];
/** An order in a list, from its search attributes and its record; up to 2 s behind. */
export type OrderSummary = Omit<ListedOrder, 'attention'> & { attention?: Attention[] };
export type OrderList = Omit<z.infer<typeof orderListSchema>, 'orders'> & { orders: OrderSummary[] };
