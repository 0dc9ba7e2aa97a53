/** Validates a transaction as the screening service does. */
import { isIP } from 'node:net';
import { z } from 'zod';
import { TEST_CARDS } from '../../card-data/test-cards.ts';
import type { Mode } from '../model.ts';
import { eitherSpelling, oneSpelling } from './spelling.ts';

const matching = (pattern: RegExp) => z.string().regex(pattern);
/** The screening service's pattern. It matches an empty string, which is allowed as a discount but not as a number. */
const discount = matching(/^\d*\.?\d*$/);
const number = discount.regex(/\d/);
const amount = number.max(24);
const anyText = z.string();
const text = anyText.max(128);
const identifier = anyText.max(64);
const email = z.email({ pattern: z.regexes.html5Email }).max(128);
const date = text.regex(/^(?:0[1-9]|1[0-2])\/(?:0[1-9]|[12]\d|3[01])\/\d{4}$/);
const country = anyText.refine(isCountry, 'must be an ISO country code');
const phoneNumber = text.refine(isPhoneNumber, 'must be a phone number');
const website = text.refine(isDomainName, 'must be a domain name');
const freeForm = z.record(anyText, z.unknown());

function texts(...names: string[]): Record<string, z.ZodOptional<z.ZodString>> {
  return Object.fromEntries(names.map((name) => [name, anyText.optional()]));
}

const address = z.looseObject({
  firstName: text,
  lastName: text,
  company: text.optional(),
  address: text,
  city: text,
  state: text,
  zip: text,
  country,
});
const filledBillTo = z.looseObject({ billTo: address.extend({ phoneNumber }) });

const customer = z.looseObject({
  id: identifier.optional(),
  email,
  joined_on: date.optional(),
  last_sign_in: date.optional(),
  last_purchase_date: date.optional(),
  total_previous_purchases: number.optional(),
  total_purchase_value: number.optional(),
  saved_cc_added_on: date.optional(),
});

const merchant = z.looseObject({
  name: text,
  website,
  email,
  productType: z.enum(['Goods', 'Services']).optional(),
});

const order = z
  .looseObject({
    invoiceNumber: identifier,
    ...texts('referring_site', 'referring_url', 'landing_page'),
    order_type: z.enum(['', 'one-time', 'recurring', 'subscription', 'upsell']),
    landing_page_type: z.enum(['home', 'product', 'search', 'category', 'about', 'other']),
  })
  .partial();

const creditCard = z
  .looseObject({
    bin: anyText,
    cardType: anyText,
    last4: matching(/^\d{4}$/),
    cardNumber: anyText.refine(isCardNumber, 'must be a valid card number'),
    expirationDate: anyText,
    cardCode: matching(/^\d{3,4}$/),
  })
  .partial();

const lineItem = z
  .looseObject({
    ...texts('sku', 'manufacturer', 'name', 'category', 'notes', 'sellingPlanName', 'sellingPlanId'),
    price: z.number(),
    quantity: z.number(),
  })
  .partial();

const transactionRequestSchema = z
  .looseObject({
    amount,
    currency_code: matching(/^[A-Za-z]{1,3}$/).optional(),
    discountAmount: discount.optional(),
    discountPrice: discount.optional(),
    discountPercentage: discount.optional(),
    shippingAmount: amount.optional(),
    fulfillmentDate: date.optional(),
    customer: eitherSpelling(customer),
    merchant: merchant.optional(),
    order: eitherSpelling(order).optional(),
    payment: z.looseObject({ method: anyText, creditCard }).partial().optional(),
    billTo: freeForm,
    shipTo: address.optional(),
    lineItems: z.array(lineItem).optional(),
    travel: eitherSpelling(
      z.looseObject({ travel_date: date, destination: text, point_of_origin: text }).partial(),
    ).optional(),
    ...texts('gatewayName', 'gatewayStatus', 'transaction-id', 'authcode', 'shippingMethod'),
    '3d_secure': z
      .looseObject({ authenticated: z.boolean(), succeeded: z.boolean(), version: anyText })
      .partial()
      .optional(),
    ...texts('app', 'version', 'appName', 'appVersion'),
    ...texts('digitalGoodsAmount', 'digitalGoodsPercentage', 'isBopis'),
    checkout: freeForm.optional(),
    userFields: freeForm.optional(),
    performance: freeForm.optional(),
    subscriptionDetails: freeForm.optional(),
    customerIP: anyText.refine((ip) => isIP(ip) !== 0, 'must be an IP address'),
    avsResultCode: anyText.max(3).optional(),
    cvvResultCode: matching(/^[A-Z0-9]$/).optional(),
    cavvResultCode: matching(/^[ABCDIU0-9]?$/).optional(),
    card_attempts: matching(/^\d+$/).optional(),
    referial_code: identifier.regex(/^[0-9A-Fa-f]+$/).optional(),
    gatewayType: z.enum(['post-gateway', 'pre-gateway']).optional(),
    enrich: z.boolean().optional(),
  })
  .superRefine(oneSpelling);
export type TransactionRequest = z.infer<typeof transactionRequestSchema>;

