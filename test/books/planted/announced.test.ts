import { expect, it } from 'vitest';
import { aPolicy, HOUR } from '../../fixtures/policies.ts';
import { anArrival, aRequest, becoming, books, CREATE, ID } from '../a-passed-order.ts';
import { judgeBooks } from '../judge.ts';

const failed = { decision: 'fail', attempt: 1, transactionId: ID };

/** Returns what is missing of an order whose pass becomes a fail that only events of these types show. */
function missing(events: 'all' | 'changes', ...types: string[]): string[] {
  const found = judgeBooks(
    books({
      ...becoming(['pass', 30], ['fail', HOUR]),
      policy: aPolicy({ events, autoCancel: false, recheckLeadTimeMs: 0 }),
      requests: [CREATE, aRequest(2 * HOUR, { decision: 'fail' })],
      arrivals: types.map((type, index) => anArrival(index + 1, type, 3 * HOUR + index, failed)),
      record: { decision: 'fail', action: 'hold', events: types.length },
    }),
  );
  return found.flatMap(({ kind, facts }) => (kind === 'event missing' ? [facts] : []));
}

it('a decision that changes is announced by an event of its own', () => {
  expect(missing('changes', 'order.decision_changed', 'order.closed')).toEqual([]);
  expect(missing('changes', 'order.closed')).toEqual([
    '1 order.closed of attempt 1 shows fail after pass, which no event announced',
  ]);
  expect(missing('changes')).toContain('the record shows fail after pass');
});

it('with `events: all` the decision at checkout is announced, too', () => {
  expect(missing('all', 'order.closed')).toEqual([
    '1 order.closed of attempt 1 shows fail after undefined, which no event announced',
  ]);
});
