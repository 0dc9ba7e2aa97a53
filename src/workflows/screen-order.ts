/** One order, one workflow: its messages, and the loop that lives it. */
import type { UpdateDefinition } from '@temporalio/common';
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  currentUpdateInfo,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { refusalOf } from '../orders/ask.ts';
import { hintRefusal, messageRefusal, whyUnread } from '../orders/check-messages.ts';
import { DEFAULT_INTEGRATION } from '../orders/ids.ts';
import {
  type Attributed,
  acknowledgeUpdate,
  adoptUpdate,
  attachCustomerCodeUpdate,
  cancelUpdate,
  decisionUpdate,
  hintUpdate,
  orderQuery,
  overrideUpdate,
  type PortalAnswer,
  type PortalFields,
  type ReviewHint,
  recheckSignal,
  recordGatewayResultUpdate,
  reportFraudUpdate,
  retryUpdate,
  reviewHintSignal,
  submitChargebackUpdate,
  withdrawUpdate,
} from '../orders/messages.ts';
import type { Ask, Input, Order, OrderRun, Refusal, Reply } from '../orders/order.ts';
import { portalRequestRefusal } from '../orders/portal-requests.ts';
import { newOrder } from '../orders/record.ts';
import type { CheckoutAnswer, OrderState } from '../orders/state.ts';
import { takenUp } from '../orders/step.ts';
import { type Instant, instant } from '../orders/words.ts';
import { failure, wasReset } from './activities.ts';
import { refusedStart, refuseUpdates } from './check-start.ts';
import { live, RULES, type Rules, Show } from './loop.ts';

/** @returns the workflow `screenOrder` that lives by these rules */
export function screenOrderBy(rules: Rules): (input: OrderRun) => Promise<OrderState> {
  return async function screenOrder(input) {
    const refused = refusedStart(input);
    if (refused !== undefined) {
      refuseUpdates(() => reject(refused));
      throw failureOf(refused);
    }
    const messages = new Messages(input);
    const { order, inbox } = messages;
    const reply = (replies: readonly Reply[]) => messages.reply(replies);
    return CancellationScope.nonCancellable(async () => {
      await live({ rules, order, inbox, reply, show: new Show(order) }, input);
      await condition(allHandlersFinished);
      if (order.refused !== undefined) throw failureOf(order.refused);
      return order.state;
    });
  };
}

/**
 * Screens an order and keeps it until nothing is left to wait for.
 * @returns the order's final state
 * @throws `invalid-request`, `card-data-in-request` or `unknown-integration` when it can't be screened at all
 */
export const screenOrder = screenOrderBy(RULES);

/** Puts what is asked into the inbox, and gives the answers to whoever asked. */
class Messages {
  readonly order: Order;
  readonly inbox: Input[] = [];
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #asked = 0;

  constructor(input: OrderRun) {
    const { integration = DEFAULT_INTEGRATION, resume } = input;
    const startedAt = instant(workflowInfo().startTime.getTime());
    this.order =
      resume === undefined
        ? newOrder({ ...input, integration }, startedAt, wasReset())
        : takenUp(resume, wasReset());
    this.#answerCheckouts();
    this.#answerPortalActions();
    this.#takeHints();
    setHandler(orderQuery, () => this.order.state);
    // Canceling the workflow isn't a cancel with the service: a person is told, the order goes on.
    CancellationScope.current().cancelRequested.catch(() => {
      this.inbox.push({ kind: 'signal', signal: 'cancellation' });
    });
  }

  reply(replies: readonly Reply[]): void {
    for (const reply of replies) {
      this.#waiting.get(reply.ticket)?.(reply);
      this.#waiting.delete(reply.ticket);
    }
  }

