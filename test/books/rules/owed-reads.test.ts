import { describe, expect, it } from 'vitest';
import { aPolicy, HOUR, MINUTE } from '../../fixtures/policies.ts';
import { anArrival, aRequest, books, CREATE, ID, START, TRANSACTION } from '../a-passed-order.ts';
import type { BookedNews, Books } from '../books.ts';
import { judgeBooks } from '../judge.ts';
import { lateDecisions, owedReads } from './owed-reads.ts';

const lead = { recheckLeadTimeMs: 12 * HOUR };
const reads = (...requests: Books['requests']) =>
  books({ policy: aPolicy(lead), requests: [CREATE, ...requests] });

describe('a pass whose window is about to close', () => {
  it.each<[string, Books]>([
    ['nobody reads', reads()],
    ['is only read before', reads(aRequest(100 * HOUR))],
    ['is read too late', reads(aRequest(110 * HOUR))],
  ])('is owed a read if it %s', (_what, found) => {
    expect(judgeBooks(found)).toMatchObject([{ kind: 'read owed' }]);
  });

  it.each<[string, Books]>([
    ['it is read', reads(aRequest(108 * HOUR + 10_000))],
    ['the policy turns it off', books({ policy: aPolicy({ recheckLeadTimeMs: 0 }) })],
  ])('is owed none if %s', (_what, found) => {
    expect(judgeBooks(found)).toEqual([]);
  });
});

describe('a recheck', () => {
  const failed = [1, 3, 7, 15].map((minute) => aRequest(minute * MINUTE, { heard: 'unknown' }));
  const recheck: BookedNews = { at: START + 16 * MINUTE, what: 'recheck' };
  const read = (minute: number) =>
    books({ news: [recheck], requests: [CREATE, ...failed, aRequest(minute * MINUTE)] });

  it('waits for the next try of a read that fails, no longer', () => {
    expect(owedReads(read(21))).toEqual([]);
    expect(owedReads(read(24))).toMatchObject([{ kind: 'read owed' }]);
  });
});

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
