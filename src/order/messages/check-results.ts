/**
 * Checks whether the result of a regular activity has the activity's shape, since an operator can complete it manually. Only the fields
 * that the order uses are checked. The worker itself records the results of local activities, so they need no check.
 */
import type { Call } from '../../contract/calls.ts';
import { FALLBACK_POLICY } from '../../contract/policy.ts';
import { DECISIONS, millis, UNAVAILABLE_ACTIONS } from '../../contract/words.ts';
import {
  type Fields,
  finite,
  flag,
  isRecord,
  mapOf,
  moment,
  oneOf,
  oneOfWords,
  optional,
  type Shape,
  shaped,
  text as textOf,
} from './shapes.ts';

/** Calls that are regular activities. */
type ActivityKind = Exclude<Call['kind'], 'timer'>;

/** Tolerance for results dated by a server whose clock is slightly ahead. */
const AHEAD_MS = 60_000;

const text = textOf(100_000, 0);
const id = textOf(200);
const decision = oneOfWords(DECISIONS);
const unseen = { unseenSince: optional(moment) };
const sent = { sentFrom: moment, sentUntil: moment };
const enriched = {
  insights: optional(mapOf(mapOf(mapOf(text)))),
  insightsLeftOut: optional(finite),
  accountMode: optional(text),
  passiveMode: optional(flag),
  subStatus: optional(text),
};

const screening = oneOf({
  answered: { transactionId: id, decision, message: optional(text), found: flag, ...sent, ...enriched },
  skipped: { rule: finite },
  refused: { reason: text, words: optional(text), ...unseen },
  unreadable: {
    reason: text,
    seen: optional(shaped({ transactionId: id, found: flag, ...sent })),
    ...unseen,
  },
  unanswered: { reason: text, notBefore: optional(moment), ...unseen },
  forbidden: unseen,
});

/** A read by a regular activity is retried until there is an answer. */
const status = oneOf({
  read: { decision, ...enriched },
  unreadable: { words: text },
  forbidden: {},
});

const words = { code: optional(text), message: optional(text) };

const fingerprint = optional(id);

const policy = shaped({
  ...Object.fromEntries(Object.entries(FALLBACK_POLICY).map(([name, value]) => [name, like(value)])),
  whenUnavailable: oneOfWords(UNAVAILABLE_ACTIONS),
  events: oneOfWords([false, 'all', 'changes']),
});

/** Returns the shape of values with the same types as an example. */
function like(example: unknown): Shape {
  if (!isRecord(example)) return (value) => typeof value === typeof example;
  return shaped(Object.fromEntries(Object.entries(example).map(([name, value]) => [name, like(value)])));
}

const RESULTS: Record<ActivityKind, Fields> = {
  'retry-screening': { outcome: screening, fingerprint, policy: optional(policy) },
  'catch-up': { outcome: screening, fingerprint, policy: optional(policy) },
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
  gateway: { outcome: oneOf({ sent: {}, refused: { words: text }, forbidden: {} }) },
  portal: {
    outcome: oneOf({
      done: { ...words, chargeback: optional(mapOf(text)) },
      refused: words,
      unconfirmed: { message: optional(text) },
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
