/** Two ways to put load on something. */
import { setTimeout as sleep } from 'node:timers/promises';

/** One call; the index counts from 0. It rejects when it brought no decision. */
export type Call = (index: number) => Promise<void>;

/** Milliseconds; a test has a clock of its own. */
export interface Clock {
  now: () => number;
  sleep: (ms: number) => Promise<unknown>;
}

const WALL: Clock = { now: () => performance.now(), sleep };

export interface OpenLoad {
  /** Arrivals a second, evenly spaced. */
  rate: number;
  count: number;
}

export interface Latencies {
  /** Of the calls that succeeded, in milliseconds from when each was due. */
  latencies: number[];
  failures: string[];
  /** The longest that the load itself was behind its plan. */
  latestMs: number;
}

/** @returns when each call is due, in milliseconds from the beginning */
export function arrivals({ rate, count }: OpenLoad): number[] {
  return Array.from({ length: count }, (_, index) => (index * 1_000) / rate);
}

/**
 * Calls at a constant rate, whether earlier calls were answered or not, and counts each latency from when its call was due.
 * So a pause of whatever is measured shows in every call that fell into it ("no coordinated omission").
 */
export async function openLoop(load: OpenLoad, call: Call, clock: Clock = WALL): Promise<Latencies> {
  const began = clock.now();
  const result: Latencies = { latencies: [], failures: [], latestMs: 0 };
  const underWay: Promise<void>[] = [];
  for (const [index, offset] of arrivals(load).entries()) {
    const due = began + offset;
    if (due > clock.now()) await clock.sleep(due - clock.now());
    result.latestMs = Math.max(result.latestMs, clock.now() - due);
    underWay.push(
      call(index).then(
        () => void result.latencies.push(clock.now() - due),
        (error: unknown) => void result.failures.push(inWords(error)),
      ),
    );
  }
  await Promise.all(underWay);
  return result;
}

export interface ClosedLoad {
  callers: number;
  /** No call begins later. */
  forMs?: number;
  /** No more calls than these. */
  count?: number;
}

export interface Throughput {
  done: number;
  failures: string[];
  /** Until the last call was answered. */
  tookMs: number;
}

/** Lets so many callers call, each again as soon as it was answered. */
export async function closedLoop(load: ClosedLoad, call: Call, clock: Clock = WALL): Promise<Throughput> {
  const { callers, forMs = Number.POSITIVE_INFINITY, count = Number.POSITIVE_INFINITY } = load;
  const began = clock.now();
  const failures: string[] = [];
  let called = 0;
  let done = 0;
  const caller = async () => {
    while (called < count && clock.now() - began < forMs) {
      const index = called;
      called += 1;
      try {
        await call(index);
        done += 1;
      } catch (error) {
        failures.push(inWords(error));
      }
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { done, failures, tookMs: clock.now() - began };
}

function inWords(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
