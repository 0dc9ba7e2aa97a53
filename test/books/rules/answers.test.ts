import { expect, test } from 'vitest';
import { anAnswer, aRequest, books, CREATE, START, TRANSACTION } from '../a-passed-order.ts';
import { answers } from './answers.ts';

const OTHER = '00000000-0000-4000-8000-000000000009';

test('a second attempt is told what the policy means, long after the first caller waited', () => {
  const told = (action: 'proceed' | 'hold') => ({
    ...anAnswer(2_100, { attempt: 2, transactionId: OTHER, action }),
    sentAt: START + 1_990,
  });
  const create = { attempt: 2, transactionId: OTHER, invoice: 'order-1~2', committed: true };
  const order = {
    answerBy: START + 100,
    attempts: [1, 2].map((number) => ({ number, skip: false, card: false })),
    transactions: [TRANSACTION, { ...TRANSACTION, id: OTHER, attempt: 2, invoice: 'order-1~2' }],
    requests: [CREATE, aRequest(2_000, { operation: 'create-transaction', ...create })],
  };
  const found = (action: 'proceed' | 'hold') =>
    answers(books({ ...order, calls: [anAnswer(80), told(action)] }));
  expect(found('proceed')).toEqual([]);
  expect(found('hold')).toMatchObject([{ kind: 'answer' }]);
});
