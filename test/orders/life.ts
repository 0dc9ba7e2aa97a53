/** The life of an order without Temporal: its checkout, then its inputs one after the other, and what it starts after each. */
import type {
  Call,
  CallResult,
  CheckedOut,
  Moment,
  ScreeningOutcome,
} from '../../src/contract/activity-contract.ts';
import type { Policy } from '../../src/contract/policy.ts';
import type { Adoption } from '../../src/contract/state.ts';
import type { Decision, Instant } from '../../src/contract/words.ts';
import { replyTo } from '../../src/orders/answers.ts';
import { applyCheckout, checkoutRequest } from '../../src/orders/checkout.ts';
import { begin, resultsFirst, step, wrapUp } from '../../src/orders/kernel.ts';
import type {
  Command,
  Input,
  Order,
  Outcome,
  Refusal,
  Reply,
  Request,
  Running,
} from '../../src/orders/order.ts';
import { newOrder } from '../../src/orders/record.ts';
import { answered, aPolicy, sinceStart } from '../fixtures/orders.ts';

type Asked = Extract<Input, { kind: 'request' }>;
type Told<Result> = Result extends { kind: 'look-up' }
  ? Omit<Result, keyof Moment | 'sentFrom'> & { sentFrom?: Instant }
  : Result extends CallResult
    ? Omit<Result, keyof Moment>
    : never;
type Kind = Call['kind'];

interface When {
  /** Which effect, if several of its kind run. */
  key?: string;
  /** When its try began, in ms from the start; else when it was started. */
  began?: number;
}

/** An order, what it starts, and what it replies. Moments are in ms from the start. */
export class Life {
  readonly order: Order;
  readonly commands: Command[] = [];
  readonly replies = new Map<number, Reply>();
  /** Why the order can't be screened at all. */
  refusal: Refusal | undefined;
  readonly #asked: Asked[] = [];
  /** What came before the checkout had ended. */
  readonly #early: Input[] = [];
  #isCheckedOut: boolean;

