import { expect, it } from 'vitest';
import { aRequest, books, CREATE } from '../a-passed-order.ts';
import { judgeBooks } from '../judge.ts';
import { ARRIVES_WITHIN_MS } from './creates.ts';

it('believes that a sender heard of its create’s end by what the notes are late', () => {
  const lookUp = aRequest(40 + ARRIVES_WITHIN_MS - 9, {
    operation: 'status-by-invoice',
    heard: 'not-found',
  });
  const { transactionId: _none, decision: _unknown, ...looked } = lookUp;
  const again = { ...CREATE, sentAt: looked.endedAt + 1, endedAt: looked.endedAt + 20 };
  const kinds = (notedLateMs: number) =>
    judgeBooks(
      books({ requests: [{ ...CREATE, heard: 'unknown' }, looked, again], world: { notedLateMs } }),
    ).map(({ kind }) => kind);
  expect(kinds(0)).toContain('second create');
  expect(kinds(9)).not.toContain('second create');
});
