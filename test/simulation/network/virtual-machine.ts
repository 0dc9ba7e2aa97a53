/** The machine that the workers of a life run on: virtual clocks and timers, and modelled servers behind `fetch`. */
import { asyncLocalStorage } from '@temporalio/activity';
import { AbortError, type RequestInit } from 'node-fetch';
import type { HttpResponse, Machine } from '../../../src/screening-service/index.ts';
import { type Process, TryContext } from './process.ts';

/** Hears the response, or what node-fetch rejects with. */
export type Told = (answer: HttpResponse | Error) => void;

/** A server on the network. */
export interface Server {
  send(url: string, request: RequestInit, process: Process, told: Told): { giveUp(): void };
}

/**
 * @param skewMs by how much the wall clock is fast at a moment
 * @param serverOf whoever answers at the address
 */
export function virtualMachine(skewMs: (now: number) => number, serverOf: (url: string) => Server): Machine {
  return {
    now: () => {
      const now = running().readClock();
      return now + skewMs(now);
    },
    elapsed: () => running().readClock(),
    after: (ms, call) => running().after(ms, call),
    fetch(url, request) {
      const process = running();
      return new Promise<HttpResponse>((resolve, reject) => {
        const sending = serverOf(url).send(url, request, process, (answer) => {
          if (answer instanceof Error) reject(answer);
          else resolve(answer);
        });
        request.signal?.addEventListener('abort', () => {
          sending.giveUp();
          reject(new AbortError('The operation was aborted.'));
        });
      });
    },
  };
}

/** @returns the process whose code runs now */
export function running(): Process {
  const context = asyncLocalStorage.getStore();
  if (context instanceof TryContext && context.process !== undefined) return context.process;
  throw new TypeError('no try of an activity is running');
}
