/** The options of requests that act on an order: who asks, and how a repeat is recognized. */
import { z } from 'zod';
import { actorSchema } from '../../contract/fields.ts';
import { ACTIONS, type By } from '../../contract/words.ts';
import { defined } from '../../order/defined.ts';
import { checked } from '../read-requests.ts';

export const idempotencyKeySchema = z
  .string()
  .regex(/^[\x21-\x7e]{1,128}$/, 'must have 1 to 128 visible ASCII characters');

export const optionsSchema = z.strictObject({
  /** The actor: `key` is trusted, `actor` is recorded as claimed. */
  by: z.strictObject({ key: actorSchema.optional(), actor: actorSchema.optional() }).optional(),
  /** A repeat with the same key does nothing and returns the answer of the first, with `repeated`. */
  idempotencyKey: idempotencyKeySchema.optional(),
  /** The action that the person saw: an open order whose action is a different one refuses with `order-changed`. */
  ifAction: z.enum(ACTIONS).optional(),
  /** Refuses a portal action for a transaction id without an order, with the error of the missing order. */
  orderRequired: z.boolean().optional(),
});

/** @returns the actor fields of a message; empty without an actor @throws OrderScreeningError `invalid-request` */
export function readBy(how: z.input<typeof optionsSchema>): { by?: By } {
  const by = defined(checked(optionsSchema, how).by ?? {});
  return Object.keys(by).length === 0 ? {} : { by };
}
