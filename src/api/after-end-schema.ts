/** What came after an order's end, as the API answers it, for its documentation. */
import { z } from 'zod';
import type { ActionStatus } from '../orders/state.ts';
import { ACTIONS, DECISIONS, PORTAL_ACTIONS } from '../orders/words.ts';

const instantSchema = z.iso.datetime();

const LATE_STATUSES = [
  'running',
  'done',
  'refused',
  'unconfirmed',
  'too-late',
  'not-sent',
] as const satisfies readonly ActionStatus[];

export const afterEndSchema = z
  .object({
    decisions: z
      .array(
        z.object({
          decision: z.enum(DECISIONS),
          transactionId: z.guid(),
          attempt: z.int(),
          action: z.enum(ACTIONS),
          wouldBe: z.enum(ACTIONS).optional(),
          at: instantSchema,
          event: z
            .object({ sequence: z.int(), status: z.enum(['waiting', 'delivered', 'undelivered']) })
            .optional()
            .meta({ description: 'Its event order.decision_changed; absent without an events receiver' }),
        }),
      )
      .meta({ description: 'Decisions that differ from the one before them, the last 50' }),
    actions: z
      .array(
        z.object({
          kind: z.enum(PORTAL_ACTIONS),
          status: z.enum(LATE_STATUSES),
          transactionId: z.guid().optional(),
          requestedAt: instantSchema,
          finishedAt: instantSchema.optional(),
          code: z.string().optional(),
          message: z.string().optional(),
          chargeback: z
            .record(z.string(), z.string())
            .optional()
            .meta({ description: 'The chargeback as the service echoed it' }),
        }),
      )
      .meta({ description: 'Portal actions; up to 2 s behind' }),
    redeliveries: z
      .array(
        z.object({
          sequence: z.int(),
          status: z.enum(['running', 'delivered', 'undelivered']),
          requestedAt: instantSchema,
          finishedAt: instantSchema.optional(),
        }),
      )
      .meta({ description: 'Events that were sent again; up to 2 s behind' }),
    incomplete: z
      .literal(true)
      .optional()
      .meta({ description: 'Not everything could be read this time: read the order again' }),
  })
  .optional()
  .meta({ description: 'What came after the end of the order, oldest first; absent: nothing' });
