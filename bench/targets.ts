/** What must hold, as ratios in one run. */
import type { Target } from './figures.ts';

const atMost = (limit: number, against: Target['against']): Target => ({ against, is: 'at most', limit });
const atLeast = (limit: number, against: Target['against']): Target => ({ against, is: 'at least', limit });

/** Decision time that we add to the service's own, by way and percentile. */
export const DECISION_TARGETS: Record<string, Record<string, readonly Target[]>> = {
  library: {
    p50: [atMost(1.25, 'floor'), atMost(0.5, 'plain')],
    p99: [atMost(1.25, 'floor')],
  },
  api: {
    p50: [atMost(1.5, 'floor')],
    p99: [atMost(1.5, 'floor')],
  },
};

export const THROUGHPUT_TARGET = atLeast(0.8, 'floor');
export const PASSED_EVENTS_TARGET = atMost(30, 'itself');
export const REVIEW_EVENTS_TARGET = atMost(50, 'itself');
/** A review costs the same history whatever the number of its polls. */
export const eventsTarget = (events: number): Target => atMost(events, 'itself');
export const CACHED_MEMORY_TARGET = atMost(1.15, 'floor');
/** Checkout p99 with the crowd; its floor is the same without one. */
export const CROWD_TARGET = atMost(1.2, 'floor');
