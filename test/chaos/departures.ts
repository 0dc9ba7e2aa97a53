/** When cancels left the workers. */
import { readFileSync } from 'node:fs';
import type { LedgerEntry } from '../../src/sandbox/model.ts';

/** What a process is started with to write its departures into that file; a thread of it loads no TypeScript. */
export function notingDepartures(file: string): { env: NodeJS.ProcessEnv; nodeArgs: string[] } {
  return { env: { CHAOS_DEPARTURES: file }, nodeArgs: ['--import', './test/chaos/note-departures.mjs'] };
}

/**
 * @param file lines of a port and of milliseconds after the epoch
 * @returns when the request of an entry left its worker: the last time that something left by its port before it was read
 */
export function readDepartures(file: string): (entry: LedgerEntry) => number | undefined {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const departures = lines.map((line) => {
    const [port = 0, at = 0] = line.split(' ').map(Number);
    return { port, at };
  });
  return ({ callerPort, wallAt }) =>
    departures.findLast(({ port, at }) => port === callerPort && at <= Date.parse(wallAt))?.at;
}
