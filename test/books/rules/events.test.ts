import { describe, expect, it } from 'vitest';
import { aPolicy, HOUR } from '../../fixtures/policies.ts';
import { anArrival, books } from '../a-passed-order.ts';
import type { Books } from '../books.ts';
import { judgeBooks } from '../judge.ts';

const all = aPolicy({ events: 'all', recheckLeadTimeMs: 0 });
const changes = aPolicy({ events: 'changes', recheckLeadTimeMs: 0 });
const decided = anArrival(1, 'order.decided', 200);
const closed = (sequence: number) => anArrival(sequence, 'order.closed', 120 * HOUR);
const attentionAfterwards = anArrival(1, 'order.attention', 120 * HOUR, { phase: 'closed' });
const onlyDecided = { arrivals: [decided], record: { events: 1 } };
const onlyClosed = { arrivals: [closed(1)], record: { events: 1 } };
const none = { arrivals: [], record: { events: 0 } };

describe('the event of an order’s end', () => {
  it.each<[string, Books]>([
    ['`all`: after `order.decided`', books({ policy: all, arrivals: [decided, closed(2)] })],
    ['`changes`: after another event', books({ policy: changes, arrivals: [decided, closed(2)] })],
    ['`changes`: none for an order that only passed', books({ policy: changes, ...none })],
    [
      '`changes`: none, although a signal that came with the end raised attention',
      books({ policy: changes, arrivals: [attentionAfterwards], record: { events: 1 } }),
    ],
    ['`false`: none', books({ policy: aPolicy({ events: false, recheckLeadTimeMs: 0 }), ...none })],
  ])('is right with %s', (_case, right) => {
    expect(judgeBooks(right)).toEqual([]);
  });

  it.each<[string, string, Books]>([
    ['event missing', '`all`: after `order.decided`', books({ policy: all, ...onlyDecided })],
    ['event missing', '`all`: of an order that only passed', books({ policy: all, ...none })],
    ['event missing', '`changes`: after another event', books({ policy: changes, ...onlyDecided })],
    ['event unwanted', '`changes`: of an order that only passed', books({ policy: changes, ...onlyClosed })],
  ])('is wrong: %s, %s', (kind, _case, planted) => {
    expect(judgeBooks(planted)).toMatchObject([{ kind, facts: expect.stringContaining('order.closed') }]);
  });
});

describe('an action that is final', () => {
  const told = (sequence: number, action: string, attempt = 1) => {
    const arrival = anArrival(sequence, 'order.decided', sequence * 200);
    const data = { ...arrival.event.data, attempt, action };
    return { ...arrival, event: { ...arrival.event, data } };
  };
  const findings = (...arrivals: Books['arrivals']) =>
    judgeBooks(books({ policy: all, arrivals })).filter(({ facts }) =>
      / after (?:decline|cancel)$/.test(facts),
    );

  it.each([
    ['decline', 'proceed'],
    ['decline', 'hold'],
    ['cancel', 'proceed'],
    ['cancel', 'hold'],
  ])('%s is not followed by %s', (first, later) => {
    expect(findings(told(1, first), told(2, later))).toMatchObject([{ kind: 'event wrong' }]);
  });

  it('is followed by a cancel, or by what the next attempt means', () => {
    expect(findings(told(1, 'decline'), told(2, 'cancel'), told(3, 'proceed', 2))).toEqual([]);
  });
});
