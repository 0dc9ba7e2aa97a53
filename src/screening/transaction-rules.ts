/** The rules between the fields of a transaction. */
import type { IntegrationWorkflow } from '../contract/words.ts';
import { type CardRules, cardFindings, wellFormed } from './card-rules.ts';
import { type Finding, isObject } from './spellings.ts';

/** How a transaction is judged beyond the limits of its fields. */
export interface TransactionRules extends CardRules {
  workflow: IntegrationWorkflow;
  /** The card data is in a stash already, so the transaction must be without it. */
  cardInStash?: boolean;
}

/** The fields of full card data. */
export const CARD_FIELDS = ['cardNumber', 'expirationDate', 'cardCode'] as const;

const BILL_TO_REQUIRED = [
  'firstName',
  'lastName',
  'address',
  'city',
  'state',
  'zip',
  'country',
  'phoneNumber',
] as const;

const PASS_THROUGH = ['checkout', 'performance', 'subscriptionDetails', 'userFields'] as const;
/** How deep what the service leaves undescribed may be nested. */
export const MAX_DEPTH = 20;

/**
 * The rules between fields and those of the integration workflow. They read a body in definition spelling that may still have errors, so that every error
 * is found at once.
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

/** The `gatewayType` that goes with an integration workflow. */
export function gatewayTypeOf(workflow: IntegrationWorkflow): 'pre-gateway' | 'post-gateway' {
  return workflow === 'pre-gateway' ? 'pre-gateway' : 'post-gateway';
}

function gatewayTypeFindings(
  { gatewayType }: Record<string, unknown>,
  { workflow }: TransactionRules,
): Finding[] {
  const expected = gatewayTypeOf(workflow);
  if (gatewayType === undefined || gatewayType === expected) return [];
  return [
    {
      path: ['gatewayType'],
      message: `contradicts the integration workflow ${workflow}, which makes it "${expected}"; leave it out`,
    },
  ];
}

function addressFindings({ billTo, shipTo, merchant }: Record<string, unknown>): Finding[] {
  const findings: Finding[] = [];
  if (isObject(billTo) && Object.keys(billTo).length > 0) {
    for (const field of BILL_TO_REQUIRED) {
      if (billTo[field] === undefined) {
        findings.push({ path: ['billTo', field], message: 'is required when billTo is not empty' });
      }
    }
  }
  if (isObject(merchant) && merchant.productType === 'Goods' && shipTo === undefined) {
    findings.push({ path: ['shipTo'], message: 'is required when merchant.productType is Goods' });
  }
  return findings;
}

function paymentFindings(body: Record<string, unknown>, rules: TransactionRules): Finding[] {
  const payment = isObject(body.payment) ? body.payment : {};
  if (isObject(body.payment) && payment.creditCard === undefined) return withoutCard(payment, rules);
  const card = isObject(payment.creditCard) ? payment.creditCard : {};
  const at = (field: string) => ['payment', 'creditCard', field];
  const { workflow, cardInStash = false } = rules;
  const findings = cardInStash ? leftOut(card) : cardOf(card, rules);
  if (workflow === 'pre-gateway') {
    if (cardInStash) return findings;
    const missing = CARD_FIELDS.filter((field) => isBlank(card[field])).map((field) => ({
      path: at(field),
      message: 'is required: a pre-gateway transaction needs the full card data',
    }));
    return [...missing, ...findings];
  }
  const needed = `is required: a ${workflow} transaction needs it`;
  if (isBlank(card.last4) && isBlank(card.cardNumber)) findings.push({ path: at('last4'), message: needed });
  for (const field of ['avsResultCode', 'cvvResultCode']) {
    if (isBlank(body[field])) {
      findings.push({
        path: [field],
        message: `${needed}, as the gateway gave it; send "U" when the gateway gave none`,
      });
    }
  }
  return findings;
}

/** What is wrong with full card data. */
function cardOf(card: Record<string, unknown>, rules: CardRules): Finding[] {
  if (CARD_FIELDS.every((field) => card[field] === undefined)) return [];
  const wrong = cardFindings(wellFormed(card), rules).map(({ path, message }) => ({
    path: ['payment', 'creditCard', ...path],
    message,
  }));
  return [...wrong, ...digitsFindings(card)];
}

