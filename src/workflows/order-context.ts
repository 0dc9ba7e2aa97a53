/** What the three strands of an order share: its state, and the few things that each of them does to it. */
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { describe } from '../orders/describe.ts';
import { invoiceNumberOf } from '../orders/ids.ts';
import type {
  OrderEvent,
  OrderEventType,
  OrderSnapshot,
  PortalFields,
  ScreenOrderInput,
  TransactionJson,
} from '../orders/messages.ts';
import { currentAttempt, newOrder } from '../orders/new-order.ts';
import { nextEvent } from '../orders/order-events.ts';
import type { Attempt, OrderState } from '../orders/state.ts';
import { searchAttributesOf } from '../orders/visibility.ts';
import { type Instant, instant } from '../orders/words.ts';
import { OrderMetrics } from './order-metrics.ts';

export class OrderContext {
  readonly order: OrderState;
  /** The newest attempt's transaction, by its number: needed to screen again. */
  transactions: Record<number, TransactionJson>;
  readonly events: OrderEvent[];
  /** What the queued portal actions send, by the number of their record. */
  readonly portalFields: Record<number, PortalFields>;
  readonly #metrics: OrderMetrics;
  #touched = false;
  #shown: string[] = [];

  constructor(input: ScreenOrderInput, integration: string) {
    const { resume } = input;
    this.order =
      resume?.state ?? newOrder({ ...input, integration }, instant(workflowInfo().startTime.getTime()));
    this.transactions = resume?.transactions ?? { 1: input.transaction };
    this.events = resume?.outbox ?? [];
    this.portalFields = resume?.portalFields ?? {};
    this.#metrics = new OrderMetrics(this.order);
  }

  /** The moment of the current workflow task, in the server's time. */
  get now(): Instant {
    return instant(Date.now());
  }

  /** The newest attempt's transaction. */
  get transaction(): TransactionJson {
    return this.transactions[currentAttempt(this.order).number] ?? {};
  }

  /** @returns the invoice number of the attempt's newest create */
  invoiceNumber(attempt: Attempt): string {
    const earlier = this.order.attempts.filter((one) => one.number < attempt.number);
    const create = earlier.reduce((sum, one) => sum + 1 + one.rescreens, 1 + attempt.rescreens);
    const info = this.transactions[attempt.number]?.order ?? this.transaction.order;
    const own =
      typeof info === 'object' && info !== null && 'invoiceNumber' in info ? info.invoiceNumber : undefined;
    return invoiceNumberOf(this.order.orderId, own, create, this.order.policy?.invoicePerAttempt === true);
  }

  /** Tells the order's life that something changed, so that it looks again. */
  touch(): void {
    this.#touched = true;
  }

  /** Whether something changed since the last look. */
  get touched(): boolean {
    return this.#touched;
  }

  looked(): void {
    this.#touched = false;
  }

  /** Puts events into the outbox, if there is a receiver. */
  emit(types: readonly OrderEventType[], at: Instant = this.now): void {
    if (this.order.policy?.events !== true) return;
    for (const type of types) this.events.push(nextEvent(this.order, type, at));
    this.order.events.waiting = this.events.length;
  }

  /** Shows the order's state to ops: search attributes, one upsert for all that changed, and the words. */
  show(): void {
    const changed = searchAttributesOf(this.order, this.#amount()).filter((pair) => {
      const text = `${pair.key.name}=${JSON.stringify(pair.value)}`;
      if (this.#shown.includes(text)) return false;
      this.#shown = [...this.#shown.filter((one) => !one.startsWith(`${pair.key.name}=`)), text];
      return true;
    });
    if (changed.length > 0) upsertSearchAttributes(changed);
    setCurrentDetails(describe(this.order));
    this.#metrics.note(this.order);
  }

  /** @returns what an order that continues as new takes along */
  snapshot(): OrderSnapshot {
    return {
      state: this.order,
      transactions: this.transactions,
      outbox: this.events,
      portalFields: this.portalFields,
    };
  }

  #amount(): number | undefined {
    const amount = Number(this.transaction.amount);
    return this.transaction.amount === undefined || !Number.isFinite(amount) ? undefined : amount;
  }
}
