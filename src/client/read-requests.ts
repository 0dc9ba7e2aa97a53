/** Checks the requests of order services. Reports all errors at once; no message repeats a value that was sent. */
import { z } from 'zod';
import { cardDataIn, refuseCardData, shownName, shownPath } from '../card-data/card-data.ts';
import { type FieldError, OrderScreeningError } from '../contract/errors.ts';
import { attemptSchema, printable, workflowSchema } from '../contract/fields.ts';
import { DEFAULT_INTEGRATION, INTEGRATION_NAME, withoutHash } from '../contract/ids.ts';
import type { TransactionJson } from '../contract/messages.ts';
import type { FindIntegration, Integration } from '../contract/policy.ts';
import { isRecord } from '../contract/values.ts';
import type { IntegrationWorkflow } from '../contract/words.ts';
import { depthError, sizeError } from '../order/messages/check-messages.ts';
import { skipRuleFor } from '../order/order-rules.ts';
import {
  CARD_FIELDS,
  cardOfWorkflow,
  fingerprint,
  fingerprintOfRaw,
  MOST_ERRORS,
  ORIGINS,
  OUR_WORDS,
  parseCard,
  parseTransaction,
  transactionRules,
  withoutOriginsLikeCards,
} from '../screening-service/index.ts';

/** An order id: 1 to 64 characters, a leading `#` removed. It becomes the invoice number, so it can't be only dots. */
export const orderIdSchema = z
  .string({ error: 'must be text' })
  .transform(withoutHash)
  .refine((id) => id === '' || id.trim() !== '', 'must not be blank')
  .refine((id) => !id.startsWith('#'), 'must have at most one leading #')
  .refine((id) => id.length >= 1 && id.length <= 64, 'must have 1 to 64 characters')
  .refine(...printable)
  .refine((id) => !/^\.{1,2}$/.test(id), 'must not consist of dots only: it could not be looked up');

export const integrationNameSchema = z.string().regex(INTEGRATION_NAME, 'must be the name of an integration');

/** Only checks for text: an integration that isn't configured has an error of its own. */
const integrationName = z.string({ error: 'must be the name of an integration' });

export const screenSchema = z.strictObject({
  orderId: orderIdSchema,
  integration: integrationName.optional(),
  workflow: workflowSchema.optional(),
  attempt: attemptSchema.optional(),
  transaction: z.unknown().optional(),
});

/** Fields of an order that may hold card data when it is read. `parseTransaction` separates or removes it. */
export const CARD_FIELDS_OF_AN_ORDER = [
  ...CARD_FIELDS.map((name) => `transaction.payment.creditCard.${name}`),
  ...ORIGINS.map((name) => `transaction.order.${name}`),
];

const cardRequestSchema = z.strictObject({
  orderId: orderIdSchema,
  integration: integrationName.optional(),
  workflow: workflowSchema.optional(),
  cardNumber: z.unknown().optional(),
  expirationDate: z.unknown().optional(),
  cardCode: z.unknown().optional(),
});

export type CheckedScreenRequest = ReturnType<typeof readScreenRequest>;

/** Transactions already scanned for card data: scanning a large one twice would block the event loop. */
const scanned = new WeakSet<object>();

/** Marks a transaction as already scanned and free of card data. */
export function noteScanned(transaction: unknown): void {
  if (isRecord(transaction)) scanned.add(transaction);
}

/**
 * Reads a request to screen. The transaction has no full card data: that is separate, as `card`. `warnings` are about fields that are not
 * sent, or that are probably a mistake.
 * @throws OrderScreeningError `unknown-integration`, `card-data-in-request`, or `invalid-request` with every error in
 * `details.errors`, at its path in the request: `transaction.amount`
 */
export function readScreenRequest(raw: unknown, findIntegration: FindIntegration) {
  // Before the scan for card data, which would not come to the end of an object that refers to itself.
  const tooDeep = isRecord(raw) ? depthError(raw.transaction) : undefined;
  if (tooDeep !== undefined) throw invalidRequest([tooDeep]);
  const { fields, integration } = openedRequest(raw, findIntegration, CARD_FIELDS_OF_AN_ORDER);
  const outer = screenSchema.safeParse(fields, OUR_WORDS);
  const workflowNamed = screenSchema.shape.workflow.safeParse(fields.workflow).data;
  const workflow = workflowNamed ?? integration.workflow;
  const inner = readTransaction(fields.transaction, workflow, integration);
  if (!outer.success || !inner.ok) {
    const ofTransaction = inner.ok ? [] : inner.fieldErrors;
    throw invalidRequest([...fieldErrorsOf(outer.error), ...ofTransaction.map(underTransaction)]);
  }
  const { transaction, card, fingerprint, warnings } = inner;
  const tooLarge = sizeError(transaction);
  if (tooLarge !== undefined) throw invalidRequest([tooLarge]);
  const { orderId, attempt = 1 } = outer.data;
  return {
    ...{ orderId, integration, workflow, workflowNamed, attempt, transaction, card, fingerprint },
    invoiceNumber: inner.invoiceNumber ?? orderId,
    warnings: warnings.map(underTransaction),
  };
}

/** Finds a request's integration, and refuses card data outside of the fields for it. @throws OrderScreeningError as `readScreenRequest` */
export function openedRequest(raw: unknown, findIntegration: FindIntegration, cards: readonly string[]) {
  const fields: Record<string, unknown> = isRecord(raw) ? raw : {};
  const integration = integrationOf({ findIntegration }, integrationIn(fields));
  const { transaction, ...rest } = fields;
  const isScanned = isRecord(transaction) && scanned.has(transaction);
  refuseCardData(isScanned ? rest : fields, { cards, notCards: integration.notCards });
  return { fields, integration };
}

