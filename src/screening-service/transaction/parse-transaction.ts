/** Parses transactions in both spellings, writes them in one, and computes their fingerprints. */
import { createHash } from 'node:crypto';
import { stringify } from 'safe-stable-stringify';
import { z } from 'zod';
import type { FieldError } from '../../contract/errors.ts';
import { schemaFindings } from '../fields.ts';
import {
  type Dialect,
  type Finding,
  isObject,
  type Spelled,
  toDefinitionSpelling,
  toSampleSpelling,
  withoutUnknown,
} from '../spellings.ts';
import { tidied } from './as-pasted.ts';
import { cardOfWorkflow, whyExpiryNotSent } from './card-rules.ts';
import {
  gatewayTypeOf,
  ruleFindings,
  SERVICE_KEY_MESSAGE,
  type TransactionRules,
  warningsOf,
} from './transaction-rules.ts';
import {
  type CardData,
  type Transaction,
  type TransactionRequest,
  transactionRequestSchema,
} from './transaction-schema.ts';

export type ParsedTransaction =
  | { ok: true; transaction: Transaction; card?: CardData; warnings: FieldError[] }
  | { ok: false; fieldErrors: FieldError[] };

/** Fields of order-screening's own requests to the screening service, and why a caller must leave them out. */
const OURS = new Map([
  ...['nf-token', 'nfToken', 'nf_token'].map((name) => [name, SERVICE_KEY_MESSAGE] as const),
  ['enrich', 'must be left out: the policy key `enrich` decides'],
]);
/** The interface marks them as read-only. */
const READ_ONLY = ['travel', 'transaction-id', 'transactionId', 'authcode'];

/**
 * Parses an order service's transaction in either spelling. Checks all limits of the screening service, the rules between fields, and
 * the payment data that the integration workflow requires.
 *
 * The result is in definition spelling and has the `gatewayType` of the integration workflow and the card's `bin` and `last4`. Full card
 * data is returned separately as `card` (not with `cardInStash`).
 * For an invalid transaction, returns all errors with their paths in the sender's spelling (`payment.creditCard.last4`,
 * `lineItems[0].price`) and without submitted values. Never throws.
 */
export function parseTransaction(input: unknown, rules: TransactionRules): ParsedTransaction {
  const spelled = toDefinitionSpelling(transactionRequestSchema, input);
  if (!isObject(spelled.value)) {
    return { ok: false, fieldErrors: [{ path: '', message: 'must be an object: the transaction' }] };
  }
  const { findings: ours, body } = withoutOurs(spelled.value);
  const { known, dropped } = withoutDropped(body, rules);
  const tidy = untilEnoughErrors(tidied(known));
  const parsed = transactionRequestSchema.safeParse(tidy);
  const found = (body: typeof tidy) => ruleFindings(body, rules);
  const findings = [
    ...ours,
    ...spelled.findings,
    ...(parsed.success ? [] : schemaFindings(parsed.error, tidy, transactionRequestSchema, found)),
  ];
  const fieldErrors = show(findings, found(tidy), spelled);
  if (!parsed.success || fieldErrors.length > 0) return { ok: false, fieldErrors };
  const warnings = [...dropped, ...warningsOf(parsed.data, rules)].slice(0, MOST_ERRORS);
  return {
    ok: true,
    ...split(parsed.data, rules),
    warnings: warnings.map(({ path, message }) => ({ path: spelled.shownPath(path), message })),
  };
}

/**
 * Assumptions «unknown fields» and «read-only fields»: what the interface lacks, or marks as read-only, is not sent. Neither is an expiry
 * that the screening service would refuse, unless the order has or needs the whole card.
 */
function withoutDropped(body: Record<string, unknown>, rules: TransactionRules) {
  const dropped: Finding[] = [];
  const drop = (path: PropertyKey[], message: string): void => {
    if (dropped.length < MOST_ERRORS) dropped.push({ path, message });
  };
  const isReadOnly = ([name]: [string, unknown]) => READ_ONLY.includes(name);
  const fields = Object.entries(body);
  for (const [name] of fields.filter(isReadOnly)) drop([name], 'is read-only in the interface; not sent');
  const writable = withoutExpiry(
    Object.fromEntries(fields.filter((field) => !isReadOnly(field))),
    rules,
    drop,
  );
  if (rules.unknownFields === 'refuse') return { known: writable, dropped };
  const known = withoutUnknown(transactionRequestSchema, writable, (path) =>
    drop(path, 'is not a field of the interface; not sent'),
  );
  return { known: isObject(known) ? known : writable, dropped };
}

function withoutExpiry(
  body: Record<string, unknown>,
  { workflow, cardInStash = false, now }: TransactionRules,
  drop: (path: PropertyKey[], message: string) => void,
): Record<string, unknown> {
  const { payment } = body;
  if (workflow === 'pre-gateway' || cardInStash || !isObject(payment) || !isObject(payment.creditCard))
    return body;
  const { expirationDate, ...creditCard } = payment.creditCard;
  if (expirationDate === undefined || creditCard.cardNumber !== undefined) return body;
  const reason = whyExpiryNotSent(expirationDate, now);
  if (reason === undefined) return body;
  drop(['payment', 'creditCard', 'expirationDate'], reason);
  return { ...body, payment: { ...payment, creditCard } };
}

