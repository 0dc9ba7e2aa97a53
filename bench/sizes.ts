/** How much is measured. */

export interface Sizes {
  decision: { rate: number; calls: number; rounds: number; serviceMs: readonly number[] };
  throughput: {
    callers: number;
    forMs: number;
    rounds: number;
    wholeLives: number;
    workers: readonly number[];
  };
  /** `times`: orders of each kind, and of reviews with so many polls. */
  history: { times: number; polls: readonly number[] };
  memory: { base: number; cached: number; evicted: number; replays: number };
  start: { times: number };
  crowds: { reviews: number; rate: number; calls: number; rounds: number; warmUp: number };
  cluster: { rate: number; count: number; workers: number };
}

export const SIZE_NAMES = ['full', 'quick', 'tiny'] as const;
export type SizeName = (typeof SIZE_NAMES)[number];

/** `full` is what counts, in about two hours; `quick` takes minutes; `tiny` shows in seconds that the bench works. */
export const SIZES: Readonly<Record<SizeName, Sizes>> = {
  full: {
    decision: { rate: 10, calls: 150, rounds: 5, serviceMs: [0, 250, 1_000] },
    throughput: { callers: 32, forMs: 10_000, rounds: 4, wholeLives: 2_000, workers: [1, 2] },
    history: { times: 5, polls: [1, 100, 1_000] },
    memory: { base: 100, cached: 490, evicted: 3_000, replays: 200 },
    start: { times: 5 },
    crowds: { reviews: 20_000, rate: 15, calls: 500, rounds: 10, warmUp: 100 },
    cluster: { rate: 8, count: 480, workers: 2 },
  },
  quick: {
    decision: { rate: 10, calls: 60, rounds: 3, serviceMs: [0, 250] },
    throughput: { callers: 32, forMs: 4_000, rounds: 2, wholeLives: 300, workers: [1, 2] },
    history: { times: 3, polls: [1, 20, 100] },
    memory: { base: 100, cached: 490, evicted: 1_200, replays: 40 },
    start: { times: 1 },
    crowds: { reviews: 500, rate: 10, calls: 50, rounds: 2, warmUp: 20 },
    cluster: { rate: 5, count: 100, workers: 2 },
  },
  tiny: {
    decision: { rate: 10, calls: 5, rounds: 1, serviceMs: [0] },
    throughput: { callers: 4, forMs: 500, rounds: 1, wholeLives: 10, workers: [1] },
    history: { times: 1, polls: [1, 5] },
    memory: { base: 5, cached: 20, evicted: 30, replays: 5 },
    start: { times: 1 },
    crowds: { reviews: 10, rate: 5, calls: 5, rounds: 1, warmUp: 2 },
    cluster: { rate: 5, count: 10, workers: 1 },
  },
};
