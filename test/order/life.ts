/** An order without Temporal: its checkout, then one input after the other. Times are in milliseconds from the start. */
import type {
  CheckedOut,
  Moment,
  PortalOutcome,
  ScreeningOutcome,
} from '../../src/contract/activity-contract.ts';
import type { Call, CallResult } from '../../src/contract/calls.ts';
import type { PortalFields, ScreenOrderInput, TransactionJson } from '../../src/contract/messages.ts';
import type { OrderState } from '../../src/contract/order/state.ts';
import type { Policy } from '../../src/contract/policy.ts';
import type { Decision, GatewayResult, Instant, OverrideAction } from '../../src/contract/words.ts';
import { begin, resultsFirst, resumed, step, wrapUp } from '../../src/order/kernel.ts';
import type { Command, Input, Order, Refusal, Reply, Request, Running } from '../../src/order/order.ts';
import { newOrder } from '../../src/order/record.ts';
import { applyCheckout, checkoutRequest } from '../../src/order/screening/checkout.ts';
import { replyTo } from '../../src/order/view/answers.ts';
import {
  answered,
  aPolicy,
  attention,
  HOUR,
  MINUTE,
  PORTAL_ACTIONS,
  sinceStart,
} from '../fixtures/orders.ts';

type Asked = Extract<Input, { kind: 'request' }>;
type Told<Result> = Result extends { kind: 'look-up' }
  ? Omit<Result, keyof Moment | 'sentFrom'> & { sentFrom?: Instant }
  : Result extends CallResult
    ? Omit<Result, keyof Moment>
    : never;
type Kind = Call['kind'];
type Given = Pick<ScreenOrderInput, 'adopt' | 'cardRef' | 'workflow'> & { transaction?: TransactionJson };

interface When {
  /** Which effect, if several of its kind run. */
  key?: string;
  /** When its try began; by default when the effect started. */
  began?: number;
}

export const RECHECK: Input = { kind: 'signal', signal: { kind: 'recheck', sentAt: sinceStart(1e11) } };
export const HINT: Input = { kind: 'signal', signal: { kind: 'review-hint' } };
export const CANCELLATION: Input = { kind: 'signal', signal: { kind: 'cancellation' } };

export class Life {
  readonly order: Order;
  readonly commands: Command[] = [];
  /** The reply to each request, if there is one. */
  readonly replies: (Reply | undefined)[] = [];
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

  get decision(): string {
    return this.state.decision;
  }

  get action(): string {
    return this.state.action;
  }

  get phase(): string {
    return this.state.phase;
  }

  get attention(): string[] {
    return attention(this.state);
  }

  /** The statuses of the portal actions. */
  get actions(): string[] {
    return this.state.actions.map(({ status }) => status);
  }

  /** The keys of the running activities, oldest first. */
  get underWay(): string[] {
    const activities = this.order.running.filter(({ effect }) => effect.call.kind !== 'timer');
    return activities.map(({ effect }) => effect.key);
  }

  get timers(): Running[] {
    return this.order.running.filter(({ effect }) => effect.call.kind === 'timer');
  }

  /** The types of the undelivered events, oldest first. */
  get outbox(): string[] {
    return this.order.outbox.map(({ type }) => type);
  }

  /** For each request the code of the refusal, the status of the portal action, `answered`, or `waits`. */
  get told(): string[] {
    return this.#asked.map((_, index) => {
      const reply = this.replies[index];
      if (reply === undefined) return 'waits';
      if ('refusal' in reply) return reply.refusal.code;
      return 'portal' in reply ? reply.portal.status : 'answered';
    });
  }

  /** Ends the checkout. Undefined: its activity failed. */
  checkOut(result: CheckedOut | undefined): this {
    this.refusal = applyCheckout(this.order, result);
    this.#isCheckedOut = true;
    if (this.refusal !== undefined) return this;
    this.#carryOut(begin(this.order));
    for (const input of resultsFirst(this.#early)) this.#carryOut(step(this.order, input));
    return this;
  }

  /** Returns the calls of that kind that were made. */
  calls<Wanted extends Kind>(kind: Wanted): Extract<Call, { kind: Wanted }>[] {
    return this.commands
      .flatMap((command) => (command.do === 'start' ? command.running.effect.call : []))
      .filter((call): call is Extract<Call, { kind: Wanted }> => call.kind === kind);
  }

  /** Applies one input. Inputs from before the end of the checkout wait for it. */
  take(input: Input): this {
    if (input.kind === 'request') this.#asked.push(input);
    if (this.#isCheckedOut) return this.#carryOut(step(this.order, input));
    this.#early.push(input);
    return this;
  }

  /** Ends the run, since its history is long. */
  wrapUp(): this {
    return this.#carryOut(wrapUp(this.order));
  }

  /** Returns the next run of the order. */
  continued(): Life {
    return new Life(resumed(JSON.parse(JSON.stringify(this.order))));
  }

  // Requests.

  ask(request: Request, at: number): this {
    return this.take({ kind: 'request', request, at: sinceStart(at) });
  }

  retry(attempt: number, at: number, transaction = {}): this {
    return this.ask({ kind: 'retry', request: { attempt, transaction } }, at);
  }

  portal(action: PortalFields | PortalFields['kind'], at = HOUR): this {
    const fields = typeof action === 'string' ? PORTAL_ACTIONS[action] : action;
    return this.ask({ kind: 'portal', request: { fields } }, at);
  }

  withdraw(number: number, at = HOUR): this {
    return this.ask({ kind: 'withdraw', request: { number } }, at);
  }

  gateway(result: GatewayResult, at = HOUR, attempt?: number): this {
    const request = { result, ...(attempt !== undefined && { attempt }) };
    return this.ask({ kind: 'gateway-result', request }, at);
  }

  override(action: OverrideAction, at = HOUR, reason = 'seen'): this {
    return this.ask({ kind: 'override', request: { action, reason } }, at);
  }

  acknowledge(at: number): this {
    return this.ask({ kind: 'acknowledge', request: { reason: 'seen' } }, at);
  }

  /** Asks for the answer to an attempt's checkout. Returns the reply. */
  checkout(attempt = 1, at = MINUTE): Reply | undefined {
    this.ask({ kind: 'decision', request: { attempt } }, at);
    return this.replies.at(-1);
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
    const outcome = how === 'by-hand' ? ({ status: 'failed', byHand: true } as const) : { status: how };
    return this.take({ kind: 'effect-ended', id: this.find(kind).id, outcome });
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

  #carryOut(commands: readonly Command[]): this {
    // A copy, since canceling an effect changes it.
    this.commands.push(...structuredClone(commands));
    for (const [index, { taken }] of this.#asked.entries())
      this.replies[index] ??= taken && replyTo(this.order, taken);
    return this;
  }
}

function completed(id: number, result: CallResult): Input {
  return { kind: 'effect-ended', id, outcome: { status: 'completed', result } };
}

function outcomeOf(outcome: ScreeningOutcome | Decision, ...named: [string?, number?]): ScreeningOutcome {
  return typeof outcome === 'string' ? answered(outcome, ...named) : outcome;
}

/** Returns an order whose checkout has not ended. */
export function aLife(given: Given & { answerBy?: number } = {}): Life {
  const { answerBy, ...rest } = given;
  const transaction = { amount: '12.50', customer: { email: 'jane@example.com' } };
  const input = { orderId: 'order-1', integration: 'default', transaction, ...rest };
  const waits = answerBy !== undefined && { answerBy: sinceStart(answerBy) };
  return new Life(newOrder({ ...input, ...waits }, sinceStart(0)));
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
