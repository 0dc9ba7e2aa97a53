import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Input, Order } from '../../src/orders/order.ts';
import { isReady, isShown, next } from '../../src/orders/step.ts';
import { property } from '../support/property.ts';
import { aLife, screened } from './life.ts';
import { answered, HOUR, sinceStart, unanswered } from './support.ts';

const RECHECK: Input = { kind: 'signal', signal: 'recheck' };
const HINT: Input = {
  kind: 'signal',
  signal: 'review-hint',
  hint: { source: 'webhook', receivedAt: sinceStart(0) },
};

/** @returns all that wait, in the order in which they are taken while nothing else happens */
function taken(order: Order, waiting: readonly Input[]): Input[] {
  const left = [...waiting];
  const inputs: Input[] = [];
  for (let one = next(order, left); one !== undefined; one = next(order, left)) inputs.push(one);
  return inputs;
}

function ring(number: number): Input {
  return { kind: 'end', number, end: { how: 'done', result: { kind: 'timer' } } };
}

/** An order with a poll, a portal action and timers under way, and the ends of all of them with two messages. */
function busy(): { order: Order; inputs: Input[] } {
  const life = screened('review');
  life.ask({ kind: 'portal', fields: { kind: 'report-fraud' } }, HOUR);
  const timers = life.order.effects
    .filter(({ effect }) => effect.kind === 'timer')
    .map(({ number }) => number);
  expect(timers.length).toBeGreaterThan(1);
  const inputs = [
    life.ended({ kind: 'poll', outcome: { kind: 'read', decision: 'pass' } }, HOUR),
    life.ended({ kind: 'portal', outcome: { kind: 'done' } }, HOUR),
    ...timers.map(ring),
    RECHECK,
    HINT,
  ];
  return { order: life.order, inputs };
}

describe('what came together', () => {
  const { order, inputs } = busy();

  property([fc.shuffledSubarray(inputs.slice(0, -2), { minLength: inputs.length - 2 }), fc.nat(), fc.nat()])(
    'is taken as ends in the order of history, then messages in theirs',
    (ends, ...places) => {
      const waiting = [...ends];
      const [first, second] = places.map((place) => place % (ends.length + 1)).sort((a, b) => a - b);
      waiting.splice(second ?? 0, 0, HINT);
      waiting.splice(first ?? 0, 0, RECHECK);
      expect(taken(order, waiting)).toEqual([...ends, RECHECK, HINT]);
    },
  );

  it('leaves what can’t be taken now where it is', () => {
    const waiting = [HINT, RECHECK];
    expect(next(aLife().order, waiting)).toBeUndefined();
    expect(waiting).toEqual([HINT, RECHECK]);
  });
});

describe('while a local activity runs', () => {
  it('nothing is taken but its end, which a replay knows first', () => {
    const life = aLife();
    expect(isShown(life.order)).toBe(false);
    expect(isReady(life.order, [RECHECK, HINT, ring(99)])).toBe(false);
    const end: Input = { kind: 'end', number: life.find('first-screening').number, end: { how: 'failed' } };
    expect(isReady(life.order, [RECHECK, end])).toBe(true);
    expect(next(life.order, [RECHECK, HINT, end])).toBe(end);
  });

  it('of a look, too; afterwards the messages come', () => {
    const life = screened('review').take(RECHECK);
    const poll = life.ended({ kind: 'poll', outcome: { kind: 'read', decision: 'pass' } }, HOUR);
    expect(next(life.order, [poll, HINT])).toBeUndefined();
    life.end({ kind: 'look', outcome: { kind: 'read', decision: 'review' } }, HOUR);
    expect(isShown(life.order)).toBe(true);
    expect(taken(life.order, [HINT, poll])).toEqual([poll, HINT]);
  });
});

describe('the end of what nobody waits for any more', () => {
  it('means nothing', () => {
    const life = screened('review');
    const late = life.ended({ kind: 'poll', outcome: { kind: 'read', decision: 'fail' } }, HOUR);
    life.take(RECHECK).end({ kind: 'look', outcome: { kind: 'read', decision: 'pass' } }, HOUR);
    life.take(RECHECK);
    const before = structuredClone(life.order);
    life.take(late);
    expect(life.order).toEqual(before);
  });

  it('of a create that is waited for counts, though nobody wants it', () => {
    const life = screened(unanswered());
    life.ask({ kind: 'portal', fields: { kind: 'cancel' } }, HOUR);
    life.end({ kind: 'catch-up', outcome: answered('pass', 'made') }, HOUR);
    expect(life.order.state.transactions.map(({ id }) => id)).toEqual(['made']);
  });
});
