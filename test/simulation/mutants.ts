/** Faults planted in the rules: each takes one rule away, or turns it. */
import type { Call, Command } from '../../src/orders/activity-contract.ts';
import type { End, Input, Order, Reply } from '../../src/orders/order.ts';
import { instant, millis } from '../../src/orders/words.ts';
import { RULES, type Rules } from './rules.ts';

export interface Mutant {
  what: string;
  rules: Rules;
}

type Done = Extract<End, { how: 'done' }>;

/** What a call asks for is changed before it is made. */
function calls(what: string, change: (call: Call) => Call | undefined): Mutant {
  const keep = (order: Order): Command[] =>
    RULES.keep(order).flatMap((command): Command[] => {
      if (command.do !== 'begin') return [command];
      const call = change(command.call);
      return call === undefined ? [] : [{ ...command, call }];
    });
  return { what, rules: { ...RULES, keep } };
}

/** An input is changed, or not taken in at all. */
function inputs(what: string, change: (input: Input, order: Order) => Input | undefined): Mutant {
  const step = (order: Order, input: Input): Reply[] => {
    const changed = change(input, order);
    return changed === undefined ? [] : RULES.step(order, changed);
  };
  return { what, rules: { ...RULES, step } };
}

/** The order is changed after a step. */
function after(
  what: string,
  change: (order: Order, input: Input, replies: Reply[]) => Reply[] | undefined,
): Mutant {
  const step = (order: Order, input: Input): Reply[] => {
    const replies = RULES.step(order, input);
    return change(order, input, replies) ?? replies;
  };
  return { what, rules: { ...RULES, step } };
}

/** The order is changed by a step in which this decides. */
function ends(what: string, change: (end: Done, order: Order) => void): Mutant {
  return after(what, (order, input) => {
    if (input.kind === 'end' && input.end.how === 'done') change(input.end, order);
    return undefined;
  });
}

function withoutUnseen<Request extends { unseenSince?: unknown }>({
  unseenSince: _left,
  ...request
}: Request) {
  return request;
}

function looksNever(call: Call): Call {
  if (call.kind === 'catch-up') {
    return { ...call, request: withoutUnseen(call.request) };
  }
  return call;
}

function commands(what: string, change: (commands: Command[], order: Order) => Command[]): Mutant {
  return { what, rules: { ...RULES, keep: (order) => change(RULES.keep(order), order) } };
}

