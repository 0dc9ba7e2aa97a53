/** The portal actions of an order, one at a time. Design sections 3 and 6. */
import { condition } from '@temporalio/workflow';
import { raiseWrongKey, wrongKeyKnown } from '../orders/attention.ts';
import type { PortalFields } from '../orders/messages.ts';
import { currentAttempt } from '../orders/new-order.ts';
import {
  applyPortalOutcome,
  attemptFor,
  nextAction,
  type PortalOutcome,
  portalRefusal,
  queueAction,
} from '../orders/portal.ts';
import type { ActionRecord } from '../orders/state.ts';
import { lastCallMs } from '../orders/window.ts';
import { instant } from '../orders/words.ts';
import type { OrderContext } from './order-context.ts';
import { knownTransactionIds } from './order-jobs.ts';
import { looking, portal } from './world.ts';

export class PortalStrand {
  readonly #context: OrderContext;
  /** Whether a screening may be on its way: a cancel waits for it, so that it knows the transaction. */
  readonly #screening: () => boolean;
  #closing = false;
  #running = false;

  constructor(context: OrderContext, screening: () => boolean) {
    this.#context = context;
    this.#screening = screening;
  }

  /** Puts an action in the queue. */
  queue(fields: PortalFields, by: ActionRecord['by']): ActionRecord {
    const record = queueAction(this.#context.order, fields, by, this.#context.now);
    this.#context.portalFields[record.number] = fields;
    this.#context.touch();
    return record;
  }

  /** Whether no action runs or waits. */
  get idle(): boolean {
    return !this.#running && nextAction(this.#context.order) === undefined;
  }

  close(): void {
    this.#closing = true;
  }

  /** Does what is queued, until closed. */
  async run(): Promise<void> {
    const { order } = this.#context;
    for (;;) {
      await condition(() => nextAction(order) !== undefined || this.#closing);
      const record = nextAction(order);
      if (record === undefined) return;
      this.#running = true;
      await this.#do(record);
      this.#running = false;
    }
  }

  async #do(record: ActionRecord): Promise<void> {
    const { order } = this.#context;
    const fields = this.#context.portalFields[record.number];
    delete this.#context.portalFields[record.number];
    record.status = 'running';
    if (fields === undefined) return;
    if (record.kind === 'cancel') await this.#findWhatToCancel(record);
    const outcome = await this.#perform(record, fields);
    this.#context.emit(applyPortalOutcome(order, record, outcome, this.#context.now));
    this.#context.touch();
  }

  /** A screening under way ends first; a transaction that may exist is looked up. Design section 3, "cancel asked". */
  async #findWhatToCancel(record: ActionRecord): Promise<void> {
    const { order } = this.#context;
    await condition(() => !this.#screening());
    const attempt = currentAttempt(order);
    if (record.transactionId === undefined && attempt.transactionId === undefined && attempt.maybeSentSince) {
      const found = await this.#untilAllowed((forbiddenKnown) =>
        looking.lookUp({
          integration: order.integration,
          invoiceNumber: this.#context.invoiceNumber(attempt),
          knownTransactionIds: knownTransactionIds(order),
          forbiddenKnown,
        }),
      );
      if (found.kind === 'found') {
        attempt.transactionId = found.transactionId;
        attempt.transactionIds.push(found.transactionId);
      }
    }
    if (record.transactionId === undefined && attempt.transactionId !== undefined) {
      record.transactionId = attempt.transactionId;
    }
  }

  async #perform(
    record: ActionRecord,
    fields: PortalFields,
  ): Promise<Exclude<PortalOutcome, { kind: 'forbidden' }>> {
    const { order, now } = this.#context;
    const { policy } = order;
    const { transactionId } = record;
    const cancel = record.kind === 'cancel';
    if (cancel && (order.phase === 'canceled' || transactionId === undefined)) return { kind: 'done' };
    const refused = portalRefusal(order, fields, Date.parse(now));
    if (refused?.code === 'cancel-window-closed') return { kind: 'too-late' };
    const cancelBy = attemptFor(order, transactionId)?.cancelBy;
    const email = this.#context.transaction.customer;
    return this.#untilAllowed((forbiddenKnown) =>
      portal.performPortalAction({
        integration: order.integration,
        fields,
        forbiddenKnown,
        ...(transactionId !== undefined && { transactionId }),
        ...(record.kind === 'customer-code' && { email: emailOf(email) }),
        ...(cancel &&
          cancelBy !== undefined &&
          policy !== undefined && { notAfter: instant(lastCallMs(cancelBy, policy.cancelWindowMs)) }),
      }),
    );
  }

  /** A wrong key is an operator's mistake: attention once, then it goes on until the key is right. */
  async #untilAllowed<Outcome extends { kind: string }>(
    call: (forbiddenKnown: boolean) => Promise<Outcome>,
  ): Promise<Exclude<Outcome, { kind: 'forbidden' }>> {
    const { order } = this.#context;
    for (;;) {
      const outcome = await call(wrongKeyKnown(order));
      if (isAllowed(outcome)) return outcome;
      if (raiseWrongKey(order, this.#context.now)) this.#context.emit(['order.attention']);
      this.#context.touch();
    }
  }
}

function isAllowed<Outcome extends { kind: string }>(
  outcome: Outcome,
): outcome is Exclude<Outcome, { kind: 'forbidden' }> {
  return outcome.kind !== 'forbidden';
}

function emailOf(customer: unknown): string {
  const known =
    typeof customer === 'object' && customer !== null && 'email' in customer ? customer.email : '';
  return typeof known === 'string' ? known : '';
}
