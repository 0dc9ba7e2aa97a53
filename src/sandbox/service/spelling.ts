/** The two spellings of field names. The interface doesn't say which is accepted, so both are. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

/** Names in the definition's spelling that are also accepted in camelCase. */
const SPELLINGS = new Map(
  [
    ...['nf-token', 'nf-id', 'gateway-response', 'transaction-id', 'currency_code', '3d_secure'],
    ...['card_attempts', 'referial_code', 'joined_on', 'last_sign_in', 'last_purchase_date'],
    ...['total_previous_purchases', 'total_purchase_value', 'saved_cc_added_on', 'order_type'],
    ...['referring_site', 'referring_url', 'landing_page', 'landing_page_type'],
    ...['travel_date', 'point_of_origin'],
  ].map((name) => [name.replace(/[-_]([a-z])/g, (_, letter: string) => letter.toUpperCase()), name]),
);

/** Returns a plain object unchanged, and an empty object for anything else. */
export function asObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns the object with its top-level field names in the definition's spelling. A field given in both spellings with different
 * values keeps both names, which `oneSpelling` refuses.
 */
export function inDefinitionSpelling(value: unknown): Record<string, unknown> {
  const given = asObject(value);
  const entries = Object.entries(given).map(([name, field]) => {
    const definition = SPELLINGS.get(name) ?? name;
    const other = given[definition];
    return [other === undefined || isDeepStrictEqual(other, field) ? definition : name, field] as const;
  });
  return Object.fromEntries(entries);
}

/** Refuses what `inDefinitionSpelling` left in the other spelling. */
export function oneSpelling(fields: Record<string, unknown>, context: z.RefinementCtx): void {
  for (const name of Object.keys(fields).filter((one) => SPELLINGS.has(one))) {
    context.addIssue({
      code: 'custom',
      path: [name],
      message: 'is given in two spellings with different values',
    });
  }
}

/** The schema of an object whose fields may have either spelling. */
export function eitherSpelling<S extends z.ZodType<Record<string, unknown>>>(schema: S) {
  const spelled = (value: unknown) => (isObject(value) ? inDefinitionSpelling(value) : value);
  return z.preprocess(spelled, schema.superRefine(oneSpelling));
}
