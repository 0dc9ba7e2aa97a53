import type { Target } from '../figures.ts';
import type { BenchOrder } from '../orders.ts';
import type { Stack } from '../stack/stack.ts';

/** One way to a decision, open. */
export interface Way {
  /** Resolves when the caller has the decision; rejects for any other answer. */
  decide: (order: BenchOrder) => Promise<void>;
  /** Of the processes that serve it. */
  pids: () => number[];
  stop: () => Promise<void>;
}

/** One way to a decision: all are measured alike, and each of ours is held against the floor and the plain way. */
export interface WayKind {
  name: string;
  role: 'service' | 'floor' | 'plain' | 'ours';
  /** What must hold for the decision time, by percentile. */
  targets: Readonly<Record<string, readonly Target[]>>;
  open: (stack: Stack, nodeArgs: string[]) => Promise<Way>;
}
