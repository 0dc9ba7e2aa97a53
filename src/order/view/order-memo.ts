/**
 * The order's memo: its public record, from which `GET`, the list and the pages read an order without a worker. Each change is a history
 * event, so the memo omits what readers can derive.
 */
import type { OrderKey } from '../../contract/ids.ts';
import type { OrderRecord } from '../../contract/order/order-record.ts';
import type { Policy } from '../../contract/policy.ts';
import { isRecord } from '../../contract/values.ts';
import { ACTIONS, ORDER_DECISIONS, PHASES } from '../../contract/words.ts';
import { type Fields, finite, listOf, oneOfWords, optional, type Shape, shaped } from '../messages/shapes.ts';
import { checkoutAnswer } from './answers.ts';

export const RECORD = 'record';

/**
 * The part of a policy that readers need: for deadlines (but for when policy cancels a review), cancel windows and allowed requests. The full
 * view has the whole policy.
 */
const POLICY_READ: readonly (keyof Policy)[] = [
  'passive',
  'cancelWindowMs',
  'recheckLeadTimeMs',
  'reviewLeadTimeMs',
  'reviewLimitMs',
  'gatewayResultWithinMs',
  'retryWithinMs',
  'rescreenOnError',
  'events',
];

/** Returns the memo with an order's record. It omits the ids and the rest of the policy, which readers get elsewhere. */
export function memoOf(record: OrderRecord): { [RECORD]: object } {
  const { orderId: _id, integration: _name, policy, ...facts } = record;
  const memo = {
    ...facts,
    policy: Object.fromEntries(POLICY_READ.map((key) => [key, policy[key]])),
    attempts: record.attempts.map((attempt) => {
      const same = JSON.stringify(attempt.answer) === JSON.stringify(checkoutAnswer(record, attempt));
      return same ? { ...attempt, answer: AS_NOW } : attempt;
    }),
  };
  return { [RECORD]: Object.fromEntries(Object.entries(memo).filter(([, value]) => !isEmpty(value))) };
}

/** Replaces an answer that equals the order's current answer. */
const AS_NOW = 'as now';
/** The values that a memo omits when they are empty. */
const EMPTY = { passed: [], transactions: [], attention: [], actions: [] };

function isEmpty(value: unknown): boolean {
  return value === false || (Array.isArray(value) && value.length === 0);
}

/**
 * Returns a function that returns the memo of a record if it must be written, and remembers it as written. Two changes don't justify a
 * history event. One is a delivery, which readers derive (`asDelivered` in src/client/reading/order-record.ts): each new or given-up event
 * writes the memo, and so does a delivery that an operator ended. The other is the moment of a pass's last read.
 */
export function writtenMemo(): (record: OrderRecord) => ReturnType<typeof memoOf> | undefined {
  let written: string | undefined;
  return (record) => {
    const memo = memoOf(record);
    const { sequence, delivered, waiting, paused } = record.events;
    const passed = record.passed.filter((kind) => kind !== 'recheck');
    const facts = { ...memo[RECORD], passed: undefined, events: undefined };
    const key = JSON.stringify([facts, passed, sequence, sequence - delivered - waiting, paused]);
    if (key === written) return undefined;
    written = key;
    return memo;
  };
}

/** Returns the record in an order's memo, as `memoOf` wrote it; undefined if the memo has something else. */
export function recordIn(memo: unknown, { orderId, integration }: OrderKey): OrderRecord | undefined {
  if (!isRecord(memo)) return undefined;
  const key = { orderId, integration };
  // The ids come first for readability.
  const record = { ...key, ...memo, ...EMPTY, ...memo, ...key };
  if (!isOrderRecord(record)) return undefined;
  const attempts = record.attempts.map((attempt) =>
    Object.is(attempt.answer, AS_NOW) ? { ...attempt, answer: checkoutAnswer(record, attempt) } : attempt,
  );
  return { ...record, attempts };
}

const isText: Shape = (value) => typeof value === 'string';
const texts = (...names: string[]): Fields => Object.fromEntries(names.map((name) => [name, isText]));
const textsIn = (...names: string[]): Shape => listOf(shaped(texts(...names)));

const ATTEMPTS = listOf(
  shaped({ ...texts('startedAt', 'screenUntil', 'decision'), readings: Array.isArray }),
);

/** The fields that readers use: any starter of a workflow can write a memo. */
const RECORD_FIELDS: Fields = {
  phase: oneOfWords(PHASES),
  decision: oneOfWords(ORDER_DECISIONS),
  action: oneOfWords(ACTIONS),
  policy: isRecord,
  events: shaped({ sequence: finite, delivered: finite, waiting: finite }),
  passed: Array.isArray,
  attempts: (value) => ATTEMPTS(value) && !isEmpty(value),
  transactions: optional(textsIn('id', 'cancelBy', 'sentFrom')),
  attention: optional(textsIn('code', 'words', 'since')),
  actions: optional(textsIn('kind', 'status', 'subject', 'requestedAt')),
  journal: optional(textsIn('at', 'what')),
};

export function isOrderRecord(value: unknown): value is OrderRecord {
  return shaped(RECORD_FIELDS)(value);
}
