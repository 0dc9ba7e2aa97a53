/** When requests left the workers, what they carried, and what their senders heard of an answer. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { GATEWAY_RESULTS } from '../../src/contract/words.ts';
import type { LedgerEntry } from '../../src/sandbox/model.ts';

/** What a process is started with to note its departures in that file; a thread of it loads no TypeScript. */
export function notingDepartures(file: string): { env: NodeJS.ProcessEnv; nodeArgs: string[] } {
  return { env: { CHAOS_DEPARTURES: file }, nodeArgs: ['--import', './test/chaos/note-departures.mjs'] };
}

const lineSchema = z.union([
  z.object({
    id: z.string(),
    port: z.number(),
    at: z.number(),
    amount: z.coerce.number().optional(),
    customerCode: z.string().optional(),
    result: z.enum(GATEWAY_RESULTS).optional(),
  }),
  z.object({ id: z.string(), endedAt: z.number(), answered: z.boolean() }),
]);

/** A request as its sender noted it. */
export interface Departure {
  at: number;
  /** The amount of a create. */
  amount?: number | undefined;
  customerCode?: string | undefined;
  /** The gateway result that it reports. */
  result?: (typeof GATEWAY_RESULTS)[number] | undefined;
  /** Absent: its process was killed before. */
  end?: { endedAt: number; answered: boolean };
}

/** A note may be written so long after the request arrived. */
const NOTED_WITHIN_MS = 1_000;

/** @returns the departure of each entry, by its sequence: on each port the first one that is left */
export function readDepartures(file: string, ledger: readonly LedgerEntry[]): Map<number, Departure> {
  const byId = new Map<string, Departure>();
  const byPort = new Map<number | null, Departure[]>();
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const read = lineSchema.parse(JSON.parse(line));
    if ('endedAt' in read) {
      const departure = byId.get(read.id);
      if (departure !== undefined) departure.end = { endedAt: read.endedAt, answered: read.answered };
      continue;
    }
    const { id, port, ...departure } = read;
    byId.set(id, departure);
    byPort.set(port, [...(byPort.get(port) ?? []), departure]);
  }
  const found = new Map<number, Departure>();
  for (const { sequence, callerPort, wallAt } of ledger) {
    const left = byPort.get(callerPort) ?? [];
    const possible = left.filter(({ at }) => at <= Date.parse(wallAt) + NOTED_WITHIN_MS);
    // A connection ends with a request that isn't answered: if another one follows, that one never arrived.
    const departure = possible.find(({ end }) => end?.answered) ?? possible.at(-1);
    if (departure === undefined) continue;
    found.set(sequence, departure);
    byPort.set(callerPort, left.slice(left.indexOf(departure) + 1));
  }
  return found;
}
