/** The portal actions of an order, one at a time. Design sections 3 and 6. */
import { CancellationScope, condition, log } from '@temporalio/workflow';
import { raisedWrongKey, wrongKeyKnown } from '../orders/attention.ts';
import type { PortalFields } from '../orders/messages.ts';
import { currentAttempt } from '../orders/new-order.ts';
import {
  aimCancel,
  applyPortalOutcome,
  attemptFor,
  concernsNewest,
  isCanceled,
  namedTransaction,
  nextAction,
  type PortalOutcome,
  portalRefusal,
  queueAction,
} from '../orders/portal.ts';
import type { ActionRecord, Attempt, OrderState } from '../orders/state.ts';
import { applyLookUp, mayHoldUnknown } from '../orders/transactions.ts';
import { lastCallMs } from '../orders/window.ts';
import { instant } from '../orders/words.ts';
import type { OrderContext } from './order-context.ts';
import { lookUpRequest } from './order-jobs.ts';
import { untilAllowed } from './until-allowed.ts';
import { wasReset } from './was-reset.ts';
import { looking, portal } from './world.ts';

export class PortalStrand {
  readonly #context: OrderContext;
  /** Whether a screening may be on its way: a cancel waits for it, so that it knows the transaction. */
  readonly #screening: () => boolean;
  readonly #lifeRests: () => boolean;
  #unoccupied = false;
  #wantsTurn = false;

  /** @param life the order's life, whose turn always comes first */
  constructor(context: OrderContext, life: { readonly screening: boolean; readonly rests: boolean }) {
    this.#context = context;
    this.#screening = () => life.screening;
    this.#lifeRests = () => life.rests;
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
    return nextAction(this.#context.order) === undefined;
  }

  /** Whether it is the turn of those who come after it. */
  get rests(): boolean {
    return this.#lifeRests() && !this.#wantsTurn && !(this.#unoccupied && !this.idle);
  }

  /** Does what is queued, as long as the order lives. */
  async run(): Promise<never> {
    const { order } = this.#context;
    for (;;) {
      this.#unoccupied = true;
      await condition(() => !this.idle && this.#lifeRests());
      this.#unoccupied = false;
      const record = nextAction(order);
      if (record !== undefined) await this.#do(record);
    }
  }

  async #do(record: ActionRecord): Promise<void> {
    const { order, portalFields } = this.#context;
    const fields = portalFields[record.number];
    record.status = 'running';
    const outcome = fields === undefined ? UNKNOWN : await this.#outcomeOf(record, fields);
    delete portalFields[record.number];
    this.#context.emit(applyPortalOutcome(order, record, outcome, this.#context.now));
    this.#context.touch();
  }

  /** Waits until the order's life has done what it has to do. */
  async #turn(): Promise<void> {
    this.#wantsTurn = true;
    try {
      await condition(this.#lifeRests);
    } finally {
      this.#wantsTurn = false;
    }
  }

  /** An activity that fails for good may have sent the action: a person must look. */
  async #outcomeOf(record: ActionRecord, fields: PortalFields): Promise<Allowed> {
    try {
      if (record.kind === 'cancel' && !(await this.#foundWhatToCancel(record, fields))) {
        return { kind: 'too-late' };
      }
      return await this.#perform(record, fields);
    } catch (error) {
      const attempt = attemptFor(this.#context.order, record.transactionId);
      const about = { action: record.kind, orderAttempt: attempt?.number };
      log.error('a portal action failed', { ...about, error: String(error) });
      return UNKNOWN;
    }
  }

  /**
   * A screening under way ends first; a transaction that may exist is looked up. Design section 3, "cancel asked". An earlier
   * attempt's transaction, which is named, has nothing to do with either.
   * @returns false when the cancel window closed before that could be told
   */
  async #foundWhatToCancel(record: ActionRecord, fields: PortalFields): Promise<boolean> {
    const { order } = this.#context;
    const named = namedTransaction(fields) !== undefined;
    if (named && !concernsNewest(order, record)) return true;
    await condition(() => !this.#screening());
    const attempt = currentAttempt(order);
    if (!named && mayHoldUnknown(attempt)) {
      const found = await beforeWindowCloses(order, attempt, () =>
        untilAllowed(
          async () => {
            await this.#turn();
            return looking.lookUp(lookUpRequest(this.#context, attempt));
          },
          () => this.#wrongKey(),
        ),
      );
      if (found === undefined) return false;
      this.#context.emit(applyLookUp(order, attempt, found, this.#context.now));
    }
    aimCancel(order, record, fields);
    return true;
  }

  async #perform(record: ActionRecord, fields: PortalFields): Promise<Allowed> {
    const { order, transaction } = this.#context;
    const { integration, policy } = order;
    const { transactionId } = record;
    const attempt = attemptFor(order, transactionId);
    const cancel = record.kind === 'cancel';
    if (cancel && (transactionId === undefined || isCanceled(order, attempt))) return { kind: 'done' };
    const refused = portalRefusal(order, fields, Date.now());
    if (refused?.code === 'cancel-window-closed') return { kind: 'too-late' };
    const cancelBy = cancel ? attempt?.cancelBy : undefined;
    const request = {
      integration,
      fields,
      ...(attempt !== undefined && { attempt: attempt.number }),
      ...(transactionId !== undefined && { transactionId }),
      ...(record.kind === 'customer-code' && { email: emailOf(transaction.customer) }),
      ...(cancelBy !== undefined &&
        policy !== undefined && { notAfter: instant(lastCallMs(cancelBy, policy.cancelWindowMs)) }),
    };
    return untilAllowed(
      async () => {
        await this.#turn();
        return portal.performPortalAction({
          ...request,
          forbiddenKnown: wrongKeyKnown(order),
          maybeDone: wasReset(),
        });
      },
      () => this.#wrongKey(),
    );
  }

  #wrongKey(): void {
    this.#context.emit(raisedWrongKey(this.#context.order, this.#context.now));
    this.#context.touch();
  }
}

/** @returns what the call brought, or undefined: the last moment for a cancel came first */
async function beforeWindowCloses<Found>(
  { policy }: OrderState,
  { cancelBy }: Attempt,
  call: () => Promise<Found>,
): Promise<Found | undefined> {
  if (cancelBy === undefined || policy === undefined) return call();
  const scope = new CancellationScope();
  const ended: { found?: Found; failed?: unknown } = {};
  scope.run(call).then(
    (found) => {
      ended.found = found;
    },
    (error: unknown) => {
      ended.failed = error;
    },
  );
  const left = Math.max(lastCallMs(cancelBy, policy.cancelWindowMs) - Date.now(), 0);
  await condition(() => 'found' in ended || 'failed' in ended, left);
  if ('failed' in ended) throw ended.failed;
  if ('found' in ended) return ended.found;
  scope.cancel();
  return undefined;
}

type Allowed = Exclude<PortalOutcome, { kind: 'forbidden' }>;

const UNKNOWN: Allowed = { kind: 'unconfirmed' };

function emailOf(customer: unknown): string {
  const known =
    typeof customer === 'object' && customer !== null && 'email' in customer ? customer.email : '';
  return typeof known === 'string' ? known : '';
}