  #answerCheckouts(): void {
    setHandler(decisionUpdate, (request) => this.#checkoutAnswer({ kind: 'decision', request }), {
      validator: (request) => this.#check({ kind: 'decision', request }, request),
    });
    setHandler(retryUpdate, (request) => this.#checkoutAnswer({ kind: 'retry', request }), {
      validator: (request) => this.#check({ kind: 'retry', request }, request),
    });
    setHandler(adoptUpdate, (request) => this.#checkoutAnswer({ kind: 'adopt', request }), {
      validator: (request) => this.#check({ kind: 'adopt', request }, request),
    });
    setHandler(
      recordGatewayResultUpdate,
      async (request) => {
        const reply = await this.#ask({ kind: 'gateway-result', request });
        return 'gateway' in reply ? reply.gateway : strange(reply);
      },
      { validator: (request) => this.#check({ kind: 'gateway-result', request }, request) },
    );
    setHandler(
      acknowledgeUpdate,
      async (request) => {
        const reply = await this.#ask({ kind: 'acknowledge', request });
        return 'cleared' in reply ? { cleared: reply.cleared } : strange(reply);
      },
      { validator: (request) => this.#check({ kind: 'acknowledge', request }, request) },
    );
    setHandler(
      overrideUpdate,
      async (request) => {
        const reply = await this.#ask({ kind: 'override', request });
        return 'override' in reply ? reply.override : strange(reply);
      },
      { validator: (request) => this.#check({ kind: 'override', request }, request) },
    );
  }

  #answerPortalActions(): void {
    this.#answerPortalAction(cancelUpdate, (request) => ({ ...request, kind: 'cancel' }));
    this.#answerPortalAction(reportFraudUpdate, (request) => ({ ...request, kind: 'report-fraud' }));
    this.#answerPortalAction(submitChargebackUpdate, (request) => ({ ...request, kind: 'chargeback' }));
    this.#answerPortalAction(attachCustomerCodeUpdate, (request) => ({ ...request, kind: 'customer-code' }));
    setHandler(withdrawUpdate, (request) => this.#portalAnswer({ kind: 'withdraw', request }), {
      validator: (request) => this.#check({ kind: 'withdraw', request }, request),
    });
  }

  #answerPortalAction<Request>(
    update: UpdateDefinition<PortalAnswer, [Request]>,
    read: (request: Request) => Attributed<PortalFields>,
  ): void {
    setHandler(update, (request) => this.#portalAnswer(portalAsk(read(request))), {
      validator: (request) => {
        reject(portalRequestRefusal(request));
        this.#check(portalAsk(read(request)), request);
      },
    });
  }

  #takeHints(): void {
    setHandler(hintUpdate, (hint) => failedByItsValidator(hint), {
      validator: (hint) => reject(hintRefusal(this.order, this.inbox, hint, Date.now())),
    });
    setHandler(reviewHintSignal, (hint) => {
      this.inbox.push({ kind: 'signal', signal: 'review-hint', hint });
    });
    setHandler(recheckSignal, (...sent: unknown[]) => {
      const unread = sent.map(whyUnread).find((why) => why !== undefined);
      this.inbox.push({ kind: 'signal', signal: 'recheck', ...(unread !== undefined && { unread }) });
    });
  }

  /** @param message as it was sent: of what is refused here nothing is kept, the update's id neither */
  #check(ask: Ask, message: unknown): void {
    reject(messageRefusal(message, currentUpdateInfo()?.id));
    reject(refusalOf(this.order, this.inbox, ask, Date.now()));
  }

  async #ask(ask: Ask): Promise<Reply> {
    this.#asked += 1;
    const ticket = this.#asked;
    const reply = await new Promise<Reply>((resolve) => {
      this.#waiting.set(ticket, resolve);
      this.inbox.push({ kind: 'ask', ticket, at: now(), ask });
    });
    if ('refusal' in reply) throw failureOf(reply.refusal);
    return reply;
  }

  async #checkoutAnswer(ask: Ask): Promise<CheckoutAnswer> {
    const reply = await this.#ask(ask);
    return 'checkout' in reply ? reply.checkout : strange(reply);
  }

  async #portalAnswer(ask: Ask): Promise<PortalAnswer> {
    const reply = await this.#ask(ask);
    return 'portal' in reply ? reply.portal : strange(reply);
  }
}

/** Who asks is no part of what is sent. */
function portalAsk({ by, ...fields }: Attributed<PortalFields>): Ask {
  return { kind: 'portal', fields, ...(by && { by }) };
}

/** The moment of the current workflow task, in the server's time. */
function now(): Instant {
  return instant(Date.now());
}

function failedByItsValidator(hint: ReviewHint): never {
  throw new TypeError(`a hint of ${hint.source} was taken as an update`);
}

function strange(reply: Reply): never {
  throw new TypeError(`an answer of another kind: ${Object.keys(reply).join(' ')}`);
}

function reject(refusal: Refusal): never;
function reject(refusal: Refusal | undefined): void;
function reject(refusal: Refusal | undefined): void {
  if (refusal !== undefined) throw failureOf(refusal);
}

function failureOf({ code, message, ...details }: Refusal): Error {
  return failure(code, message, details);
}
