/** When requests left the workers, what they carried, and what their senders heard of an answer. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { GATEWAY_RESULTS } from '../../src/orders/words.ts';
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

/** @returns the departure of an entry: the last one by its port before it arrived */
export function readDepartures(file: string): (entry: LedgerEntry) => Departure | undefined {
  const byId = new Map<string, Departure>();
  const byPort = new Map<number, Departure[]>();
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
  return ({ callerPort, wallAt }) =>
    byPort.get(callerPort ?? 0)?.findLast(({ at }) => at <= Date.parse(wallAt));
}
