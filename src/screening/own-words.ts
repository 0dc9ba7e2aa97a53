/** What the service itself says in the body of a reply, as told from the page of a proxy in between. */
import type { Operation } from './errors.ts';

const LOOK_UPS: ReadonlySet<Operation> = new Set(['status', 'status-by-url', 'status-by-invoice']);
const SCREENING: ReadonlySet<Operation> = new Set([...LOOK_UPS, 'create-transaction', 'gateway-response']);

/** @returns whether the operation only reads */
export function isLookUp(operation: Operation): boolean {
  return LOOK_UPS.has(operation);
}

/** @returns the texts of `Errors`, or of the portal's `code` and `message`; none: the service didn't say it */
export function ownWords(body: Record<string, unknown>, operation: Operation): string[] {
  if (Array.isArray(body.Errors)) return body.Errors.filter(isText);
  const { code, message } = body;
  if (SCREENING.has(operation) || !isText(message)) return [];
  if (typeof code === 'number') return [message];
  return isText(code) ? [message, code] : [];
}

const NOT_AUTHORIZED = /^not authori[sz]ed\.?$/i;
const MAY_NOT = /\b(?:not authori[sz]ed|unauthori[sz]ed)\b/i;
const FAULTY = 'invalid|not valid|unknown|wrong|incorrect|expired|revoked|missing|not recogni[sz]ed';
const FAULTY_KEY = new RegExp(
  `\\b(?:${FAULTY})\\b.{0,40}\\b(?:token|(?:api ?)?key)\\b|\\b(?:token|(?:api ?)?key)\\b.{0,40}\\b(?:${FAULTY})\\b`,
  'i',
);

/** @returns whether a refusal is about our key, and not about what was sent with it: how the portal says that isn't known */
export function isAboutKey(words: readonly string[], operation: Operation): boolean {
  return words.some((word) => {
    const text = word.replaceAll(/[_-]/g, ' ').trim();
    if (SCREENING.has(operation)) return NOT_AUTHORIZED.test(text);
    return FAULTY_KEY.test(text) || (MAY_NOT.test(text) && !/\btransaction\b/i.test(text));
  });
}

/** @returns whether the service says that there is no such transaction, after which another may be created */
export function saysNoTransaction(words: readonly string[]): boolean {
  return words.some((word) => /^transaction not found\.?$/i.test(word.trim()));
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
