/** Validation rules that involve several fields of a transaction. */
import { decodings } from '../../card-data/digit-groups.ts';
import { isNoCard } from '../../card-data/payment-methods.ts';
import type { Integration } from '../../contract/policy.ts';
import { isRecord } from '../../contract/values.ts';
import type { IntegrationWorkflow } from '../../contract/words.ts';
import type { Finding } from '../spellings.ts';
import { isNotPublic } from './as-pasted.ts';
import { type CardRules, cardFindings } from './card-rules.ts';
import { billToSchema, cardSchema, type Transaction } from './transaction-schema.ts';

export interface TransactionRules extends CardRules {
  workflow: IntegrationWorkflow;
  /** Whether the card data is in the stash already, so that the transaction must not have it. */
  cardInStash?: boolean;
  /** What happens to a field that the interface lacks: it is not sent (`drop`, the default), or the transaction is refused. */
  unknownFields?: 'drop' | 'refuse';
  /** Names of payment methods that are no card, besides those that `isNoCard` knows. */
  noCard?: readonly string[];
  /** Declared id fields without card numbers. */
  notCards?: readonly string[];
}

/** Returns the rules of an integration, as of now. */
export function transactionRules(
  { mode, unknownFields, paymentMethods, notCards }: Integration,
  workflow: IntegrationWorkflow,
): TransactionRules {
  return { mode, unknownFields, noCard: paymentMethods.noCard, notCards, workflow, now: new Date() };
}

export const CARD_FIELDS = ['cardNumber', 'expirationDate', 'cardCode'] as const;

const PASS_THROUGH = ['checkout', 'performance', 'subscriptionDetails', 'userFields'] as const;

/**
 * Checks the rules between fields and those of the integration workflow. The body is in definition spelling and may have invalid fields,
 * so that all errors are reported at once.
 */
export function ruleFindings(body: Record<string, unknown>, rules: TransactionRules): Finding[] {
  return [
    ...gatewayTypeFindings(body, rules),
    ...addressFindings(body),
    ...paymentFindings(body, rules),
    ...passThroughFindings(body),
    ...strayCardFindings(body),
  ];
}

/** Returns what is accepted but is probably a mistake. Assumption «fulfillment date». */
export function warningsOf(
  { customerIP, fulfillmentDate }: Pick<Transaction, 'customerIP' | 'fulfillmentDate'>,
  { now }: Pick<TransactionRules, 'now'>,
): Finding[] {
  const findings: Finding[] = [];
  if (isNotPublic(customerIP)) {
    findings.push({ path: ['customerIP'], message: 'is no address on the internet: send the customer’s' });
  }
  if (fulfillmentDate !== undefined && endOfDay(fulfillmentDate) < now.getTime()) {
    findings.push({ path: ['fulfillmentDate'], message: 'is in the past' });
  }
  return findings;
}

/** Returns when the day has ended in every time zone, in milliseconds. @param date MM/DD/YYYY */
function endOfDay(date: string): number {
  const [month = '', day = '', year = ''] = date.split('/');
  return Date.parse(`${year}-${month}-${day}T23:59:59-12:00`);
}

/** Returns the `gatewayType` of an integration workflow. Assumption «gateway type». */
export function gatewayTypeOf(workflow: IntegrationWorkflow): 'pre-gateway' | 'post-gateway' {
  return workflow === 'pre-gateway' ? 'pre-gateway' : 'post-gateway';
}

function gatewayTypeFindings(
  { gatewayType }: Record<string, unknown>,
  { workflow }: TransactionRules,
): Finding[] {
  const expected = gatewayTypeOf(workflow);
  if (gatewayType === undefined || gatewayType === expected) return [];
  const message = `contradicts the integration workflow ${workflow}, which makes it "${expected}"; leave it out`;
  return [{ path: ['gatewayType'], message }];
}

/** Assumption «empty text»: an empty text counts as a value. */
function addressFindings({ billTo, shipTo, merchant }: Record<string, unknown>): Finding[] {
  const findings: Finding[] = [];
  if (isRecord(billTo) && Object.keys(billTo).length > 0) {
    for (const field of Object.keys(billToSchema.shape)) {
      if (field !== 'company' && billTo[field] === undefined) {
        findings.push({ path: ['billTo', field], message: 'is required when billTo is not empty' });
      }
    }
  }
  if (isRecord(merchant) && merchant.productType === 'Goods' && shipTo === undefined) {
    findings.push({ path: ['shipTo'], message: 'is required when merchant.productType is Goods' });
  }
  return findings;
}

