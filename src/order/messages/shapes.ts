/**
 * The shapes of plain data that another program, or a person in Temporal, may have created: messages to an order, inputs of workflows, and
 * results of activities. The client library and the API validate messages more, in more detail. Pure, no zod.
 */
import type { Call } from '../../contract/calls.ts';
import { FALLBACK_POLICY } from '../../contract/policy.ts';
import { byPortalKind, type PortalField, portalKind } from '../../contract/portal/portal-kinds.ts';
import { isRecord } from '../../contract/values.ts';
import {
  ACTIONS,
  ACTOR_LIMIT,
  DECISIONS,
  GATEWAY_RESULTS,
  INTEGRATION_WORKFLOWS,
  millis,
  NOTE_LIMIT,
  OVERRIDE_ACTIONS,
  REASON_LIMIT,
  UNAVAILABLE_ACTIONS,
} from '../../contract/words.ts';

export type Shape = (value: unknown) => boolean;
export type Fields = Readonly<Record<string, Shape>>;

const flag: Shape = (value) => typeof value === 'boolean';
export const finite: Shape = (value) => Number.isFinite(value);
const whole: Shape = (value) => Number.isSafeInteger(value);

const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** A time in ISO 8601 with an offset. Without one it would depend on the worker's time zone. */
export const moment = (value: unknown): value is string =>
  typeof value === 'string' && MOMENT.test(value) && !Number.isNaN(Date.parse(value));

/** The fields of a value that may be no object: then there are none. */
export function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A string of at most that many characters. It may be empty if `least` is 0. */
function text(most: number, least = 1): Shape {
  return (value) => typeof value === 'string' && value.length >= least && value.length <= most;
}

/** A string that isn't blank. */
function words(most: number): Shape {
  return (value) => text(most)(value) && /\S/.test(String(value));
}

export function oneOfWords(known: readonly unknown[]): Shape {
  return (value) => known.includes(value);
}

export function optional(shape: Shape): Shape {
  return (value) => value === undefined || shape(value);
}

function mapOf(shape: Shape): Shape {
  return (value) => isRecord(value) && Object.values(value).every(shape);
}

export function listOf(shape: Shape): Shape {
  return (value) => Array.isArray(value) && value.every(shape);
}

export function shaped(fields: Fields): Shape {
  return (value) => isRecord(value) && misfits(value, fields).length === 0;
}

/** An object whose `kind` determines its fields. */
function oneOf(kinds: Readonly<Record<string, Fields>>): Shape {
  return (value) => {
    const { kind } = fieldsOf(value);
    return typeof kind === 'string' && Object.hasOwn(kinds, kind) && shaped(kinds[kind] ?? {})(value);
  };
}

/** @returns the names of the fields that don't have their shape */
export function misfits(value: Record<string, unknown>, fields: Fields): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.(value[name]) === false);
}

// Messages and inputs.

const TEXT_LIMIT = 4_096;
const NAME_LIMIT = 64;
const KEY_LIMIT = 200;

const actor = (value: unknown) => text(ACTOR_LIMIT)(value) && !/[\p{Cc}\p{Cs}]/u.test(String(value));
const by = optional(shaped({ key: optional(actor), actor: optional(actor) }));
const filled = text(TEXT_LIMIT);
const maybeEmpty = optional(text(TEXT_LIMIT, 0));
const name = text(NAME_LIMIT);
const key = optional(text(KEY_LIMIT));

const PORTAL_FIELD: Record<PortalField, Shape> = {
  text: filled,
  'text?': optional(filled),
  'empty-text?': maybeEmpty,
  'flag?': optional(flag),
  'true-or-false?': optional(oneOfWords(['true', 'false'])),
};
const PORTAL_FIELDS = byPortalKind((kind): Fields => {
  const fields = Object.entries(portalKind(kind).fields);
  return Object.fromEntries(fields.map(([name, field]) => [name, PORTAL_FIELD[field]]));
});

/** An update as it is sent. */
export const ENVELOPE: Fields = {
  type: name,
  updateId: filled,
  key: optional(shaped({ name: text(KEY_LIMIT), fingerprint: name })),
  ifAction: optional(oneOfWords(ACTIONS)),
  body: isRecord,
};

/** The bodies of an order's updates. */
export const MESSAGES = {
  decision: { attempt: whole, fingerprint: key },
  adopt: { transactionId: name, by },
  retry: {
    attempt: whole,
    workflow: optional(oneOfWords(INTEGRATION_WORKFLOWS)),
    transaction: isRecord,
    cardRef: key,
    fingerprint: key,
    answerBy: optional(moment),
  },
  'gateway-result': {
    attempt: optional(whole),
    result: oneOfWords(GATEWAY_RESULTS),
    authcode: maybeEmpty,
    transactionId: maybeEmpty,
  },
  acknowledge: { reason: words(TEXT_LIMIT), until: optional(moment), by },
  note: { text: words(NOTE_LIMIT), by },
  assign: { assignee: optional(actor), by },
  snooze: { until: moment, note: words(NOTE_LIMIT), by },
  override: { action: oneOfWords(OVERRIDE_ACTIONS), reason: words(REASON_LIMIT), by },
  withdraw: { number: whole, by },
  ...byPortalKind((kind): Fields => ({ ...PORTAL_FIELDS[kind], by })),
} satisfies Record<string, Fields>;

