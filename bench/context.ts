import type { Sizes } from './sizes.ts';

/** What every part of the bench is given. */
export interface BenchContext {
  sizes: Sizes;
  /** Of a Temporal server that is to be measured; absent: one of our own. */
  address?: string;
  /** Options of Node for workers and API, such as `--cpu-prof`. */
  nodeArgs: string[];
  /** Tells what goes on. */
  say: (words: string) => void;
}
