import type { Instant } from '../orders/words.ts';

/** @returns a moment of Temporal's API as the product writes it, to the millisecond; undefined when it is none */
export function instantOf(
  at: { seconds?: { toNumber(): number } | null; nanos?: number | null } | null | undefined,
): Instant | undefined {
  if (at?.seconds === undefined || at.seconds === null) return undefined;
  return new Date(at.seconds.toNumber() * 1_000 + Math.floor((at.nanos ?? 0) / 1e6)).toISOString();
}
