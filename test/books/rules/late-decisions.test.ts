import { describe, expect, it } from 'vitest';
import { HOUR } from '../../fixtures/policies.ts';
import { anArrival, books, ID, START, TRANSACTION } from '../a-passed-order.ts';
import type { BookedNews, Books } from '../books.ts';
import { judgeBooks } from '../judge.ts';
import { lateDecisions } from './late-decisions.ts';

const FAILED = { decision: 'fail', at: START + 130 * HOUR } as const;
const HINT: BookedNews = { at: START + 131 * HOUR, what: 'hint' };

/** A passed order whose transaction an analyst decides after its end. */
function decidedLate(more: Partial<Books> = {}): Books {
  const transactions = [{ ...TRANSACTION, decisions: [...TRANSACTION.decisions, FAILED] }];
  return books({ closedAt: START + 200 * HOUR, transactions, news: [HINT], ...more });
}

const told = anArrival(3, 'order.decision_changed', 131 * HOUR + 200, {
  decision: 'fail',
  attempt: 1,
  transactionId: ID,
  afterClose: true,
});

describe('a decision after the end', () => {
  it('that is hinted at and told to nobody is found', () => {
    expect(judgeBooks(decidedLate())).toMatchObject([{ kind: 'late decision untold' }]);
  });

  it.each<[string, Books]>([
    ['it is told', decidedLate({ arrivals: [...books().arrivals, told] })],
    ['nobody hints at it', decidedLate({ news: [] })],
    ['the hint comes before it', decidedLate({ news: [{ ...HINT, at: START + 125 * HOUR }] })],
    ['the books close at once', decidedLate({ closedAt: HINT.at + 1_000 })],
  ])('is well where %s', (_what, found) => {
    expect(lateDecisions(found)).toEqual([]);
  });
});
