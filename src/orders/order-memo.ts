/**
 * The order's memo: its public record, in which `GET`, the list and the pages read an order without a worker. Each change of it is
 * a history event, so the memo leaves out what a reader can derive.
 */

import { checkoutAnswer } from './answers.ts';
import type { OrderKey } from './ids.ts';
import type { OrderRecord, RecordedAttempt } from './order-record.ts';
import type { Policy } from './policy.ts';
import { isRecord } from './shapes.ts';
import type { CheckoutAnswer, OrderTransaction } from './state.ts';
import { ACTIONS, ORDER_DECISIONS, PHASES } from './words.ts';

/** The memo's key. */
export const RECORD = 'record';

/** What of a policy a reader needs: for deadlines, cancel windows and what may be asked. The full view has all of it. */
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

/** Returns the memo of an order with this record. */
export function memoOf(record: OrderRecord): { [RECORD]: object } {
  const { orderId: _id, integration: _name, policy, attempts, transactions, ...rest } = record;
  const { cancelAsked, passed, attention, actions, ...facts } = rest;
  return {
    [RECORD]: {
      ...facts,
      ...(cancelAsked && { cancelAsked }),
      ...(passed.length > 0 && { passed }),
      ...(attention.length > 0 && { attention }),
      ...(actions.length > 0 && { actions }),
      policy: policyRead(policy),
      attempts: attempts.map((attempt) => packedAttempt(record, attempt)),
      ...(transactions.length > 0 && { transactions: transactions.map(packedTransaction) }),
    },
  };
}

/**
 * The memo of a run, as it was written last. It is written for what is worth a history event. Two things are not: a delivery, which readers
 * derive (`asDelivered` in src/client/order-record.ts), since each event that is made or given up writes the memo, and so does a delivery that
 * a person ended; and the read shortly before the cancel window closes when it brings no news, since the order's end follows.
 */
export class WrittenMemo {
  #key: string | undefined;
  #lastRead: OrderRecord['lastRead'];

