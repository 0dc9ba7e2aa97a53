/** The invariants of `src/workflows/screen-order.ts` as far as the kernel keeps them, by their numbers there. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { begin, isFinished, mayContinueAsNew, resultsFirst, resumed } from '../../src/orders/kernel.ts';
import type { Command, Input } from '../../src/orders/order.ts';
import { attention, DAY, HOUR, MINUTE, sinceStart, TRANSACTION_ID, unanswered } from '../fixtures/orders.ts';
import { property } from '../support/property.ts';
import { aLife, CANCELLATION, HINT, Life, RECHECK, screened } from './life.ts';

const fail = { kind: 'poll', outcome: { kind: 'read', decision: 'fail' } } as const;
const pass = { kind: 'read', outcome: { kind: 'read', decision: 'pass' } } as const;

/** Returns the commands that this causes, in short. */
function commandsOf(life: Life, act: () => unknown): string[] {
  const before = life.commands.length;
  act();
  return life.commands.slice(before).map(inShort);
}

function inShort(command: Command): string {
  return command.do === 'start' ? `start ${command.running.effect.call.kind}` : command.do;
}

/** An order of which a poll, a portal action and timers run, and whose caller waits. */
function busy(): Life {
  const life = screened('review', { events: 'all', workflow: 'pre-gateway' });
  life.ask({ kind: 'portal', fields: { kind: 'report-fraud' } }, HOUR);
  return life;
}

function withCancel(life: Life): Life {
  life.ask({ kind: 'portal', fields: { kind: 'cancel' } }, HOUR);
  return life;
}

describe('2. within an activation', () => {
  const life = busy();
  const results = [
    life.ended(fail, HOUR),
    life.ended({ kind: 'portal', outcome: { kind: 'done' } }, HOUR),
    life.ended({ kind: 'deliver' }, HOUR),
  ];
  const messages: Input[] = [
    RECHECK,
    { kind: 'request', request: { kind: 'decision', request: { attempt: 1 } }, at: sinceStart(HOUR) },
    HINT,
  ];

  property([fc.array(fc.boolean(), { minLength: 6, maxLength: 6 })])(
    'results are applied first, in the order of history, then messages in theirs',
    (choices) => {
      const [left, right] = [[...results], [...messages]];
      const mixed = choices.flatMap((isResult) => (isResult ? left : right).splice(0, 1));
      expect(resultsFirst([...mixed, ...left, ...right])).toEqual([...results, ...messages]);
    },
  );

  it('the poll’s fail comes before the gateway’s fail, and the order is canceled', () => {
    const order = screened('review', { workflow: 'pre-gateway', autoCancel: false });
    const message: Input = {
      kind: 'request',
      request: { kind: 'gateway-result', request: { result: 'fail' } },
      at: sinceStart(MINUTE),
    };
    order.together(message, order.ended(fail, MINUTE));
    expect(order.order.state).toMatchObject({ decision: 'fail', action: 'cancel', phase: 'decided' });
    expect(order.replies.get(1)).toMatchObject({ gateway: { result: 'fail', action: 'cancel' } });
  });
});

describe('3. everything that an input causes', () => {
  const steps: [string, (life: Life) => unknown][] = [
    ['a result', (life) => life.end(fail, HOUR)],
    ['a signal', (life) => life.take(RECHECK)],
    ['a request', withCancel],
    ['a failure', (life) => life.break('portal')],
    ['a timer', (life) => life.until(HOUR + MINUTE)],
    ['the order’s last deadline', (life) => life.until(31 * DAY)],
  ];

  it.each(steps)('is commanded with %s: nothing is left for the next input', (_what, act) => {
    const life = busy();
    act(life);
    expect(begin(life.order)).toEqual([]);
  });
});

