/** Checks the fields of a request. Each message says what is wrong and what to send instead, without the submitted value. */
import type { z } from 'zod';
import type { FieldError } from '../contract/errors.ts';
import { isRecord } from '../contract/values.ts';
import type { Finding, Spelled } from './spellings.ts';

/** Maximum number of reported errors. More would be of no use, and each costs time. */
export const MOST_ERRORS = 100;

/** The rules between fields, for a body in definition spelling that may have invalid fields. */
type Rules = (body: Record<string, unknown>) => Finding[];

export type Checked<T> = { ok: true; data: T } | { ok: false; fieldErrors: FieldError[] };

/** Checks a body against its schema and the rules between fields. Returns all errors at once, with their paths in the sender's spelling. */
export function checkFields<Schema extends z.ZodType>(
  schema: Schema,
  { value, findings, shownPath }: Spelled,
  rules: Rules = () => [],
): Checked<z.infer<Schema>> {
  const { data, found } = check(schema, value, rules);
  const all = [...findings, ...withAdvice(found, (other) => check(schema, other, rules).found, value)];
  if (data !== undefined && all.length === 0) return { ok: true, data };
  const fieldErrors = all
    .slice(0, MOST_ERRORS)
    .map(({ path, message }) => ({ path: shownPath(path), message }));
  return { ok: false, fieldErrors };
}

type Found = Finding & { isNull?: boolean };

/** Keeps at most one error of the rules per path, and none where the schema already found one. */
function check<Schema extends z.ZodType>(schema: Schema, value: unknown, rules: Rules) {
  const { data, error } = schema.safeParse(value);
  const found = error?.issues.flatMap((issue) => findingsOf(issue, value)) ?? [];
  const seen = new Set(found.map(nameOf));
  for (const finding of isRecord(value) ? rules(value) : []) {
    if (!seen.has(nameOf(finding))) found.push(finding);
    seen.add(nameOf(finding));
  }
  return { data, found };
}

function nameOf({ path }: Finding): string {
  return path.join('.');
}

/** Messages for missing fields that need more than "is required". */
const MISSING: Record<string, string> = {
  billTo: 'is required; it may be an empty object',
  customerIP: "is required; send the customer's IP address",
};

/** Uses only messages from our schemas, since some of zod's own messages contain the submitted value. */
function findingsOf(issue: z.core.$ZodIssue, value: unknown): Found[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') {
    const message = 'is not a field of the interface; check its spelling, or leave it out';
    return issue.keys.map((key) => ({ path: [...path, key], message }));
  }
  const given = path.reduce<unknown>(
    (at, part) => (typeof at === 'object' && at !== null ? Reflect.get(at, part) : undefined),
    value,
  );
  if (given === undefined) return [{ path, message: MISSING[path.join('.')] ?? 'is required' }];
  const message = issue.code === 'invalid_type' ? kindMessage(issue.expected, given) : issue.message;
  return [{ path, message, isNull: given === null }];
}

/** Adds what each field that is null accepts instead, which is checked for all of them at once. */
function withAdvice(found: Found[], findingsIn: (body: unknown) => Finding[], value: unknown): Finding[] {
  const nulls = found.filter(({ isNull }) => isNull);
  if (nulls.length === 0) return found;
  const messagesWith = (instead: '' | undefined) => {
    const body = nulls.reduce((before, { path }) => withAt(before, path, instead), value);
    return new Map(findingsIn(body).map((finding) => [nameOf(finding), finding.message]));
  };
  const [whenLeftOut, whenEmpty] = [messagesWith(undefined), messagesWith('')];
  return found.map((finding) => {
    if (!finding.isNull) return finding;
    const required = whenLeftOut.get(nameOf(finding));
    const mayBeEmpty = !whenEmpty.has(nameOf(finding));
    const whenRequired = mayBeEmpty ? `it may be "", and ${required}` : `it ${required}`;
    const whenOptional = `it may be ${mayBeEmpty ? '"" or ' : ''}left out`;
    const advice = required === undefined ? whenOptional : whenRequired;
    return { path: finding.path, message: `${finding.message}, not null; ${advice}` };
  });
}

/** Returns the value with a different one at a path, or without the field there. */
function withAt(value: unknown, [name, ...inner]: readonly PropertyKey[], instead: '' | undefined): unknown {
  if (name === undefined) return instead;
  if (Array.isArray(value)) return value.with(Number(name), withAt(value[Number(name)], inner, instead));
  if (!isRecord(value)) return value;
  const { [String(name)]: before, ...others } = value;
  const now = withAt(before, inner, instead);
  return now === undefined ? others : { ...others, [name]: now };
}

/**
 * A parameter for `safeParse` with default messages for schemas without their own. Zod's defaults are for developers and contain
 * the submitted value.
 */
export const OUR_WORDS = {
  error(issue: z.core.$ZodRawIssue): string | undefined {
    if (issue.input === undefined) return 'is required';
    if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}`;
    if (issue.code !== 'invalid_type') return undefined;
    // A query parameter that is given twice arrives as a list.
    const isRepeated = issue.expected === 'string' && Array.isArray(issue.input);
    if (isRepeated) return 'must be given once, as a string';
    const message = kindMessage(issue.expected, issue.input);
    return issue.input === null
      ? `${message}, not null: send a value, or leave the field out if it may be missing`
      : message;
  },
};

const KINDS: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

function kindMessage(expected: string, given: unknown): string {
  const kind = KINDS[expected] ?? 'of another kind';
  if (expected === 'string' && typeof given === 'number') return `must be ${kind}; put the number in quotes`;
  return `must be ${kind}`;
}
