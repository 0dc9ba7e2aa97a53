import { expect, it } from 'vitest';
import { anAnswer, aRequest, books, CREATE, START, TRANSACTION } from '../a-passed-order.ts';
import type { BookedRequest } from '../books.ts';
import { judgeBooks } from '../judge.ts';

const OTHER = '00000000-0000-4000-8000-000000000002';
const lost = { ...CREATE, heard: 'unknown' as const };
const create = { ...lost, sentAt: START + 20_000, endedAt: START + 20_020, attempt: 2, transactionId: OTHER };
const looksUp = (ms: number, found: Partial<BookedRequest>) =>
  aRequest(ms, { operation: 'status-by-invoice', ...found });
const none = (ms: number) => looksUp(ms, { heard: 'not-found' });

/** Returns what is wrong with a second attempt that stays pending after a lookup by the shared number finds its transaction. */
function found(...before: BookedRequest[]): string[] {
  const pending = { attempt: 2, decision: 'pending', action: 'hold', transactionId: OTHER } as const;
  const found = judgeBooks(
    books({
      attempts: [1, 2].map((number) => ({ number, skip: false, card: false })),
      transactions: [{ ...TRANSACTION, id: OTHER, attempt: 2 }],
      requests: [...before, create, looksUp(31_000, { transactionId: OTHER })],
      calls: [{ ...anAnswer(36_000, pending), sentAt: START + 35_900 }],
    }),
  );
  return found.map(({ facts }) => facts).filter((facts) => facts.includes('pending, though heard'));
}

it('a transaction found by a shared number may be an earlier attempt’s until the outcome of its create is known', () => {
  expect(found(lost)).toEqual([]);
  expect(found(lost, none(9_000))).toEqual([]);
  expect(found(lost, none(12_000))).toHaveLength(1);
  expect(found({ ...lost, heard: 'refused' })).toHaveLength(1);
});
