/** Faults planted in the rules: each takes one rule away, or turns it. The simulation must find each. */
import type { Call, CallResult } from '../../src/contract/activity-contract.ts';
import { instant, millis } from '../../src/contract/words.ts';
import type { Command, Input, Order } from '../../src/orders/order.ts';
import { RULES, type Rules } from './rules.ts';

export interface Mutant {
  what: string;
  rules: Rules;
}

export function ruled(what: string, rules: Partial<Rules>): Mutant {
  return { what, rules: { ...RULES, ...rules } };
}

/** A call is changed before it is made, or not made at all. */
function calls(what: string, change: (call: Call) => Call | undefined): Mutant {
  const changed = (made: Command[]): Command[] =>
    made.flatMap((command): Command[] => {
      if (command.do !== 'start') return [command];
      const { running } = command;
      const call = change(running.effect.call);
      if (call === undefined) return [];
      return [{ do: 'start', running: { ...running, effect: { ...running.effect, call } } }];
    });
  return ruled(what, {
    begin: (order) => changed(RULES.begin(order)),
    step: (order, input) => changed(RULES.step(order, input)),
  });
}

function looks(what: string, change: (invoiceNumber: string) => object): Mutant {
  return calls(what, (call) => {
    if (call.kind === 'catch-up')
      return { ...call, request: { ...call.request, ...change(call.request.invoiceNumber) } };
    if (call.kind !== 'look-up') return call;
    return { ...call, request: { ...call.request, ...change(call.request.invoiceNumber) } };
  });
}

/** An input is changed, or dropped. */
export function inputs(what: string, change: (input: Input, order: Order) => Input | undefined): Mutant {
  return ruled(what, {
    step: (order, input) => {
      const changed = change(input, order);
      return changed === undefined ? [] : RULES.step(order, changed);
    },
  });
}

/** The order is changed after a step, and what it requires then is started. */
export function after(what: string, change: (order: Order, input: Input) => void): Mutant {
  return ruled(what, {
    step: (order, input) => {
      const made = RULES.step(order, input);
      change(order, input);
      return [...made, ...RULES.begin(order)];
    },
  });
}

export function results(what: string, change: (result: CallResult, order: Order) => CallResult): Mutant {
  return inputs(what, (input, order) => {
    const result = resultIn(input);
    if (input.kind !== 'effect-ended' || result === undefined) return input;
    return { ...input, outcome: { status: 'completed', result: change(result, order) } };
  });
}

export function resultIn(input: Input): CallResult | undefined {
  return input.kind === 'effect-ended' && input.outcome.status === 'completed'
    ? input.outcome.result
    : undefined;
}

export function isSignal(input: Input, kind: 'review-hint' | 'recheck'): boolean {
  return input.kind === 'signal' && input.signal.kind === kind;
}

function withoutRescreen(invoiceNumber: string): string {
  return invoiceNumber.replace(/~[\d.]+$/, '');
}

function never(what: string, kind: Call['kind']): Mutant {
  const without = (made: Command[], order: Order): Command[] => {
    order.running = order.running.filter(({ effect }) => effect.call.kind !== kind);
    return made.filter((one) => one.do !== 'start' || one.running.effect.call.kind !== kind);
  };
  return ruled(what, {
    begin: (order) => without(RULES.begin(order), order),
    step: (order, input) => without(RULES.step(order, input), order),
  });
}

function takenForDone(what: string, kind: 'unconfirmed' | 'refused'): Mutant {
  return results(what, (result) =>
    result.kind === 'portal' && result.outcome.kind === kind
      ? { ...result, outcome: { kind: 'done' } }
      : result,
  );
}

