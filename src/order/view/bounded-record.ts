/** Makes an order's public record: the newest entries of each kind and the strongest insights, with counts of the rest. */
import type { LeftOut, OrderRecord, RecordedAttempt } from '../../contract/order/order-record.ts';
import type { ActionRecord, Attempt, OrderState, Reading } from '../../contract/order/state.ts';
import type { Insight, Insights } from '../../contract/terms.ts';
import { NOTE_LIMIT } from '../../contract/words.ts';
import { bytesOf } from '../bounds.ts';
import { isUnderWay } from '../transactions.ts';

/** Maximum bytes of an encrypted memo. Servers and workers are configured to warn above it. */
export const MEMO_BYTES = 16 * 1024;
/** Maximum bytes of a record as JSON. Encryption adds about 200. */
export const RECORD_BYTES = 15_000;

/** The maximum sizes in a record, enough for nearly every order. */
const USUAL = {
  attempts: 10,
  /** Per attempt. */
  readings: 5,
  /** Bytes, of the newest reading that has insights. */
  insightBytes: 400,
  transactions: 10,
  attention: 20,
  actions: 10,
  journal: 10,
  /** Characters of one text. */
  text: 500,
};
type Room = (what: keyof typeof USUAL) => number;

/** The largest room comes first. */
const ROOMS: readonly Room[] = [
  (what) => (what === 'text' ? NOTE_LIMIT : USUAL[what]),
  (what) => USUAL[what],
  (what) => Math.ceil(USUAL[what] / 2),
];
const LEAST_ROOM: Room = (what) => Math.ceil(USUAL[what] / 8);

/** Returns an order's record: the strongest insights, the newest entries, and the number of omitted entries. */
export function recordOf(state: OrderState): OrderRecord {
  for (const room of ROOMS) {
    const record = recordWithin(state, room);
    if (bytesOf(record) <= RECORD_BYTES) return record;
  }
  return recordWithin(state, LEAST_ROOM);
}

function recordWithin(state: OrderState, room: Room): OrderRecord {
  const leftOut: LeftOut = {};
  const count = (what: keyof LeftOut, more: number): void => {
    if (more > 0) leftOut[what] = (leftOut[what] ?? 0) + more;
  };
  const { policy, attempts, transactions, attention, journal, events, ...facts } = state;
  const last = attempts.findLast(({ readings }) => readings.some(({ insights }) => insights !== undefined));
  const shown = {
    attempts: newest(attempts, room('attempts')),
    transactions: newest(transactions, room('transactions')),
    attention: newest(attention, room('attention')),
    actions: shownActions(state.actions, room('actions')),
    journal: newest(journal ?? [], room('journal')),
  };
  for (const what of LISTS) count(what, (state[what] ?? []).length - shown[what].length);
  for (const { readings } of attempts.slice(0, attempts.length - shown.attempts.length)) {
    count('readings', readings.length);
  }
  count('events', events.last?.length ?? 0);
  const { journal: entries, ...lists } = shown;
  const record = {
    ...facts,
    ...lists,
    attempts: lists.attempts.map((one) =>
      attemptWithin(one, room('readings'), one === last ? room('insightBytes') : 0, count),
    ),
    ...(journal !== undefined && { journal: entries }),
  };
  const { sequence, delivered, waiting, paused } = events;
  return {
    ...shortened(record, room('text'), () => count('texts', 1)),
    policy,
    events: { sequence, delivered, waiting, ...(paused && { paused }) },
    ...(Object.keys(leftOut).length > 0 && { leftOut }),
  };
}

const LISTS = ['attempts', 'transactions', 'attention', 'actions', 'journal'] as const;

type Count = (what: keyof LeftOut, more: number) => void;

function attemptWithin(attempt: Attempt, most: number, insightBytes: number, count: Count): RecordedAttempt {
  const { readings, answer, fingerprint: _ours, cardRef: _name, cardForgotten: _done, ...facts } = attempt;
  const shown = newest(readings, most);
  const last = readings.findLast(({ insights }) => insights !== undefined);
  const leftOut = readings.length - shown.length;
  count('readings', leftOut);
  const record: RecordedAttempt = {
    ...facts,
    readings: shown.map((one) => readingWithin(one, one === last ? insightBytes : 0, count)),
    ...(leftOut > 0 && { readingsLeftOut: leftOut }),
  };
  if (answer === undefined) return record;
  const { fingerprint: _same, ...rest } = answer;
  return { ...record, answer: rest };
}

function readingWithin(reading: Reading, bytes: number, count: Count): Reading {
  const { insights, ...facts } = reading;
  if (insights === undefined) return reading;
  const kept = strongest(insights, bytes);
  const leftOut = countOf(insights) - countOf(kept);
  count('insights', leftOut);
  const insightsLeftOut = (reading.insightsLeftOut ?? 0) + leftOut;
  return {
    ...facts,
    ...(countOf(kept) > 0 && { insights: kept }),
    ...(insightsLeftOut > 0 && { insightsLeftOut }),
  };
}

const GROUPS = ['recommendation', 'risk', 'trust', 'neutral'] as const;
const IMPACTS = ['high', 'medium', 'low'];

/** Returns the insights with the highest impact that fit. For equal impact, recommendations and risks come first. */
function strongest(insights: Insights, bytes: number): Insights {
  const all = GROUPS.flatMap((group) =>
    Object.entries(insights[group] ?? {}).map(([key, insight]) => ({ group, key, insight })),
  ).sort((a, b) => weight(a.insight) - weight(b.insight));
  const kept: Insights = {};
  let left = bytes;
  for (const { group, key, insight } of all) {
    left -= bytesOf(insight);
    if (left < 0) break;
    kept[group] = { ...kept[group], [key]: insight };
  }
  return kept;
}

function weight({ impact = 'low' }: Insight): number {
  return IMPACTS.indexOf(impact);
}

export function countOf(insights: Insights): number {
  return GROUPS.reduce((sum, group) => sum + Object.keys(insights[group] ?? {}).length, 0);
}

/** Returns the newest portal actions. Pending ones take precedence, since a person can withdraw them. */
function shownActions(actions: readonly ActionRecord[], most: number): ActionRecord[] {
  const underWay = newest(actions.filter(isUnderWay), 2 * most);
  const others = actions.filter((one) => !isUnderWay(one));
  return [...newest(others, most), ...underWay].sort((a, b) => a.number - b.number);
}

function newest<T>(list: readonly T[], most: number): T[] {
  return list.slice(-most);
}

/** Returns a JSON value with all strings cut to `most` characters. Calls `cut` for each longer string. */
function shortened<T>(value: T, most: number, cut: () => void): T;
function shortened(value: unknown, most: number, cut: () => void): unknown {
  if (typeof value === 'string') {
    if (value.length <= most) return value;
    cut();
    return `${value.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`;
  }
  if (Array.isArray(value)) return value.map((one) => shortened(one, most, cut));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one, most, cut)]));
}
