/** What the commands take, from the command line and as JSON. The limits are the API's. */
import { readFile } from 'node:fs/promises';
import * as consumers from 'node:stream/consumers';
import { z } from 'zod';
import {
  actorSchema,
  idempotencyKeySchema,
  integrationNameSchema,
  MOST_ATTEMPTS,
  orderIdSchema,
  reasonSchema,
} from '../client/read-requests.ts';
import { errorCode } from '../config/values.ts';
import { ACTIONS, ORDER_DECISIONS, OVERRIDE_ACTIONS, PHASES } from '../orders/words.ts';
import { UsageError } from './exit-codes.ts';

export const orderId = orderIdSchema;
export const integration = integrationNameSchema.exactOptional();
export const transactionId = z.guid('must be the id of a transaction').exactOptional();
export const reason = reasonSchema;
export const actor = actorSchema.exactOptional();
export const idempotencyKey = idempotencyKeySchema.exactOptional();
/** The number of a portal action on the order's record. */
export const actionNumber = wholeNumber(1, 999_999);
/** The number of an event of the order. */
export const eventSequence = wholeNumber(1, 999_999);
export const attempt = wholeNumber(1, MOST_ATTEMPTS);

export const phase = oneOf(PHASES);
export const decision = oneOf(ORDER_DECISIONS);
export const action = oneOf(ACTIONS);
export const overrideAction = oneOf(OVERRIDE_ACTIONS);

/** Not empty, and at most so many characters. */
export function text(max: number) {
  return z.string().min(1, 'must not be empty').max(max, `must have at most ${max} characters`);
}

export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: `must be one of ${words.join(', ')}` });
}

export function wholeNumber(least: number, most: number) {
  const message = `must be a whole number from ${least} to ${most}`;
  return z
    .string({ error: message })
    .regex(/^\d{1,6}$/, { error: message, abort: true })
    .transform(Number)
    .refine((number) => number >= least && number <= most, message);
}

/** Seconds, `90` or `0.5`, as milliseconds. */
export function seconds() {
  return z
    .string()
    .regex(/^\d{1,6}(\.\d{1,3})?$/, { error: 'must be a number of seconds', abort: true })
    .transform((written) => Number(written) * 1_000)
    .refine((ms) => ms > 0, 'must be more than 0');
}

const jsonObject = z.record(z.string(), z.unknown());

/**
 * Reads one JSON object.
 * @param file its path; `-` or none is standard input
 * @throws UsageError, which shows nothing of the content
 */
export async function readJsonObject(file: string | undefined): Promise<Record<string, unknown>> {
  const fromStdin = file === undefined || file === '-';
  if (fromStdin && process.stdin.isTTY) {
    throw new UsageError('Name a file with the order as JSON, or send it to standard input');
  }
  const content = await readText(fromStdin ? '-' : file);
  const parsed = jsonObject.safeParse(parse(content));
  if (parsed.success) return parsed.data;
  throw new UsageError(`${fromStdin ? 'Standard input' : 'The file'} must be one JSON object in UTF-8`);
}

/**
 * Reads a file of text.
 * @param file its path; `-` is standard input
 * @throws UsageError, which shows nothing of the content
 */
export async function readText(file: string): Promise<string> {
  if (file === '-') return consumers.text(process.stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = errorCode(error);
    const why = code === undefined ? '' : ` (${String(code)})`;
    throw new UsageError('The input is missing', [{ path: '<file>', message: `can't be read${why}` }]);
  }
}

function parse(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    // The parser's own words would quote the content.
    return undefined;
  }
}
