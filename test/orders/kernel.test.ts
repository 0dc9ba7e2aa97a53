/** The invariants of `src/workflows/screen-order.ts` as far as the kernel keeps them, by their numbers there. */
import { describe, expect, it } from 'vitest';
import { begin, isFinished, mayContinueAsNew, resultsFirst } from '../../src/orders/kernel.ts';
import type { Command, Input } from '../../src/orders/order.ts';
import { DAY, HOUR, MINUTE, sinceStart, TRANSACTION_ID, unanswered } from '../fixtures/orders.ts';
import { aLife, CANCELLATION, HINT, type Life, RECHECK, screened } from './life.ts';

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
  const life = screened('review', { events: 'all', workflow: 'pre-gateway' });
  life.portal('report-fraud');
  return life;
}

function withCancel(life: Life): Life {
  life.portal('cancel');
  return life;
}

describe('2. within an activation', () => {
  const request = { kind: 'gateway-result', request: { result: 'fail' } } as const;
  const message: Input = { kind: 'request', request, at: sinceStart(MINUTE) };

  it('results are applied first, in the order of history, then messages in theirs', () => {
    const life = busy();
    const [first, second] = [life.ended({ kind: 'deliver' }, HOUR), life.ended(fail, HOUR)];
    expect(resultsFirst([HINT, first, message, second])).toEqual([first, second, HINT, message]);
  });

  it('the poll’s fail comes before the gateway’s fail, and the order is canceled', () => {
    const order = screened('review', { workflow: 'pre-gateway', autoCancel: false });
    order.together(message, order.ended(fail, MINUTE));
    expect(order.state).toMatchObject({ decision: 'fail', action: 'cancel', phase: 'decided' });
    expect(order.replies.get(1)).toMatchObject({ gateway: { result: 'fail', action: 'cancel' } });
  });
});

it.each<[string, (life: Life) => unknown]>([
  ['a result', (life) => life.end(fail, HOUR)],
  ['a signal', (life) => life.take(RECHECK)],
  ['a request', withCancel],
  ['a failure', (life) => life.break('portal')],
  ['a timer', (life) => life.until(HOUR + MINUTE)],
  ['the order’s last deadline', (life) => life.until(31 * DAY)],
])('3. everything that %s causes is commanded with it: nothing is left for the next input', (_what, act) => {
  const life = busy();
  act(life);
  expect(begin(life.order)).toEqual([]);
});

it.each<[string, () => Life]>([
  ['passed', () => screened('pass')],
  ['in review', busy],
  ['being screened', () => screened(unanswered())],
  ['canceled', () => withCancel(screened('review')).portalEnds('done')],
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

  it('is no earlier than the start of the effect that ended', () => {
    const { state } = withCancel(screened('review')).portalEnds('done', 0);
    expect(state.actions).toMatchObject([{ finishedAt: sinceStart(HOUR) }]);
  });

  it('passes every deadline on the way, each at its own moment', () => {
    const life = screened('review');
    life.portal('report-fraud', 4.9 * DAY);
    expect(life.state.attention).toMatchObject([{ code: 'review-unresolved', since: sinceStart(4.5 * DAY) }]);
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
    const life = screened('pass', { workflow: 'pre-gateway' });
    for (const result of ['error', 'pass'] as const) life.gateway(result);
    expect(life.calls('gateway')).toHaveLength(1);
    life.break('gateway', 'canceled');
    expect(life.calls('gateway').map(({ request }) => request.gateway.result)).toEqual(['error', 'pass']);
  });

  it('of a canceled write that failed is that of one that was canceled', () => {
    const life = screened('pass', { events: 'all' }).wrapUp().break('deliver');
    expect(life.order.outbox).toHaveLength(1);
    expect(life.attention).toEqual([]);
  });

  it('has a number that is never used again, also after the order continues as new', () => {
    const life = busy().take(RECHECK).read('pass', HOUR).take(RECHECK);
    const started = [...life.commands, ...life.continued().take(RECHECK).commands];
    const numbers = started.flatMap((one) => (one.do === 'start' ? [one.running.id] : []));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });
});

describe('8. an order', () => {
  it('neither finishes nor continues as new before the checkout’s answer', () => {
    const { order } = aLife();
    expect([isFinished(order), mayContinueAsNew(order)]).toEqual([false, false]);
  });

  it.each<[string, () => Life]>([
    ['a write', () => screened(unanswered())],
    ['a write that is canceled', () => withCancel(screened(unanswered()))],
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
    expect(again.calls('deliver').map(({ events }) => events.map(({ sequence }) => sequence))).toEqual([[1]]);
    expect(again.end({ kind: 'deliver' }, HOUR).state.events).toMatchObject({ delivered: 1, waiting: 0 });
  });

  it('a delivery that ends all the same is not repeated', () => {
    const life = screened('pass', { events: 'all' }).wrapUp().end({ kind: 'deliver' }, HOUR);
    expect(life.continued().calls('deliver')).toEqual([]);
  });

  it('does not finish while a caller waits', () => {
    const { order } = screened({ kind: 'skipped', rule: 0 });
    expect(isFinished(order)).toBe(true);
    order.replies = [{ action: 1, until: sinceStart(HOUR) }];
    expect(isFinished(order)).toBe(false);
  });

  it('does not finish while a card is to be deleted', () => {
    const life = screened({ kind: 'skipped', rule: 0 }, {}, aLife({ cardRef: 'card-1' }));
    expect(isFinished(life.order)).toBe(false);
    expect(isFinished(life.end({ kind: 'forget-card' }, MINUTE).order)).toBe(true);
  });
});
