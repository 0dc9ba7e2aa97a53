/** Which events an order sends by the policy `events: changes`. */
import { describe, expect, it } from 'vitest';
import type { ScreeningOutcome } from '../../src/contract/activity-contract.ts';
import type { Decision } from '../../src/contract/words.ts';
import { applyReading } from '../../src/orders/apply-reading.ts';
import { eventToSend } from '../../src/orders/events.ts';
import {
  announced,
  anOrder,
  answered,
  type aPolicy,
  DAY,
  HOUR,
  sinceStart,
  unanswered,
} from '../fixtures/orders.ts';
import { aLife, checkedOut, type Life, screened } from './life.ts';

const WAITS = 9_000;
const CHANGES = { events: 'changes' } as const;

/** An order whose caller waits, and that is to tell only changes. */
function asked(outcome: ScreeningOutcome | Decision, policy: Parameters<typeof aPolicy>[0] = {}): Life {
  return screened(outcome, { ...CHANGES, ...policy }, aLife({ answerBy: WAITS }));
}

/** An order whose checkout ended that late. */
function checkedOutAt(at: number): Life {
  return aLife({ answerBy: WAITS }).checkOut(checkedOut('pass', CHANGES, at));
}

/** An order whose second attempt is reviewed. */
function retried(how: { again?: true } = {}): Life {
  const life = asked('fail');
  life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, 10_000);
  return life.end({ kind: 'retry-screening', outcome: answered('review'), ...how }, 11_000);
}

/** What was told until now, delivered or not. */
function told({ order, outbox }: Life): string[] {
  expect(order.outbox.map(({ sequence }) => sequence)).toEqual(order.outbox.map((_, index) => index + 1));
  return outbox;
}

describe('with the policy changes', () => {
  it.each([
    ['pass', 'pass'],
    ['review', 'review'],
    ['skipped', { kind: 'skipped', rule: 0 }],
  ] as const)('the decision %s isn’t told to whoever was given it', (_decision, outcome) => {
    expect(told(asked(outcome))).not.toContain('order.decided');
    const all = screened(outcome, { events: 'all' }, aLife({ answerBy: WAITS }));
    expect(told(all)).toContain('order.decided');
  });

  it('a first task that was run again tells: nobody knows what its caller was told', () => {
    const again = aLife({ answerBy: WAITS }).checkOut({
      ...checkedOut('pass', CHANGES),
      again: true,
    });
    expect(told(again)).toEqual(['order.decided']);
  });

  it.each<[what: string, life: () => Life, told: string[]]>([
    ['a plain start’s decision: nobody waits for it', () => screened('pass', CHANGES), ['order.decided']],
    ['no decision that came in time', () => checkedOutAt(WAITS), []],
    ['a decision that came when its caller waited no more', () => checkedOutAt(WAITS + 1), ['order.decided']],
    ['a decline', () => asked('fail'), ['order.decided']],
    ['a cancel', () => asked('fail', { workflow: 'post-acceptance' }), ['order.decided']],
    ['no answer without a decision', () => asked(unanswered()), []],
    [
      'the decision that comes after it',
      () => asked(unanswered()).end({ kind: 'catch-up', outcome: answered('pass') }, 5_000),
      ['order.decided'],
    ],
    [
      'a decline for want of a decision',
      () => asked(unanswered(), { whenUnavailable: 'decline' }),
      ['order.decided'],
    ],
    [
      'what a person must look at',
      () => asked({ kind: 'refused', reason: 'refused', words: 'No such currency' }),
      ['order.attention'],
    ],
    [
      'a change after the answer',
      () => asked('review').end({ kind: 'poll', outcome: { kind: 'read', decision: 'pass' } }, HOUR),
      ['order.review_resolved'],
    ],
    ['no later attempt’s decision to its caller', () => retried(), ['order.decided']],
    [
      'it if the caller may have had another',
      () => retried({ again: true }),
      ['order.decided', 'order.decided'],
    ],
  ])('%s is told', (_what, life, types) => {
    expect(told(life())).toEqual(types);
  });

  it('the end of a plain pass isn’t told, and costs no delivery', () => {
    const life = asked('pass').until(6 * DAY);
    expect(life.order).toMatchObject({ over: true, state: { phase: 'closed' } });
    expect(life.calls('deliver')).toEqual([]);
  });

  it.each([
    ['a declined order', asked('fail')],
    ['a pass that somebody acted on', reported(asked('pass'))],
    ['a pass that was told of', screened('pass', CHANGES)],
  ])('the end of %s is told', (_words, life) => {
    expect(life.until(6 * DAY).outbox).toContain('order.closed');
  });
});

function reported(life: Life): Life {
  life.ask({ kind: 'portal', fields: { kind: 'report-fraud' } }, 1_000);
  return life.end({ kind: 'portal', outcome: { kind: 'done', code: '200' } }, 2_000);
}

describe('an event that is kept', () => {
  it('is sent again byte for byte, whatever became of the order since', () => {
    const order = anOrder({
      ...answered('review', 'the transaction'),
      ...{ insights: { risk: { '1': { name: 'velocity' } } }, subStatus: 'manual-review' },
    });
    const first = eventToSend(order, announced(order, 'order.decided', HOUR));
    const sent = JSON.stringify(first);
    expect(first.data).toMatchObject({ decision: 'review', insights: {}, subStatus: 'manual-review' });
    applyReading(order, { kind: 'read', decision: 'fail', subStatus: 'refused' }, 'poll', sinceStart(DAY));
    announced(order, 'order.review_resolved', DAY, 'person');
    const [kept] = JSON.parse(JSON.stringify(order)).events.last;
    expect(JSON.stringify(eventToSend(JSON.parse(JSON.stringify(order)), kept))).toBe(sent);
  });

  it('is forgotten when fifty came after it', () => {
    const order = anOrder('pass');
    for (let count = 1; count <= 60; count += 1) announced(order, 'order.attention', HOUR);
    const numbers = order.events.last?.map(({ sequence }) => sequence);
    expect(numbers).toEqual(Array.from({ length: 50 }, (_, index) => index + 11));
  });
});

it('a batch of events is fixed when it is begun; what comes meanwhile leaves with the next', () => {
  const life = screened('review', { events: 'all' });
  life.end({ kind: 'poll', outcome: { kind: 'read', decision: 'pass' } }, HOUR);
  expect(life.calls('deliver').map((call) => call.events.length)).toEqual([1]);
  life.end({ kind: 'deliver' }, 2 * HOUR);
  expect(life.calls('deliver').map((call) => call.events.map(({ sequence }) => sequence))).toEqual([
    [1],
    [2],
  ]);
});