function withoutOurs(body: Record<string, unknown>) {
  const fields = Object.entries(body);
  return {
    findings: fields.flatMap(([name]): Finding[] => {
      const message = OURS.get(name);
      return message === undefined ? [] : [{ path: [name], message }];
    }),
    body: Object.fromEntries(fields.filter(([name]) => !OURS.has(name))),
  };
}

/** Maximum number of reported errors. More would be of no use, and each costs time. */
export const MOST_ERRORS = 100;

const lineItem = transactionRequestSchema.shape.lineItems.unwrap().element;

/** Cuts a list once it has enough errors. Everything else in a transaction is too small to have many. */
function untilEnoughErrors(body: Record<string, unknown>): Record<string, unknown> {
  const { lineItems } = body;
  if (!Array.isArray(lineItems)) return body;
  let fieldErrors = 0;
  const last = lineItems.findIndex((item: unknown) => {
    for (const issue of lineItem.safeParse(item).error?.issues ?? []) {
      fieldErrors += issue.code === 'unrecognized_keys' ? issue.keys.length : 1;
    }
    return fieldErrors >= MOST_ERRORS;
  });
  return last === -1 ? body : { ...body, lineItems: lineItems.slice(0, last + 1) };
}

/** Keeps at most one error of the rules per path, and none where the schema already found one. */
function show(findings: Finding[], fromRules: Finding[], { shownPath }: Spelled): FieldError[] {
  const shown = (some: Finding[]): FieldError[] =>
    some.slice(0, MOST_ERRORS).map(({ path, message }) => ({ path: shownPath(path), message }));
  const fieldErrors = shown(findings);
  const seen = new Set(fieldErrors.map(({ path }) => path));
  for (const found of shown(fromRules)) {
    if (!seen.has(found.path)) fieldErrors.push(found);
    seen.add(found.path);
  }
  return fieldErrors;
}

function split(request: TransactionRequest, { workflow }: TransactionRules) {
  const { payment: given, ...order } = request;
  const { creditCard: paidWith, ...payment } = given;
  const gatewayType = gatewayTypeOf(workflow);
  if (paidWith === undefined) return { transaction: { ...order, gatewayType, payment } };
  const { cardNumber, expirationDate, cardCode, bin = '', ...creditCard } = paidWith;
  // Rule «six and four»: with the last four known, two more digits would leave few to guess.
  const begins = (bin || (cardNumber ?? '')).slice(0, 6);
  const last4 = creditCard.last4 ?? cardNumber?.slice(-4);
  const kept = {
    ...creditCard,
    ...(begins !== '' && { bin: begins }),
    ...(last4 !== undefined && { last4 }),
    ...(cardNumber === undefined && expirationDate !== undefined && { expirationDate }),
  };
  const transaction: Transaction = { ...order, gatewayType, payment: { ...payment, creditCard: kept } };
  if (cardNumber === undefined) return { transaction };
  const card = { cardNumber, ...(expirationDate && { expirationDate }), ...(cardCode && { cardCode }) };
  return { transaction, card: cardOfWorkflow(card, workflow) };
}

/** The body of create-transaction in definition spelling, with the API key. */
export const createBodySchema = transactionRequestSchema.extend({
  'nf-token': z.string(),
  enrich: z.boolean(),
});

/** The parts of a create-transaction request other than the transaction. */
export interface CreateBody {
  dialect: Dialect;
  apiKey: string;
  enrich: boolean;
  /** Full card data. It is used only in the request. */
  card?: CardData | undefined;
  /** Always sent, since a create with an unknown outcome can only be looked up by it. */
  invoiceNumber: string;
}

/** Returns the JSON body of create-transaction in a dialect. */
export function writeTransaction(
  transaction: Transaction,
  { dialect, apiKey, enrich, card, invoiceNumber }: CreateBody,
): Record<string, unknown> {
  const body: z.infer<typeof createBodySchema> = {
    'nf-token': apiKey,
    ...transaction,
    order: { ...transaction.order, invoiceNumber },
    payment: withCard(transaction.payment, card),
    enrich,
  };
  if (dialect === 'definition') return body;
  return Object.fromEntries(Object.entries(toSampleSpelling(createBodySchema, body) ?? {}));
}

function withCard(
  payment: Transaction['payment'],
  card: CardData | undefined,
): TransactionRequest['payment'] {
  return card === undefined ? payment : { ...payment, creditCard: { ...payment.creditCard, ...card } };
}

/**
 * Returns the fingerprint that identifies an attempt: SHA-256 in hex of the canonical request. The order of keys doesn't matter. Of card
 * data only the number's first six and last four digits count, so the fingerprint is the same with and without the card once
 * `parseTransaction` has put those digits into the transaction.
 */
export function fingerprint(transaction: Transaction, card?: CardData): string {
  const { creditCard } = transaction.payment;
  if (creditCard === undefined) return fingerprintOfRaw(transaction);
  const bin = creditCard.bin ?? card?.cardNumber;
  const last4 = creditCard.last4 ?? card?.cardNumber.slice(-4);
  const reduced = { ...creditCard, bin: bin?.slice(0, 6), last4 };
  return fingerprintOfRaw({ ...transaction, payment: { ...transaction.payment, creditCard: reduced } });
}

/** Returns the fingerprint of raw content, such as an invalid request, which isn't screened. The order of keys doesn't matter. */
export function fingerprintOfRaw(content: object): string {
  return createHash('sha256').update(stringify(content)).digest('hex');
}
