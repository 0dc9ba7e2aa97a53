import { schemaFindings } from './schema-findings.ts';
import { type Finding, toDefinitionSpelling } from './spellings.ts';
import { isTestCardNumber } from './test-card-numbers.ts';
import { type CardData, cardSchema } from './transaction-schema.ts';
import type { Fault, Mode } from './vocabulary.ts';

export type ParsedCard = { ok: true; card: CardData } | { ok: false; faults: Fault[] };

/** What a card is judged by: the key's mode, and the day (in UTC) on which it must not have expired. */
export interface CardRules {
  mode: Mode;
  today: Date;
}

/**
 * Checks full card data, as `POST /v1/card-refs` takes it and as it comes out of the stash: form, check digit, expiry,
 * and test or real number by the key's mode (interface document, "CreditCard" and "Authentication", 3).
 */
export function parseCard(input: unknown, rules: CardRules): ParsedCard {
  const { value, shownPath } = toDefinitionSpelling(cardSchema, input);
  const parsed = cardSchema.safeParse(value);
  const findings = [
    ...(parsed.success ? [] : schemaFindings(parsed.error, value)),
    ...cardFindings(parsed.success ? parsed.data : wellFormed(value), rules),
  ];
  if (parsed.success && findings.length === 0) return { ok: true, card: parsed.data };
  return { ok: false, faults: findings.map(({ path, message }) => ({ path: shownPath(path), message })) };
}

/** The card fields of `value` whose form is right, so that the rules can be asked of them beside other faults. */
export function wellFormed(value: unknown): Partial<CardData> {
  const { cardNumber, expirationDate, cardCode } = cardSchema.shape;
  const read = (schema: typeof cardNumber, name: keyof CardData) => {
    const field = schema.safeParse(
      typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined,
    );
    return field.success ? { [name]: field.data } : {};
  };
  return {
    ...read(cardNumber, 'cardNumber'),
    ...read(expirationDate, 'expirationDate'),
    ...read(cardCode, 'cardCode'),
  };
}

/** What is wrong with card fields of the right form. */
export function cardFindings({ cardNumber, expirationDate }: Partial<CardData>, rules: CardRules): Finding[] {
  const findings: Finding[] = [];
  if (cardNumber !== undefined) {
    if (!passesLuhn(cardNumber)) {
      findings.push({ path: ['cardNumber'], message: 'is no valid card number: its check digit is wrong' });
    } else if (isTestCardNumber(cardNumber) !== (rules.mode === 'test')) {
      findings.push({
        path: ['cardNumber'],
        message:
          rules.mode === 'test'
            ? 'must be a well-known test number: this integration is in test mode, and real cards are refused'
            : 'must be a real card number: this integration is in live mode, and test numbers are refused',
      });
    }
  }
  if (expirationDate !== undefined && isExpired(expirationDate, rules.today)) {
    findings.push({
      path: ['expirationDate'],
      message: 'is in the past; ask the customer for a card that is valid',
    });
  }
  return findings;
}

/** Whether the last digit of a card number is the check digit of the others (ISO/IEC 7812). */
export function passesLuhn(cardNumber: string): boolean {
  const sum = [...cardNumber].reverse().reduce((total, character, index) => {
    const digit = Number(character) * (index % 2 === 0 ? 1 : 2);
    return total + (digit > 9 ? digit - 9 : digit);
  }, 0);
  return sum % 10 === 0;
}

/** Whether text holds a full card number, with or without spaces or dashes: 13 to 19 digits, the last a check digit. */
export function holdsCardNumber(text: string): boolean {
  const runs = text.match(/(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)/g) ?? [];
  return runs.some((run) => passesLuhn(run.replace(/[ -]/g, '')));
}

/** Whether a card of one of the five date formats has expired: it is good to the end of its month, in UTC. */
export function isExpired(expirationDate: string, today: Date): boolean {
  const month = Number(expirationDate.slice(0, 2));
  const year = Number(expirationDate.replace(/^..[-/]?/, ''));
  const fullYear = year < 100 ? 2000 + year : year;
  return today.getTime() >= Date.UTC(fullYear, month, 1);
}
