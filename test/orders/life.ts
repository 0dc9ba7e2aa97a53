/** The life of an order without Temporal: its inputs one after the other, and what it wants after each. */
import type { Call, Command, Moment, ScreeningOutcome } from '../../src/orders/activity-contract.ts';
import type { Ask, Effect, EffectResult, Input, Order, Reply, Running } from '../../src/orders/order.ts';
import type { Policy } from '../../src/orders/policy.ts';
import { newOrder } from '../../src/orders/record.ts';
import { keep, next, step } from '../../src/orders/step.ts';
import type { Decision } from '../../src/orders/words.ts';
import { answered, aPolicy, sinceStart } from './support.ts';

type Brought<Result> = Result extends EffectResult ? Omit<Result, keyof Moment> : never;

interface When {
  /** Which effect, if several of its kind are under way. */
  key?: string;
  /** When its try began, in ms from the start; else when it was begun. */
  began?: number;
  /** It may tell what the run before a reset did. */
  afterReset?: true;
}

/** An order, what it does, and what it answers. Moments are in ms from the start. */
export class Life {
  readonly order: Order;
  readonly commands: Command[] = [];
  readonly replies = new Map<number, Reply>();
  #asked = 0;

  constructor(order: Order) {
    this.order = order;
    this.#keep();
  }

  /** @returns the keys of what is under way, in the order in which it was begun; timers left out */
  get underWay(): string[] {
    const { effects } = this.order;
    return effects.filter(({ effect }) => effect.kind !== 'timer').map(({ effect }) => effect.key);
  }

  /** @returns the calls of that kind that were made */
  calls<Kind extends Call['kind']>(kind: Kind): Extract<Call, { kind: Kind }>[] {
    return this.commands.flatMap((command) =>
      command.do === 'begin' && isOfKind(command.call, kind) ? [command.call] : [],
    );
  }

  /** Takes one input in. */
  take(input: Input): this {
    for (const reply of step(this.order, input)) this.replies.set(reply.ticket, reply);
    this.#keep();
    return this;
  }

  /** Takes in what came together. */
  together(...waiting: Input[]): this {
    for (let one = next(this.order, waiting); one !== undefined; one = next(this.order, waiting))
      this.take(one);
    return this;
  }

  /** @returns what is asked at that moment, as an input */
  asked(ask: Ask, at: number): Extract<Input, { kind: 'ask' }> {
    this.#asked += 1;
    return { kind: 'ask', ticket: this.#asked, at: sinceStart(at), ask };
  }

  /** Asks. @returns the ticket */
  ask(ask: Ask, at: number): number {
    const input = this.asked(ask, at);
    this.take(input);
    return input.ticket;
  }

  /** @returns the end of what is under way, as an input */
  ended(result: Brought<EffectResult>, at: number, { key, began, afterReset }: When = {}): Input {
    const { number, since } = this.find(result.kind, key);
    const moment = {
      began: began === undefined ? since : sinceStart(began),
      at: sinceStart(at),
      ...(afterReset && { afterReset }),
    };
    return { kind: 'end', number, end: { how: 'done', result: { ...result, ...moment } } };
  }

  /** Ends what is under way. */
  end(result: Brought<EffectResult>, at: number, when: When = {}): this {
    return this.take(this.ended(result, at, when));
  }

  /** Has it fail for good, or end because it was stopped. */
  break(kind: Effect['kind'], how: 'failed' | 'cut-off' = 'failed'): this {
    return this.take({ kind: 'end', number: this.find(kind).number, end: { how } });
  }

  /** Lets the time pass: every timer rings until then. */
  until(at: number): this {
    for (;;) {
      let first: { number: number; at: string } | undefined;
      for (const { number, effect } of this.order.effects) {
        if (effect.kind === 'timer' && (first === undefined || effect.at < first.at))
          first = { number, at: effect.at };
      }
      if (first === undefined || first.at > sinceStart(at)) return this;
      this.take({ kind: 'end', number: first.number, end: { how: 'done', result: { kind: 'timer' } } });
    }
  }

  /** @returns what is under way of that kind, the oldest first */
  find(kind: Effect['kind'], key?: string): Running {
    const found = this.order.effects.find(
      ({ effect }) => effect.kind === kind && (key === undefined || effect.key === key),
    );
    if (found === undefined) throw new Error(`no ${key ?? kind} is under way: ${this.underWay.join(' ')}`);
    return found;
  }

  #keep(): void {
    this.commands.push(...keep(this.order));
  }
}

function isOfKind<Kind extends Call['kind']>(call: Call, kind: Kind): call is Extract<Call, { kind: Kind }> {
  return call.kind === kind;
}

/** @returns an order whose first screening is under way */
export function aLife({
  wasReset = false,
  cardRef,
  answerBy,
}: {
  wasReset?: boolean;
  cardRef?: string;
  answerBy?: number;
} = {}): Life {
  const transaction = { amount: '12.50', customer: { email: 'jane@example.com' } };
  const input = {
    orderId: 'order-1',
    integration: 'default',
    transaction,
    ...(cardRef !== undefined && { cardRef }),
    ...(answerBy !== undefined && { answerBy: sinceStart(answerBy) }),
  };
  return new Life(newOrder(input, sinceStart(0), wasReset));
}

/** Ends the first screening. Nobody receives events, and a pass is not read once more, unless the policy says so. */
export function screened(
  outcome: ScreeningOutcome | Decision,
  policy: Partial<Policy> = {},
  life: Life = aLife(),
): Life {
  return life.end(
    {
      kind: 'first-screening',
      rules: 1,
      policy: aPolicy({ events: false, recheckLeadTimeMs: 0, ...policy }),
      outcome: typeof outcome === 'string' ? answered(outcome) : outcome,
    },
    0,
  );
}

/** @returns the code of the refusal, or the status of the answer */
export function told({ replies }: Life, ticket: number): string | undefined {
  const reply = replies.get(ticket);
  if (reply === undefined) return undefined;
  if ('refusal' in reply) return reply.refusal.code;
  return 'portal' in reply ? reply.portal.status : 'answered';
}
