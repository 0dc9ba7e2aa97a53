/** When cancels left the workers, as `note-departures.ts` wrote it down there. */
import { readFileSync } from 'node:fs';
import type { LedgerEntry } from '../../src/sandbox/model.ts';

const VARIABLE = 'CHAOS_DEPARTURES';

/** What a process is started with to write its departures into that file. */
export function notingDepartures(file: string): { env: NodeJS.ProcessEnv; nodeArgs: string[] } {
  return { env: { [VARIABLE]: file }, nodeArgs: ['--import', './test/chaos/note-departures.ts'] };
}

/** @returns the file that this process was told @throws Error when it was told none */
export function departuresFile(): string {
  const file = process.env[VARIABLE];
  if (file === undefined) throw new Error(`${VARIABLE} names no file`);
  return file;
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
