/** Makes an order's public record: the newest entries of each kind and the strongest insights, with counts of the rest. */
import { bytesOf } from './bounds.ts';
import type { LeftOut, OrderRecord, RecordedAttempt } from './order-record.ts';
import { isUnderWay } from './portal-requests.ts';
import type {
  ActionRecord,
  Attempt,
  Attention,
  CheckoutAnswer,
  GatewayRecord,
  Insight,
  Insights,
  OrderState,
  Reading,
} from './state.ts';
import type { JournalEntry } from './words.ts';

/** Bytes of a memo at most, encrypted: servers and workers are set to warn above. */
export const MEMO_BYTES = 16 * 1024;
/** Bytes of a record as JSON. Encrypted it has some 200 more. */
export const RECORD_BYTES = 15_000;

/** How much of an order a record keeps. */
interface Room {
  attempts: number;
  /** Per attempt. */
  readings: number;
  /** Of the newest reading that has any. */
  insightBytes: number;
  transactions: number;
  attention: number;
  actions: number;
  journal: number;
  /** Characters of one text. */
  text: number;
}

/** Nearly every order fits it. */
const USUAL: Room = {
  attempts: 10,
  readings: 5,
  insightBytes: 400,
  transactions: 10,
  attention: 20,
  actions: 10,
  journal: 10,
  text: 500,
};

/** For the others, the first that fits. */
const SMALLER: readonly Room[] = [
  {
    attempts: 5,
    readings: 3,
    insightBytes: 400,
    transactions: 5,
    attention: 8,
    actions: 5,
    journal: 5,
    text: 200,
  },
  {
    attempts: 2,
    readings: 1,
    insightBytes: 0,
    transactions: 2,
    attention: 3,
    actions: 2,
    journal: 1,
    text: 100,
  },
];

/** Returns the record of an order: the strongest insights and the newest entries, and how many of each are left out. */
export function recordOf(state: OrderState): OrderRecord {
  let record = recordWithin(state, USUAL);
  for (const room of SMALLER) {
    if (bytesOf(record) <= RECORD_BYTES) return record;
    record = recordWithin(state, room);
  }
  return record;
}

function recordWithin(state: OrderState, room: Room): OrderRecord {
  const out = new LeftOutCounts(room.text);
  const { attempts, transactions, attention, actions, journal, events, ...facts } = state;
  const shown = newest(attempts, room.attempts);
  const said = attempts.findLast(({ readings }) => readings.some(({ insights }) => insights !== undefined));
  out.add('attempts', attempts.length - shown.length);
  for (const { readings } of attempts.slice(0, attempts.length - shown.length)) {
    out.add('readings', readings.length);
  }
  const { message, reason, adopted, ...rest } = facts;
  const record: OrderRecord = {
    ...rest,
    ...(message !== undefined && { message: out.text(message) }),
    ...(reason !== undefined && { reason: out.text(reason) }),
    ...(adopted !== undefined && { adopted }),
    attempts: shown.map((one) => attemptWithin(one, one === said, room, out)),
    transactions: [...newest(transactions, room.transactions)],
    attention: attentionWithin(attention, room, out),
    actions: actionsWithin(actions, room, out),
    ...(journal !== undefined && { journal: journalWithin(journal, room, out) }),
    events: {
      ...{ sequence: events.sequence, delivered: events.delivered, waiting: events.waiting },
      ...(events.paused && { paused: events.paused }),
    },
  };
  out.add('transactions', transactions.length - record.transactions.length);
  out.add('events', events.last?.length ?? 0);
  return out.counts === undefined ? record : { ...record, leftOut: out.counts };
}

function attemptWithin(attempt: Attempt, said: boolean, room: Room, out: LeftOutCounts): RecordedAttempt {
  const { readings, answer, override, gateway, ...others } = attempt;
  const { fingerprint: _ours, cardRef: _name, cardForgotten: _done, ...facts } = others;
  const shown = newest(readings, room.readings);
  const last = said ? readings.findLast(({ insights }) => insights !== undefined) : undefined;
  const leftOut = readings.length - shown.length;
  out.add('readings', leftOut);
  return {
    ...facts,
    readings: shown.map((one) => readingWithin(one, one === last ? room.insightBytes : 0, out)),
    ...(leftOut > 0 && { readingsLeftOut: leftOut }),
    ...(answer !== undefined && { answer: answerWithin(answer, out) }),
    ...(gateway !== undefined && { gateway: gatewayWithin(gateway, out) }),
    ...(override !== undefined && { override: { ...override, reason: out.text(override.reason) } }),
  };
}

function answerWithin(
  { fingerprint: _ours, message, reason, ...answer }: CheckoutAnswer,
  out: LeftOutCounts,
): CheckoutAnswer {
  return {
    ...answer,
    ...(message !== undefined && { message: out.text(message) }),
    ...(reason !== undefined && { reason: out.text(reason) }),
  };
}

