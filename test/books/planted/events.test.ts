/** Is a decision missing that came after the caller of its attempt had stopped waiting? */
import { expect, it } from 'vitest';
import { instant } from '../../../src/contract/words.ts';
import { aPolicy } from '../../fixtures/policies.ts';
import { anAnswer, anArrival, books, CREATE, START, TRANSACTION } from '../a-passed-order.ts';
import { judgeBooks } from '../judge.ts';

const OTHER = '00000000-0000-4000-8000-000000000002';
/** The second attempt's create is answered after 2.02 s. */
const again = { ...CREATE, sentAt: START + 2_000, endedAt: START + 2_020, attempt: 2, transactionId: OTHER };
const policy = aPolicy({ events: 'changes', recheckLeadTimeMs: 0 });

/** The events missing of an order whose callers wait that long. */
function missing(firstWaitsMs: number, secondWaitsMs: number, told?: number) {
  const arrival = anArrival(1, 'order.decided', 2_100, { decision: 'pass', attempt: told });
  const found = judgeBooks(
    books({
      policy,
      answerBy: START + firstWaitsMs,
      arrivals: told === undefined ? [] : [arrival],
      attempts: [1, 2].map((number) => ({ number, skip: false, card: false })),
      transactions: [TRANSACTION, { ...TRANSACTION, id: OTHER, attempt: 2, invoice: 'order-1~2' }],
      requests: [CREATE, again],
      calls: [
        anAnswer(80),
        {
          ...anAnswer(2_100, { attempt: 2, transactionId: OTHER }),
          sentAt: START + 1_990,
          kind: 'retry',
          request: { attempt: 2, transaction: {}, answerBy: instant(START + secondWaitsMs) },
        },
      ],
    }),
  );
  return found.filter(({ kind, facts }) => kind === 'event missing' && facts.includes('heard at'));
}

it.each([
  ['neither attempt’s that came in time', 0, [40, 2_020]],
  ['the first attempt’s', 1, [39, 2_020]],
  ['the second attempt’s', 1, [40, 2_019]],
  ['both', 2, [39, 2_019]],
  ['none that was sent', 0, [40, 2_019, 2]],
] as const)(
  'a decision that nobody was waiting for is missing: %s',
  (_which, count, [first, second, told]) => {
    expect(missing(first, second, told)).toHaveLength(count);
  },
);