describe('4. every signal leaves a command', () => {
  const orders: [string, () => Life][] = [
    ['passed', () => screened('pass')],
    ['in review', busy],
    ['being screened', () => screened(unanswered())],
    ['declined', () => screened('fail')],
    [
      'canceled',
      () => withCancel(screened('review')).end({ kind: 'portal', outcome: { kind: 'done' } }, HOUR),
    ],
    ['over', () => screened('pass', { events: 'all' }).until(5 * DAY)],
  ];

  it.each(orders)('of an order that is %s: a read that starts, or the count', (_where, anOrder) => {
    for (const signal of [HINT, RECHECK, CANCELLATION]) {
      const life = anOrder();
      for (let count = 1; count <= 4; count += 1) {
        const commands = commandsOf(life, () => life.take(signal));
        expect(commands.filter((one) => one === 'count-signals' || one === 'start read')).toHaveLength(1);
        expect(life.order.signals).toBe(count);
      }
    }
  });
});

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
    const life = withCancel(screened('review'));
    life.end({ kind: 'portal', outcome: { kind: 'done' } }, 0);
    expect(life.order.state.actions).toMatchObject([{ finishedAt: sinceStart(HOUR) }]);
  });

  it('passes every deadline on the way, each at its own moment', () => {
    const life = screened('review');
    life.ask({ kind: 'portal', fields: { kind: 'report-fraud' } }, 4.9 * DAY);
    expect(life.order.state.attention).toMatchObject([
      { code: 'review-unresolved', since: sinceStart(4.5 * DAY) },
    ]);
  });
});

describe('7. the outcome', () => {
  it('of a dropped effect is ignored', () => {
    const life = screened('review').take(RECHECK);
    const late = life.ended(fail, HOUR);
    expect(commandsOf(life, () => life.end(pass, HOUR))).toContain('drop');
    const before = structuredClone(life.order);
    expect(commandsOf(life, () => life.take(late))).toEqual([]);
    expect(life.order).toEqual(before);
  });

  it('of a write is awaited before the next one on its resource starts', () => {
    const life = screened('pass', { workflow: 'pre-gateway' });
    for (const result of ['error', 'pass'] as const)
      life.ask({ kind: 'gateway-result', request: { result } }, HOUR);
    expect(life.calls('gateway')).toHaveLength(1);
    life.break('gateway', 'canceled');
    expect(life.calls('gateway').map(({ request }) => request.gateway.result)).toEqual(['error', 'pass']);
  });

  it('of a canceled write that failed is that of one that was canceled', () => {
    const life = screened('pass', { events: 'all' }).wrapUp().break('deliver', 'failed');
    expect(life.order.outbox).toHaveLength(1);
    expect(attention(life.order.state)).toEqual([]);
  });

  it('has a number that is never used again, also after the order continues as new', () => {
    const life = busy().take(RECHECK).end(pass, HOUR).take(RECHECK);
    const again = new Life(resumed(structuredClone(life.order))).take(RECHECK);
    const numbers = [...life.commands, ...again.commands].flatMap((one) =>
      one.do === 'start' ? [one.running.id] : [],
    );
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
    ['a gateway result', () => paid(screened('pass', { workflow: 'pre-gateway' }))],
    ['a delivery', () => screened('pass', { events: 'all' })],
  ])('does not continue as new while %s runs', (_what, anOrder) => {
    expect(mayContinueAsNew(anOrder().order)).toBe(false);
  });

  it('continues as new beside reads, polls and timers, which start again', () => {
    const life = screened('review').take(RECHECK);
    expect(mayContinueAsNew(life.order)).toBe(true);
    const again = new Life(resumed(JSON.parse(JSON.stringify(life.order))));
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
    expect(life.order.outbox).toHaveLength(1);
    const again = new Life(resumed(structuredClone(life.order)));
    expect(again.order).not.toHaveProperty('continues');
    expect(again.calls('deliver').map(({ events }) => events.map(({ sequence }) => sequence))).toEqual([[1]]);
    again.end({ kind: 'deliver' }, HOUR);
    expect(again.order.state.events).toMatchObject({ delivered: 1, waiting: 0 });
  });

  it('a delivery that ends all the same is not repeated', () => {
    const life = screened('pass', { events: 'all' }).wrapUp().end({ kind: 'deliver' }, HOUR);
    expect(new Life(resumed(structuredClone(life.order))).calls('deliver')).toEqual([]);
  });

  it('does not finish while a caller waits', () => {
    const life = screened({ kind: 'skipped', rule: 0 });
    expect(isFinished(life.order)).toBe(true);
    life.order.replies = [{ action: 1, until: sinceStart(HOUR) }];
    expect(isFinished(life.order)).toBe(false);
  });

  it('does not finish while a card is to be deleted', () => {
    const life = screened({ kind: 'skipped', rule: 0 }, {}, aLife({ cardRef: 'card-1' }));
    expect(isFinished(life.order)).toBe(false);
    expect(isFinished(life.end({ kind: 'forget-card' }, MINUTE).order)).toBe(true);
  });
});

function paid(life: Life): Life {
  life.ask({ kind: 'gateway-result', request: { result: 'pass' } }, 0);
  return life;
}
