/** Two kinds of load. */
import { setTimeout as sleep } from 'node:timers/promises';

/** One call; the index counts from 0. It rejects without a decision. */
export type Call = (index: number) => Promise<void>;

/** Milliseconds; replaced in tests. */
export interface Clock {
  now: () => number;
  sleep: (ms: number) => Promise<unknown>;
}

const WALL: Clock = { now: () => performance.now(), sleep };

interface OpenLoad {
  /** Arrivals per second, evenly spaced. */
  rate: number;
  count: number;
}

interface Latencies {
  /** Milliseconds from when each successful call was due. */
  latencies: number[];
  failures: string[];
}

/**
 * Calls at a constant rate, whether or not earlier calls have returned, and counts each latency from when its call was due.
 * A pause of the measured program therefore shows in every call that was due during it ("no coordinated omission").
 */
export async function openLoop(
  { rate, count }: OpenLoad,
  call: Call,
  clock: Clock = WALL,
): Promise<Latencies> {
  const began = clock.now();
  const result: Latencies = { latencies: [], failures: [] };
  const underWay: Promise<void>[] = [];
  for (let index = 0; index < count; index += 1) {
    const due = began + (index * 1_000) / rate;
    if (due > clock.now()) await clock.sleep(due - clock.now());
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

interface ClosedLoad {
  callers: number;
  /** No call starts later. */
  forMs?: number;
  /** The number of calls. */
  count?: number;
}

export interface Throughput {
  done: number;
  failures: string[];
  /** Until the last call returned. */
  tookMs: number;
}

/** Runs concurrent callers; each calls again as soon as its call has returned. */
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
