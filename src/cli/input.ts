/** Input of the commands: values on the command line, and files. */
import { readFile } from 'node:fs/promises';
import * as consumers from 'node:stream/consumers';
import { z } from 'zod';
import { orderIdSchema } from '../client/read-requests.ts';
import { errorCode } from '../config/values.ts';
import { isRecord } from '../contract/values.ts';
import { HIGHEST_NUMBER } from '../contract/words.ts';
import { UsageError } from './exit-codes.ts';

// The limits are the API's.

/** The order ids of a command that accepts several, without duplicates. */
export const orderIds = z.array(orderIdSchema).transform((ids) => [...new Set(ids)]);
/** The number of a portal action or of an event, on the order's record. */
export const numberOnRecord = wholeNumber(1, HIGHEST_NUMBER);

export function wholeNumber(least: number, most: number) {
  const message = `must be a whole number from ${least} to ${most}`;
  return z
    .string({ error: message })
    .regex(/^\d{1,10}$/, { error: message, abort: true })
    .transform(Number)
    .refine((number) => number >= least && number <= most, message);
}

/**
 * Reads one JSON object.
 * @param file its path; `-` or none is standard input
 * @throws UsageError, which never quotes the content
 */
export async function readJsonObject(file = '-'): Promise<Record<string, unknown>> {
  if (file === '-' && process.stdin.isTTY) {
    throw new UsageError('Name a file with the order as JSON, or send it to standard input');
  }
  const content = await readText(file);
  try {
    const parsed: unknown = JSON.parse(content);
    if (isRecord(parsed)) return parsed;
  } catch {
    // The parser's message would quote the content.
  }
  throw new UsageError(`${file === '-' ? 'Standard input' : 'The file'} must be one JSON object in UTF-8`);
}

/**
 * Reads a text file, without its byte order mark.
 * @param file its path; `-` is standard input
 * @throws UsageError, which never quotes the content
 */
export async function readText(file: string): Promise<string> {
  const bytes = await (file === '-' ? consumers.buffer(process.stdin) : readFile(file)).catch((error) => {
    const message = `can't be read (${errorCode(error) ?? 'unknown error'})`;
    throw new UsageError('The input could not be read', [{ path: '<file>', message }]);
  });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError('The input must be text in UTF-8');
  }
}
