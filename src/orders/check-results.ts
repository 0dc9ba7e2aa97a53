/**
 * Whether what an activity of the server brought back is that activity's own result: an operator may have completed it by hand. Only what
 * the order relies on is looked at. Results of local activities are written by the worker itself, so nobody else can make them.
 */

import type { Call } from './activity-contract.ts';
import { isMoment, isRecord, isText } from './check-messages.ts';
import { POLICY_KEYS, settingName } from './policy.ts';
import type { PolicyKey, ValueKind } from './policy-kinds.ts';
import { DECISIONS, millis, UNAVAILABLE_ACTIONS } from './words.ts';

type Check = (value: unknown) => boolean;
/** What each kind of an outcome must have, by its `kind`. */
type Kinds = Record<string, Record<string, Check>>;

/** Calls that are activities of the server. */
type ActivityKind = Exclude<Call['kind'], 'timer'>;

const LONGEST_TEXT = 100_000;
/** Of results that are dated by a server whose clock is a little ahead. */
const AHEAD_MS = 60_000;

const text: Check = (value) => typeof value === 'string' && value.length <= LONGEST_TEXT;
const flag: Check = (value) => typeof value === 'boolean';
const finite: Check = (value) => Number.isFinite(value);
const id: Check = (value) => isText(value, 200);
const decision: Check = (value) => DECISIONS.some((one) => one === value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const mapOf =
  (check: Check): Check =>
  (value) =>
    isRecord(value) && Object.values(value).every(check);
const shaped =
  (fields: Record<string, Check>): Check =>
  (value) =>
    isRecord(value) && Object.entries(fields).every(([name, check]) => check(value[name]));
const oneOf =
  (kinds: Kinds): Check =>
  (value) => {
    if (!isRecord(value) || typeof value.kind !== 'string' || !Object.hasOwn(kinds, value.kind)) return false;
    return shaped(kinds[value.kind] ?? {})(value);
  };

const unseen = { unseenSince: optional(isMoment) };
const sent = { sentFrom: isMoment, sentUntil: isMoment };
const enriched = {
  insights: optional(mapOf(mapOf(mapOf(text)))),
  insightsLeftOut: optional(finite),
  accountMode: optional(text),
  passiveMode: optional(flag),
  subStatus: optional(text),
};

const screeningKinds: Kinds = {
  answered: { transactionId: id, decision, message: optional(text), found: flag, ...sent, ...enriched },
  skipped: { rule: finite },
  refused: { reason: text, words: optional(text), ...unseen },
  unreadable: {
    reason: text,
    seen: optional(shaped({ transactionId: id, found: flag, ...sent })),
    ...unseen,
  },
  unanswered: { reason: text, ...unseen },
  forbidden: unseen,
};
const screening = oneOf(screeningKinds);

/** A read by an activity of the server goes on until there is an answer. */
const status = oneOf({
  read: { decision, ...enriched },
  unreadable: { words: text },
  forbidden: {},
});

const words = { code: optional(text), message: optional(text) };

const OUTCOMES: Record<Exclude<ActivityKind, 'deliver' | 'forget-card'>, Check> = {
  'retry-screening': screening,
  'catch-up': screening,
  // Without a transaction a read only tells the time.
  read: optional(status),
  poll: status,
  'look-up': oneOf({
    found: { transactionId: id, decision: optional(decision), ...enriched },
    none: {},
    hidden: {},
    forbidden: {},
  }),
  gateway: oneOf({ sent: {}, refused: { words: text }, forbidden: {} }),
  portal: oneOf({
    done: { ...words, chargeback: optional(mapOf(text)) },
    refused: words,
    unconfirmed: { message: optional(text) },
    'not-sent': {},
    'too-late': {},
    forbidden: { maybeDone: optional(flag) },
  }),
};

const contentChecks = { fingerprint: optional(id) };

/** What a result has beside its outcome. */
const OTHERS: Partial<Record<ActivityKind, Check>> = {
  'retry-screening': shaped(contentChecks),
  'catch-up': shaped({ ...contentChecks, policy: optional(isPolicy) }),
  'look-up': shaped({ sentFrom: isMoment }),
};

/**
 * @param nowMs when the result came, in milliseconds; absent: it is not compared
 * @returns whether it is a result of this kind of call, and not dated ahead of its time
 */
export function isOwnResult(kind: ActivityKind, result: unknown, nowMs?: number): boolean {
  if (!isRecord(result) || !isMoment(result.began) || !isMoment(result.at)) return false;
  if (nowMs !== undefined && millis(String(result.at)) > nowMs + AHEAD_MS) return false;
  if (kind === 'deliver' || kind === 'forget-card') return true;
  return OUTCOMES[kind](result.outcome) && (OTHERS[kind]?.(result) ?? true);
}

function isPolicy(policy: unknown): boolean {
  if (!isRecord(policy)) return false;
  const { events } = policy;
  if (events !== false && events !== 'all' && events !== 'changes') return false;
  return Object.entries<PolicyKey>(POLICY_KEYS).every(
    ([name, key]) => key.recorded === false || isSetting(policy[settingName(name, key)], key),
  );
}

function isSetting(value: unknown, key: ValueKind): boolean {
  switch (key.kind) {
    case 'flag':
      return flag(value);
    case 'duration':
    case 'number':
    case 'whole number':
      return finite(value);
    case 'word':
      return key.words.some((one) => one === value);
    case 'action or rules':
      return UNAVAILABLE_ACTIONS.some((one) => one === value);
    case 'group':
      return (
        isRecord(value) &&
        Object.entries(key.parts).every(([name, part]) => isSetting(value[settingName(name, part)], part))
      );
    case 'text':
      return text(value);
    default:
      return true;
  }
}
