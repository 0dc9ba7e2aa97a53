/** Statistics of measured values. */

export const SHARES = ['p50', 'p99'] as const;
type Share = (typeof SHARES)[number];

/** Of latencies in milliseconds. */
export type Percentiles = Record<Share, number>;

const ROUNDING = 1e-9;

/**
 * @param share 0 to 1
 * @returns the smallest value that at least this share of the values does not exceed (nearest rank)
 * @throws Error without values
 */
export function percentile(values: readonly number[], share: number): number {
  // 0.07 × 100 is a little more than 7.
  return valueAt(values, Math.max(0, Math.ceil(share * values.length - ROUNDING) - 1));
}

/** @returns the middle value; for an even number of values the mean of the two in the middle */
export function median(values: readonly number[]): number {
  const half = Math.floor(values.length / 2);
  const upper = valueAt(values, half);
  return values.length % 2 === 1 ? upper : (valueAt(values, half - 1) + upper) / 2;
}

/** @throws Error without values */
export function percentiles(values: readonly number[]): Percentiles {
  return { p50: percentile(values, 0.5), p99: percentile(values, 0.99) };
}

function valueAt(values: readonly number[], index: number): number {
  const value = values.toSorted((one, other) => one - other)[index];
  if (value === undefined) throw new Error('no values to take a percentile of');
  return value;
}
