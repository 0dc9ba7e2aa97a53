/** The environment of order-screening: clocks, timers and HTTP. Simulations supply a virtual one. */
import fetch, { type RequestInit } from 'node-fetch';
import { agentFor } from './agents.ts';

/** The parts of an HTTP response that are used. */
export interface HttpResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

export interface Machine {
  /** The wall clock in milliseconds since the epoch. It may be hours off, and may be adjusted while the process runs. */
  now(): number;
  /** A monotonic clock in milliseconds. */
  elapsed(): number;
  /** Calls back after a delay in milliseconds. @returns a function that cancels the callback */
  after(ms: number, call: () => void): () => void;
  /** Rejects with node-fetch's `FetchError`, or with an abort error once the request's signal has aborted. */
  fetch(url: string, request: RequestInit): Promise<HttpResponse>;
}

/** The machine of this process. */
export const MACHINE: Machine = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
  fetch: (url, request) => fetch(url, { agent: agentFor, ...request }),
};

/** Resolves after a delay in milliseconds on the machine's clock. */
export function sleepOn(machine: Machine, ms: number): Promise<void> {
  return new Promise((resolve) => {
    machine.after(ms, resolve);
  });
}
