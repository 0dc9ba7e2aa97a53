import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { LedgerEntry } from '../../src/sandbox/model.ts';
import { readDepartures } from './departures.ts';

const START = Date.parse('2026-03-01T10:00:00.000Z');

function entry(sequence: number, ms: number): LedgerEntry {
  const at = new Date(START + ms).toISOString();
  const outcome = { status: 200, code: null, decision: 'pass' };
  const about = {
    transactionId: null,
    invoiceNumber: 'S1N1',
    base: 'test',
    operation: 'status-by-url',
  } as const;
  return { sequence, at, wallAt: at, ...about, outcome, callerPort: 4_000, committed: false, fault: null };
}

it('gives each entry its own departure, also when it is noted late, and passes over one that never arrived', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'departures-')), 'notes');
  const left = (id: string, ms: number) => ({ id, port: 4_000, at: START + ms });
  const lines = [
    left('a', 0),
    { id: 'a', endedAt: START + 20, answered: true },
    left('b', 105),
    { id: 'b', endedAt: START + 120, answered: true },
    left('never arrived', 5_000),
    { id: 'never arrived', endedAt: START + 6_000, answered: false },
    left('killed', 9_000),
  ];
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const found = readDepartures(file, [entry(1, 10), entry(2, 100), entry(3, 9_005)]);
  expect([1, 2, 3].map((sequence) => found.get(sequence)?.at)).toEqual(
    [0, 105, 9_000].map((ms) => START + ms),
  );
  expect(found.get(3)?.end).toBeUndefined();
});
