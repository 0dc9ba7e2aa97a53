/** One order, one workflow: wires the messages to the order's three strands and runs them. Design sections 3, 5 and 6. */
import type { UpdateDefinition } from '@temporalio/common';
import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { clear, raise, raised } from '../orders/attention.ts';
import {
  acknowledgeRefusal,
  decisionRefusal,
  portalFieldsRefusal,
  portalRequestRefusal,
  type Refusal,
  retryRefusal,
  startRefusal,
} from '../orders/check-messages.ts';
import { isOver } from '../orders/deadlines.ts';
import { applyGatewayResult, gatewayResultAnswer, gatewayResultRefusal } from '../orders/gateway.ts';
import { hintIsNews } from '../orders/hints.ts';
import { DEFAULT_INTEGRATION } from '../orders/ids.ts';
import {
  acknowledgeUpdate,
  attachCustomerCodeUpdate,
  cancelUpdate,
  decisionUpdate,
  hintUpdate,
  orderQuery,
  type PortalAnswer,
  type PortalFields,
  type RetryRequest,
  recheckSignal,
  recordGatewayResultUpdate,
  reportFraudUpdate,
  retryUpdate,
  reviewHintSignal,
  type ScreenOrderInput,
  submitChargebackUpdate,
} from '../orders/messages.ts';
import { addAttempt } from '../orders/new-order.ts';
import { earlier, isUnderWay, portalAnswer, portalFailure, portalRefusal, stands } from '../orders/portal.ts';
import type { CheckoutAnswer, OrderState } from '../orders/state.ts';
import { millis } from '../orders/words.ts';
import { failure } from './failures.ts';
import { OrderContext } from './order-context.ts';
import { OrderLife } from './order-life.ts';
import { Outbox } from './outbox.ts';
import { PortalStrand } from './portal-strand.ts';
import { wasReset } from './was-reset.ts';

/**
 * Screens an order and keeps it until nothing is left to wait for.
 * @returns the order's final state
 * @throws `invalid-request`, `card-data-in-request` or `unknown-integration` when it can't be screened at all
 */
export async function screenOrder(input: ScreenOrderInput): Promise<OrderState> {
  const { workflowId, continuedFromExecutionRunId } = workflowInfo();
  const refused = startRefusal(input, workflowId, continuedFromExecutionRunId !== undefined);
  if (refused !== undefined) throw failureOf(refused);
  const run = new ScreenOrder(input);
  return CancellationScope.nonCancellable(() => run.run());
}

class ScreenOrder {
  readonly #input: ScreenOrderInput;
  readonly #context: OrderContext;
  readonly #life: OrderLife;
  readonly #portal: PortalStrand;
  readonly #outbox: Outbox;
  /** Why the order can't be screened at all: those who wait for its decision are told, too. */
  #broken: ApplicationFailure | undefined;

  constructor(input: ScreenOrderInput) {
    this.#input = input;
    this.#context = new OrderContext(input, input.integration ?? DEFAULT_INTEGRATION);
    this.#life = new OrderLife(this.#context, () => this.#portal.idle && this.#outbox.empty);
    this.#portal = new PortalStrand(this.#context, this.#life);
    const delivered = (count: number, inTime: boolean) => this.#delivered(count, inTime);
    this.#outbox = new Outbox(this.#context.events, this.#portal, delivered);
    this.#answerMessages();
    this.#answerPortalActions();
    this.#heedCancellation();
  }

  async run(): Promise<OrderState> {
    void this.#portal.run();
    void this.#outbox.run();
    try {
      const ended = await this.#life.run(this.#portal, this.#input);
      if (!ended) return await this.#goOnAsNew();
    } catch (error) {
      if (!(error instanceof ApplicationFailure)) throw error;
      this.#broken = error;
      await condition(allHandlersFinished);
      throw error;
    }
    const { quietEnd } = this.#life;
    if (quietEnd !== undefined) this.#outbox.deliverAtOnce();
    this.#context.emit(['order.closed'], quietEnd);
    this.#context.show();
    await condition(() => this.#outbox.empty && this.#portal.idle && allHandlersFinished());
    this.#context.show();
    return this.#context.order;
  }

  async #goOnAsNew(): Promise<never> {
    await this.#outbox.pause();
    await condition(() => this.#portal.idle && allHandlersFinished());
    this.#life.keepReads();
    return continueAsNew<typeof screenOrder>({ ...this.#input, resume: this.#context.snapshot() });
  }

  #answerMessages(): void {
    const { order } = this.#context;
    setHandler(decisionUpdate, ({ attempt }) => this.#checkoutAnswer(attempt), {
      validator: (request) => reject(decisionRefusal(order, request)),
    });
    setHandler(
      retryUpdate,
      (request) => (this.#comesEarly(request) ? this.#retryLater(request) : this.#retry(request)),
      {
        validator: (request) => {
          if (!this.#comesEarly(request)) reject(retryRefusal(order, request, Date.now()));
        },
      },
    );
    setHandler(
      recordGatewayResultUpdate,
      (request) => {
        this.#context.emit(applyGatewayResult(order, request, this.#context.now));
        this.#context.touch();
        return gatewayResultAnswer(order, request);
      },
      {
        validator: (request) => {
          const code = gatewayResultRefusal(order, request, Date.now());
          if (code !== undefined) throw failure(code, 'The order does not take this gateway result now.');
        },
      },
    );
    setHandler(
      hintUpdate,
      () => {
        this.#life.hint();
        return { accepted: true as const };
      },
      {
        validator: (hint) => {
          if (!hintIsNews(order, hint, Date.now()))
            throw failure('hint-not-needed', 'A read is due already.');
        },
      },
    );
    setHandler(reviewHintSignal, (hint) => {
      if (hintIsNews(order, hint, Date.now())) this.#life.hint();
    });
    setHandler(recheckSignal, () => {
      if (!isOver(order, Date.now())) this.#life.recheck();
    });
    setHandler(
      acknowledgeUpdate,
      () => {
        const cleared = order.attention.length;
        order.attention = [];
        this.#context.touch();
        return { cleared };
      },
      { validator: (request) => reject(acknowledgeRefusal(order, request, Date.now())) },
    );
    setHandler(orderQuery, () => order);
  }

  #answerPortalActions(): void {
    this.#answerPortalAction(cancelUpdate, (request) => ({ ...request, kind: 'cancel' }));
    this.#answerPortalAction(reportFraudUpdate, (request) => ({ ...request, kind: 'report-fraud' }));
    this.#answerPortalAction(submitChargebackUpdate, (request) => ({ ...request, kind: 'chargeback' }));
    this.#answerPortalAction(attachCustomerCodeUpdate, (request) => ({ ...request, kind: 'customer-code' }));
  }

  #answerPortalAction<Request>(
    update: UpdateDefinition<PortalAnswer, [Request]>,
    read: (request: Request) => PortalFields,
  ): void {
    setHandler(update, (request) => this.#portalAction(read(request)), {
      validator: (request) => {
        reject(portalRequestRefusal(request));
        this.#checkPortalAction(read(request));
      },
    });
  }

