/** Targets, as ratios within one run. */
import type { Target } from './figures.ts';

const atMost = (limit: number, against: Target['against']): Target => ({ against, is: 'at most', limit });
const atLeast = (limit: number, against: Target['against']): Target => ({ against, is: 'at least', limit });

/** Time added to the screening service's own, by way and percentile. */
export const DECISION_TARGETS = {
  library: {
    p50: [atMost(1.25, 'floor')],
    p99: [atMost(1.25, 'floor')],
  },
  api: {
    p50: [atMost(1.5, 'floor')],
    p99: [atMost(1.5, 'floor')],
  },
  fastLibrary: { p50: [atMost(0.65, 'floor')] },
  fastApi: { p50: [atMost(0.8, 'floor')] },
} satisfies Record<string, Record<string, readonly Target[]>>;

export const THROUGHPUT_TARGET = atLeast(0.8, 'floor');
/** Milliseconds until a page is sent, with 20,000 open orders. */
export const PAGE_TARGETS = {
  lists: [atMost(150, 'itself')],
  filters: [atMost(150, 'itself')],
  search: [atMost(200, 'itself')],
  days: [atMost(300, 'itself')],
};
export const CACHED_MEMORY_TARGET = atMost(1.15, 'floor');

/** The history that an order may have over its whole life. */
interface HistoryLimits {
  /** Events except those of workflow tasks. */
  steps: number;
  /** Workflow tasks when no two inputs arrive together; a busy machine has fewer. */
  tasks: number;
  /** All events. */
  aim?: number;
}

/** The history of each kind of order. `test/e2e/bench.test.ts` fails when an order has more; a change that adds history raises the limit here. */
export const HISTORY_LIMITS: Readonly<Record<string, HistoryLimits>> = {
  passed: { steps: 14, tasks: 3, aim: 24 },
  'passed, all events': { steps: 20, tasks: 5, aim: 35 },
  declined: { steps: 17, tasks: 4 },
  'declined, then passed': { steps: 31, tasks: 7 },
  'review, passed by webhook': { steps: 29, tasks: 8, aim: 53 },
  'review, passed by webhook, all events': { steps: 32, tasks: 9, aim: 59 },
  'review, passed by poll': { steps: 25, tasks: 6 },
  'review, failed by webhook and canceled': { steps: 31, tasks: 7 },
  'fraudulent after acceptance, canceled': { steps: 20, tasks: 4 },
  'no answer at checkout, passed later': { steps: 27, tasks: 6 },
};

/** @returns the targets of a figure of an order's history */
export function historyTargets(kind: string, unit: string): Target[] {
  const { steps, tasks, aim } = HISTORY_LIMITS[kind] ?? {};
  const limit = { steps, tasks, events: aim }[unit];
  return limit === undefined ? [] : [atMost(limit, 'itself')];
}

/** A review has the same history whatever the number of its polls: as many steps as the review with the fewest polls. */
export const sameStepsTarget = (steps: number): Target => atMost(steps, 'itself');
