/** Faults planted in the rules that only the books show: each takes away a promise that no step breaks. */
import type { Input, Order, Reply } from '../../src/orders/order.ts';
import { instant, millis } from '../../src/orders/words.ts';
import type { Mutant } from './mutants.ts';
import { RULES, type Rules } from './rules.ts';

/** The order is changed after a step. */
function after(what: string, change: (order: Order, input: Input) => void): Mutant {
  const step = (order: Order, input: Input): Reply[] => {
    const replies = RULES.step(order, input);
    change(order, input);
    return replies;
  };
  return { what, rules: { ...RULES, step } };
}

function ruled(what: string, rules: Partial<Rules>): Mutant {
  return { what, rules: { ...RULES, ...rules } };
}

/** Each must be found by the judge of the books. */
export const BOOK_MUTANTS: readonly Mutant[] = [
  after('a replaced gateway result counts as sent', ({ state, now }, input) => {
    if (input.kind !== 'end' || input.end.how !== 'done' || input.end.result.kind !== 'gateway') return;
    for (const { gateway } of state.attempts) if (gateway !== undefined) gateway.sent ??= now;
  }),
  after('a hint within a spacing is dropped', ({ state }, input) => {
    const hinted = input.kind === 'signal' && input.signal === 'review-hint';
    if (hinted && state.hints.until !== undefined) state.hints.unread = false;
  }),
  after('a failed look is not followed by a read', (order, input) => {
    if (input.kind === 'end' && input.end.how === 'done' && input.end.result.kind === 'look') {
      delete order.readAgain;
    }
  }),
  ruled('continue-as-new drops a pending read', {
    resumed: (order) => {
      const { readAgain: _dropped, ...next } = RULES.resumed(order);
      next.state.hints.unread = false;
      return { ...next, look: {} };
    },
  }),
  ruled('hints are refused during review', {
    step: (order, input) => {
      const hinted = input.kind === 'signal' && input.signal === 'review-hint';
      return hinted && order.state.phase === 'review' ? [] : RULES.step(order, input);
    },
  }),
  after('hints have no spacing', ({ state }) => {
    delete state.hints.until;
  }),
  ruled('the end of a stopped write is dropped', {
    step: (order, input) => {
      const stopped =
        input.kind === 'end' &&
        order.effects.some(({ number, stopping }) => number === input.number && stopping === true);
      const dropped: Input = input.kind === 'end' ? { ...input, end: { how: 'cut-off' } } : input;
      return RULES.step(order, stopped ? dropped : input);
    },
  }),
  ruled('a review that comes back is ignored', {
    step: (order, input) => {
      if (order.state.decision !== 'pass' || input.kind !== 'end' || input.end.how !== 'done') {
        return RULES.step(order, input);
      }
      const { result } = input.end;
      const isRead = result.kind === 'look' || result.kind === 'read' || result.kind === 'poll';
      if (!isRead || result.outcome?.kind !== 'read' || result.outcome.decision !== 'review') {
        return RULES.step(order, input);
      }
      const outcome = { ...result.outcome, decision: 'pass' as const };
      return RULES.step(order, { ...input, end: { how: 'done', result: { ...result, outcome } } });
    },
  }),
  after('an event names the first transaction of its attempt', ({ state, outbox }) => {
    for (const { data } of outbox) {
      const first = state.transactions.find(({ attempt }) => attempt === data.attempt)?.id;
      if (first !== undefined && data.transactionId !== undefined) data.transactionId = first;
    }
  }),
  ruled('an older reading is applied after a newer one', {
    step: (order, input) => {
      if (input.kind === 'end') delete order.readAt;
      return RULES.step(order, input);
    },
  }),
  ruled('continue-as-new drops an earlier reset', {
    resumed: (order) => ({ ...RULES.resumed(order), wasReset: false }),
  }),
  after('the window of a catch-up starts with the order', ({ state }, input) => {
    const caughtUp = input.kind === 'end' && input.end.how === 'done' && input.end.result.kind === 'catch-up';
    const transaction = state.transactions.at(-1);
    if (!caughtUp || transaction === undefined || state.policy === undefined) return;
    transaction.cancelBy = instant(millis(state.startedAt) + state.policy.cancelWindowMs);
  }),
  after('a failed portal action forgets that it may have been sent', ({ state }) => {
    for (const action of state.actions) delete action.maybeSent;
  }),
  ruled('a chargeback whose outcome is unknown is sent again like a cancel', {
    step: (order, input) => {
      const fields = { ...order.fields };
      const replies = RULES.step(order, input);
      const unknown = order.state.actions.filter(
        ({ kind, status, number }) =>
          kind === 'chargeback' && status === 'unconfirmed' && fields[number] !== undefined,
      );
      for (const action of unknown) {
        action.status = 'queued';
        order.fields[action.number] = fields[action.number] ?? { kind: 'cancel' };
      }
      return replies;
    },
  }),
];
