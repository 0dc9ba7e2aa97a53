/** The filters of a list of orders, and the visibility query that they become. */
import { z } from 'zod';
import { momentSchema, printable } from '../../contract/fields.ts';
import { DEFAULT_INTEGRATION, orderWorkflowId, withoutHash } from '../../contract/ids.ts';
import { SCREEN_ORDER } from '../../contract/messages.ts';
import { instant, ORDER_DECISIONS, OUTCOMES, PHASES } from '../../contract/words.ts';
import { CLOSED_ATTENTION_MS } from '../../order/attention.ts';
import { equals, orderAttributes, quoted, STARTED } from '../../order/view/search-attributes.ts';
import { integrationNameSchema } from '../read-requests.ts';

export const amountSchema = z
  .string()
  .regex(/^\d{1,12}(\.\d{1,3})?$/, {
    error: 'must be a number of at most 12 digits, such as 125.50',
    abort: true,
  })
  .transform(Number);

/** Filters as written in a URL or on the command line; `amountTo` and `startedTo` are exclusive. */
export const WRITTEN_FILTERS = {
  find: z
    .string()
    .min(1, 'must not be empty')
    .max(128, 'must have at most 128 characters')
    .refine(...printable)
    .exactOptional()
    .meta({
      description:
        'An order id, an invoice number or a transaction, whole; the order id is one of `integration`, else of the integrations that the key is limited to, else of `default`',
      examples: ['order-1001'],
    }),
  dueBefore: momentSchema.exactOptional().meta({
    description: 'Only orders whose cancel window ends before this time: open ones, unless `open` is false',
  }),
  amountFrom: amountSchema
    .exactOptional()
    .meta({ description: 'Only orders of this amount or more, in their own currency', examples: ['125.50'] }),
  amountTo: amountSchema
    .exactOptional()
    .meta({ description: 'Only orders below this amount', examples: ['500'] }),
  startedFrom: momentSchema
    .exactOptional()
    .meta({ description: 'Only orders that were started at this time or later' }),
  startedTo: momentSchema
    .exactOptional()
    .meta({ description: 'Only orders that were started before this time' }),
};
type WrittenFilters = z.output<z.ZodObject<typeof WRITTEN_FILTERS>> &
  Pick<ListRequest, 'integration' | 'phase' | 'decision' | 'attention' | 'open' | 'cursor' | 'limit'>;

/** @returns the list request of written filters, with only the filters that were given */
export function listRequestOf(filters: WrittenFilters): ListRequest {
  const { dueBefore, amountFrom, amountTo, startedFrom, startedTo, ...others } = filters;
  return {
    ...others,
    ...(dueBefore !== undefined && { open: others.open ?? true, cancelBy: { until: dueBefore } }),
    ...((amountFrom ?? amountTo) !== undefined && { amount: { from: amountFrom, until: amountTo } }),
    ...((startedFrom ?? startedTo) !== undefined && { started: { from: startedFrom, until: startedTo } }),
  };
}

const RANGE = 'must be {from?, until?}';
const flag = z.boolean('must be true or false').optional();
const bounds = z.strictObject({ from: momentSchema.optional(), until: momentSchema.optional() }, RANGE);
const amountBound = z.number('must be a number').min(0, 'must be at least 0').optional();

/** The content of Temporal's page tokens: the time and run of the last order, or its sort values. */
const placeSchema = z.union([
  z.looseObject({ StartTime: z.iso.datetime({ offset: true }), RunID: z.guid() }),
  z.looseObject({ SearchAfter: z.array(z.union([z.string(), z.number(), z.null()])).min(1) }),
]);

/** Checked here, since Temporal's server does not answer for an invalid token. */
function isCursor(text: string): boolean {
  try {
    return placeSchema.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))).success;
  } catch {
    return false;
  }
}

const LIMIT = 'must be a whole number from 1 to 100';

/** The filters of a list; an order must match all. `until` is exclusive. */
export const listRequestSchema = z.strictObject({
  integration: integrationNameSchema.optional(),
  integrations: z.array(integrationNameSchema, 'must be a list of integrations').readonly().optional(),
  phase: z.enum(PHASES).optional(),
  decision: z.enum(ORDER_DECISIONS).optional(),
  attention: flag,
  /** What people may have to act on: in review, with attention, or open without a decision or with a portal action under way. */
  queued: flag,
  open: flag,
  outcome: z.enum(OUTCOMES).optional(),
  /** `none`: orders without a deadline. */
  cancelBy: z.union([bounds, z.literal('none')], 'must be {from?, until?} or none').optional(),
  /** In the order's own currency. */
  amount: z.strictObject({ from: amountBound, until: amountBound }, RANGE).optional(),
  started: bounds.optional(),
  find: WRITTEN_FILTERS.find.optional(),
  cursor: z.string('must be text').refine(isCursor, 'must be the cursor of the previous page').optional(),
  limit: z.int(LIMIT).min(1, LIMIT).max(100, LIMIT).optional(),
});

