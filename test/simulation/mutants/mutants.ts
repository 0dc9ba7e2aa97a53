/** Faults planted in the rules: each takes one rule away, or turns it. */
import type { Call, CallResult } from '../../../src/contract/calls.ts';
import { instant, millis } from '../../../src/contract/words.ts';
import type { Command, Input, Order } from '../../../src/order/order.ts';
import { RULES, type Rules } from '../rules.ts';

export interface Mutant {
  /** What it is found as, and what is changed. */
  what: string;
  rules: Rules;
}

export function ruled(what: string, rules: Partial<Rules>): Mutant {
  return { what, rules: { ...RULES, ...rules } };
}

/** What is started and stopped is changed. */
function commands(what: string, change: (commands: Command[], order: Order) => Command[]): Mutant {
  return ruled(what, {
    begin: (order) => change(RULES.begin(order), order),
    step: (order, input) => change(RULES.step(order, input), order),
  });
}

/** What a call asks for is changed before it is made, on record too. */
function calls(what: string, change: (call: Call) => Call | undefined): Mutant {
  return commands(what, (made) =>
    made.filter((command) => {
      if (command.do !== 'start') return true;
      const { effect } = command.running;
      const call = change(effect.call);
      if (call !== undefined) effect.call = call;
      return call !== undefined;
    }),
  );
}

/** An input is changed, or not taken in at all. */
export function inputs(what: string, change: (input: Input, order: Order) => Input | undefined): Mutant {
  return ruled(what, {
    step: (order, input) => {
      const changed = change(input, order);
      if (changed === undefined) return [];
      const made = RULES.step(order, changed);
      if (input.kind === 'request' && changed.kind === 'request' && changed.taken !== undefined)
        input.taken = changed.taken;
      return made;
    },
  });
}

/** @returns the commands of a step after which the order was changed: what that makes needless was never started */
export function begunAgain(made: readonly Command[], order: Order): Command[] {
  const all = [...made, ...RULES.begin(order)];
  const unstarted = all.flatMap((one) =>
    one.do === 'start' && !order.running.includes(one.running) ? [one.running.id] : [],
  );
  const isStarted = (id: number): boolean => !unstarted.includes(id);
  return all.filter((one) => {
    if (one.do === 'start') return isStarted(one.running.id);
    return one.do === 'count-signals' || isStarted(one.id);
  });
}

/** The order is changed after a step, and what it requires then is started. */
export function after(what: string, change: (order: Order, input: Input) => void): Mutant {
  return ruled(what, {
    step: (order, input) => {
      const made = RULES.step(order, input);
      change(order, input);
      return begunAgain(made, order);
    },
  });
}

/** The result of an effect is changed. */
export function results(what: string, change: (result: CallResult, order: Order) => CallResult): Mutant {
  return inputs(what, (input, order) => {
    if (input.kind !== 'effect-ended' || input.outcome.status !== 'completed') return input;
    return { ...input, outcome: { status: 'completed', result: change(input.outcome.result, order) } };
  });
}

/** @returns the result that an input brings */
export function resultIn(input: Input): CallResult | undefined {
  return input.kind === 'effect-ended' && input.outcome.status === 'completed'
    ? input.outcome.result
    : undefined;
}

/** Changes of nothing: what finds them finds the planting, not the fault. */
export const NOTHING: readonly Mutant[] = [
  commands('commands', (made) => made),
  calls('calls', (call) => ({ ...call })),
  inputs('inputs', (input) => ({ ...input })),
  results('results', (result) => ({ ...result })),
  after('an order after a step', () => undefined),
];

