/** When requests left workers and API, what they carried, and whether their senders got an answer: what `note-departures.mjs` wrote. */
import { readFileSync } from 'node:fs';
import type { GatewayResult } from '../../../src/contract/words.ts';
import type { LedgerEntry } from '../../../src/sandbox/model.ts';

/** A request as its sender noted it. */
export interface Departure {
  at: number;
  /** Of a create. */
  amount?: number;
  customerCode?: string;
  /** The gateway result that it reports. */
  result?: GatewayResult;
  /** Absent: its process was killed before. */
  end?: { endedAt: number; answered: boolean };
}

type Line = { id: string } & ((Departure & { port: number }) | Required<Departure>['end']);

/** A departure may be noted this long after the request arrived. */
const NOTED_WITHIN_MS = 1_000;

/** @returns the departure of each entry by the entry's sequence: the entries and the departures of a port are in the same order */
export function readDepartures(file: string, ledger: readonly LedgerEntry[]): Map<number, Departure> {
  const byId = new Map<string, Departure>();
  const byPort = new Map<number | null, Departure[]>();
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const { id, ...noted }: Line = JSON.parse(line);
    const departed = byId.get(id);
    if ('endedAt' in noted) {
      if (departed !== undefined) departed.end = noted;
      continue;
    }
    const { port, ...departure } = noted;
    byId.set(id, departure);
    byPort.set(port, [...(byPort.get(port) ?? []), departure]);
  }
  const found = new Map<number, Departure>();
  for (const { sequence, callerPort, wallAt } of ledger) {
    const left = byPort.get(callerPort) ?? [];
    const possible = left.filter(({ at }) => at <= Date.parse(wallAt) + NOTED_WITHIN_MS);
    // A connection ends with a request that isn't answered. If an answered one follows, the unanswered one never arrived.
    const departure = possible.find(({ end }) => end?.answered) ?? possible.at(-1);
    if (departure === undefined) continue;
    found.set(sequence, departure);
    byPort.set(callerPort, left.slice(left.indexOf(departure) + 1));
  }
  return found;
}
