import { expect, test } from 'vitest';
import type { Decision } from '../../../src/contract/words.ts';
import { HOUR, MINUTE } from '../../fixtures/policies.ts';
import { anAnswer, aRequest, asksFor, books, CREATE, ID, START, TRANSACTION } from '../a-passed-order.ts';
import type { BookedCall } from '../asked.ts';
import type { BookedRequest } from '../books.ts';
import { judgeBooks } from '../judge.ts';

test('a cancel that names no transaction is of the newest, also when an older one was canceled', () => {
  const second = '00000000-0000-4000-8000-000000000002';
  const cancelOf = (transactionId: string, ms: number) =>
    aRequest(ms, { transactionId, operation: 'cancel-transaction', heard: 'done', committed: true });
  const asked: BookedCall = {
    kind: 'portal',
    request: { fields: { kind: 'cancel' } },
    sentAt: START + 90_000,
    at: START + HOUR,
  };
  const missing = (
    canceled: readonly string[],
    portal: BookedCall['portal'] = { status: 'done' },
    decision: Decision = 'pass',
  ) =>
    judgeBooks(
      books({
        transactions: [TRANSACTION, { ...TRANSACTION, id: second, createdAt: START + MINUTE }],
        requests: [
          CREATE,
          aRequest(MINUTE, { transactionId: second, decision }),
          ...canceled.map((id) => cancelOf(id, 2 * MINUTE)),
        ],
        calls: [anAnswer(80), { ...asked, portal }],
      }),
    ).filter(({ kind }) => kind === 'cancel missing');
  expect(missing([TRANSACTION.id])).toHaveLength(1);
  expect(missing([TRANSACTION.id, second])).toEqual([]);
  // A newer one that never had a decision doesn't count, so the caller was told of the other one.
  const told = { status: 'done', transactionId: TRANSACTION.id } as const;
  expect(missing([TRANSACTION.id], told, 'error')).toEqual([]);
  expect(missing([TRANSACTION.id], told)).toHaveLength(1);
});

test('a cancel covers what is found later of its attempt, and nothing else', () => {
  const second = '00000000-0000-4000-8000-000000000002';
  const cancelOf = (transactionId: string, ms: number) =>
    aRequest(ms, { transactionId, operation: 'cancel-transaction', heard: 'done', committed: true });
  const found = (attempt: number, ms: number, ...canceled: BookedRequest[]) =>
    judgeBooks(
      books({
        transactions: [TRANSACTION, { ...TRANSACTION, id: second, attempt, createdAt: START + 50 }],
        requests: [CREATE, cancelOf(ID, HOUR), aRequest(ms, { transactionId: second }), ...canceled],
        calls: [anAnswer(80), asksFor({ kind: 'cancel', transactionId: ID }, HOUR - MINUTE)],
        record: { phase: 'canceled' },
      }),
    ).flatMap(({ kind }) => (kind.startsWith('cancel ') ? kind : []));
  expect(found(1, 2 * HOUR)).toEqual(['cancel missing']);
  expect(found(1, 2 * HOUR, cancelOf(second, 2 * HOUR + 1_000))).toEqual([]);
  expect(found(1, MINUTE)).toEqual([]);
  expect(found(1, MINUTE, cancelOf(second, 2 * HOUR))).toEqual(['cancel unwanted']);
  expect(found(2, 2 * HOUR, cancelOf(second, 2 * HOUR + 1_000))).toEqual(['cancel unwanted']);
});