export const MUTANTS: readonly Mutant[] = [
  looks('a catch-up that doesn’t look first', () => ({ unseenSince: undefined })),
  calls('a rescreen under the invoice number of the screening before', (call) => {
    if (call.kind !== 'catch-up') return call;
    const invoiceNumber = withoutRescreen(call.request.invoiceNumber);
    return { ...call, request: { ...call.request, invoiceNumber } };
  }),
  looks('a look that may adopt another attempt’s transaction', (invoiceNumber) => ({
    knownTransactionIds: [],
    invoiceNumber: withoutRescreen(invoiceNumber),
  })),
  calls('a cancel without a last call', (call) => {
    if (call.kind !== 'portal') return call;
    const { notAfter: _dropped, ...request } = call.request;
    return { ...call, request };
  }),
  calls('a cancel a minute after its last call', (call) => {
    if (call.kind !== 'portal' || call.request.notAfter === undefined) return call;
    const notAfter = instant(millis(call.request.notAfter) + 60_000);
    return { ...call, request: { ...call.request, notAfter } };
  }),
  calls('an event that is left out of its batch', (call) =>
    call.kind === 'deliver' ? { ...call, events: call.events.slice(1) } : call,
  ),
  calls('a batch of events the wrong way round', (call) =>
    call.kind === 'deliver' ? { ...call, events: call.events.toReversed() } : call,
  ),
  calls('an action that is told to begin and isn’t begun', (call) =>
    call.kind === 'portal' && call.request.fields.kind === 'cancel' ? undefined : call,
  ),
  calls('a gateway result that is sent as another', (call) =>
    call.kind === 'gateway'
      ? { ...call, request: { ...call.request, gateway: { ...call.request.gateway, result: 'pass' } } }
      : call,
  ),
  calls('a timer that rings an hour late', (call) =>
    call.kind === 'timer' ? { ...call, at: instant(millis(call.at) + 3_600_000) } : call,
  ),
  inputs('a hint that is dropped', (input) => (isSignal(input, 'review-hint') ? undefined : input)),
  inputs('a recheck that is dropped', (input) => (isSignal(input, 'recheck') ? undefined : input)),
  inputs('a question that is dropped', (input) => (input.kind === 'request' ? undefined : input)),
  inputs('an end that is dropped', (input) => (resultIn(input)?.kind === 'gateway' ? undefined : input)),
  results('a review that is read as passed', (result) =>
    result.kind === 'poll' ? { ...result, outcome: { kind: 'read', decision: 'pass' } } : result,
  ),
  takenForDone('an unknown outcome that is taken for done', 'unconfirmed'),
  takenForDone('a refusal that is taken for done', 'refused'),
  ruled('an answer that is never given', {
    replyTo: (order, taken) => {
      const reply = RULES.replyTo(order, taken);
      return reply !== undefined && 'portal' in reply ? undefined : reply;
    },
  }),
  after('a fail after acceptance that holds', ({ state }) => {
    if (state.decision === 'fail' && state.action === 'cancel') state.action = 'hold';
  }),
  after('a review that proceeds before acceptance', ({ state }) => {
    if (state.decision === 'review' && state.workflow === 'pre-acceptance' && state.action === 'hold')
      state.action = 'proceed';
  }),
  after('a person’s decision that is forgotten', ({ state }) => {
    delete state.attempts.at(-1)?.override;
  }),
  after('a person’s decision that the service’s takes the place of', ({ state }, input) => {
    const result = resultIn(input);
    const read = result !== undefined && 'outcome' in result;
    const failed = state.decision === 'fail' || state.decision === 'fraudulent';
    if (read && failed && state.attempts.at(-1)?.override !== undefined) state.action = 'cancel';
  }),
  after('a person’s decision that the next attempt keeps', ({ state }) => {
    const [first, second] = state.attempts;
    if (first?.override !== undefined && second !== undefined) second.override ??= first.override;
  }),
  after('an event that is told twice', (order) => {
    const last = order.outbox.at(-1);
    if (last === undefined || last.type !== 'order.decided' || order.outbox.length > 1) return;
    order.state.events.sequence += 1;
    order.outbox.push({ ...last, sequence: order.state.events.sequence });
    order.state.events.waiting = order.outbox.length;
  }),
  after('an event that is lost', (order) => {
    if (order.outbox.at(-1)?.type === 'order.review_resolved') order.outbox.pop();
    order.state.events.waiting = order.outbox.length;
  }),
  after('a window that is a minute too long', ({ state }, input) => {
    const transaction = state.transactions.at(-1);
    if (resultIn(input)?.kind === 'catch-up' && transaction !== undefined)
      transaction.cancelBy = instant(millis(transaction.cancelBy) + 60_000);
  }),
  after('a transaction that is forgotten', ({ state }, input) => {
    if (resultIn(input)?.kind === 'catch-up') state.transactions = [];
  }),
  after('a cancel that is done and forgotten', ({ state }, input) => {
    if (resultIn(input)?.kind === 'portal' && state.phase === 'canceled') state.phase = 'decided';
  }),
  ruled('a checkout whose failure is taken for a pass', {
    applyCheckout: (order, result) => {
      const refusal = RULES.applyCheckout(order, result);
      if (order.state.decision === 'pending') order.state.action = 'proceed';
      return refusal;
    },
  }),
  never('timers that are never set', 'timer'),
  never('a poll that is never begun', 'poll'),
  ruled('messages that are taken before results', {
    resultsFirst: (waiting) => [
      ...waiting.filter(({ kind }) => kind !== 'effect-ended'),
      ...waiting.filter(({ kind }) => kind === 'effect-ended'),
    ],
  }),
  ruled('results that are taken by the number of their effect', {
    resultsFirst: (waiting) =>
      RULES.resultsFirst(waiting).sort((a, b) =>
        a.kind === 'effect-ended' && b.kind === 'effect-ended' ? a.id - b.id : 0,
      ),
  }),
  ruled('an order that ends before everything is delivered', { isFinished: (order) => order.over === true }),
];