  /** After a reset Temporal sends the updates again at once, also those that came after the attempt before, which may not come this time. */
  #comesEarly({ attempt }: RetryRequest): boolean {
    const { attempts } = this.#context.order;
    return wasReset() && attempts.length < attempt && attempts[attempt - 2]?.answer === undefined;
  }

  async #retryLater(request: RetryRequest): Promise<CheckoutAnswer> {
    const { order } = this.#context;
    await this.#until(() => order.ended || order.attempts[request.attempt - 2]?.answer !== undefined);
    if (this.#broken !== undefined) throw this.#broken;
    reject(retryRefusal(order, request, Date.now()));
    return this.#retry(request);
  }

  #retry(request: RetryRequest): Promise<CheckoutAnswer> {
    const { order, now } = this.#context;
    if (order.attempts.length < request.attempt) {
      addAttempt(order, request, now);
      this.#context.transactions = { [request.attempt]: request.transaction };
      this.#context.touch();
    }
    return this.#checkoutAnswer(request.attempt);
  }

  async #checkoutAnswer(number: number): Promise<CheckoutAnswer> {
    const answer = (): CheckoutAnswer | undefined => this.#context.order.attempts[number - 1]?.answer;
    await this.#until(() => answer() !== undefined);
    const given = answer();
    if (given === undefined) throw this.#broken;
    return given;
  }

  /** Waits, also after somebody asked Temporal to cancel the workflow, but not for an order that can't be screened. */
  #until(reached: () => boolean): Promise<void> {
    return CancellationScope.nonCancellable(() => condition(() => reached() || this.#broken !== undefined));
  }

  #checkPortalAction(fields: PortalFields): void {
    const { order } = this.#context;
    reject(portalFieldsRefusal(fields));
    if (stands(earlier(order, fields))) return;
    const refused = portalRefusal(order, fields, Date.now());
    if (refused === undefined) return;
    const { code, cancelBy } = refused;
    throw failure(code, REFUSED_ACTION, cancelBy === undefined ? {} : { cancelBy });
  }

  /** Until the first answer the policy isn't known, and may forbid it. Done already: its answer. Running: joins it. Another is under way: queued, and the caller isn't kept waiting. */
  async #portalAction(fields: PortalFields): Promise<PortalAnswer> {
    const { order } = this.#context;
    await this.#until(() => order.policy !== undefined);
    if (this.#broken !== undefined) throw this.#broken;
    this.#checkPortalAction(fields);
    const before = earlier(order, fields);
    const busy = !this.#portal.idle;
    const record = stands(before) ? before : this.#portal.queue(fields, 'caller');
    if (!stands(before) && busy) return portalAnswer(order, record);
    await this.#until(() => !isUnderWay(record));
    const failed = portalFailure(record);
    if (failed === undefined) return portalAnswer(order, record);
    throw failure(failed.code, failed.message, {
      ...(record.code !== undefined && { serviceCode: record.code }),
      ...(record.message !== undefined && { serviceMessage: record.message }),
    });
  }

  /** Canceling the workflow isn't a cancel with the service: a person is told, the order goes on. */
  #heedCancellation(): void {
    CancellationScope.current().cancelRequested.catch(() => {
      const { order, now } = this.#context;
      if (isOver(order, millis(now))) return;
      this.#context.emit(raised(order, 'cancellation-requested', CANCELLATION, now));
      this.#context.touch();
    });
  }

  #delivered(count: number, inTime: boolean): void {
    const { order, now } = this.#context;
    if (inTime) {
      order.events.delivered += count;
      clear(order, 'events-undelivered');
    } else raise(order, 'events-undelivered', UNDELIVERED, now);
    order.events.waiting = this.#context.events.length;
    this.#context.touch();
  }
}

function reject(refusal: Refusal | undefined): void {
  if (refusal !== undefined) throw failureOf(refusal);
}

function failureOf(refusal: Refusal): Error {
  return failure(
    refusal.code,
    refusal.message,
    refusal.errors === undefined ? {} : { errors: refusal.errors },
  );
}

const REFUSED_ACTION = 'The order does not take this portal action now.';
const CANCELLATION =
  'Somebody asked Temporal to cancel the workflow. That is no cancel with the service: use the cancel action.';
const UNDELIVERED =
  'Events could not be delivered for three days and were given up: the receiver must catch up by reading orders.';
