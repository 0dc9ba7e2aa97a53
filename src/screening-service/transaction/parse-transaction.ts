/** Parses transactions in both spellings, writes them in one, and computes their fingerprints. */
import { createHash } from 'node:crypto';
import { stringify } from 'safe-stable-stringify';
import { z } from 'zod';
import { cardDataIn } from '../../card-data/card-data.ts';
import type { FieldError } from '../../contract/errors.ts';
import { isRecord } from '../../contract/values.ts';
import { checkFields, MOST_ERRORS } from '../check-fields.ts';
import { type Dialect, toDefinitionSpelling, toSampleSpelling } from '../spellings.ts';
import { tidied } from './as-pasted.ts';
import { cardOfWorkflow, whyExpiryNotSent } from './card-rules.ts';
import { gatewayTypeOf, ruleFindings, type TransactionRules, warningsOf } from './transaction-rules.ts';
import {
  type CardData,
  type Transaction,
  type TransactionRequest,
  transactionRequestSchema,
} from './transaction-schema.ts';

type ParsedTransaction =
  | { ok: true; transaction: Transaction; card?: CardData; warnings: FieldError[] }
  | { ok: false; fieldErrors: FieldError[] };

const API_KEY =
  'must be left out: the API key comes from the configuration of the integration, never with an order';
/** Fields of order-screening's own requests to the screening service, and why a caller must leave them out. */
const OURS = {
  'nf-token': API_KEY,
  nfToken: API_KEY,
  nf_token: API_KEY,
  enrich: 'must be left out: the policy key `enrich` decides',
};
/** Assumption «read-only fields»: they are not sent. */
const READ_ONLY = ['travel', 'transaction-id', 'transactionId', 'authcode'];

/**
 * Parses an order service's transaction in either spelling. Checks all limits of the screening service, the rules between fields, and
 * the payment data that the integration workflow requires. Assumption «unknown fields»: what the interface lacks is not sent.
 *
 * The result is in definition spelling and has the `gatewayType` of the integration workflow and the card's `bin` and `last4`. Full card
 * data is returned separately as `card` (not with `cardInStash`).
 * For an invalid transaction, returns all errors with their paths in the sender's spelling (`payment.creditCard.last4`,
 * `lineItems[0].price`) and without submitted values. Never throws.
 */
export function parseTransaction(input: unknown, rules: TransactionRules): ParsedTransaction {
  if (!isRecord(input)) {
    return { ok: false, fieldErrors: [{ path: '', message: 'must be an object: the transaction' }] };
  }
  const fields = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const ours = Object.entries(OURS).filter(([name]) => fields.delete(name));
  const readOnly = READ_ONLY.filter((name) => fields.delete(name));
  const unknownFields = rules.unknownFields === 'refuse' ? 'keep' : 'drop';
  const spelled = toDefinitionSpelling(transactionRequestSchema, Object.fromEntries(fields), unknownFields);
  const { body, whyNoExpiry } = withoutBadExpiry(isRecord(spelled.value) ? spelled.value : {}, rules);
  const { likeCards, ...known } = withoutOriginsLikeCards(body, rules);
  const sent = {
    ...spelled,
    value: untilEnoughErrors(tidied(known.body)),
    findings: [...ours.map(([name, message]) => ({ path: [name], message })), ...spelled.findings],
  };
  const checked = checkFields(transactionRequestSchema, sent, (given) => ruleFindings(given, rules));
  if (!checked.ok) return checked;
  const warnings = [
    ...readOnly.map((name) => ({ path: [name], message: 'is read-only in the interface; not sent' })),
    ...likeCards,
    ...whyNoExpiry.map((message) => ({ path: ['payment', 'creditCard', 'expirationDate'], message })),
    ...spelled.dropped.map((path) => ({ path, message: 'is not a field of the interface; not sent' })),
    ...warningsOf(checked.data, rules),
  ].slice(0, MOST_ERRORS);
  return {
    ok: true,
    ...split(checked.data, rules),
    warnings: warnings.map(({ path, message }) => ({ path: spelled.shownPath(path), message })),
  };
}

/** Removes an expiry that the screening service would refuse, unless the order has or needs the whole card. */
function withoutBadExpiry(
  body: Record<string, unknown>,
  { workflow, cardInStash = false, now }: TransactionRules,
): { body: Record<string, unknown>; whyNoExpiry: string[] } {
  const { payment } = body;
  const kept = { body, whyNoExpiry: [] };
  if (workflow === 'pre-gateway' || cardInStash || !isRecord(payment) || !isRecord(payment.creditCard))
    return kept;
  const { expirationDate, ...creditCard } = payment.creditCard;
  if (expirationDate === undefined || creditCard.cardNumber !== undefined) return kept;
  const reason = whyExpiryNotSent(expirationDate, now);
  if (reason === undefined) return kept;
  return { body: { ...body, payment: { ...payment, creditCard } }, whyNoExpiry: [reason] };
}

/** Fields of `order` that say where the customer came from, in both spellings. */
export const ORIGINS = [
  ...['landing_page', 'referring_url', 'referring_site'],
  ...['landingPage', 'referringUrl', 'referringSite'],
];
const LIKE_A_CARD = 'may contain a card number; not sent';

/** Removes optional addresses whose ids, such as those of an ad, look like a card number: that is no reason to refuse an order. */
export function withoutOriginsLikeCards(
  body: Record<string, unknown>,
  { notCards }: Pick<TransactionRules, 'notCards'>,
): { body: Record<string, unknown>; likeCards: { path: string[]; message: string }[] } {
  const { order } = body;
  if (!isRecord(order)) return { body, likeCards: [] };
  const likeCards = ORIGINS.filter(
    (name) =>
      typeof order[name] === 'string' &&
      cardDataIn({ order: { [name]: order[name] } }, { notCards }).length > 0,
  );
  if (likeCards.length === 0) return { body, likeCards: [] };
  const kept = Object.entries(order).filter(([name]) => !likeCards.includes(name));
  return {
    body: { ...body, order: Object.fromEntries(kept) },
    likeCards: likeCards.map((name) => ({ path: ['order', name], message: LIKE_A_CARD })),
  };
}

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
 * data only the number's first six and last four digits count, so the fingerprint is the same with and without the card, and also once
 * the card has expired.
 * @param transaction as `parseTransaction` returns it, with those digits
 */
export function fingerprint({ payment, ...order }: Transaction): string {
  const creditCard = payment.creditCard && { ...payment.creditCard, expirationDate: undefined };
  return fingerprintOfRaw({ ...order, payment: { ...payment, creditCard } });
}

/** Returns the fingerprint of raw content, such as an invalid request, which isn't screened. The order of keys doesn't matter. */
export function fingerprintOfRaw(content: object): string {
  return createHash('sha256').update(stringify(content)).digest('hex');
}
