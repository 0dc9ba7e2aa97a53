import { describe, expect, it } from 'vitest';
import { aPolicy, HOUR } from '../../fixtures/policies.ts';
import { aRequest, books, CREATE } from '../a-passed-order.ts';
import type { Books } from '../books.ts';
import { judgeBooks } from '../judge.ts';

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
