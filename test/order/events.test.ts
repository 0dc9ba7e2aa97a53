/** Which events an order sends by the policy `events: changes`. */
import { describe, expect, it } from 'vitest';
import type { ScreeningOutcome } from '../../src/contract/activity-contract.ts';
import type { Policy } from '../../src/contract/policy.ts';
import type { Decision } from '../../src/contract/words.ts';
import { applyReading } from '../../src/order/decide.ts';
import { eventToSend } from '../../src/order/events.ts';
import type { Input } from '../../src/order/order.ts';
import {
  announced,
  anOrder,
  answered,
  DAY,
  HOUR,
  MINUTE,
  START,
  sinceStart,
  unanswered,
} from '../fixtures/orders.ts';
import { aLife, CANCELLATION, checkedOut, type Life, screened } from './life.ts';
import { reported } from './lives.ts';

const WAITS = 9_000;
const CHANGES = { events: 'changes' } as const;
const SKIPPED = { kind: 'skipped', rule: 0 } as const;
const DECLINING = { whenUnavailable: 'decline' } as const;

const ATTENDED: [string, string] = ['order.attention', 'proceed'];
const CHANGED = (action: string): [string, string] => ['order.decision_changed', action];

/** An order whose caller waits, and that is to tell only changes. */
function asked(outcome: ScreeningOutcome | Decision, policy: Partial<Policy> = {}): Life {
  return screened(outcome, { ...CHANGES, ...policy }, aLife({ answerBy: WAITS }));
}

/** An order whose checkout ended that late. */
function checkedOutAt(at: number, again?: true): Life {
  const result = { ...checkedOut('pass', CHANGES, at), ...(again && { again }) };
  return aLife({ answerBy: WAITS }).checkOut(result);
}

/** An order whose second attempt is reviewed, 1 s after it was sent. */
function retried(answerBy: number | undefined, how: { again?: true } = {}, meanwhile: Input[] = []): Life {
  const waits = answerBy !== undefined && { answerBy: sinceStart(answerBy) };
  const life = asked('fail');
  life.ask({ kind: 'retry', request: { attempt: 2, transaction: {}, ...waits } }, 10_000);
  return meanwhile
    .reduce((_life, input) => life.take(input), life)
    .end({ kind: 'retry-screening', outcome: answered('review'), ...how }, 11_000);
}

describe('with the policy changes', () => {
  it.each([
    ['pass', 'pass'],
    ['review', 'review'],
    ['skipped', SKIPPED],
  ] as const)('the decision %s isn’t told to whoever was given it', (_decision, outcome) => {
    expect(asked(outcome).outbox).not.toContain('order.decided');
    expect(asked(outcome, { events: 'all' }).outbox).toContain('order.decided');
  });

  it('a first task that was run again tells: nobody knows what its caller was told', () => {
    expect(checkedOutAt(0, true).outbox).toEqual(['order.decided']);
  });

  it.each<[what: string, life: () => Life, told: string[]]>([
    ['a plain start’s decision: nobody waits for it', () => screened('pass', CHANGES), ['order.decided']],
    ['no decision that came in time', () => checkedOutAt(WAITS), []],
    ['a decision that came when its caller waited no more', () => checkedOutAt(WAITS + 1), ['order.decided']],
    ['a decline', () => asked('fail'), ['order.decided']],
    ['a cancel', () => asked('fail', { workflow: 'post-acceptance' }), ['order.decided']],
    ['no answer without a decision', () => asked(unanswered()), []],
    ['the decision after it', () => asked(unanswered()).caughtUp('pass', 5_000), ['order.decided']],
    ['a decline for want of a decision', () => asked(unanswered(), DECLINING), ['order.decided']],
    ['a refused order', () => asked({ kind: 'refused', reason: 'refused' }), ['order.attention']],
    ['a later change', () => asked('review').polled('pass', HOUR), ['order.review_resolved']],
    ['no later attempt’s decision that came in time', () => retried(11_000), ['order.decided']],
    ['one that came when its caller waited no more', () => retried(10_999), Array(2).fill('order.decided')],
    [
      'one whose caller doesn’t say how long it waits',
      () => retried(undefined),
      Array(2).fill('order.decided'),
    ],
    [
      'one beside which another event of the attempt was sent',
      () => retried(11_000, {}, [CANCELLATION]),
      ['order.decided', 'order.attention', 'order.decided'],
    ],
    [
      'it if the caller may have had another',
      () => retried(11_000, { again: true }),
      Array(2).fill('order.decided'),
    ],
  ])('%s is told', (_what, life, types) => {
    const { order, outbox } = life();
    expect(outbox).toEqual(types);
    expect(order.outbox.map(({ sequence }) => sequence - START / 1_000)).toEqual(
      types.map((_, index) => index + 1),
    );
  });

  it('the end of a plain pass isn’t told, and costs no delivery', () => {
    const life = asked('pass').until(6 * DAY);
    expect(life.order).toMatchObject({ over: true, state: { phase: 'closed' } });
    expect(life.calls('deliver')).toEqual([]);
  });

  it.each([
    ['a declined order', () => asked('fail')],
    ['a pass that somebody acted on', () => reported(asked('pass'))],
    ['a pass that was told of', () => screened('pass', CHANGES)],
  ])('the end of %s is told', (_words, life) => {
    expect(life().until(6 * DAY).outbox).toContain('order.closed');
  });
});

