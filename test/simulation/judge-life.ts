/** What is judged when a life has ended: by the chaos run's oracle, and by what only a virtual world can tell. */
import type { Order } from '../../src/orders/order.ts';
import type { OrderEvidence } from '../chaos/evidence.ts';
import type { OrderPlan } from '../chaos/plan.ts';
import { type Circumstances, judge } from '../chaos/verdict.ts';
import { judgeAdopted } from './adopted-lives.ts';
import { isExcused } from './excuses.ts';
import { factsOf } from './facts-of.ts';
import { type OrderWorld, orderIdOf } from './order-world.ts';
import { arrivalOf } from './receiver.ts';
import { entryOf, recordOf } from './service.ts';

/** @returns what is wrong with the life, in words */
export function judgeLife(orderWorld: OrderWorld): string[] {
  const { callers, run, endedAt } = orderWorld;
  const { order } = run;
  if (order === undefined || endedAt === undefined) return ['the order has no end'];
  const faults: string[] = [];
  for (const { what, since } of callers.waiting.values()) {
    faults.push(`${what} of ${new Date(since).toISOString()} was never answered`);
  }
  const unpaid = orderWorld.owed.unpaid(endedAt);
  if (unpaid !== undefined) faults.push(unpaid);
  faults.push(...leftOver(order));
  if (!orderWorld.wasReset) faults.push(...eventsTwice(orderWorld));
  // The oracle knows orders that were screened.
  if (orderWorld.world.life.adopted !== undefined) return [...faults, ...judgeAdopted(orderWorld)];
  for (const { kind, facts } of judge(evidenceOf(orderWorld, order, endedAt), circumstancesOf(orderWorld))) {
    if (isExcused(orderWorld, order.state, kind, facts)) continue;
    faults.push(`${kind}: ${facts}`);
  }
  return faults;
}

function evidenceOf(orderWorld: OrderWorld, { state }: Order, closedAt: number): OrderEvidence {
  const { world, callers } = orderWorld;
  const { life, service, receiver } = world;
  return {
    plan: planOf(orderWorld),
    diary: callers.diary,
    run: {
      status: 'COMPLETED',
      state,
      closedAt,
      history: {
        events: 0,
        failedTasks: {},
        timedOutTasks: 0,
        eager: life.start === 'fast',
        firstTaskLost: true,
        facts: factsOf(world),
      },
    },
    transactions: service.transactions.map(recordOf),
    ledger: service.ledger.map(entryOf),
    arrivals: receiver.arrived.map(arrivalOf),
    portalRuns: [],
    customerCodes: service.customerCodes,
    departures: {},
  };
}

function planOf({ world: { life } }: OrderWorld): OrderPlan {
  return {
    index: 0,
    orderId: orderIdOf(life),
    integration: life.integration,
    startsAfterMs: 0,
    amount: life.amount,
    attempts: life.wishes.map(([first = 'pass']) => first),
    retryAfterMs: 0,
    doubled: false,
    stormy: false,
    analysts: [],
    actions: [],
  };
}

function circumstancesOf({ world }: OrderWorld): Circumstances {
  return {
    outages: world.away.map(({ from, until }) => ({ what: 'worker' as const, from, until })),
    restless: new Set(),
    unreplayable: new Map(),
  };
}

/** Nothing that was taken is left lying. */
function leftOver({ state, tickets, held, effects, outbox }: Order): string[] {
  const faults: string[] = [];
  if (tickets.length + held.length > 0) faults.push('the order ended, and somebody waits for it');
  if (outbox.length > 0) faults.push(`the order ended with ${outbox.length} events to deliver`);
  for (const { number, status } of state.actions) {
    if (status === 'queued' || status === 'running')
      faults.push(`the order ended, and action ${number} is ${status}`);
  }
  for (const { effect } of effects) {
    if (effect.kind === 'portal' || effect.kind === 'gateway' || effect.kind === 'catch-up') {
      faults.push(`the order ended beside ${effect.kind}`);
    }
  }
  return faults;
}

/** Each event says something new. */
function eventsTwice({ world }: OrderWorld): string[] {
  // Who has it screened again and again is told the same again and again.
  const rechecks = world.life.happenings.filter((one) => one.do === 'recheck').length;
  const told = new Set<string>();
  let last = 0;
  let before = '';
  const faults: string[] = [];
  for (const { event } of world.receiver.arrived) {
    if (event.sequence <= last) continue;
    last = event.sequence;
    const { type, data } = event;
    const said = `${type} ${data.attempt} ${data.decision} ${data.action} ${data.phase} ${data.attention.join('|')}`;
    // Whoever decides the same twice is told it twice.
    const again =
      type === 'order.attention' || data.by === 'person' || (type === 'order.decided' && rechecks > 0);
    if (said === before && !again) faults.push(`told twice in a row: ${said}`);
    before = said;
    if (type !== 'order.closed' && type !== 'order.canceled') continue;
    const once = type === 'order.closed' ? type : `${type} ${data.attempt}`;
    if (told.has(once)) faults.push(`told twice: ${once}`);
    told.add(once);
  }
  return faults;
}
