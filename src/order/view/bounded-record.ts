/** Makes an order's public record: the newest entries of each kind and the strongest insights, with counts of the rest. */
import type { OrderRecord, RecordedAttempt } from '../../contract/order/order-record.ts';
import type { ActionRecord, Attempt, OrderState, Reading } from '../../contract/order/state.ts';
import type { Insight, Insights, LeftOut } from '../../contract/terms.ts';
import { NOTE_LIMIT } from '../../contract/words.ts';
import { bytesOf } from '../bounds.ts';
import { defined } from '../defined.ts';
import { isUnderWay } from '../transactions.ts';

/** Maximum bytes of an encrypted memo. Servers and workers are configured to warn above it. */
export const MEMO_BYTES = 16 * 1024;
/** Maximum bytes of a record as JSON. Encryption adds about 200. */
const RECORD_BYTES = 15_000;

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
  const newest = <T>(what: List, list: readonly T[]): T[] => {
    const kept = list.slice(-room(what));
    count(what, list.length - kept.length);
    return kept;
  };
  const readings = state.attempts.flatMap((attempt) => attempt.readings);
  const last = readings.findLast(({ insights }) => insights !== undefined);
  const shownReading = (reading: Reading): Reading => {
    const { insights, ...facts } = reading;
    if (insights === undefined) return reading;
    const kept = reading === last ? strongest(insights, room('insightBytes')) : {};
    const more = countOf(insights) - countOf(kept);
    count('insights', more);
    const insightsLeftOut = (reading.insightsLeftOut ?? 0) + more;
    return {
      ...facts,
      ...(countOf(kept) > 0 && { insights: kept }),
      ...(insightsLeftOut > 0 && { insightsLeftOut }),
    };
  };
  const shownAttempt = (attempt: Attempt): RecordedAttempt => {
    const { answer, fingerprint: _ours, cardRef: _name, cardForgotten: _done, ...facts } = attempt;
    const shown = attempt.readings.slice(-room('readings')).map(shownReading);
    const readingsLeftOut = attempt.readings.length - shown.length;
    return {
      ...{ ...facts, readings: shown },
      ...(readingsLeftOut > 0 && { readingsLeftOut }),
      ...(answer && { answer: defined({ ...answer, fingerprint: undefined }) }),
    };
  };
  const { policy, events, journal, ...facts } = state;
  const { last: kept = [], sequence, delivered, waiting, paused } = events;
  const attempts = newest('attempts', state.attempts).map(shownAttempt);
  const actions = shownActions(state.actions, room('actions'));
  count('actions', state.actions.length - actions.length);
  const record = {
    ...{ ...facts, attempts, actions },
    transactions: newest('transactions', state.transactions),
    attention: newest('attention', state.attention),
    ...(journal && { journal: newest('journal', journal) }),
  };
  count('readings', readings.length - attempts.flatMap((attempt) => attempt.readings).length);
  count('events', kept.length);
  return {
    ...shortened(record, room('text'), () => count('texts', 1)),
    policy,
    events: { sequence, delivered, waiting, ...(paused && { paused }) },
    ...(Object.keys(leftOut).length > 0 && { leftOut }),
  };
}

type List = keyof LeftOut & keyof typeof USUAL;

const GROUPS = ['recommendation', 'risk', 'trust', 'neutral'] as const;
const IMPACTS = ['high', 'medium', 'low'];
const weight = ({ impact = 'low' }: Insight): number => IMPACTS.indexOf(impact);

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

export function countOf(insights: Insights): number {
  return GROUPS.reduce((sum, group) => sum + Object.keys(insights[group] ?? {}).length, 0);
}

/** Returns the newest portal actions. Pending ones take precedence, since a person can withdraw them. */
function shownActions(actions: readonly ActionRecord[], most: number): ActionRecord[] {
  const underWay = actions.filter(isUnderWay).slice(-2 * most);
  const others = actions.filter((one) => !isUnderWay(one)).slice(-most);
  return [...others, ...underWay].sort((a, b) => a.number - b.number);
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
