/** Validation of card numbers, their mode, and expiration dates. */
import { passesLuhn } from '../../card-data/card-numbers.ts';
import { TEST_CARDS } from '../../card-data/test-cards.ts';
import type { IntegrationWorkflow } from '../../contract/words.ts';
import { type Checked, checkFields } from '../check-fields.ts';
import { type Finding, toDefinitionSpelling } from '../spellings.ts';
import { type CardData, cardSchema } from './transaction-schema.ts';

/** Settings for validating a card: the key's mode, and the time at which the card must not have expired. */
export interface CardRules {
  mode: 'test' | 'live';
  now: Date;
}

/**
 * Checks the full card data of `POST /v1/card-refs`: format, check digit, expiry, and test or real number by the key's mode.
 * @param rules.workflow determines which fields are required
 */
export function parseCard(
  input: unknown,
  rules: CardRules & { workflow: IntegrationWorkflow },
): Checked<CardData> {
  return checkFields(cardSchema, toDefinitionSpelling(cardSchema, input), (given) => [
    ...cardFindings(given, rules),
    ...(rules.workflow === 'pre-gateway' ? ['expirationDate', 'cardCode'] : [])
      .filter((field) => given[field] === undefined)
      .map((field) => ({ path: [field], message: 'is required' })),
  ]);
}

/** Rule «card code»: after an authorization the code must be neither stored nor sent. */
export function cardOfWorkflow({ cardCode, ...card }: CardData, workflow: IntegrationWorkflow): CardData {
  return workflow !== 'pre-gateway' || cardCode === undefined ? card : { ...card, cardCode };
}

/** Checks the well-formed fields of a card, even if others are invalid. */
export function cardFindings(card: Record<string, unknown>, rules: CardRules): Finding[] {
  const { shape } = cardSchema;
  const { data: cardNumber } = shape.cardNumber.safeParse(card.cardNumber);
  const { data: expirationDate } = shape.expirationDate.safeParse(card.expirationDate);
  const { data: cardCode } = shape.cardCode.safeParse(card.cardCode);
  const findings: Finding[] = [];
  const find = (field: keyof CardData, message: string) => findings.push({ path: [field], message });
  if (cardNumber !== undefined) {
    if (!passesLuhn(cardNumber)) {
      find('cardNumber', 'is not a valid card number: its check digit is wrong');
    } else if (rules.mode === 'live' && TEST_CARDS.has(cardNumber)) {
      // Assumption «test cards»: live accounts refuse the well-known test numbers. Test accounts may accept others.
      find(
        'cardNumber',
        'must be a real card number: this integration is in live mode, which accepts no test numbers',
      );
    }
  }
  if (cardNumber !== undefined && cardCode !== undefined) {
    // Assumption «card code»: American Express has 4 digits.
    const digits = /^3[47]/.test(cardNumber) ? 4 : 3;
    if (cardCode.length !== digits) find('cardCode', `must have ${digits} digits for a card of this brand`);
  }
  if (expirationDate !== undefined && isExpired(expirationDate, rules.now)) {
    find('expirationDate', 'is in the past; ask the customer for a valid card');
  }
  return findings;
}

/**
 * Why an expiry without a card number is not sent: the screening service would refuse the order, although the field is optional.
 * @returns undefined for a valid one
 */
export function whyExpiryNotSent(expirationDate: unknown, now: Date): string | undefined {
  const parsed = cardSchema.shape.expirationDate.safeParse(expirationDate);
  if (parsed.data === undefined) return 'is not a month and year; not sent';
  return isExpired(parsed.data, now) ? 'is in the past; not sent' : undefined;
}

/** Whether a card has expired. Reads five date formats. Assumption «expiry»: a card is valid until its month has ended in every time zone, last in UTC−12. */
export function isExpired(expirationDate: string, now: Date): boolean {
  const month = Number(expirationDate.slice(0, 2));
  const year = expirationDate.replace(/^..[-/]?/, '');
  return now.getTime() >= Date.UTC(Number(year.length === 2 ? `20${year}` : year), month, 1, 12);
}
