/** What is judged when a life has ended: by its books, and by what only a virtual world can tell. */
import type { Order } from '../../../src/order/order.ts';
import { judgeBooks } from '../../books/judge.ts';
import type { OrderWorld } from '../order-world.ts';
import { booksOf } from './books-of.ts';
import { judgeAdopted } from './judge-adopted.ts';

/** @returns what is wrong with the life, in words */
export function judgeLife(orderWorld: OrderWorld): string[] {
  const { callers, run, endedAt, world, resets } = orderWorld;
  const { order } = run;
  if (order === undefined || endedAt === undefined) return ['the order has no end'];
  if (run.refusal !== undefined) return [];
  const faults: string[] = [];
  for (const { what, since } of callers.waiting) {
    faults.push(`${what} of ${new Date(since).toISOString()} was never answered`);
  }
  faults.push(...leftOver(order), ...notedTwice(order));
  if (resets.length === 0) faults.push(...eventsTwice(orderWorld));
  if (world.life.adopted !== undefined) faults.push(...judgeAdopted(orderWorld));
  for (const { kind, facts } of judgeBooks(booksOf(orderWorld, order.state)))
    faults.push(`${kind}: ${facts}`);
  return faults;
}

/** Nothing that was taken is left lying. */
function leftOver({ state, replies, earlyRetries, running, outbox }: Order): string[] {
  const faults: string[] = [];
  if (replies.length + earlyRetries.length > 0) faults.push('the order ended, and somebody waits for it');
  if (outbox.length > 0) faults.push(`the order ended with ${outbox.length} events to deliver`);
  for (const { number, status } of state.actions) {
    if (status === 'queued' || status === 'running')
      faults.push(`the order ended, and action ${number} is ${status}`);
  }
  for (const { effect } of running) faults.push(`the order ended beside ${effect.key}`);
  return faults;
}

/** A request repeated with its idempotency key is carried out once. */
function notedTwice({ state: { journal = [] } }: Order): string[] {
  const once = journal.flatMap(({ because }) => (because?.startsWith('once ') ? [because] : []));
  return once.filter((note, index) => once.indexOf(note) !== index).map((note) => `noted twice: ${note}`);
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
    const { attempt, transactionId, decision, action, phase, attention } = data;
    const said = [type, attempt, transactionId, decision, action, phase, ...attention].join(' ');
    // Whoever decides the same twice is told it twice.
    const again =
      type === 'order.attention' || data.by === 'person' || (type === 'order.decided' && rechecks > 0);
    if (said === before && !again) faults.push(`told twice in a row: ${said}`);
    before = said;
    if (type !== 'order.closed' && type !== 'order.canceled') continue;
    const once = type === 'order.closed' ? type : `${type} ${attempt}`;
    if (told.has(once)) faults.push(`told twice: ${once}`);
    told.add(once);
  }
  return faults;
}
