import type { Target } from '../figures.ts';
import type { BenchOrder } from '../orders.ts';
import type { Stack } from '../stack/stack.ts';

/** One way to a decision, running. */
export interface Way {
  /** Resolves when the caller has the decision; rejects for any other answer. */
  decide: (order: BenchOrder) => Promise<void>;
  /** The processes that serve it. */
  pids: () => number[];
}

/** One way to get a decision. All are measured alike; each order-screening way is compared with the floor and the plain way. */
export interface WayKind {
  name: string;
  role: 'service' | 'floor' | 'plain' | 'ours';
  /** Targets of the decision time, by percentile. */
  targets?: Readonly<Record<string, readonly Target[]>>;
  /** Starts the way on a stack, which stops it. */
  open: (stack: Stack) => Promise<Way>;
}