/** At least twenty; each must be found within 10,000 lives. */
export const MUTANTS: readonly Mutant[] = [
  calls('a catch-up that doesn’t look first', looksNever),
  calls('a rescreen under the invoice number of the screening before', (call) =>
    call.kind === 'catch-up'
      ? {
          ...call,
          request: { ...call.request, invoiceNumber: call.request.invoiceNumber.replace(/~[\d.]+$/, '') },
        }
      : call,
  ),
  calls('a look that may adopt another attempt’s transaction', (call) =>
    call.kind === 'catch-up' || call.kind === 'look-up'
      ? mapped(call, {
          knownTransactionIds: [],
          invoiceNumber: call.request.invoiceNumber.replace(/~[\d.]+$/, ''),
        })
      : call,
  ),
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
  inputs('a hint that is dropped', (input) =>
    input.kind === 'signal' && input.signal === 'review-hint' ? undefined : input,
  ),
  inputs('a recheck that is dropped', (input) =>
    input.kind === 'signal' && input.signal === 'recheck' ? undefined : input,
  ),
  inputs('a question that is dropped', (input) => (input.kind === 'ask' ? undefined : input)),
  inputs('an end that is dropped', (input) =>
    input.kind === 'end' && input.end.how === 'done' && input.end.result.kind === 'gateway'
      ? undefined
      : input,
  ),
  inputs('a review that is read as passed', (input) => {
    if (input.kind !== 'end' || input.end.how !== 'done' || input.end.result.kind !== 'poll') return input;
    const { result } = input.end;
    return {
      ...input,
      end: { how: 'done', result: { ...result, outcome: { kind: 'read', decision: 'pass' } } },
    };
  }),
  inputs('an unknown outcome that is taken for done', (input) => {
    if (input.kind !== 'end' || input.end.how !== 'done' || input.end.result.kind !== 'portal') return input;
    const { result } = input.end;
    if (result.outcome.kind !== 'unconfirmed') return input;
    return { ...input, end: { how: 'done', result: { ...result, outcome: { kind: 'done' } } } };
  }),
  inputs('a refusal that is taken for done', (input) => {
    if (input.kind !== 'end' || input.end.how !== 'done' || input.end.result.kind !== 'portal') return input;
    const { result } = input.end;
    if (result.outcome.kind !== 'refused') return input;
    return { ...input, end: { how: 'done', result: { ...result, outcome: { kind: 'done' } } } };
  }),
  after('an answer that is never given', (_order, _input, replies) =>
    replies.filter((one) => !('portal' in one)),
  ),
  after('an answer that is given twice', (_order, _input, replies) => [...replies, ...replies]),
  after('a fail after acceptance that holds', (order) => {
    const { state } = order;
    if (state.decision === 'fail' && state.action === 'cancel') state.action = 'hold';
    return undefined;
  }),
  after('a review that proceeds before acceptance', (order) => {
    const { state } = order;
    if (state.decision === 'review' && state.workflow === 'pre-acceptance' && state.action === 'hold') {
      state.action = 'proceed';
    }
    return undefined;
  }),
  after('a person’s decision that is forgotten', (order) => {
    delete order.state.attempts.at(-1)?.override;
    return undefined;
  }),
  after('a person’s decision that the service’s takes the place of', (order, input) => {
    const { state } = order;
    const read = input.kind === 'end' && input.end.how === 'done' && 'outcome' in input.end.result;
    const failed = state.decision === 'fail' || state.decision === 'fraudulent';
    if (read && failed && state.attempts.at(-1)?.override !== undefined) state.action = 'cancel';
    return undefined;
  }),
  after('a person’s decision that the next attempt keeps', (order) => {
    const [first, second] = order.state.attempts;
    if (first?.override !== undefined && second !== undefined) second.override ??= first.override;
    return undefined;
  }),
  after('an event that is told twice', (order) => {
    const last = order.outbox.at(-1);
    if (last === undefined || last.type !== 'order.decided' || order.outbox.length > 1) return undefined;
    order.state.events.sequence += 1;
    order.outbox.push({ ...last, sequence: order.state.events.sequence });
    order.state.events.waiting = order.outbox.length;
    return undefined;
  }),
  after('an event that is lost', (order) => {
    if (order.outbox.at(-1)?.type === 'order.review_resolved') order.outbox.pop();
    order.state.events.waiting = order.outbox.length;
    return undefined;
  }),
  ends('a window that is a minute too long', (end, order) => {
    if (end.result.kind !== 'catch-up' && end.result.kind !== 'first-screening') return;
    const transaction = order.state.transactions.at(-1);
    if (transaction !== undefined) transaction.cancelBy = instant(millis(transaction.cancelBy) + 60_000);
  }),
  ends('a transaction that is forgotten', (end, order) => {
    if (end.result.kind === 'catch-up') order.state.transactions = [];
  }),
  ends('a cancel that is done and forgotten', (end, order) => {
    if (end.result.kind !== 'portal' || order.state.phase !== 'canceled') return;
    order.state.phase = 'decided';
  }),
  ends('a decision that becomes none when the service is silent', (end, order) => {
    if (end.result.kind === 'look' && end.result.outcome?.kind === 'unanswered')
      order.state.decision = 'pending';
  }),
  commands('timers that are never set', (made, order) => {
    const set = made.filter((one) => one.do === 'stop' || one.call.kind !== 'timer');
    order.effects = order.effects.filter(({ effect }) => effect.kind !== 'timer');
    return set;
  }),
  commands('a poll that is never begun', (made, order) => {
    order.effects = order.effects.filter(({ effect }) => effect.kind !== 'poll');
    return made.filter((one) => one.do === 'stop' || one.call.kind !== 'poll');
  }),
  {
    what: 'messages that are taken before ends',
    rules: {
      ...RULES,
      next: (order, waiting) => {
        const at = waiting.findIndex((one) => one.kind !== 'end');
        const local = order.effects.some(
          ({ effect }) => effect.kind === 'look' || effect.kind === 'first-screening',
        );
        return at < 0 || local ? RULES.next(order, waiting) : waiting.splice(at, 1)[0];
      },
    },
  },
  {
    what: 'what waits is taken by the number of its effect',
    rules: {
      ...RULES,
      next: (order, waiting) => {
        waiting.sort((a, b) => (a.kind === 'end' && b.kind === 'end' ? a.number - b.number : 0));
        return RULES.next(order, waiting);
      },
    },
  },
  {
    what: 'an order that continues as new forgets whom a screening waits for',
    rules: { ...RULES, resumed: (order) => ({ ...RULES.resumed(order), outbox: [] }) },
  },
  {
    what: 'an order that continues as new although a write is under way',
    rules: { ...RULES, canStop: () => true },
  },
  {
    what: 'an order that is adopted is screened all the same',
    rules: {
      ...RULES,
      newOrder: ({ adopt: _without, ...input }, ...when) => RULES.newOrder(input, ...when),
    },
  },
  after('what had failed when it was adopted is canceled', ({ state }) => {
    if (state.adopted !== undefined && state.decision === 'fail') state.action = 'cancel';
    return undefined;
  }),
  after('a review that was due when it was adopted is canceled', ({ state }) => {
    const due =
      state.adopted !== undefined && state.attention.some(({ code }) => code === 'review-unresolved');
    if (due && state.decision === 'review' && state.actions.length === 0) {
      state.action = 'cancel';
      state.decision = 'fail';
    }
    return undefined;
  }),
  {
    what: 'an order that ends before everything is delivered',
    rules: { ...RULES, nothingLeft: (order) => order.closedTold === true },
  },
  {
    what: 'an order that takes as many callers as there are',
    rules: { ...RULES, refusalOf: () => undefined },
  },
];

function mapped<Asked extends { request: object }>(call: Asked, change: Partial<Asked['request']>): Asked {
  return { ...call, request: { ...call.request, ...change } };
}
