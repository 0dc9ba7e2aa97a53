/** What order-screening takes from the machine it runs on: clocks, timers and HTTP. A simulation hands in a virtual machine. */
import fetch, { type RequestInit } from 'node-fetch';

/** What is read of an HTTP response. */
export interface HttpResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

export interface Machine {
  /** The wall clock, in milliseconds after the epoch. It may be hours off, and may be set while the process runs. */
  now(): number;
  /** Milliseconds on a clock that only moves forward. */
  elapsed(): number;
  /** Calls back after so many milliseconds. @returns a function that prevents it */
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
  fetch,
};

/** Resolves after so many milliseconds on the machine's clock. */
export function sleepOn(machine: Machine, ms: number): Promise<void> {
  return new Promise((resolve) => {
    machine.after(ms, resolve);
  });
}
