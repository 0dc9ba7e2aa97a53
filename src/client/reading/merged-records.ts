/** Merges the records and results in an order's history into one record. */
import type { OrderEvent } from '../../contract/messages.ts';
import type { LeftOut, OrderRecord, RecordedAttempt } from '../../contract/order/order-record.ts';
import type { KeptEvent, OrderEventData, Reading } from '../../contract/order/state.ts';
import type { Policy } from '../../contract/policy.ts';
import type { Insights } from '../../contract/terms.ts';
import { type JournalEntry, millis } from '../../contract/words.ts';
import { defined } from '../../order/defined.ts';
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
const LISTS = ['attempts', 'transactions', 'actions', 'journal'] as const;

/** Returns the newest record with the entries of earlier ones; `leftOut` counts the entries that none of them has. */
export function mergedRecords(newest: OrderRecord, { records, said, events, policy }: Traces): OrderRecord {
  const all = [...records, newest];
  const { attempts, missing: insights } = mergedAttempts(
    all.flatMap((one) => one.attempts),
    said,
  );
  const transactions = all.flatMap((one) => one.transactions);
  const actions = all.flatMap((one) => one.actions);
  const found = {
    attempts,
    transactions: byKey(transactions, ({ id }) => id),
    actions: byKey(actions, ({ number }) => number),
    journal: mergedJournal(all.flatMap((one) => one.journal ?? [])),
  };
  const last = byKey(events, ({ sequence }) => sequence)
    .map(keptEvent)
    .slice(-KEPT_EVENTS);
  const { leftOut = {}, journal: _shortened, ...facts } = newest;
  const missing: LeftOut = {
    ...leftOut,
    readings: attempts.reduce((sum, { readingsLeftOut = 0 }) => sum + readingsLeftOut, 0),
    insights,
    events: Math.min(leftOut.events ?? 0, KEPT_EVENTS) - last.length,
  };
  for (const list of LISTS) {
    missing[list] = (newest[list] ?? []).length + (leftOut[list] ?? 0) - found[list].length;
  }
  const { journal, ...lists } = found;
  const stillLeftOut: LeftOut = Object.fromEntries(Object.entries(missing).filter(([, count]) => count > 0));
  return {
    ...facts,
    ...lists,
    ...(journal.length > 0 && { journal }),
    ...(policy !== undefined && { policy }),
    events: { ...facts.events, ...(last.length > 0 && { last }) },
    ...(Object.keys(stillLeftOut).length > 0 && { leftOut: stillLeftOut }),
  };
}

/** Returns the last element of each key, in the order of the first ones. */
function byKey<T>(list: readonly T[], keyOf: (one: T) => string | number): T[] {
  return [...new Map(list.map((one) => [keyOf(one), one])).values()];
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
  return [...found.values()].sort((one, other) => millis(one.at) - millis(other.at));
}

/** Merges the versions of each attempt. `missing`: how many insights could not be found. */
function mergedAttempts(
  versions: readonly RecordedAttempt[],
  said: readonly Said[],
): { attempts: RecordedAttempt[]; missing: number } {
  let missing = 0;
  const attempts = byKey(versions, ({ number }) => number).map((attempt) => {
    const { readingsLeftOut: _before, ...facts } = attempt;
    const places = mergedReadings(versions.filter(({ number }) => number === attempt.number));
    const readings = Object.values(places).map((reading) => {
      const found = withInsights(reading, said);
      if (found === undefined) missing += reading.insightsLeftOut ?? 0;
      return found ?? reading;
    });
    const gaps = places.length - readings.length;
    return { ...facts, readings, ...(gaps > 0 && { readingsLeftOut: gaps }) };
  });
  return { attempts: attempts.sort((a, b) => a.number - b.number), missing };
}

/** Merges readings by their position in the attempt: each version has the newest ones, and counts the ones before. The array has gaps. */
function mergedReadings(versions: readonly RecordedAttempt[]): Reading[] {
  const places: Reading[] = [];
  for (const { readings, readingsLeftOut = 0 } of versions) {
    for (const [index, reading] of readings.entries()) {
      const before = places[readingsLeftOut + index];
      const saysLess =
        before?.at === reading.at && countOf(before.insights ?? {}) > countOf(reading.insights ?? {});
      if (!saysLess) places[readingsLeftOut + index] = reading;
    }
  }
  return places;
}

const GROUPS = ['risk', 'trust', 'neutral', 'recommendation'] as const;

/** Completes the insights of a reading from the matching activity result: same decision and count, and it contains these insights. */
function withInsights(reading: Reading, said: readonly Said[]): Reading | undefined {
  const { insights = {}, insightsLeftOut = 0, ...facts } = reading;
  if (insightsLeftOut === 0) return reading;
  const count = countOf(insights) + insightsLeftOut;
  const whole = said.find(
    (one) =>
      one.decision === reading.decision &&
      countOf(one.insights) + (one.insightsLeftOut ?? 0) === count &&
      GROUPS.every((group) =>
        Object.entries(insights[group] ?? {}).every(([key, { impact, kind }]) => {
          const same = one.insights[group]?.[key];
          return same !== undefined && same.impact === impact && same.kind === kind;
        }),
      ),
  );
  return (
    whole && { ...facts, ...defined({ insights: whole.insights, insightsLeftOut: whole.insightsLeftOut }) }
  );
}

/** Returns an event as an order keeps it: without the screening service's insights and modes. */
function keptEvent({ sequence, type, occurredAt, data }: SentEvent): KeptEvent {
  const { insights: _said, insightsLeftOut: _count, accountMode: _mode, ...rest } = data;
  const { passiveMode: _passive, subStatus: _status, ...short } = rest;
  return { sequence, type, occurredAt, data: short };
}
