/** The books of a simulated life. */
import type { OrderState } from '../../src/contract/state.ts';
import type { Books, Span, World } from '../books/books.ts';
import { recordOf } from '../books/record-of.ts';
import type { Happening } from './happenings.ts';
import { type Life, START } from './life.ts';
import type { OrderWorld } from './order-world.ts';
import { SKIP_BELOW } from './policies.ts';

/** @param state the order's record when the books are closed */
export function booksOf(orderWorld: OrderWorld, state: OrderState): Books {
  const { world, callers, endedAt, news } = orderWorld;
  const { life, service, receiver, agenda } = world;
  const { policy, adopted, amount, laterAmount, answerByMs, card, checkoutBudgetMs } = life;
  return {
    policy,
    startedAt: START,
    ...(endedAt !== undefined && { endedAt }),
    closedAt: agenda.now,
    ...(adopted !== undefined && { adoptedFrom: START - adopted.ageMs }),
    ...(answerByMs !== undefined && { answerBy: START + answerByMs }),
    checkoutBudgetMs,
    attempts: [amount, laterAmount, laterAmount].map((one, index) => ({
      number: index + 1,
      skip: one < SKIP_BELOW,
      card,
    })),
    transactions: service.transactions,
    requests: service.requests,
    calls: callers.book,
    news,
    arrivals: receiver.arrived,
    shown: world.shown,
    world: worldOf(orderWorld),
    record: recordOf(state),
  };
}

function worldOf({ world, resets }: OrderWorld): World {
  const { liberties, tasksLost, cutOff, life } = world;
  return {
    workersAway: world.spansOf('workers-away'),
    unreachable: [...world.spansOf('outage'), ...world.spansOf('no-integration'), ...unread(life)],
    wrongKey: [...world.spansOf('wrong-key'), ...world.spansOf('no-key')],
    slow: [],
    receiverDown: [],
    resets,
    continuedAt: [],
    skewMs: liberties.skewMs,
    losses: tasksLost || life.happenings.some(({ do: what }) => /^(?:lose-|stall)/.test(what)),
    lateByMs: Math.max(0, ...life.happenings.map(lateBy)),
    brokeDown: liberties.breaksDown || world.spansOf('no-integration').length > 0,
    cutOff,
    recordLost: false,
    notedLateMs: 0,
  };
}

/** From when on no decision can be read: a status operation stays broken to the end of the life. */
function unread({ happenings }: Life): Span[] {
  return happenings.flatMap((one) =>
    one.do === 'broken' && one.operation.startsWith('status')
      ? [{ from: START + one.at, until: Number.POSITIVE_INFINITY }]
      : [],
  );
}

function lateBy(one: Happening): number {
  return one.do === 'late-task' || one.do === 'late-try' || one.do === 'late-timer' ? one.ms : 0;
}