  constructor(order: Order) {
    this.order = order;
    this.#isCheckedOut = order.state.attempts.some(({ answer }) => answer !== undefined);
    if (this.#isCheckedOut) this.#carryOut(begin(order));
    else checkoutRequest(order);
  }

  /** The keys of what runs, in the order in which it was started; timers left out. */
  get underWay(): string[] {
    return this.order.running
      .filter(({ effect }) => effect.call.kind !== 'timer')
      .map(({ effect }) => effect.key);
  }

  /** The timers that run. */
  get timers(): Running[] {
    return this.order.running.filter(({ effect }) => effect.call.kind === 'timer');
  }

  /** The types of the events that wait to be delivered, the oldest first. */
  get outbox(): string[] {
    return this.order.outbox.map(({ type }) => type);
  }

  /** Ends the checkout. Undefined: its activity failed. */
  checkOut(result: CheckedOut | undefined): this {
    this.refusal = applyCheckout(this.order, result);
    this.#isCheckedOut = true;
    if (this.refusal !== undefined) return this;
    this.#carryOut(begin(this.order));
    return this.together(...this.#early.splice(0));
  }

  /** Returns the calls of that kind that were made. */
  calls<Wanted extends Kind>(kind: Wanted): Extract<Call, { kind: Wanted }>[] {
    return this.commands.flatMap((command) => {
      if (command.do !== 'start') return [];
      const { call } = command.running.effect;
      return isOfKind(call, kind) ? [call] : [];
    });
  }

  /** Applies one input. What comes before the checkout has ended waits for it. */
  take(input: Input): this {
    if (input.kind === 'request') this.#asked.push(input);
    if (this.#isCheckedOut) this.#carryOut(step(this.order, input));
    else this.#early.push(input);
    return this;
  }

  /** Applies what came together. */
  together(...inputs: Input[]): this {
    for (const input of resultsFirst(inputs)) {
      if (input.kind === 'request' && !this.#asked.includes(input)) this.#asked.push(input);
      this.#carryOut(step(this.order, input));
    }
    return this;
  }

  /** The history is long. */
  wrapUp(): this {
    this.#carryOut(wrapUp(this.order));
    return this;
  }

  /** Asks. @returns the ticket, by which `replies` has the reply */
  ask(request: Request, at: number): number {
    this.take({ kind: 'request', request, at: sinceStart(at) });
    return this.#asked.length;
  }

  /** Returns the end of what runs, as an input. */
  ended(result: Told<CallResult>, at: number, { key, began }: When = {}): Input {
    const { id, since, effect } = this.find(result.kind, key);
    const moment = { began: began === undefined ? since : sinceStart(began), at: sinceStart(at) };
    if (result.kind === 'look-up') {
      const sentFrom = effect.call.kind === 'look-up' ? effect.call.request.unseenSince : since;
      return completed(id, { sentFrom, ...result, ...moment });
    }
    return completed(id, { ...result, ...moment });
  }

  /** Ends what runs. */
  end(result: Told<CallResult>, at: number, when: When = {}): this {
    return this.take(this.ended(result, at, when));
  }

  /** Has it fail for good, or end because it was canceled. */
  break(kind: Kind, status: 'failed' | 'canceled' = 'failed'): this {
    return this.take({ kind: 'effect-ended', id: this.find(kind).id, outcome: { status } });
  }

  /** Has a person end its activity in Temporal. */
  breakByHand(kind: Kind): this {
    const outcome = { status: 'failed', byHand: true } as const;
    return this.take({ kind: 'effect-ended', id: this.find(kind).id, outcome });
  }

  /** Lets the time pass: every timer fires until then. */
  until(at: number): this {
    for (;;) {
      const first = this.#firstTimer();
      if (first === undefined || first.at > sinceStart(at)) return this;
      this.take(completed(first.id, { kind: 'timer', at: first.at }));
    }
  }

  #firstTimer(): { id: number; at: Instant } | undefined {
    let first: { id: number; at: Instant } | undefined;
    for (const { id, effect } of this.order.running) {
      const { call } = effect;
      if (call.kind === 'timer' && (first === undefined || call.at < first.at)) first = { id, at: call.at };
    }
    return first;
  }

  /** Returns what runs of that kind, the oldest first. */
  find(kind: Kind, key?: string): Running {
    const found = this.order.running.find(
      ({ effect }) => effect.call.kind === kind && (key === undefined || effect.key === key),
    );
    if (found === undefined) throw new Error(`no ${key ?? kind} runs: ${this.underWay.join(' ')}`);
    return found;
  }

  #carryOut(commands: readonly Command[]): void {
    // As it was started: a test may look at it after its cancel.
    this.commands.push(...structuredClone(commands));
    for (const [index, { taken }] of this.#asked.entries()) {
      if (taken === undefined || this.replies.has(index + 1)) continue;
      const reply = replyTo(this.order, taken);
      if (reply !== undefined) this.replies.set(index + 1, reply);
    }
  }
}

function completed(id: number, result: CallResult): Input {
  const outcome: Outcome = { status: 'completed', result };
  return { kind: 'effect-ended', id, outcome };
}

function isOfKind<Wanted extends Kind>(call: Call, kind: Wanted): call is Extract<Call, { kind: Wanted }> {
  return call.kind === kind;
}

/** Returns an order whose checkout has not ended. */
export function aLife({
  cardRef,
  answerBy,
  adopt,
}: {
  cardRef?: string;
  answerBy?: number;
  adopt?: Adoption;
} = {}): Life {
  const transaction = { amount: '12.50', customer: { email: 'jane@example.com' } };
  const input = {
    orderId: 'order-1',
    integration: 'default',
    transaction,
    ...(cardRef !== undefined && { cardRef }),
    ...(answerBy !== undefined && { answerBy: sinceStart(answerBy) }),
    ...(adopt !== undefined && { adopt }),
  };
  return new Life(newOrder(input, sinceStart(0)));
}

/** Returns a checkout's result, at that moment. */
export function checkedOut(
  outcome: ScreeningOutcome | Decision,
  policy: Partial<Policy> = {},
  at = 0,
): Extract<CheckedOut, { outcome: ScreeningOutcome }> {
  return {
    began: sinceStart(0),
    at: sinceStart(at),
    policy: aPolicy(policy),
    outcome: typeof outcome === 'string' ? answered(outcome) : outcome,
  };
}

/** Ends the checkout. No events are sent, and a pass is not read once more, unless the policy says so. */
export function screened(
  outcome: ScreeningOutcome | Decision,
  policy: Partial<Policy> = {},
  life: Life = aLife(),
): Life {
  return life.checkOut(checkedOut(outcome, { events: false, recheckLeadTimeMs: 0, ...policy }));
}

export const RECHECK: Input = { kind: 'signal', signal: { kind: 'recheck' } };
export const HINT: Input = { kind: 'signal', signal: { kind: 'review-hint' } };
export const CANCELLATION: Input = { kind: 'signal', signal: { kind: 'cancellation' } };

/** Returns the code of the refusal, or the status of the answer. */
export function told({ replies }: Life, ticket: number): string | undefined {
  const reply = replies.get(ticket);
  if (reply === undefined) return undefined;
  if ('refusal' in reply) return reply.refusal.code;
  return 'portal' in reply ? reply.portal.status : 'answered';
}