function gatewayWithin(
  { authcode, transactionId, ...gateway }: GatewayRecord,
  out: LeftOutCounts,
): GatewayRecord {
  return {
    ...gateway,
    ...(authcode !== undefined && { authcode: out.text(authcode) }),
    ...(transactionId !== undefined && { transactionId: out.text(transactionId) }),
  };
}

function readingWithin(reading: Reading, bytes: number, out: LeftOutCounts): Reading {
  const { insights, subStatus, ...facts } = reading;
  const short = { ...facts, ...(subStatus !== undefined && { subStatus: out.text(subStatus) }) };
  if (insights === undefined) return short;
  const kept = strongest(insights, bytes, out);
  const leftOut = countOf(insights) - countOf(kept);
  out.add('insights', leftOut);
  const insightsLeftOut = (reading.insightsLeftOut ?? 0) + leftOut;
  return {
    ...short,
    ...(countOf(kept) > 0 && { insights: kept }),
    ...(insightsLeftOut > 0 && { insightsLeftOut }),
  };
}

const GROUPS = ['recommendation', 'risk', 'trust', 'neutral'] as const;
const IMPACTS = ['high', 'medium', 'low'];

/** Returns the insights of the most impact that fit; of equal ones recommendations and risks first. */
function strongest(insights: Insights, bytes: number, out: LeftOutCounts): Insights {
  const all = GROUPS.flatMap((group) =>
    Object.entries(insights[group] ?? {}).map(([key, insight]) => ({ group, key, insight })),
  ).sort((a, b) => weight(a.insight) - weight(b.insight));
  const kept: Insights = {};
  let left = bytes;
  for (const { group, key, insight } of all) {
    left -= bytesOf(insight);
    if (left < 0) break;
    kept[group] = { ...kept[group], [key]: insightWithin(insight, out) };
  }
  return kept;
}

function weight({ impact = 'low' }: Insight): number {
  return IMPACTS.indexOf(impact);
}

function insightWithin({ description, name, ...insight }: Insight, out: LeftOutCounts): Insight {
  return {
    ...insight,
    ...(description !== undefined && { description: out.text(description) }),
    ...(name !== undefined && { name: out.text(name) }),
  };
}

/** Returns how many insights there are in all groups. */
export function countOf(insights: Insights): number {
  return GROUPS.reduce((sum, group) => sum + Object.keys(insights[group] ?? {}).length, 0);
}

function attentionWithin(
  attention: readonly Attention[],
  { attention: most }: Room,
  out: LeftOutCounts,
): Attention[] {
  const shown = newest(attention, most);
  out.add('attention', attention.length - shown.length);
  return shown.map((one) => ({ ...one, words: out.text(one.words) }));
}

/** Those that are under way come first: a person may withdraw them. */
function actionsWithin(
  actions: readonly ActionRecord[],
  { actions: most }: Room,
  out: LeftOutCounts,
): ActionRecord[] {
  const underWay = newest(actions.filter(isUnderWay), 2 * most);
  const others = newest(
    actions.filter((one) => !isUnderWay(one)),
    most,
  );
  const shown = [...others, ...underWay].sort((a, b) => a.number - b.number);
  out.add('actions', actions.length - shown.length);
  return shown.map((one) => actionWithin(one, out));
}

function actionWithin(
  { because, message, code, chargeback, subject, ...action }: ActionRecord,
  out: LeftOutCounts,
): ActionRecord {
  const echo = Object.entries(chargeback ?? {}).map(([name, value]) => [out.text(name), out.text(value)]);
  return {
    ...action,
    subject: out.text(subject),
    ...(because !== undefined && { because: out.text(because) }),
    ...(code !== undefined && { code: out.text(code) }),
    ...(message !== undefined && { message: out.text(message) }),
    ...(chargeback !== undefined && { chargeback: Object.fromEntries(echo.slice(0, MOST_ECHOED)) }),
  };
}

/** A chargeback has eight fields. */
const MOST_ECHOED = 12;

function journalWithin(
  journal: readonly JournalEntry[],
  { journal: most }: Room,
  out: LeftOutCounts,
): JournalEntry[] {
  const shown = newest(journal, most);
  out.add('journal', journal.length - shown.length);
  return shown.map(({ because, ...entry }) => ({
    ...entry,
    ...(because !== undefined && { because: out.text(because) }),
  }));
}

function newest<T>(list: readonly T[], most: number): readonly T[] {
  return most >= list.length ? list : list.slice(-most);
}

/** Counts what a record does not have. */
class LeftOutCounts {
  counts: LeftOut | undefined;
  readonly #most: number;

  /** @param most characters of one text */
  constructor(most: number) {
    this.#most = most;
  }

  add(what: keyof LeftOut, count: number): void {
    if (count > 0) this.counts = { ...this.counts, [what]: (this.counts?.[what] ?? 0) + count };
  }

  /** Returns the text, or its beginning. */
  text(whole: string): string {
    if (whole.length <= this.#most) return whole;
    this.add('texts', 1);
    return `${whole.slice(0, this.#most).replace(/[\ud800-\udbff]$/, '')}…`;
  }
}
