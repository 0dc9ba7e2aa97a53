import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import { type Instant, instant } from '../orders/words.ts';

/** @returns a moment of Temporal's API as the product writes it, to the millisecond; undefined when it is none */
export function instantOf(at: Parameters<typeof optionalTsToMs>[0]): Instant | undefined {
  const ms = optionalTsToMs(at);
  return ms === undefined ? undefined : instant(ms);
}
