/** An order without Temporal: its checkout, then one input after the other. Times are in milliseconds from the start. */
import type {
  Call,
  CallResult,
  CheckedOut,
  Moment,
  PortalOutcome,
  ScreeningOutcome,
} from '../../src/contract/activity-contract.ts';
import type { PortalFields } from '../../src/contract/messages.ts';
import type { Policy } from '../../src/contract/policy.ts';
import type { Adoption, OrderState } from '../../src/contract/state.ts';
import type { Decision, GatewayResult, Instant, OverrideAction } from '../../src/contract/words.ts';
import { replyTo } from '../../src/orders/answers.ts';
import { applyCheckout, checkoutRequest } from '../../src/orders/checkout.ts';
import { begin, resultsFirst, resumed, step, wrapUp } from '../../src/orders/kernel.ts';
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
import { answered, aPolicy, attention, HOUR, PORTAL_ACTIONS, sinceStart } from '../fixtures/orders.ts';

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
  /** When its try began; by default when the effect started. */
  began?: number;
}

export const RECHECK: Input = { kind: 'signal', signal: { kind: 'recheck' } };
export const HINT: Input = { kind: 'signal', signal: { kind: 'review-hint' } };
export const CANCELLATION: Input = { kind: 'signal', signal: { kind: 'cancellation' } };

export class Life {
  readonly order: Order;
  readonly commands: Command[] = [];
  /** The replies, by the ticket that the request returned. */
  readonly replies = new Map<number, Reply>();
  /** Why the order can't be screened at all. */
  refusal: Refusal | undefined;
  readonly #asked: Asked[] = [];
  /** Inputs from before the end of the checkout. */
  readonly #early: Input[] = [];
  #isCheckedOut: boolean;

