/** Size limits of an order's state, which passes through Temporal as one payload of at most 2 MB. */
import type { Attempt, OrderState, Reading } from '../contract/order/state.ts';

/** Maximum bytes of all insights of an order, as JSON. Insights that don't fit are only counted. */
const INSIGHTS_BYTES = 150_000;
/** Maximum readings of one attempt. A later reading replaces the last, and is kept without its insights. */
const MOST_READINGS = 50;

export function addReading(state: OrderState, attempt: Attempt, reading: Reading): void {
  const { readings } = attempt;
  const isFull = readings.length >= MOST_READINGS;
  const mayKeep = !isFull && insightBytes(state) + bytesOf(reading.insights ?? {}) <= INSIGHTS_BYTES;
  const kept = mayKeep ? reading : withoutInsights(reading);
  if (isFull) readings[readings.length - 1] = kept;
  else readings.push(kept);
}

/** Returns the index of the attempt's newest reading; undefined if there is none, or a later reading would replace it. */
export function newestReading({ readings }: Attempt): number | undefined {
  const index = readings.length - 1;
  return index < 0 || index === MOST_READINGS - 1 ? undefined : index;
}

function insightBytes({ attempts }: OrderState): number {
  const all = attempts.flatMap(({ readings }) => readings.flatMap(({ insights }) => insights ?? []));
  return all.length === 0 ? 0 : bytesOf(all);
}

function withoutInsights(reading: Reading): Reading {
  const { insights, insightsLeftOut = 0, subStatus: _dropped, ...kept } = reading;
  const dropped = Object.values(insights ?? {}).reduce((sum, group) => sum + Object.keys(group).length, 0);
  const leftOut = insightsLeftOut + dropped;
  return { ...kept, ...(leftOut > 0 && { insightsLeftOut: leftOut }) };
}

/** @returns the last entries of a list, limited by number and by bytes as JSON; the very last entry is always included */
export function lastOf<T>(list: readonly T[], most: number, bytes: number): T[] {
  const kept = list.slice(-most);
  while (kept.length > 1 && bytesOf(kept) > bytes) kept.shift();
  return kept;
}

/** @returns the size of a JSON value in bytes (UTF-8) */
export function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}
