import type { Sizes } from './sizes.ts';

/** What every part of the bench receives. */
export interface BenchContext {
  sizes: Sizes;
  /** Address of a running Temporal server to measure; absent: the bench starts one. */
  address?: string;
  /** Reports progress. */
  say: (words: string) => void;
}