function paymentFindings(body: Record<string, unknown>, rules: TransactionRules): Finding[] {
  const { workflow, cardInStash = false } = rules;
  if (isRecord(body.payment) && body.payment.creditCard === undefined)
    return withoutCard(body.payment, rules);
  const card = creditCardOf(body);
  const inCard = (fields: readonly string[], message: string) =>
    fields.map((field) => ({ path: ['payment', 'creditCard', field], message }));
  const findings = cardInStash
    ? inCard(
        CARD_FIELDS.filter((field) => card[field] !== undefined),
        'must be left out: the request has a card reference',
      )
    : [...cardFindings(card, rules), ...digitsFindings(card)].flatMap(({ path, message }) =>
        inCard(path.map(String), message),
      );
  if (workflow === 'pre-gateway') {
    if (cardInStash) return findings;
    const missing = CARD_FIELDS.filter((field) => isBlank(card[field]));
    return [
      ...inCard(missing, 'is required: a pre-gateway transaction needs the full card data'),
      ...findings,
    ];
  }
  const needed = `is required: a ${workflow} transaction needs it`;
  if (isBlank(card.last4) && isBlank(card.cardNumber)) findings.push(...inCard(['last4'], needed));
  // Assumption «AVS and CVV».
  const message = `${needed}, as the gateway gave it; send "U" when the gateway gave none`;
  const codes = ['avsResultCode', 'cvvResultCode'].filter((field) => isBlank(body[field]));
  return [...findings, ...codes.map((field) => ({ path: [field], message }))];
}

function creditCardOf({ payment }: Record<string, unknown>): Record<string, unknown> {
  return isRecord(payment) && isRecord(payment.creditCard) ? payment.creditCard : {};
}

/** Assumption «no card data»: an order that wasn't paid with a card has none. */
function withoutCard({ method }: Record<string, unknown>, { workflow, noCard }: TransactionRules): Finding[] {
  const isKnown = isNoCard(method, noCard);
  if (isKnown && workflow !== 'pre-gateway') return [];
  const message = isKnown
    ? 'is required: a pre-gateway transaction needs the full card data; to skip orders paid without a card, add a `skip` rule to the policy'
    : 'is required unless payment.method names something other than a card; list the name in the policy key paymentMethods.noCard';
  return [{ path: ['payment', 'creditCard'], message }];
}

/** Assumption «digits of one card»: `bin` and `last4` are stored without the card number, so check that they match it. */
function digitsFindings(card: Record<string, unknown>): Finding[] {
  const { cardNumber, bin, last4 } = card;
  if (typeof cardNumber !== 'string') return [];
  const findings: Finding[] = [];
  if (typeof bin === 'string' && !cardNumber.startsWith(bin)) {
    findings.push({ path: ['bin'], message: 'must match the beginning of cardNumber; it may be left out' });
  }
  if (typeof last4 === 'string' && !cardNumber.endsWith(last4)) {
    findings.push({ path: ['last4'], message: 'must match the end of cardNumber; it may be left out' });
  }
  return findings;
}

/** Undocumented objects may contain anything, except numbers that JSON can't carry. */
function passThroughFindings(body: Record<string, unknown>): Finding[] {
  const findings: Finding[] = [];
  for (const name of PASS_THROUGH) {
    walk(body[name], [name], (path, value) => {
      if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER)
        findings.push({ path, message: 'has more digits than a number keeps: send it as a string' });
    });
  }
  return findings;
}

/** Finds copies of the order's card number, of any brand. They would remain after the card data has been removed. */
function strayCardFindings(body: Record<string, unknown>): Finding[] {
  const { data: cardNumber } = cardSchema.shape.cardNumber.safeParse(creditCardOf(body).cardNumber);
  if (cardNumber === undefined) return [];
  const findings: Finding[] = [];
  walk(body, [], (path, value) => {
    const own = path.join('.') === 'payment.creditCard.cardNumber';
    if (!own && typeof value === 'string' && isWithin(cardNumber, value)) {
      const message = 'must not hold the card number; it belongs in payment.creditCard.cardNumber only';
      findings.push({ path, message });
    }
  });
  return findings;
}

function isWithin(cardNumber: string, text: string): boolean {
  return decodings(text).some((decoded) => decoded.replace(/[\s-]/g, '').includes(cardNumber));
}

/** Visits a value and everything in it. */
function walk(
  value: unknown,
  path: PropertyKey[],
  visit: (path: PropertyKey[], value: unknown) => void,
): void {
  visit(path, value);
  const inside = Array.isArray(value) ? value.entries() : isRecord(value) ? Object.entries(value) : [];
  for (const [key, item] of inside) walk(item, [...path, key], visit);
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === '';
}