  constructor(order: Order) {
    this.order = order;
    this.#isCheckedOut = order.state.attempts.some(({ answer }) => answer !== undefined);
    if (this.#isCheckedOut) this.#carryOut(begin(order));
    else checkoutRequest(order);
  }

  get state(): OrderState {
    return this.order.state;
  }

  /** The codes of the open attention. */
  get attention(): string[] {
    return attention(this.order.state);
  }

  /** The keys of the running activities, oldest first. */
  get underWay(): string[] {
    return this.order.running
      .filter(({ effect }) => effect.call.kind !== 'timer')
      .map(({ effect }) => effect.key);
  }

  get timers(): Running[] {
    return this.order.running.filter(({ effect }) => effect.call.kind === 'timer');
  }

  /** The types of the undelivered events, oldest first. */
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

  /** Applies one input. Inputs from before the end of the checkout wait for it. */
  take(input: Input): this {
    if (input.kind === 'request') this.#asked.push(input);
    if (this.#isCheckedOut) this.#carryOut(step(this.order, input));
    else this.#early.push(input);
    return this;
  }

  /** Applies the inputs of one task. */
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

  /** Returns the next run of the order. */
  continued(): Life {
    return new Life(resumed(JSON.parse(JSON.stringify(this.order))));
  }

  // Requests. Each returns its ticket.

  ask(request: Request, at: number): number {
    this.take({ kind: 'request', request, at: sinceStart(at) });
    return this.#asked.length;
  }

  retry(attempt: number, at: number, transaction = {}): number {
    return this.ask({ kind: 'retry', request: { attempt, transaction } }, at);
  }

  portal(action: PortalFields | PortalFields['kind'], at = HOUR): number {
    const fields = typeof action === 'string' ? PORTAL_ACTIONS[action] : action;
    return this.ask({ kind: 'portal', fields }, at);
  }

  withdraw(number: number, at = HOUR): number {
    return this.ask({ kind: 'withdraw', request: { number } }, at);
  }

  gateway(result: GatewayResult, at = HOUR, attempt?: number): number {
    const request = { result, ...(attempt !== undefined && { attempt }) };
    return this.ask({ kind: 'gateway-result', request }, at);
  }

  override(action: OverrideAction, at = HOUR, reason = 'seen'): number {
    return this.ask({ kind: 'override', request: { action, reason } }, at);
  }

  /** Returns the code of the refusal, or the status of the answer; undefined while the caller waits. */
  told(ticket: number): string | undefined {
    const reply = this.replies.get(ticket);
    if (reply === undefined) return undefined;
    if ('refusal' in reply) return reply.refusal.code;
    return 'portal' in reply ? reply.portal.status : 'answered';
  }

  // Results.

  polled(decision: Decision, at: number, when: When = {}): this {
    return this.end({ kind: 'poll', outcome: { kind: 'read', decision } }, at, when);
  }

  read(decision: Decision, at: number, when: When = {}): this {
    return this.end({ kind: 'read', outcome: { kind: 'read', decision } }, at, when);
  }

  retried(outcome: ScreeningOutcome | Decision, at: number): this {
    return this.end({ kind: 'retry-screening', outcome: outcomeOf(outcome, 'second', at) }, at);
  }

  caughtUp(outcome: ScreeningOutcome | Decision, at: number, policy?: Policy): this {
    return this.end({ kind: 'catch-up', outcome: outcomeOf(outcome), ...(policy && { policy }) }, at);
  }

  lookedUp(decision: Decision | 'none', at = HOUR, transactionId = 'found'): this {
    const found = decision !== 'none' && ({ kind: 'found', transactionId, decision } as const);
    return this.end({ kind: 'look-up', outcome: found || { kind: 'none' } }, at);
  }

  portalEnds(outcome: PortalOutcome | PortalOutcome['kind'], at = HOUR, when: When = {}): this {
    const ended = typeof outcome === 'string' ? { kind: outcome } : outcome;
    return this.end({ kind: 'portal', outcome: ended }, at, when);
  }

  end(result: Told<CallResult>, at: number, when: When = {}): this {
    return this.take(this.ended(result, at, when));
  }

  /** Returns the end of a running effect as an input. */
  ended(result: Told<CallResult>, at: number, { key, began }: When = {}): Input {
    const { id, since, effect } = this.find(result.kind, key);
    const moment = { began: began === undefined ? since : sinceStart(began), at: sinceStart(at) };
    if (result.kind !== 'look-up') return completed(id, { ...result, ...moment });
    const sentFrom = effect.call.kind === 'look-up' ? effect.call.request.unseenSince : since;
    return completed(id, { sentFrom, ...result, ...moment });
  }

  /** Ends an activity without a result: it failed permanently, was canceled, or an operator ended it in Temporal. */
  break(kind: Kind, how: 'failed' | 'canceled' | 'by-hand' = 'failed'): this {
    const outcomes: Record<typeof how, Outcome> = {
      failed: { status: 'failed' },
      canceled: { status: 'canceled' },
      'by-hand': { status: 'failed', byHand: true },
    };
    return this.take({ kind: 'effect-ended', id: this.find(kind).id, outcome: outcomes[how] });
  }

  /** Fires every timer up to this time. */
  until(at: number): this {
    for (;;) {
      const due = this.timers
        .flatMap(({ id, effect: { call } }) => (call.kind === 'timer' ? { id, at: call.at } : []))
        .reduce((first, one) => (one.at < first.at ? one : first), { id: 0, at: sinceStart(at + 1) });
      if (due.id === 0) return this;
      this.take(completed(due.id, { kind: 'timer', at: due.at }));
    }
  }

  /** Returns the oldest running effect of that kind. */
  find(kind: Kind, key?: string): Running {
    const found = this.order.running.find(
      ({ effect }) => effect.call.kind === kind && (key === undefined || effect.key === key),
    );
    if (found === undefined) throw new Error(`no ${key ?? kind} runs: ${this.underWay.join(' ')}`);
    return found;
  }

  #carryOut(commands: readonly Command[]): void {
    // A copy, since canceling an effect changes it.
    this.commands.push(...structuredClone(commands));
    for (const [index, { taken }] of this.#asked.entries()) {
      if (taken === undefined || this.replies.has(index + 1)) continue;
      const reply = replyTo(this.order, taken);
      if (reply !== undefined) this.replies.set(index + 1, reply);
    }
  }
}

function completed(id: number, result: CallResult): Input {
  return { kind: 'effect-ended', id, outcome: { status: 'completed', result } };
}

function isOfKind<Wanted extends Kind>(call: Call, kind: Wanted): call is Extract<Call, { kind: Wanted }> {
  return call.kind === kind;
}

function outcomeOf(outcome: ScreeningOutcome | Decision, ...named: [string?, number?]): ScreeningOutcome {
  return typeof outcome === 'string' ? answered(outcome, ...named) : outcome;
}

/** Returns an order whose checkout has not ended. */
export function aLife(given: { cardRef?: string; answerBy?: number; adopt?: Adoption } = {}): Life {
  const { answerBy, ...rest } = given;
  const transaction = { amount: '12.50', customer: { email: 'jane@example.com' } };
  const input = {
    ...{ orderId: 'order-1', integration: 'default', transaction, ...rest },
    ...(answerBy !== undefined && { answerBy: sinceStart(answerBy) }),
  };
  return new Life(newOrder(input, sinceStart(0)));
}

/** Returns the result of a checkout. */
export function checkedOut(
  outcome: ScreeningOutcome | Decision,
  policy: Partial<Policy> = {},
  at = 0,
): Extract<CheckedOut, { outcome: ScreeningOutcome }> {
  const moment = { began: sinceStart(0), at: sinceStart(at) };
  return { ...moment, policy: aPolicy(policy), outcome: outcomeOf(outcome) };
}

/** Ends the checkout. Unless the policy says so, no events are sent, and a pass is not read once more. */
export function screened(
  outcome: ScreeningOutcome | Decision,
  policy: Partial<Policy> = {},
  life: Life = aLife(),
): Life {
  return life.checkOut(checkedOut(outcome, { events: false, recheckLeadTimeMs: 0, ...policy }));
}