/**
 * Validates the body of create-transaction, in the definition's spelling, against the screening service's fields and limits.
 * @returns the request, or error messages without any submitted value. Only the message about `billTo` is the screening
 *   service's own wording.
 */
export function readTransactionRequest(
  body: Record<string, unknown>,
  mode: Mode,
  now: Date,
): { request: TransactionRequest } | { errors: string[] } {
  if (body.billTo === undefined || body.billTo === null) return { errors: ['Missing data, billTo field'] };
  const parsed = transactionRequestSchema.safeParse(body);
  if (!parsed.success) return { errors: inWords(parsed.error) };
  const errors = [...missingData(parsed.data), ...cardErrors(parsed.data.payment?.creditCard, mode, now)];
  if (Object.keys(parsed.data.billTo).length > 0) {
    const { error } = filledBillTo.safeParse(body);
    if (error) errors.push(...inWords(error));
  }
  return errors.length > 0 ? { errors } : { request: parsed.data };
}

export function inWords({ issues }: z.ZodError): string[] {
  return issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

const FULL_CARD = ['cardNumber', 'expirationDate', 'cardCode'] as const;

/**
 * Errors for missing conditional fields of Transaction and CreditCard. Before the gateway the whole card is required; after it, a payment
 * without a card, such as a wallet, needs no card fields.
 */
function missingData(request: TransactionRequest): string[] {
  const { gatewayType, payment, avsResultCode, cvvResultCode } = request;
  const [isBefore, isAfter] = [gatewayType === 'pre-gateway', gatewayType === 'post-gateway'];
  const missing: string[] = [];
  if (request.merchant?.productType === 'Goods' && !request.shipTo) missing.push('shipTo');
  const card = payment?.creditCard ?? (isBefore ? {} : undefined);
  if (card && isAfter && !card.last4) missing.push('payment.creditCard.last4');
  if (!payment || (card && isAfter)) {
    if (!avsResultCode) missing.push('avsResultCode');
    if (!cvvResultCode) missing.push('cvvResultCode');
  }
  if (card && (isBefore || (!isAfter && !avsResultCode && !cvvResultCode))) {
    missing.push(...FULL_CARD.filter((field) => !card[field]).map((field) => `payment.creditCard.${field}`));
  }
  return missing.map((field) => `Missing data, ${field} field`);
}

const REGIONS = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
/** Codes in Node's list of regions that ISO 3166-1 has withdrawn, reserves or never assigned. */
const NOT_ISO = 'AC AN BU CP CQ CS DD DG DY EA EU EZ FX HV IC NH QO RH SU TA TP UK UN VD XA XB YD YU ZR ZZ';

function isCountry(given: string): boolean {
  const code = given.toUpperCase();
  return /^[A-Z]{2}$/.test(code) && !NOT_ISO.includes(code) && REGIONS.of(code) !== undefined;
}

function isPhoneNumber(given: string): boolean {
  const [number = ''] = given.split(/x|ext|#/i);
  const digits = number.replaceAll(/\D/g, '').length;
  return /^[\d\s()+./-]+$/.test(number) && digits >= 5 && digits <= 20;
}

function isDomainName(given: string): boolean {
  const labels = given.split('.');
  return labels.length > 1 && labels.every((label) => /^(?!-)[a-z\d-]{1,63}(?<!-)$/i.test(label));
}

/** Errors of the card: its expiry, and its number by the key's mode (test keys accept test cards only, live keys real ones only). */
export function cardErrors(card: z.infer<typeof creditCard> | undefined, mode: Mode, now: Date): string[] {
  const errors: string[] = [];
  if (card?.expirationDate !== undefined && !isUnexpired(card.expirationDate, now)) {
    errors.push('payment.creditCard.expirationDate: must be a valid, unexpired date');
  }
  if (card?.cardNumber === undefined) return errors;
  const { cardNumber, bin = '', last4 = '' } = card;
  if (!cardNumber.startsWith(bin)) errors.push('payment.creditCard.bin: must match the card number');
  if (!cardNumber.endsWith(last4)) errors.push('payment.creditCard.last4: must match the card number');
  const isTestCard = TEST_CARDS.has(cardNumber);
  if (mode === 'test' && !isTestCard) errors.push('Real card numbers are not accepted with a test key.');
  if (mode === 'live' && isTestCard) errors.push('Test card numbers are not accepted with a live key.');
  return errors;
}

function isUnexpired(expirationDate: string, now: Date): boolean {
  const found = /^(0[1-9]|1[0-2])(?:[-/]?(\d{2})|[-/](\d{4}))$/.exec(expirationDate);
  if (!found) return false;
  const year = Number(found[3] ?? `20${found[2]}`);
  // A card is valid until its month has ended in every time zone.
  return now.getTime() < Date.UTC(year, Number(found[1]), 1, 12);
}

function isCardNumber(value: string): boolean {
  if (!/^\d{12,19}$/.test(value)) return false;
  const digits = [...value].reverse().map(Number);
  const sum = digits.reduce((total, digit, index) => {
    const counted = index % 2 === 0 ? digit : digit * 2;
    return total + (counted > 9 ? counted - 9 : counted);
  }, 0);
  return sum % 10 === 0;
}