  /** Returns whether the record is to be written, and takes it as written. */
  isNews(record: OrderRecord): boolean {
    if (record.lastRead?.source !== 'recheck') this.#lastRead = record.lastRead;
    const { lastRead: _own, events, ...facts } = record;
    const passed = record.passed.filter((kind) => kind !== 'recheck');
    const transactions = record.transactions.map(({ decidedAt: _when, source: _how, ...one }) => one);
    const memo = memoOf({ ...facts, passed, transactions, events: NO_EVENTS });
    const { sequence, delivered, waiting, paused } = events;
    const key = JSON.stringify([memo, this.#lastRead, sequence, sequence - delivered - waiting, paused]);
    if (key === this.#key) return false;
    this.#key = key;
    return true;
  }
}

const NO_EVENTS = { sequence: 0, delivered: 0, waiting: 0 };

/**
 * Returns the record in an order's memo, as `memoOf` wrote it.
 * @returns undefined when the memo holds something else
 */
export function recordIn(memo: unknown, { orderId, integration }: OrderKey): OrderRecord | undefined {
  if (!isRecord(memo) || !Array.isArray(memo.attempts)) return undefined;
  const { transactions = [] } = memo;
  if (!Array.isArray(transactions)) return undefined;
  const record = {
    orderId,
    integration,
    cancelAsked: false,
    passed: [],
    attention: [],
    actions: [],
    ...memo,
    transactions: transactions.map((one) => (isRecord(one) ? { sentUntil: one.sentFrom, ...one } : one)),
    attempts: memo.attempts.map((one) => (isRecord(one) ? { rescreens: 0, ...one } : one)),
  };
  if (!isOrderRecord(record)) return undefined;
  for (const attempt of record.attempts) {
    if (attempt.answer !== undefined) attempt.answer = unpackedAnswer(record, attempt, attempt.answer);
  }
  return record;
}

function policyRead(policy: Policy): object {
  const shown = POLICY_READ.map((key) => [key, policy[key]]);
  return Object.fromEntries(shown);
}

function packedTransaction({ sentUntil, ...transaction }: OrderTransaction): object {
  return { ...transaction, ...(sentUntil !== transaction.sentFrom && { sentUntil }) };
}

function packedAttempt(record: OrderRecord, attempt: RecordedAttempt): object {
  const { answer, rescreens, ...facts } = attempt;
  return {
    ...facts,
    ...(rescreens > 0 && { rescreens }),
    ...(answer !== undefined && { answer: packedAnswer(record, attempt, answer) }),
  };
}

// An answer in a memo has what the order would answer otherwise now; `null` is what it would answer in addition.

function packedAnswer(record: OrderRecord, attempt: RecordedAttempt, answer: CheckoutAnswer): object {
  const now = new Map<string, unknown>(Object.entries(checkoutAnswer(record, attempt)));
  const changed = Object.entries(answer).filter(([name, value]) => now.get(name) !== value);
  const added = [...now.keys()].filter((name) => !Object.hasOwn(answer, name)).map((name) => [name, null]);
  return Object.fromEntries([...added, ...changed]);
}

function unpackedAnswer(record: OrderRecord, attempt: RecordedAttempt, packed: object): CheckoutAnswer {
  const answer = { ...checkoutAnswer(record, attempt), ...packed };
  for (const [name, value] of Object.entries(answer))
    if (value === null) Reflect.deleteProperty(answer, name);
  return answer;
}

/** Checks what readers go by; a memo is written by whoever starts a workflow. */
export function isOrderRecord(value: unknown): value is OrderRecord {
  if (!isRecord(value)) return false;
  const { phase, decision, action, workflow, phaseSince, startedAt, events, ...lists } = value;
  const words =
    isOneOf(PHASES, phase) &&
    isOneOf(ORDER_DECISIONS, decision) &&
    isOneOf(ACTIONS, action) &&
    [workflow, phaseSince, startedAt].every(isString);
  const { attempts, transactions, attention, actions, passed } = lists;
  return (
    words &&
    isListOf(attempts, isAttempt) &&
    attempts.length > 0 &&
    isListOf(transactions, isTransaction) &&
    isListOf(
      attention,
      ({ code, words, since, cause }) => [code, words, since].every(isString) && isRecord(cause),
    ) &&
    isListOf(actions, isAction) &&
    isListOf(lists.journal ?? [], ({ at, what }) => isString(at) && isString(what)) &&
    Array.isArray(passed) &&
    isRecord(events) &&
    [events.sequence, events.delivered, events.waiting].every(Number.isFinite) &&
    (lists.policy === undefined || isRecord(lists.policy)) &&
    (lists.lastRead === undefined || (isRecord(lists.lastRead) && isString(lists.lastRead.at)))
  );
}

type Found = Record<string, unknown>;

function isAttempt({
  number,
  startedAt,
  screenUntil,
  decision,
  readings,
  answer,
  unseen,
  gateway,
}: Found): boolean {
  return (
    Number.isInteger(number) &&
    [startedAt, screenUntil].every(isString) &&
    isOneOf(ORDER_DECISIONS, decision) &&
    isListOf(readings, (one) => isOneOf(ORDER_DECISIONS, one.decision) && isString(one.at)) &&
    [answer, unseen, gateway].every((one) => one === undefined || isRecord(one))
  );
}

function isTransaction({ id, attempt, cancelBy, sentFrom }: Found): boolean {
  return [id, cancelBy, sentFrom].every(isString) && Number.isInteger(attempt);
}

function isAction({ number, kind, status, subject, requestedAt }: Found): boolean {
  return Number.isInteger(number) && [kind, status, subject, requestedAt].every(isString);
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isOneOf(words: readonly string[], value: unknown): boolean {
  return isString(value) && words.includes(value);
}

function isListOf(value: unknown, holds: (one: Found) => boolean): value is Found[] {
  return Array.isArray(value) && value.every((one) => isRecord(one) && holds(one));
}
