/** The rules between the fields of a transaction. */

import type { IntegrationWorkflow } from '../orders/words.ts';
import { type CardRules, cardFindings, wellFormed } from './card-rules.ts';
import { type Finding, isObject } from './spellings.ts';

/** How a transaction is judged beyond the limits of its fields. */
export interface TransactionRules extends CardRules {
  workflow: IntegrationWorkflow;
  /** The card data is in a stash already, so the transaction must be without it. */
  cardInStash?: boolean;
}

/** The fields of full card data. */
const CARD_FIELDS = ['cardNumber', 'expirationDate', 'cardCode'] as const;

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
const MAX_DEPTH = 20;

/**
 * The rules between fields and those of the integration workflow. They read a body in definition spelling that may still have faults, so that every fault
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
  const card = isObject(payment.creditCard) ? payment.creditCard : {};
  const at = (field: string) => ['payment', 'creditCard', field];
  const takesCard = rules.workflow === 'pre-gateway' && rules.cardInStash !== true;

  if (takesCard) {
    const missing = CARD_FIELDS.filter((field) => isBlank(card[field])).map((field) => ({
      path: at(field),
      message: 'is required: a pre-gateway transaction needs the full card data',
    }));
    const wrong = cardFindings(wellFormed(card), rules).map(({ path, message }) => ({
      path: ['payment', 'creditCard', ...path],
      message,
    }));
    return [...missing, ...wrong, ...digitsFindings(card)];
  }

  const findings: Finding[] = [];
  for (const field of CARD_FIELDS) {
    if (card[field] === undefined) continue;
    const message =
      rules.workflow === 'pre-gateway'
        ? 'must be left out: the card data is given by its reference'
        : `must be left out: a ${rules.workflow} transaction needs last4, avsResultCode and cvvResultCode instead`;
    findings.push({ path: at(field), message });
  }
  if (rules.workflow === 'pre-gateway') return findings;
  const needed = `is required: a ${rules.workflow} transaction needs it`;
  if (isBlank(card.last4)) findings.push({ path: at('last4'), message: needed });
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

/** What the document leaves undescribed may hold anything but what must never be kept. */
function passThroughFindings(body: Record<string, unknown>): Finding[] {
  const findings: Finding[] = [];
  for (const name of PASS_THROUGH) {
    walk(body[name], [name], (path) => {
      if (path.length > MAX_DEPTH) {
        findings.push({ path: [name], message: `must be nested at most ${MAX_DEPTH} levels deep` });
        return false;
      }
      const key = String(path.at(-1))
        .toLowerCase()
        .replace(/[^a-z]/g, '');
      if (key === 'cardnumber' || key === 'cardcode') {
        findings.push({ path, message: 'must be left out: card data belongs in payment.creditCard only' });
      } else if (key === 'expirationdate') {
        findings.push({
          path,
          message: 'must have another name: by this one a card’s expiry is known, and refused',
        });
      } else if (key === 'nftoken') {
        findings.push({ path, message: SERVICE_KEY_MESSAGE });
      }
      return true;
    });
  }
  return findings;
}

/** A copy of the card's number in a field that is kept, such as a note, would stay when the card data has gone. */
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