function leftOut(card: Record<string, unknown>): Finding[] {
  const message = 'must be left out: the card data is given by its reference';
  return CARD_FIELDS.filter((field) => card[field] !== undefined).map((field) => ({
    path: ['payment', 'creditCard', field],
    message,
  }));
}

/** Rule «no card»: what wasn't paid with a card has no card's data to send. */
function withoutCard({ method }: Record<string, unknown>, { workflow }: TransactionRules): Finding[] {
  const path = ['payment', 'creditCard'];
  if (!isNoCard(method)) {
    const message =
      'is required; leave it out only where payment.method names what is no card, such as a wallet';
    return [{ path, message }];
  }
  if (workflow !== 'pre-gateway') return [];
  const message =
    'is required: a pre-gateway transaction needs the full card data; a `skip` rule of the policy passes over orders that are paid without a card';
  return [{ path, message }];
}

const CARD_WORDS =
  /(?<!gift[\s_-]*)card|credit|debit|visa|mastercard|american\s?express|amex|discover|diners|jcb|maestro|union\s?pay|^cc$/;

/** @returns whether the method names something, and that is no card: a wallet, a gift card, a transfer */
function isNoCard(method: unknown): boolean {
  return typeof method === 'string' && method.trim() !== '' && !CARD_WORDS.test(method.trim().toLowerCase());
}

/** `bin` and `last4` are kept where the number isn't, so they must be the number's. */
function digitsFindings(card: Record<string, unknown>): Finding[] {
  const { cardNumber, bin, last4 } = card;
  if (typeof cardNumber !== 'string') return [];
  const findings: Finding[] = [];
  if (typeof bin === 'string' && !cardNumber.startsWith(bin)) {
    findings.push({
      path: ['payment', 'creditCard', 'bin'],
      message: 'must be how cardNumber begins; it may be left out',
    });
  }
  if (typeof last4 === 'string' && !cardNumber.endsWith(last4)) {
    findings.push({
      path: ['payment', 'creditCard', 'last4'],
      message: 'must be how cardNumber ends; it may be left out',
    });
  }
  return findings;
}

/** What the service leaves undescribed may hold anything that isn't too deep. */
function passThroughFindings(body: Record<string, unknown>): Finding[] {
  const findings: Finding[] = [];
  for (const name of PASS_THROUGH) {
    walk(body[name], [name], (path) => {
      if (path.length <= MAX_DEPTH) return true;
      findings.push({ path: [name], message: `must be nested at most ${MAX_DEPTH} levels deep` });
      return false;
    });
  }
  return findings;
}

/** A copy of the order's own card number, also of one that begins as no brand does, would stay when the card data has gone. */
function strayCardFindings(body: Record<string, unknown>): Finding[] {
  const payment = isObject(body.payment) ? body.payment : {};
  const card = isObject(payment.creditCard) ? payment.creditCard : {};
  const { cardNumber } = card.cardNumber === undefined ? {} : wellFormed(card);
  if (cardNumber === undefined) return [];
  const findings: Finding[] = [];
  walk(body, [], (path, value) => {
    if (path.length > MAX_DEPTH + 1) return false;
    const own = path.join('.') === 'payment.creditCard.cardNumber';
    if (!own && typeof value === 'string' && value.replace(/[\s-]/g, '').includes(cardNumber)) {
      findings.push({
        path,
        message: 'must not hold the card number; it belongs in payment.creditCard.cardNumber only',
      });
    }
    return true;
  });
  return findings;
}

/** Said of a service key in what an order service sends. */
export const SERVICE_KEY_MESSAGE =
  'must be left out: the API key comes from the configuration of the integration, never with an order';

/** Visits every value under `root`, as deep as `visit` says; not recursive, since what is sent may be very deep. */
function walk(
  root: unknown,
  start: PropertyKey[],
  visit: (path: PropertyKey[], value: unknown) => boolean,
): void {
  const open: { path: PropertyKey[]; value: unknown }[] = [{ path: start, value: root }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, value } = next;
    if (!visit(path, value)) continue;
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) open.push({ path: [...path, index], value: item });
    } else if (isObject(value)) {
      for (const [key, item] of Object.entries(value)) open.push({ path: [...path, key], value: item });
    }
  }
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === '';
}
