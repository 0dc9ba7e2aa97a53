/** The workflow that reads an ended order's transactions, as the server runs it: its reads one after another, its events one at a time. */
import type { CallResult } from '../../../src/contract/calls.ts';
import type { OrderEvent } from '../../../src/contract/messages.ts';
import type { LateDecision } from '../../../src/contract/order/order.ts';
import type { OrderState, OrderTransaction } from '../../../src/contract/order/state.ts';
import { lastDecision, type ReadAfterEndInput } from '../../../src/order/after-end.ts';
import { isUnusable } from '../../../src/order/decide.ts';
import { FIRST_SPACING_MS, LONGEST_SPACING_MS, longerSpacing } from '../../../src/order/spacing.ts';
import {
  ACTIVITY_OPTIONS,
  type ActivityCall,
  type ActivityLimits,
  READ_AFTER_END_OPTIONS,
} from '../../../src/workflows/perform.ts';
import type { World } from '../world.ts';
import { Activity } from './activity.ts';

const FACTS = {
  runId: 'after-end',
  wasReset: false,
  historyLength: 10,
  isReplaying: false,
  forbiddenKnown: true,
};
/** No activity of the order has such a number. */
const FIRST_NUMBER = 1_000_000;

type Reading = Extract<CallResult, { kind: 'read' }>;

export class AfterEnd {
  readonly #world: World;
  readonly #state: OrderState;
  /** The run that is open. */
  #order: ReadAfterEndInput | undefined;
  /** What its memo keeps for the next run. */
  #decisions: LateDecision[] = [];
  #spacingMs = FIRST_SPACING_MS;
  #pending = false;
  /** Only deliveries are left. */
  #waits = false;
  readonly #events: OrderEvent[] = [];
  #started = FIRST_NUMBER;

  constructor(world: World, state: OrderState) {
    this.#world = world;
    this.#state = state;
  }

  /** Requests a read, as the signal does. */
  ask(): void {
    if (this.#order !== undefined) {
      this.#pending = true;
      if (this.#waits) this.#wakeUp(this.#order);
      return;
    }
    this.#spacingMs = FIRST_SPACING_MS;
    this.#order = this.#world.rules.readAfterEndInput(this.#state, copyOf(this.#decisions));
    this.#read(this.#order, [...this.#order.order.transactions]);
  }

  #read(order: ReadAfterEndInput, [transaction, ...others]: OrderTransaction[]): void {
    if (transaction === undefined) {
      const { agenda } = this.#world;
      agenda.at(agenda.now + this.#spacingMs, () => this.#next(order));
      return;
    }
    const { integration } = order.order;
    const { id: transactionId, attempt } = transaction;
    const request = { integration, transactionId, attempt, read: 1 };
    this.#call({ kind: 'read', request }, READ_AFTER_END_OPTIONS, (result) => {
      if (result?.kind === 'read') this.#apply(order, transaction, result);
      this.#read(order, others);
    });
  }

  #apply(order: ReadAfterEndInput, transaction: OrderTransaction, { outcome, at }: Reading): void {
    if (outcome === undefined) return;
    if (isUnusable(outcome, lastDecision(order, transaction)) && this.#spacingMs < LONGEST_SPACING_MS)
      this.#pending = true;
    if (outcome.kind !== 'read') return;
    const { event } = this.#world.rules.applyLateReading(order, transaction, outcome, at);
    this.#decisions = copyOf(order.decisions);
    if (event !== undefined) this.#send(event);
  }

  #next(order: ReadAfterEndInput): void {
    if (this.#pending) {
      this.#pending = false;
      this.#spacingMs = longerSpacing(this.#spacingMs);
      this.#read(order, [...order.order.transactions]);
    } else if (this.#events.length === 0) this.#order = undefined;
    else this.#waits = true;
  }

  /** Continues after the last delivery, or for another read. */
  #wakeUp(order: ReadAfterEndInput): void {
    this.#waits = false;
    this.#next(order);
  }

  #send(event: OrderEvent): void {
    this.#events.push(copyOf(event));
    if (this.#events.length === 1) this.#deliver();
  }

  #deliver(): void {
    const [event] = this.#events;
    if (event === undefined) return;
    this.#call({ kind: 'deliver', request: [event] }, ACTIVITY_OPTIONS.deliverEvents, () => {
      this.#events.shift();
      this.#deliver();
      if (this.#waits && this.#events.length === 0 && this.#order !== undefined) this.#wakeUp(this.#order);
    });
  }

  #call(call: ActivityCall, limits: ActivityLimits, then: (result?: CallResult) => void): void {
    const asked = { number: ++this.#started, call, runId: FACTS.runId, facts: FACTS, limits };
    const activity = new Activity(this.#world, asked, (outcome) =>
      then(outcome.status === 'completed' ? outcome.result : undefined),
    );
    this.#world.openActivities.add(activity);
  }
}

/** What goes through Temporal is written and read. */
function copyOf<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value));
}
