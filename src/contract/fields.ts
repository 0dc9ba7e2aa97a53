/**
 * Schemas of request fields. Each message describes the error and the fix, and never contains the value.
 */
import { z } from 'zod';
import { ACTOR_LIMIT, INTEGRATION_WORKFLOWS, instant, millis, REASON_LIMIT } from './words.ts';

export function text(max: number) {
  return z.string().max(max, `must have at most ${max} characters; shorten it`);
}

export function filledText(max: number) {
  return text(max).min(1, 'must not be empty; send its value');
}

/**
 * Whether text has control characters or lone surrogates. Not every place that uses an order's id supports them: addresses,
 * workflow ids, databases.
 */
export function hasUnprintable(text: string): boolean {
  return /[\p{Cc}\p{Cs}]/u.test(text);
}

/** The check and the message of a field that must have none. */
export const printable = [
  (text: string) => !hasUnprintable(text),
  'must not have control characters or lone surrogates',
] as const;

/** A calendar date `YYYY-MM-DD`, the format of the portal actions. */
export function isoDate() {
  const message = 'must be a valid date in the format YYYY-MM-DD, such as "2026-02-28"';
  return z.string().regex(z.regexes.date, message);
}

/** A time with its offset. */
export const momentText = z.iso.datetime({
  offset: true,
  error: 'must be a time with its offset, such as 2030-01-31T12:00:00Z; in a URL write + as %2B',
});
/** The same, in UTC. */
export const momentSchema = momentText.transform((written) => instant(millis(written)));

export const workflowSchema = z.enum(INTEGRATION_WORKFLOWS);

/** Text of at most 128 characters. Longer text fails without further checks, since some patterns are slow on long input. */
export function bounded() {
  return z.string().max(128, { error: 'must have at most 128 characters; shorten it', abort: true });
}

/**
 * A valid e-mail address of at most 128 characters. Assumption «e-mail addresses»: valid by the HTML standard, except that the local part
 * may have letters of any script, which the screening service judges.
 */
export function email() {
  const message = 'must be a valid e-mail address';
  return bounded()
    .regex(EMAIL, { error: message, abort: true })
    .refine((address) => !/\p{Cc}/u.test(address), message)
    .meta({ format: 'email' });
}

const EMAIL =
  /^[^\s@"(),:;<>[\\\]]{1,128}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;

export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  const shown = words.map((word) => (word === '' ? 'an empty string' : `"${word}"`)).join(', ');
  return z.enum(words, `must be one of ${shown}`);
}

/** A person's own words; they go into the order's history. */
export function wordsSchema(max: number) {
  return z
    .string()
    .min(1, { error: 'must not be empty', abort: true })
    .regex(/\S/, 'must not be blank')
    .max(max, `must have at most ${max} characters`);
}

/** A bound, so that no sensitive number, such as a card number, ends up in histories and logs as an attempt. */
export const HIGHEST_ATTEMPT = 1_000;
export const attemptSchema = z
  .int({ error: 'must be a whole number' })
  .min(1, 'must be at least 1')
  .max(HIGHEST_ATTEMPT, `must be at most ${HIGHEST_ATTEMPT}`);

/** The actor: a person as claimed, or the name of a key. It is recorded in the order's journal and the audit log. */
export const actorSchema = z
  .string({ error: 'must be text' })
  .min(1, 'must not be empty')
  .max(ACTOR_LIMIT, `must have at most ${ACTOR_LIMIT} characters`)
  .refine(...printable);

export const reasonSchema = wordsSchema(REASON_LIMIT);
