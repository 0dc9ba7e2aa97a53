/** The invariants of `src/workflows/screen-order.ts` as far as the kernel keeps them, by their numbers there. */
import { describe, expect, it } from 'vitest';
import { mayContinueAsNew, resultsFirst } from '../../src/order/kernel.ts';
import type { Command, Input } from '../../src/order/order.ts';
import { DAY, HOUR, MINUTE, sinceStart, TRANSACTION_ID, unanswered } from '../fixtures/orders.ts';
import { CANCELLATION, HINT, type Life, RECHECK, screened } from './life.ts';

const fail = { kind: 'poll', outcome: { kind: 'read', decision: 'fail' } } as const;

/** Returns the commands that this causes, in short. */
function commandsOf(life: Life, act: () => unknown): string[] {
  const before = life.commands.length;
  act();
  return life.commands.slice(before).map(inShort);
}

function inShort(command: Command): string {
  return command.do === 'start' ? `start ${command.running.effect.call.kind}` : command.do;
}

/** An order with a running poll, portal action, delivery and timers, and a waiting caller. */
function busy(): Life {
  return screened('review', { events: 'all', workflow: 'pre-gateway' }).portal('report-fraud');
}

describe('2. within an activation', () => {
  const request = { kind: 'gateway-result', request: { result: 'fail' } } as const;
  const message: Input = { kind: 'request', request, at: sinceStart(MINUTE) };

  it('the poll’s fail comes before the gateway’s fail, and the order is canceled', () => {
    const order = screened('review', { workflow: 'pre-gateway', autoCancel: false });
    for (const input of resultsFirst([message, order.ended(fail, MINUTE)])) order.take(input);
    expect(order).toMatchObject({ decision: 'fail', action: 'cancel', phase: 'decided' });
    expect(order.replies[0]).toMatchObject({ gateway: { result: 'fail', action: 'cancel' } });
  });
});

it.each<[string, () => Life]>([
  ['passed', () => screened('pass')],
  ['in review', busy],
  ['being screened', () => screened(unanswered())],
  ['canceled', () => screened('review').portal('cancel').portalEnds('done')],
  ['over', () => screened('pass', { events: 'all' }).until(5 * DAY)],
])(
  '4. every signal to an order that is %s leaves a command: a read that starts, or the count',
  (_, anOrder) => {
    for (const signal of [HINT, RECHECK, CANCELLATION]) {
      const life = anOrder();
      for (let count = 1; count <= 4; count += 1) {
        const commands = commandsOf(life, () => life.take(signal));
        expect(commands.filter((one) => one === 'count-signals' || one === 'start read')).toHaveLength(1);
        expect(life.order.signals).toBe(count);
      }
    }
  },
);

describe('6. the time', () => {
  it.each<[string, () => Life, number]>([
    ['of a result is its own', () => screened('review').end(fail, HOUR), HOUR],
    ['of a timer is the moment that it was set to', () => screened('review').until(4.5 * DAY), 4.5 * DAY],
    ['of a signal is the order’s newest', () => screened('review').end(fail, HOUR).take(CANCELLATION), HOUR],
    ['never goes back: an earlier result counts from then', () => busy().end(fail, MINUTE), HOUR],
  ])('%s', (_what, life, at) => {
    expect(life().order.now).toBe(sinceStart(at));
  });
});

describe('7. the outcome', () => {
  it('of a dropped effect is ignored', () => {
    const life = screened('review').take(RECHECK);
    const late = life.ended(fail, HOUR);
    expect(commandsOf(life, () => life.read('pass', HOUR))).toContain('drop');
    const before = structuredClone(life.order);
    expect(commandsOf(life, () => life.take(late))).toEqual([]);
    expect(life.order).toEqual(before);
  });

  it('of a write is awaited before the next one on its resource starts', () => {
    const life = screened('pass', { workflow: 'pre-gateway' }).gateway('error').gateway('pass');
    expect(life.calls('gateway')).toHaveLength(1);
    expect(life.commands).toContainEqual({ do: 'cancel', id: life.find('gateway').id });
    life.break('gateway', 'canceled');
    expect(life.calls('gateway').map(({ request }) => request.gateway.result)).toEqual(['error', 'pass']);
  });

  it('of a canceled write that failed is that of one that was canceled', () => {
    const life = screened('pass', { events: 'all' }).wrapUp().break('deliver');
    expect(life.order.outbox).toHaveLength(1);
    expect(life.attention).toEqual([]);
  });
});

describe('8. an order', () => {
  it.each<[string, () => Life]>([
    ['a write', () => screened(unanswered())],
    ['a write that is canceled', () => screened(unanswered()).portal('cancel')],
    ['a portal action', () => busy().until(HOUR + MINUTE)],
  ])('does not continue as new while %s runs', (_what, anOrder) => {
    expect(mayContinueAsNew(anOrder().order)).toBe(false);
  });

  it('continues as new beside reads, polls and timers, which start again', () => {
    const life = screened('review').take(RECHECK);
    expect(mayContinueAsNew(life.order)).toBe(true);
    const again = life.continued();
    expect(again.underWay).toEqual(life.underWay);
    expect(again.timers.map(({ effect }) => effect.key)).toEqual(life.timers.map(({ effect }) => effect.key));
    expect(again.calls('poll')).toMatchObject([
      { request: { transactionId: TRANSACTION_ID, known: 'review' } },
    ]);
  });

  it('a delivery that waits for its next try is canceled, awaited, and started by the next run', () => {
    const life = screened('pass', { events: 'all' });
    expect(mayContinueAsNew(life.order)).toBe(false);
    expect(commandsOf(life, () => life.wrapUp())).toEqual(['cancel']);
    expect(commandsOf(life, () => life.wrapUp())).toEqual([]);
    expect(mayContinueAsNew(life.order)).toBe(false);
    life.break('deliver', 'canceled');
    expect(mayContinueAsNew(life.order)).toBe(true);
    const again = life.continued();
    expect(again.order).not.toHaveProperty('continues');
    expect(again.calls('deliver').map(({ request }) => request.length)).toEqual([1]);
    expect(again.end({ kind: 'deliver' }, HOUR).state.events).toMatchObject({ delivered: 1, waiting: 0 });
  });
});