/** @returns the integration of that name, by default `default` @throws OrderScreeningError `unknown-integration` */
export function integrationOf(
  { findIntegration }: { findIntegration: FindIntegration },
  name: string = DEFAULT_INTEGRATION,
): Integration {
  const integration = findIntegration(name);
  if (integration === undefined) {
    throw new OrderScreeningError('unknown-integration', 'No integration of that name is configured');
  }
  return integration;
}

/** @returns the `notCards` of the integration that an unchecked request names; empty if it isn't configured */
export function notCardsFor(raw: unknown, findIntegration: FindIntegration): readonly string[] {
  return findIntegration(integrationIn(raw))?.notCards ?? [];
}

/** An order that policy skips isn't screened, so missing screening fields are no errors. */
function readTransaction(raw: unknown, workflow: IntegrationWorkflow, integration: Integration) {
  const parsed = parseTransaction(raw, transactionRules(integration, workflow));
  if (parsed.ok) {
    const { transaction, card } = parsed;
    const invoiceNumber = transaction.order?.invoiceNumber;
    return { ...parsed, card, invoiceNumber, fingerprint: fingerprint(transaction) };
  }
  if (!isRecord(raw) || skipRuleFor(integration, raw) === undefined) return parsed;
  // The transaction would be stored unchanged, with its card fields.
  const { body, likeCards } = withoutOriginsLikeCards(raw, integration);
  if (cardDataIn({ transaction: body }, integration).length > 0) return parsed;
  const transaction = withSixAndFour(body);
  const warnings = likeCards.map(({ path, message }) => ({ path: shownPath(path), message }));
  const absent = { card: undefined, invoiceNumber: undefined, warnings };
  return { ok: true as const, transaction, fingerprint: fingerprintOfRaw(transaction), ...absent };
}

/** Rule «six and four», for an invalid transaction: a longer `bin` and `last4` can be the whole card number. */
function withSixAndFour(transaction: TransactionJson): TransactionJson {
  const { payment } = transaction;
  if (!isRecord(payment) || !isRecord(payment.creditCard)) return transaction;
  const { bin, last4, ...creditCard } = payment.creditCard;
  const kept = {
    ...creditCard,
    ...(bin !== undefined && { bin: String(bin).slice(0, 6) }),
    ...(last4 !== undefined && { last4: String(last4).slice(-4) }),
  };
  return { ...transaction, payment: { ...payment, creditCard: kept } };
}

/** @throws OrderScreeningError as `readScreenRequest` */
export function readCardRequest(raw: unknown, findIntegration: FindIntegration) {
  const { fields, integration } = openedRequest(raw, findIntegration, CARD_FIELDS);
  const outer = cardRequestSchema.safeParse(fields, OUR_WORDS);
  const given = Object.fromEntries(
    CARD_FIELDS.filter((name) => name in fields).map((name) => [name, fields[name]]),
  );
  const named = cardRequestSchema.shape.workflow.safeParse(fields.workflow).data;
  const workflow = named ?? integration.workflow;
  const card = parseCard(given, { mode: integration.mode, workflow, now: new Date() });
  if (!outer.success || !card.ok) {
    throw invalidRequest([...fieldErrorsOf(outer.error), ...(card.ok ? [] : card.fieldErrors)]);
  }
  const { orderId } = outer.data;
  const stored = cardOfWorkflow(card.data, workflow);
  const message = 'is not kept: the workflow is not pre-gateway';
  const warnings = stored.cardCode === card.data.cardCode ? [] : [{ path: 'cardCode', message }];
  return { orderId, integration: integration.name, card: stored, warnings };
}

/** @returns the normalized order id @throws OrderScreeningError `invalid-request` */
export function readOrderId(orderId: string): string {
  return checked(z.object({ orderId: orderIdSchema }), { orderId }).orderId;
}

/** @throws OrderScreeningError `invalid-request` with every error */
export function checked<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const read = schema.safeParse(given, OUR_WORDS);
  if (!read.success) throw invalidRequest(fieldErrorsOf(read.error));
  return read.data;
}

export function invalidRequest(errors: FieldError[]): OrderScreeningError {
  const words = errors.length === 1 ? 'an error' : `${errors.length} errors`;
  // Parsing stops at the limit, so the total is unknown.
  const isCut = errors.length >= MOST_ERRORS;
  const some = isCut ? `${MOST_ERRORS} or more errors; the first ${MOST_ERRORS} are listed` : words;
  const details = { errors: errors.slice(0, MOST_ERRORS) };
  return new OrderScreeningError('invalid-request', `The request has ${some}`, details);
}

/** @returns a schema's issues as errors, one per unknown key, with paths such as `lineItems[0].price`; none without an error */
export function fieldErrorsOf(error: z.core.$ZodError | undefined): FieldError[] {
  return (error?.issues ?? []).flatMap((issue): FieldError[] => {
    const path = shownPath(issue.path);
    if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
    return issue.keys.map((key) => ({
      path: path === '' ? shownName(key) : `${path}.${shownName(key)}`,
      message: 'is not a known field; remove it or correct its spelling',
    }));
  });
}

function underTransaction({ path, message }: FieldError): FieldError {
  return { path: path === '' ? 'transaction' : `transaction.${path}`, message };
}

function integrationIn(request: unknown): string {
  const name = isRecord(request) ? request.integration : undefined;
  return typeof name === 'string' ? name : DEFAULT_INTEGRATION;
}
