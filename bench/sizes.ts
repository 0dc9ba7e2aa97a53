/** How much is measured. */

export interface Sizes {
  decision: { rate: number; calls: number; rounds: number; serviceMs: readonly number[] };
  throughput: { callers: number; forMs: number; rounds: number; wholeLives: number };
  /** `times`: orders of each kind, and of reviews with so many polls. */
  history: { times: number; polls: readonly number[] };
  /** Open orders: few, as many as the worker's cache holds, and more than it holds. */
  memory: { base: number; cached: number; evicted: number };
  /** Open orders, and how often each kind of page is opened. */
  pages: { open: number; rounds: number };
}

export const SIZE_NAMES = ['full', 'quick', 'tiny'] as const;
export type SizeName = (typeof SIZE_NAMES)[number];

/** `full` takes about an hour; `quick` takes minutes; `tiny` shows in seconds that the bench works. */
export const SIZES: Readonly<Record<SizeName, Sizes>> = {
  full: {
    decision: { rate: 10, calls: 150, rounds: 5, serviceMs: [0, 250, 1_000] },
    throughput: { callers: 32, forMs: 10_000, rounds: 4, wholeLives: 2_000 },
    history: { times: 5, polls: [1, 20, 200] },
    memory: { base: 100, cached: 490, evicted: 3_000 },
    pages: { open: 20_000, rounds: 200 },
  },
  quick: {
    decision: { rate: 10, calls: 60, rounds: 3, serviceMs: [0, 250] },
    throughput: { callers: 32, forMs: 4_000, rounds: 2, wholeLives: 300 },
    history: { times: 3, polls: [1, 10, 50] },
    memory: { base: 100, cached: 490, evicted: 1_200 },
    pages: { open: 2_000, rounds: 100 },
  },
  tiny: {
    decision: { rate: 10, calls: 5, rounds: 1, serviceMs: [0] },
    throughput: { callers: 4, forMs: 500, rounds: 1, wholeLives: 10 },
    history: { times: 1, polls: [1, 5] },
    memory: { base: 5, cached: 20, evicted: 30 },
    pages: { open: 40, rounds: 8 },
  },
};
