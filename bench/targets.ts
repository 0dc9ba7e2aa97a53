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
  fastLibrary: { p50: [atMost(0.65, 'floor')] },
  fastApi: { p50: [atMost(0.8, 'floor')] },
};

export const THROUGHPUT_TARGET = atLeast(0.8, 'floor');
export const CACHED_MEMORY_TARGET = atMost(1.15, 'floor');
/** Checkout p99 with the crowd; its floor is the same without one. */
export const CROWD_TARGET = atMost(1.2, 'floor');

/** What a kind of order may have of history over its whole life, and what is aimed at. */
interface HistoryLimits {
  /** Events but those of workflow tasks: what happens, happens so often. */
  steps: number;
  /** Workflow tasks, when nothing comes together; on a busy machine there are less. */
  tasks: number;
  /** All events. */
  aim?: number;
}

/** What each kind of order has today: the tests refuse more. A change that costs history says so here. */
export const HISTORY_LIMITS: Readonly<Record<string, HistoryLimits>> = {
  passed: { steps: 16, tasks: 4, aim: 29 },
  'passed, all events': { steps: 22, tasks: 6, aim: 40 },
  declined: { steps: 17, tasks: 4 },
  'declined, then passed': { steps: 33, tasks: 8 },
  'review, passed by webhook': { steps: 31, tasks: 9, aim: 58 },
  'review, passed by webhook, all events': { steps: 34, tasks: 10, aim: 64 },
  'review, passed by poll': { steps: 27, tasks: 7 },
  'review, failed by webhook and canceled': { steps: 31, tasks: 7 },
  'fraudulent after acceptance, canceled': { steps: 20, tasks: 4 },
  'no answer at checkout, passed later': { steps: 29, tasks: 7 },
};

/** @returns what must hold for a figure of an order's history */
export function historyTargets(kind: string, unit: string): Target[] {
  const { steps, tasks, aim } = HISTORY_LIMITS[kind] ?? {};
  const limit = { steps, tasks, events: aim }[unit];
  return limit === undefined ? [] : [atMost(limit, 'itself')];
}

/** A review costs the same history whatever the number of its polls: as many steps as the one that was polled least. */
export const sameStepsTarget = (steps: number): Target => atMost(steps, 'itself');