export type ListRequest = z.input<typeof listRequestSchema>;

const { amount, cancelBy, invoiceNumber, needsAttention, transactionId } = orderAttributes;
const { integration, phase, decision, outcomes, actionUnderWay } = orderAttributes;

/**
 * @param partly the workflow ids of which `find` is a part, to be found while their orders are open
 * @returns a visibility query. Every value is a fixed word of the product, or quoted
 */
export function queryOf(request: ListRequest, partly: readonly string[] = []): string {
  const { integrations, attention, open, find } = request;
  const conditions = [
    `WorkflowType = '${SCREEN_ORDER}'`,
    "ExecutionStatus != 'ContinuedAsNew'",
    STARTED,
    request.integration && equals(integration, request.integration),
    integrations && oneOf(integration.name, integrations),
    request.phase && equals(phase, request.phase),
    request.decision && equals(decision, request.decision),
    attention !== undefined && attentionIs(attention),
    request.queued && inQueue(),
    request.outcome && equals(outcomes, request.outcome),
    open !== undefined && `ExecutionStatus ${open ? '=' : '!='} 'Running'`,
    ...deadlineIn(request.cancelBy),
    ...between(amount, request.amount, String),
    ...between({ name: 'StartTime' }, request.started, quoted),
    find !== undefined && foundBy(find, request, partly),
  ];
  return conditions.filter(Boolean).join(' AND ');
}

/** Closed orders count until then: their attention, and the review of a terminated one. */
const oldestClosed = () => quoted(instant(Date.now() - CLOSED_ATTENTION_MS));

function attentionIs(needed: boolean): string {
  const { name } = needsAttention;
  return needed
    ? `(${name} = true AND (ExecutionStatus = 'Running' OR CloseTime >= ${oldestClosed()}))`
    : `(${name} = false OR CloseTime < ${oldestClosed()})`;
}

const inQueue = () => {
  const inReview = `(${phase.name} = 'review' AND (ExecutionStatus != 'Terminated' OR CloseTime >= ${oldestClosed()}))`;
  return `(${inReview} OR ${attentionIs(true)} OR (ExecutionStatus = 'Running' AND (${phase.name} = 'screening' OR ${actionUnderWay.name} = true)))`;
};

function deadlineIn(range: ListRequest['cancelBy']): string[] {
  if (range === undefined) return [];
  if (range === 'none') return [`${cancelBy.name} IS NULL`];
  // Without bounds, orders without a deadline would match, too.
  return [...between(cancelBy, range, quoted), `${cancelBy.name} IS NOT NULL`];
}

function between<Bound>(
  { name }: { name: string },
  { from, until }: { from?: Bound | undefined; until?: Bound | undefined } = {},
  write: (bound: Bound) => string,
): string[] {
  return [
    ...(from === undefined ? [] : [`${name} >= ${write(from)}`]),
    ...(until === undefined ? [] : [`${name} < ${write(until)}`]),
  ];
}

/** Matches the order with that id, orders with that invoice number or transaction, and open ones of those workflow ids. */
function foundBy(words: string, request: ListRequest, partly: readonly string[]): string {
  const number = withoutHash(words);
  const named = request.integration ? [request.integration] : (request.integrations ?? [DEFAULT_INTEGRATION]);
  const ids = named.map((name) => orderWorkflowId(name, number));
  const conditions = [
    oneOf('WorkflowId', ids),
    equals(invoiceNumber, words),
    equals(invoiceNumber, number),
    equals(transactionId, words.toLowerCase()),
    ...(partly.length === 0 ? [] : [`(ExecutionStatus = 'Running' AND ${oneOf('WorkflowId', partly)})`]),
  ];
  return `(${[...new Set(conditions)].join(' OR ')})`;
}

function oneOf(name: string, values: readonly string[]): string {
  return `(${values.map((value) => equals({ name }, value)).join(' OR ')})`;
}
