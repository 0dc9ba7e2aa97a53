import { expect, it } from 'vitest';
import type { AttentionCode } from '../../../src/contract/words.ts';
import { aPolicy } from '../../fixtures/policies.ts';
import { anAnswer, books, ID, START } from '../a-passed-order.ts';
import { judgeBooks } from '../judge.ts';

const paid = { attempt: 1, result: 'pass' } as const;

/** Returns what is wrong with an order that never sends its gateway result. */
function found(attention: AttentionCode[], resultsNotSent: string[] = []): string[] {
  const aMinuteIn = { sentAt: START + 60_000, at: START + 60_010 };
  const reports = { kind: 'gateway-result', request: paid, gateway: paid, ...aMinuteIn } as const;
  const policy = aPolicy({ workflow: 'pre-gateway', recheckLeadTimeMs: 0 });
  const record = { attention, resultsNotSent };
  return judgeBooks(books({ policy, calls: [anAnswer(80), reports], record })).map(({ kind }) => kind);
}

it('a gateway result that was never sent is excused only by attention that names its transaction', () => {
  expect(found(['gateway-not-sent'], [ID])).not.toContain('gateway result lost');
  expect(found(['gateway-not-sent'], ['another'])).toContain('gateway result lost');
  expect(found(['gateway-contradiction'])).toContain('gateway result lost');
});
