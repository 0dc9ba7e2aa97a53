/** What was found wrong with what was sent, and the service's words that other folders use as types. */
import type { z } from 'zod';
import { type Finding, isObject } from './spellings.ts';

/** The mode of an API key: it fixes whether test or real card numbers are accepted. */
export type Mode = 'test' | 'live';

/** Which of the two spellings and paths of create-transaction is written. Both are always read. */
export type Dialect = 'definition' | 'sample';

const KINDS: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

/** What to say of a missing field beyond that it is required. */
const MISSING: Record<string, string> = {
  billTo: 'is required; it may be an empty object, but it must be there',
  customerIP: "is required; send the customer's IP address",
};

/**
 * Turns zod's issues into findings. zod's own words are for developers and some would show what was sent, so only
 * messages written in the schemas pass.
 */
export function schemaFindings(error: z.ZodError, value: unknown): Finding[] {
  return error.issues.flatMap((issue): Finding[] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        path: [...issue.path, key],
        message: 'is not a field of the interface; check its spelling, or leave it out',
      }));
    }
    const given = valueAt(value, issue.path);
    if (given === undefined) {
      return [{ path: issue.path, message: MISSING[issue.path.join('.')] ?? 'is required' }];
    }
    if (issue.code === 'invalid_type') {
      return [{ path: issue.path, message: kindMessage(issue.expected, given) }];
    }
    return [{ path: issue.path, message: issue.message }];
  });
}

function kindMessage(expected: string, given: unknown): string {
  const kind = KINDS[expected] ?? 'of another kind';
  if (expected === 'string' && typeof given === 'number') return `must be ${kind}; put the number in quotes`;
  if (given === null) return `must be ${kind}; leave the field out when there is none`;
  return `must be ${kind}`;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, part) => {
    if (Array.isArray(at)) return at[Number(part)];
    return isObject(at) ? at[String(part)] : undefined;
  }, value);
}
