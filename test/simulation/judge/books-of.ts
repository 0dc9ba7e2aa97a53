/** The books of a simulated life. */
import type { OrderState } from '../../../src/contract/order/state.ts';
import { defined } from '../../../src/order/defined.ts';
import type { Books, Span, World } from '../../books/books.ts';
import { recordOf } from '../../books/record-of.ts';
import type { OrderWorld } from '../order-world.ts';
import type { Happening } from '../plan/happenings.ts';
import { type Life, START } from '../plan/life.ts';
import { SKIP_BELOW } from '../plan/policies.ts';

/** @param state the order's record when the books are closed */
export function booksOf(orderWorld: OrderWorld, state: OrderState): Books {
  const { world, callers, endedAt } = orderWorld;
  const { life, service, receiver, agenda } = world;
  const { policy, adopted, amount, laterAmount = amount } = life;
  return {
    policy,
    startedAt: START,
    closedAt: agenda.now,
    ...defined({ endedAt, adoptedFrom: adopted && START - adopted.ageMs }),
    ...(life.answerByMs !== undefined && { answerBy: START + life.answerByMs }),
    checkoutBudgetMs: life.checkoutBudgetMs,
    attempts: [amount, laterAmount, laterAmount].map((one, index) => ({
      number: index + 1,
      skip: one < SKIP_BELOW,
      card: life.card,
    })),
    transactions: service.transactions,
    requests: service.ledger.map((one) => ({ ...one, endedAt: Math.min(one.endedAt, agenda.now) })),
    calls: callers.book,
    news: orderWorld.told,
    arrivals: receiver.arrived,
    shown: world.shown,
    world: worldOf(orderWorld),
    record: recordOf(state),
  };
}

function worldOf({ world, resets, continuedAt }: OrderWorld): World {
  const { agenda, liberties, lostTasks, life } = world;
  const { spans } = agenda;
  return {
    workersAway: spans['workers-away'],
    unreachable: [...spans.outage, ...spans['no-integration'], ...unread(life)],
    wrongKey: [...spans['wrong-key'], ...spans['no-key']],
    tasksWaited: [],
    receiverDown: spans['receiver-down'],
    resets,
    continuedAt,
    skewMs: liberties.mostSkewMs,
    losses: lostTasks.length > 0 || life.happenings.some(({ do: what }) => /^(?:lose-|stall)/.test(what)),
    lateByMs: Math.max(0, ...life.happenings.map(lateBy)),
    brokeDown: liberties.breaksDown || spans['no-integration'].length > 0,
    cutOff: world.cutOff,
    endedByHand: life.happenings.some((one) => one.do === 'end-by-hand'),
    recordLost: life.start === 'fast' && lostTasks.length > 0,
    notedLateMs: 0,
  };
}

/** When no decision can be read: a status operation is broken, perhaps to the end of the life. */
function unread({ happenings }: Life): Span[] {
  return happenings.flatMap((one) =>
    one.do === 'broken' && one.operation.startsWith('status')
      ? [{ from: START + one.at, until: START + one.at + (one.ms ?? Number.POSITIVE_INFINITY) }]
      : [],
  );
}

function lateBy(one: Happening): number {
  return one.do === 'late-task' || one.do === 'late-try' || one.do === 'late-timer' ? one.ms : 0;
}