describe('a result of the payment gateway', () => {
  const gateway = (decision: Decision, policy: Partial<Policy> = {}) =>
    asked(decision, { workflow: 'pre-gateway', ...policy });
  const late = () => gateway('pass').until(2 * DAY);

  it.each<[string, () => Life, [type: string, action: string][]]>([
    ['pass that changes nothing', () => gateway('pass').gateway('pass'), []],
    ['fail that is late', () => late().gateway('fail', 2 * DAY), [ATTENDED, CHANGED('decline')]],
    [
      'pass in place of an error',
      () => gateway('pass').gateway('error').gateway('pass'),
      [['order.attention', 'hold'], CHANGED('proceed')],
    ],
    [
      'pass of a review that was allowed to pay',
      () => gateway('review', { reviewBeforeGateway: 'proceed' }).gateway('pass'),
      [CHANGED('hold')],
    ],
  ])('%s: each new action is told once', (_case, life, told) => {
    const sent = life().state.events.last ?? [];
    expect(sent.map(({ type, data }) => [type, data.action])).toEqual(told);
  });
});

describe('an event that is kept', () => {
  it('is sent again byte for byte, whatever became of the order since', () => {
    const insights = { risk: { '1': { name: 'velocity' } } };
    const order = anOrder({ ...answered('review'), insights, subStatus: 'manual-review' });
    const first = eventToSend(order, announced(order, 'order.decided', HOUR));
    const sent = JSON.stringify(first);
    expect(first.data).toMatchObject({ decision: 'review', insights: {}, subStatus: 'manual-review' });
    applyReading(order, { kind: 'read', decision: 'fail', subStatus: 'refused' }, 'poll', sinceStart(DAY));
    announced(order, 'order.review_resolved', DAY, 'person');
    const crossed = JSON.parse(JSON.stringify(order));
    expect(JSON.stringify(eventToSend(crossed, crossed.events.last[0]))).toBe(sent);
  });

  it('is sent again byte for byte after more decisions than the record keeps', () => {
    const order = anOrder('pass');
    const sent = new Map<number, string>();
    for (let count = 0; count < 60; count += 1) {
      const decision = count % 2 === 0 ? 'review' : 'pass';
      applyReading(
        order,
        { kind: 'read', decision, subStatus: `${count}` },
        'poll',
        sinceStart(HOUR + count),
      );
      const event = announced(order, 'order.decision_changed', HOUR + count);
      sent.set(event.sequence, JSON.stringify(eventToSend(order, event)));
    }
    for (const event of order.events.last ?? [])
      expect(JSON.stringify(eventToSend(order, event))).toBe(sent.get(event.sequence));
  });

  it('is forgotten when fifty came after it', () => {
    const order = anOrder('pass');
    for (let count = 1; count <= 60; count += 1) announced(order, 'order.attention', HOUR);
    const numbers = order.events.last?.map(({ sequence }) => sequence);
    expect(numbers).toEqual(Array.from({ length: 50 }, (_, index) => START / 1_000 + index + 11));
  });
});

it('events are delivered although the run, whose history is long, waits for a portal action', () => {
  const life = screened('pass', { events: 'all' });
  life.end({ kind: 'deliver' }, MINUTE);
  // The workflow calls it before it applies each input, here the request.
  life.wrapUp().portal('report-fraud', HOUR).portalEnds('forbidden', HOUR);
  expect([life.attention, life.outbox]).toEqual([['wrong-key'], ['order.attention']]);
  life.until(20 * HOUR);
  expect(life.underWay).toEqual(expect.arrayContaining([expect.stringMatching('^deliver')]));
});
