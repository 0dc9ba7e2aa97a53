/** What is made of many measured values. */

/** Of latencies in milliseconds. */
export interface Percentiles {
  count: number;
  p50: number;
  p90: number;
  p99: number;
  max: number;
}

const ROUNDING = 1e-9;

/**
 * @param share 0 to 1
 * @returns the smallest value that at least this share of the values does not exceed (nearest rank)
 * @throws Error without values: nothing was measured
 */
export function percentile(values: readonly number[], share: number): number {
  // 0.07 × 100 is a little more than 7.
  return valueAt(values, Math.max(0, Math.ceil(share * values.length - ROUNDING) - 1));
}

/** @returns the middle value; of an even number of values the mean of the two in the middle */
export function median(values: readonly number[]): number {
  const half = Math.floor(values.length / 2);
  const upper = valueAt(values, half);
  return values.length % 2 === 1 ? upper : (valueAt(values, half - 1) + upper) / 2;
}

function valueAt(values: readonly number[], index: number): number {
  const value = values.toSorted((one, other) => one - other)[index];
  if (value === undefined) throw new Error('no values to take a percentile of');
  return value;
}

/** @throws Error without values */
export function percentiles(values: readonly number[]): Percentiles {
  return {
    count: values.length,
    p50: percentile(values, 0.5),
    p90: percentile(values, 0.9),
    p99: percentile(values, 0.99),
    max: percentile(values, 1),
  };
}