/** Each must be found within 10,000 lives. */
export const MUTANTS: readonly Mutant[] = [
  calls('second create: a catch-up that doesn’t look first', (call) => {
    if (call.kind !== 'catch-up') return call;
    const { unseenSince: _left, ...request } = call.request;
    return { ...call, request };
  }),
  calls('not on record: a rescreen under the invoice number of the screening before', (call) =>
    call.kind === 'catch-up'
      ? mapped(call, { invoiceNumber: call.request.invoiceNumber.replace(/~[\d.]+$/, '') })
      : call,
  ),
  calls('not on record: a look that may adopt another attempt’s transaction', (call) =>
    call.kind === 'catch-up' || call.kind === 'look-up'
      ? mapped(call, {
          knownTransactionIds: [],
          invoiceNumber: call.request.invoiceNumber.replace(/~[\d.]+$/, ''),
        })
      : call,
  ),
  calls('cancel late: a cancel a minute after its last call', (call) => {
    if (call.kind !== 'portal' || call.request.notAfter === undefined) return call;
    return mapped(call, { notAfter: instant(millis(call.request.notAfter) + 60_000) });
  }),
  calls('it runs in circles: an event that is left out of its batch', (call) =>
    call.kind === 'deliver' ? { ...call, request: call.request.slice(1) } : call,
  ),
  calls('event out of order: a batch of events the wrong way round', (call) =>
    call.kind === 'deliver' ? { ...call, request: call.request.toReversed() } : call,
  ),
  calls('event missing: a changed decision that is sent only as attention', (call) => {
    if (call.kind !== 'deliver') return call;
    const request = call.request.map((event) =>
      event.type === 'order.decision_changed' ? { ...event, type: 'order.attention' as const } : event,
    );
    return { ...call, request };
  }),
  calls('the order stands still: an action that is told to begin and isn’t begun', (call) =>
    call.kind === 'portal' && call.request.fields.kind === 'cancel' ? undefined : call,
  ),
  calls('gateway result wrong: a gateway result that is sent as another', (call) =>
    call.kind === 'gateway' ? mapped(call, { gateway: { ...call.request.gateway, result: 'pass' } }) : call,
  ),
  calls('read owed: a timer that rings an hour late', (call) =>
    call.kind === 'timer' ? { ...call, at: instant(millis(call.at) + 3_600_000) } : call,
  ),
  inputs('read owed: hint: a hint that is dropped', (input) =>
    input.kind === 'signal' && input.signal.kind === 'review-hint' ? undefined : input,
  ),
  inputs('read owed: recheck: a recheck that is dropped', (input) =>
    input.kind === 'signal' && input.signal.kind === 'recheck' ? undefined : input,
  ),
  inputs('was taken, and never answered: a question that is dropped', (input) =>
    input.kind === 'request' ? undefined : input,
  ),
  results('event wrong: a review that is read as passed', (result) =>
    result.kind === 'poll' ? { ...result, outcome: { kind: 'read', decision: 'pass' } } : result,
  ),
  results('attention missing: an unknown outcome that is taken for done', (result) =>
    result.kind === 'portal' && result.outcome.kind === 'unconfirmed'
      ? { ...result, outcome: { kind: 'done' } }
      : result,
  ),
  results('attention missing: a refusal that is taken for done', (result) =>
    result.kind === 'portal' && result.outcome.kind === 'refused'
      ? { ...result, outcome: { kind: 'done' } }
      : result,
  ),
  after('action wrong: a fail after acceptance that holds', (order) => {
    const { state } = order;
    if (state.decision === 'fail' && state.action === 'cancel') state.action = 'hold';
  }),
  after('action wrong: a review that proceeds before acceptance', (order) => {
    const { state } = order;
    if (state.decision === 'review' && state.workflow === 'pre-acceptance' && state.action === 'hold') {
      state.action = 'proceed';
    }
  }),
  after('action wrong: a person’s decision that is forgotten', (order) => {
    delete order.state.attempts.at(-1)?.override;
  }),
  after(
    'took the place of proceed: a person’s decision that the service’s takes the place of',
    (order, input) => {
      const { state } = order;
      const result = resultIn(input);
      const read = result !== undefined && 'outcome' in result;
      const failed = state.decision === 'fail' || state.decision === 'fraudulent';
      if (read && failed && state.attempts.at(-1)?.override !== undefined) state.action = 'cancel';
    },
  ),
  after('a new attempt begins overridden: a person’s decision that the next attempt keeps', (order) => {
    const [first, second] = order.state.attempts;
    if (first?.override !== undefined && second !== undefined) second.override ??= first.override;
  }),
  after('told twice in a row: an event that is told twice', (order) => {
    const last = order.outbox.at(-1);
    if (last === undefined || last.type !== 'order.decided' || order.outbox.length > 1) return;
    order.state.events.sequence += 1;
    order.outbox.push({ ...last, sequence: order.state.events.sequence });
    order.state.events.waiting = order.outbox.length;
  }),
  after('window too long: a window that is a minute too long', (order, input) => {
    if (resultIn(input)?.kind !== 'catch-up') return;
    const transaction = order.state.transactions.at(-1);
    if (transaction !== undefined) transaction.cancelBy = instant(millis(transaction.cancelBy) + 60_000);
  }),
  after('not on record: a transaction that is forgotten', (order, input) => {
    if (resultIn(input)?.kind === 'catch-up') order.state.transactions = [];
  }),
  after('phase wrong: a cancel that is done and forgotten', (order, input) => {
    if (resultIn(input)?.kind !== 'portal' || order.state.phase !== 'canceled') return;
    order.state.phase = 'decided';
  }),
  ruled('answer: a checkout whose failure is taken for a pass', {
    applyCheckout: (order, result) => {
      const refusal = RULES.applyCheckout(order, result);
      if (order.state.decision === 'pending') order.state.action = 'proceed';
      return refusal;
    },
  }),
  commands('read owed: pass: a last read that is never begun', (made, order) =>
    without(made, order, 'last-read'),
  ),
  commands('read owed: a pass is not read again after an answer without a decision', (made, order) =>
    order.state.attention.some(({ code }) => code === 'status-error')
      ? without(made, order, 'last-read')
      : made,
  ),
  commands('nobody polls a review: a poll that is never begun', (made, order) =>
    without(made, order, 'poll'),
  ),
  ruled('another cut makes another order: messages that are taken before results', {
    resultsFirst: (waiting) => [
      ...waiting.filter(({ kind }) => kind !== 'effect-ended'),
      ...waiting.filter(({ kind }) => kind === 'effect-ended'),
    ],
  }),
  ruled('another cut makes other commands: results that are taken by the number of their effect', {
    resultsFirst: (waiting) =>
      RULES.resultsFirst(waiting).sort((a, b) =>
        a.kind === 'effect-ended' && b.kind === 'effect-ended' ? a.id - b.id : 0,
      ),
  }),
  ruled('event lost: an order that continues as new forgets its events', {
    resumed: (order) => ({ ...RULES.resumed(order), outbox: [] }),
  }),
  ruled('sent again: an order that continues as new although a write is under way', {
    mayContinueAsNew: () => true,
  }),
  ruled('an adopted order created a transaction: an order that is adopted is screened all the same', {
    newOrder: ({ adopt: _without, ...input }, ...when) => RULES.newOrder(input, ...when),
  }),
  after(
    'is because of what was so at the adoption: what had failed when it was adopted is canceled',
    ({ state }) => {
      if (state.adopted !== undefined && state.decision === 'fail') state.action = 'cancel';
    },
  ),
  after(
    'the attempt is review, and the order fail: a review that was due when it was adopted is canceled',
    ({ state }) => {
      const due =
        state.adopted !== undefined && state.attention.some(({ code }) => code === 'review-unresolved');
      if (due && state.decision === 'review' && state.actions.length === 0) {
        state.action = 'cancel';
        state.decision = 'fail';
      }
    },
  ),
  ruled('event missing: an order that ends before everything is delivered', {
    isFinished: (order) => order.over === true,
  }),
];

function mapped<Asked extends { request: object }>(call: Asked, change: Partial<Asked['request']>): Asked {
  return { ...call, request: { ...call.request, ...change } };
}

function without(made: Command[], order: Order, kind: Call['kind']): Command[] {
  order.running = order.running.filter(({ effect }) => effect.call.kind !== kind);
  return made.filter((one) => one.do !== 'start' || one.running.effect.call.kind !== kind);
}