const adoption = shaped({
  transactionId: name,
  screenedAt: moment,
  gatewayResult: optional(oneOfWords(GATEWAY_RESULTS)),
  force: optional(flag),
});

/** The input of `screenOrder`. */
export const ORDER: Fields = {
  orderId: (value) => name(value) && !String(value).startsWith('#'),
  integration: optional(name),
  workflow: optional(oneOfWords(INTEGRATION_WORKFLOWS)),
  transaction: isRecord,
  cardRef: key,
  fingerprint: key,
  answerBy: optional(moment),
  version: optional(whole),
  adopt: optional(adoption),
};

export const PORTAL_ACTION_INPUT: Fields = {
  integration: filled,
  orderId: optional(filled),
  transactionId: optional(filled),
  cancelBy: optional(moment),
  cancelWindowMs: optional(finite),
  fields: oneOf(PORTAL_FIELDS),
  by,
};

export const READ_AFTER_END_INPUT: Fields = {
  order: shaped({
    ...{ integration: filled, orderId: filled, policy: isRecord, events: shaped({ sequence: whole }) },
    ...{ attempts: listOf(isRecord), transactions: listOf(shaped({ id: filled })) },
  }),
  decisions: listOf(shaped({ transactionId: filled })),
  spacingMs: optional(whole),
};

// Results of regular activities: an operator can complete one manually. Only the fields that the order uses are checked. The worker itself
// records the results of local activities, so they need no check.

/** Calls that are regular activities. */
type ActivityKind = Exclude<Call['kind'], 'timer'>;

/** Tolerance for results dated by a server whose clock is slightly ahead. */
const AHEAD_MS = 60_000;

const anyText = text(100_000, 0);
const id = text(200);
const decision = oneOfWords(DECISIONS);
const unseen = { unseenSince: optional(moment) };
const sent = { sentFrom: moment, sentUntil: moment };
const enriched = {
  insights: optional(mapOf(mapOf(mapOf(anyText)))),
  insightsLeftOut: optional(finite),
  accountMode: optional(anyText),
  passiveMode: optional(flag),
  subStatus: optional(anyText),
};

const screening = oneOf({
  answered: { transactionId: id, decision, message: optional(anyText), found: flag, ...sent, ...enriched },
  skipped: { rule: finite },
  refused: { reason: anyText, words: optional(anyText), ...unseen },
  unreadable: {
    reason: anyText,
    seen: optional(shaped({ transactionId: id, found: flag, ...sent })),
    ...unseen,
  },
  unanswered: { reason: anyText, notBefore: optional(moment), ...unseen },
  forbidden: unseen,
});

/** A read by a regular activity is retried until there is an answer. */
const status = oneOf({
  read: { decision, reportedAt: optional(listOf(moment)), ...enriched },
  unreadable: { words: anyText },
  forbidden: {},
});

const said = { code: optional(anyText), message: optional(anyText) };

/** A build before this one may have recorded a policy without a key that is new. */
const policy = shaped({
  ...Object.fromEntries(
    Object.entries(FALLBACK_POLICY).map(([name, value]) => [name, optional(like(value))]),
  ),
  whenUnavailable: optional(oneOfWords(UNAVAILABLE_ACTIONS)),
  events: optional(oneOfWords([false, 'all', 'changes'])),
});

/** Returns the shape of values with the same types as an example. */
function like(example: unknown): Shape {
  if (!isRecord(example)) return (value) => typeof value === typeof example;
  return shaped(Object.fromEntries(Object.entries(example).map(([name, value]) => [name, like(value)])));
}

const screened = { outcome: screening, fingerprint: optional(id) };

const RESULTS: Record<ActivityKind, Fields> = {
  'retry-screening': { ...screened, whenUnavailable: optional(oneOfWords(UNAVAILABLE_ACTIONS)) },
  'catch-up': { ...screened, policy: optional(policy) },
  // Without a transaction a read only returns the time.
  read: { outcome: optional(status) },
  poll: { outcome: status },
  'last-read': { outcome: status },
  'look-up': {
    outcome: oneOf({
      found: { transactionId: id, decision: optional(decision), ...enriched },
      none: {},
      hidden: {},
      forbidden: {},
    }),
    sentFrom: moment,
  },
  gateway: { outcome: oneOf({ sent: {}, refused: { words: anyText }, forbidden: {} }) },
  portal: {
    outcome: oneOf({
      done: { ...said, chargeback: optional(mapOf(anyText)) },
      refused: { ...said, local: optional(flag) },
      unconfirmed: { message: optional(anyText) },
      'not-sent': {},
      'too-late': {},
      forbidden: { maybeDone: optional(flag) },
    }),
  },
  deliver: {},
  'forget-card': {},
};

/**
 * @param nowMs when the result arrived, in milliseconds; if absent, the result's time isn't checked
 * @returns whether the result has the shape of this kind of call, and no future date
 */
export function isOwnResult(kind: ActivityKind, result: unknown, nowMs?: number): boolean {
  if (!isRecord(result) || !shaped({ began: moment, at: moment, ...RESULTS[kind] })(result)) return false;
  return nowMs === undefined || millis(String(result.at)) <= nowMs + AHEAD_MS;
}
