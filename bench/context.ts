import type { Sizes } from './sizes.ts';

/** The context of every part of the bench. */
export interface BenchContext {
  sizes: Sizes;
  /** Address of a running Temporal server to measure; absent: the bench starts one. */
  address?: string;
  /** Reports progress. */
  say: (words: string) => void;
}
