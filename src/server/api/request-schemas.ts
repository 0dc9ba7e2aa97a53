/** Schemas of the API's requests, for validation and documentation. */
import { z } from 'zod';
import { amountSchema, WRITTEN_FILTERS } from '../../client/lists/list-request.ts';
import { idempotencyKeySchema } from '../../client/messages/portal-options.ts';
import { integrationNameSchema, orderIdSchema } from '../../client/read-requests.ts';
import { actorSchema } from '../../contract/fields.ts';
import { DEFAULT_INTEGRATION } from '../../contract/ids.ts';
import { decisionSchema, phaseSchema } from '../../contract/terms.ts';
import { ACTIONS } from '../../contract/words.ts';
import { CHOSEN, LISTS } from '../dashboard/addresses.ts';

const integration = integrationNameSchema.optional().meta({
  description: `The integration. Default: \`${DEFAULT_INTEGRATION}\``,
  examples: [DEFAULT_INTEGRATION],
});

export const orderParams = z.strictObject({
  orderId: orderIdSchema.meta({
    description: "The merchant's order id; a leading `#` is removed",
    examples: ['order-1001'],
  }),
});
const numberOf = (what: string, description: string) =>
  z
    .string()
    .regex(/^[1-9]\d{0,9}$/, `must be the number of ${what}`)
    .meta({ description, examples: ['1'] })
    .transform(Number);
export const actionParams = orderParams.extend({
  number: numberOf(
    "a portal action on the order's record",
    "The portal action's number on the order's record",
  ),
});
export const eventParams = orderParams.extend({
  sequence: numberOf('an event, its `sequence`', 'The number of the event, its `sequence`'),
});
export const transactionParams = z.strictObject({
  idOrInvoice: orderIdSchema.meta({
    description:
      'The id or invoice number of the transaction; a leading `#` is removed. If several transactions have the invoice number, the first one is read',
    examples: ['order-1001'],
  }),
});
export const orderQuery = z.strictObject({ integration });
export const readQuery = orderQuery.extend({
  view: z.enum(['record', 'full'], { error: 'must be record or full' }).optional().meta({
    description:
      '`full`: all readings, insights, journal entries and events. With `record`, `leftOut` counts the omitted ones',
  }),
});

const trueOrFalse = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((word) => word === 'true')
  .optional();

export const listQuery = z.strictObject({
  integration,
  phase: phaseSchema.optional().meta({ examples: ['review'] }),
  decision: decisionSchema.optional(),
  attention: trueOrFalse,
  open: trueOrFalse.meta({ description: 'Only open orders, or only closed ones' }),
  ...WRITTEN_FILTERS,
  cursor: z.string().optional(),
  limit: z
    .string()
    .regex(/^(?:100|[1-9]\d?)$/, 'must be a whole number from 1 to 100')
    .transform(Number)
    .optional(),
});

export const anyObject = z.record(z.string(), z.unknown(), { error: 'must be a JSON object' });

const actorHeadersOf = (where: string) =>
  z.object({
    'x-actor': actorSchema.optional().meta({
      description: `The person who sends the request, as the caller claims; recorded ${where}. Percent-encode text that isn't printable ASCII`,
      examples: ['ada@example.com'],
    }),
  });
export const actorHeaders = actorHeadersOf(
  "in the order's journal with the key's name, and in the audit log",
);
export const auditedHeaders = actorHeadersOf("in the audit log with the key's name, but not with the order");
export const idempotencyHeaders = actorHeaders.extend({
  'idempotency-key': idempotencyKeySchema.optional().meta({
    description:
      'A repeated request with the same key does nothing and gets the answer of the first. With different content, or from a different caller: `idempotency-key-reused`. Keys are kept until the order ends',
    examples: ['cancel-order-1001'],
  }),
  'if-action': z
    .enum(ACTIONS)
    .optional()
    .meta({
      description:
        "The action that the person saw. If the order's action is a different one now, the request is refused: `order-changed`",
      examples: ['hold'],
    }),
});

// Queries of the pages.

/** An empty form field counts as absent. */
const field = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((given) => (typeof given === 'string' && given.trim() === '' ? undefined : given), schema);
const money = field(amountSchema.optional());

export const queueQuery = z
  .object({
    list: field(z.enum(LISTS).optional()),
    q: field(z.string().trim().max(128, 'must have at most 128 characters').optional()),
    integration: field(integration),
    decision: field(listQuery.shape.decision),
    phase: field(listQuery.shape.phase),
    'amount-from': money,
    'amount-to': money,
    page: z.coerce.number('must be a number').int().min(1).max(1_000).default(1),
    cursor: z.string().optional(),
    select: z.literal('all').optional().catch(undefined),
    seen: z.string().max(5_000).optional(),
    wall: z.unknown().optional(),
  })
  .transform(({ 'amount-from': amountFrom, 'amount-to': amountTo, wall, list = 'all', ...others }) => {
    const { q, integration, decision, phase, ...place } = others;
    const filters = { list, integration, decision, phase, amountFrom, amountTo };
    // A search looks in every order.
    return {
      filters: q === undefined ? filters : { list: 'every' as const, q, integration },
      ...place,
      wall: wall !== undefined,
    };
  });

export const FROM_LIMIT = 500;
/** The query of an order's page and its actions: the list that the page was opened from, and the position in it. */
export const pageQuery = z.object({
  integration,
  from: z.string().max(FROM_LIMIT).optional().catch(undefined),
  pos: z.coerce.number().int().min(1).max(100_000).optional().catch(undefined),
  notice: z.unknown().optional(),
});

/** An order id that a request has under a different name. */
interface NamedId {
  name: string;
  id: string;
  integration: string | undefined;
}

/** Splits the fields of a query or a form into order ids under different names, and everything else. */
export function splitIds(fields: Record<string, unknown>) {
  const ids: NamedId[] = [];
  const others: Record<string, unknown> = { ...fields };
  const add = (name: string, id: string, named: unknown) => {
    const integration = typeof named === 'string' && named !== '' ? named : undefined;
    ids.push({ name, id, integration });
  };
  for (const name of ['find', 'q', 'idOrInvoice']) {
    const id = fields[name];
    if (typeof id !== 'string') continue;
    add(name, id, fields.integration);
    delete others[name];
  }
  others.order = [fields.order ?? []].flat().map((one) => {
    const { integration, orderId } = (typeof one === 'string' && CHOSEN.exec(one)?.groups) || {};
    if (typeof one !== 'string' || !orderId) return one;
    add('order', orderId, integration);
    return one.slice(0, -orderId.length);
  });
  const { from } = fields;
  const parts = typeof from === 'string' ? from.split('&') : [];
  const [search, more] = parts.filter((part) => part.startsWith('q='));
  if (search !== undefined && more === undefined) {
    const query = new URLSearchParams(String(from));
    add('from', query.get('q') ?? '', query.get('integration'));
    others.from = parts.filter((part) => part !== search).join('&');
  }
  return { ids, others };
}
