/** Merges the records and results in an order's history into one record. */
import type { OrderEvent } from '../../contract/messages.ts';
import type { LeftOut, OrderRecord, RecordedAttempt } from '../../contract/order/order-record.ts';
import type { KeptEvent, OrderEventData, Reading } from '../../contract/order/state.ts';
import type { Policy } from '../../contract/policy.ts';
import type { Insights } from '../../contract/terms.ts';
import type { JournalEntry } from '../../contract/words.ts';
import { countOf } from '../../order/view/bounded-record.ts';

/** The parts of an order found in a run's history. */
export interface Traces {
  /** Each record that was written, oldest first, beginning with the state that the previous run handed over. */
  records: OrderRecord[];
  /** The insights of the screening service. */
  said: Said[];
  /** The events that were sent, or are being sent. */
  events: SentEvent[];
  policy?: Policy;
  /** Why a payload that may have events can't be decrypted. */
  unread?: unknown;
}

export type SentEvent = OrderEvent & { data: OrderEventData };

/** A decision with its insights, as an activity returned it. */
export interface Said {
  decision: string;
  insights: Insights;
  insightsLeftOut?: number;
}

const KEPT_EVENTS = 50;

/** Returns the newest record with the entries of earlier ones; `leftOut` counts the entries that none of them has. */
export function mergedRecords(newest: OrderRecord, { records, said, events, policy }: Traces): OrderRecord {
  const all = [...records, newest];
  const { attempts, missing: insights } = mergedAttempts(all, said);
  const transactions = byKey(
    all.flatMap((one) => one.transactions),
    ({ id }) => id,
  );
  const actions = byKey(
    all.flatMap((one) => one.actions),
    ({ number }) => number,
  );
  const journal = mergedJournal(all.flatMap((one) => one.journal ?? []));
  const last = byKey(events, ({ sequence }) => sequence)
    .map(keptEvent)
    .slice(-KEPT_EVENTS);
  const { leftOut = {}, ...facts } = newest;
  const found = { attempts, transactions, actions, journal };
  const missing: LeftOut = {
    ...leftOut,
    readings: attempts.reduce((sum, { readingsLeftOut = 0 }) => sum + readingsLeftOut, 0),
    insights,
    events: Math.min(leftOut.events ?? 0, KEPT_EVENTS) - last.length,
  };
  for (const list of LISTS) {
    missing[list] = (newest[list] ?? []).length + (leftOut[list] ?? 0) - found[list].length;
  }
  const stillLeftOut: LeftOut = Object.fromEntries(Object.entries(missing).filter(([, count]) => count > 0));
  return {
    ...facts,
    attempts,
    transactions,
    actions,
    ...(journal.length > 0 && { journal }),
    ...(policy !== undefined && { policy }),
    events: { ...facts.events, ...(last.length > 0 && { last }) },
    ...(Object.keys(stillLeftOut).length > 0 && { leftOut: stillLeftOut }),
  };
}

const LISTS = ['attempts', 'transactions', 'actions', 'journal'] as const;

/** Returns the last element of each key, in the order of the first ones. */
function byKey<T>(list: readonly T[], keyOf: (one: T) => string | number): T[] {
  const found = new Map<string | number, T>();
  for (const one of list) found.set(keyOf(one), one);
  return [...found.values()];
}

/** Characters of a text that every record has. */
const ALWAYS_SHOWN = 60;

/** Removes duplicates: several records have the same entry, some with a shortened text. */
function mergedJournal(entries: readonly JournalEntry[]): JournalEntry[] {
  const length = ({ because = '' }: JournalEntry) => because.length;
  const found = new Map<string, JournalEntry>();
  for (const entry of entries) {
    const key = JSON.stringify({ ...entry, because: entry.because?.slice(0, ALWAYS_SHOWN) });
    const before = found.get(key);
    if (before === undefined || length(before) < length(entry)) found.set(key, entry);
  }
  return [...found.values()].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/** `missing`: how many insights could not be found. */
function mergedAttempts(
  records: readonly OrderRecord[],
  said: readonly Said[],
): { attempts: RecordedAttempt[]; missing: number } {
  const all = records.flatMap(({ attempts }) => attempts);
  let missing = 0;
  const attempts = byKey(all, ({ number }) => number).map((attempt) => {
    const { readingsLeftOut: _before, ...facts } = attempt;
    const { readings, gaps } = mergedReadings(all.filter(({ number }) => number === attempt.number));
    const whole = readings.map((reading) => {
      const found = insightsOf(reading, said);
      if (found === undefined) missing += reading.insightsLeftOut ?? 0;
      return found ?? reading;
    });
    return { ...facts, readings: whole, ...(gaps > 0 && { readingsLeftOut: gaps }) };
  });
  return { attempts: attempts.sort((a, b) => a.number - b.number), missing };
}

/** Merges readings by their position in the attempt: each record has the newest ones, and counts the ones before. */
function mergedReadings(versions: readonly RecordedAttempt[]): { readings: Reading[]; gaps: number } {
  const places = new Map<number, Reading>();
  for (const { readings, readingsLeftOut = 0 } of versions) {
    for (const [index, reading] of readings.entries()) {
      const place = readingsLeftOut + index;
      const before = places.get(place);
      const saysLess =
        before?.at === reading.at && countOf(before.insights ?? {}) > countOf(reading.insights ?? {});
      if (!saysLess) places.set(place, reading);
    }
  }
  const highest = Math.max(-1, ...places.keys());
  const readings = [...places].sort(([a], [b]) => a - b).map(([, reading]) => reading);
  return { readings, gaps: highest + 1 - readings.length };
}

/** Completes the insights of a reading from the matching activity result: same decision and count, and it contains these insights. */
function insightsOf(reading: Reading, said: readonly Said[]): Reading | undefined {
  const { insights = {}, insightsLeftOut = 0, ...facts } = reading;
  if (insightsLeftOut === 0) return reading;
  const count = countOf(insights) + insightsLeftOut;
  const whole = said.find(
    (one) =>
      one.decision === reading.decision &&
      countOf(one.insights) + (one.insightsLeftOut ?? 0) === count &&
      contains(one.insights, insights),
  );
  if (whole === undefined) return undefined;
  const { insightsLeftOut: more } = whole;
  return { ...facts, insights: whole.insights, ...(more !== undefined && { insightsLeftOut: more }) };
}

function contains(whole: Insights, part: Insights): boolean {
  const groups = ['risk', 'trust', 'neutral', 'recommendation'] as const;
  return groups.every((group) =>
    Object.entries(part[group] ?? {}).every(([key, { impact, kind }]) => {
      const same = whole[group]?.[key];
      return same !== undefined && same.impact === impact && same.kind === kind;
    }),
  );
}

/** Returns an event as an order keeps it: without the screening service's insights and modes. */
function keptEvent({ sequence, type, occurredAt, data }: SentEvent): KeptEvent {
  const { insights: _said, insightsLeftOut: _count, accountMode: _mode, ...rest } = data;
  const { passiveMode: _passive, subStatus: _status, ...short } = rest;
  return { sequence, type, occurredAt, data: short };
}
