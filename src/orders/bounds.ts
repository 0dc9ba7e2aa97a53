/** Bounds of what an order keeps: it passes through Temporal in one piece, which takes 2 MB at most. */
import type { Attempt, OrderState, Reading } from '../contract/state.ts';

/** Of the insights of all readings of an order, as JSON. Later ones are counted, and not kept. */
const INSIGHTS_BYTES = 150_000;
/** Of the readings of one attempt. A later one takes the place of the last. */
const MOST_READINGS = 50;

/** Records a reading, within the bounds of what an order keeps. A reading that an event names never changes what it tells. */
export function addReading(state: OrderState, attempt: Attempt, reading: Reading): void {
  const { readings } = attempt;
  const isFull = readings.length >= MOST_READINGS;
  const mayKeep = !isFull && insightBytes(state) + bytesOf(reading.insights ?? {}) <= INSIGHTS_BYTES;
  const kept = mayKeep ? reading : withoutInsights(reading);
  if (isFull) readings[readings.length - 1] = kept;
  else readings.push(kept);
}

function insightBytes({ attempts }: OrderState): number {
  const all = attempts.flatMap(({ readings }) => readings.flatMap(({ insights }) => insights ?? []));
  return all.length === 0 ? 0 : bytesOf(all);
}

function withoutInsights({
  insights,
  insightsLeftOut = 0,
  subStatus: _dropped,
  ...reading
}: Reading): Reading {
  const dropped = Object.values(insights ?? {}).reduce((sum, group) => sum + Object.keys(group).length, 0);
  const leftOut = insightsLeftOut + dropped;
  return { ...reading, ...(leftOut > 0 && { insightsLeftOut: leftOut }) };
}

/** @returns the last of a list: so many at most, and so many bytes as JSON, but always the very last one */
export function lastOf<T>(list: readonly T[], most: number, bytes: number): T[] {
  const kept = list.slice(-most);
  while (kept.length > 1 && bytesOf(kept) > bytes) kept.shift();
  return kept;
}

/** @returns how many bytes a JSON value takes in UTF-8 */
export function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}
