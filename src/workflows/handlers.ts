/** The messages of an order. A handler queues an input, waits, and replies from the order; it starts nothing. */
import type { UpdateDefinition } from '@temporalio/common';
import { CancellationScope, condition, currentUpdateInfo, setHandler } from '@temporalio/workflow';
import { replyTo } from '../orders/answers.ts';
import { messageRefusal, whyUnread } from '../orders/check-messages.ts';
import { refusalOf } from '../orders/concerns/index.ts';
import {
  type Attributed,
  acknowledgeUpdate,
  adoptUpdate,
  attachCustomerCodeUpdate,
  cancelUpdate,
  decisionUpdate,
  overrideUpdate,
  type PortalAnswer,
  type PortalFields,
  recheckSignal,
  recordGatewayResultUpdate,
  reportFraudUpdate,
  retryUpdate,
  reviewHintSignal,
  submitChargebackUpdate,
  withdrawUpdate,
} from '../orders/messages.ts';
import type { Input, Order, Refusal, Reply, Request, Signal } from '../orders/order.ts';
import { portalMessageRefusal } from '../orders/portal-requests.ts';
import { currentAttempt } from '../orders/record.ts';
import { instant } from '../orders/words.ts';
import { failure } from './activities.ts';

/** What the handlers share with the loop. */
export interface Door {
  /** Set when the order can't be screened at all. */
  refusal?: Refusal;
  /** The checkout is under way: updates are refused, but for those that came with the start. */
  isClosed: boolean;
  /** How many callers wait for a reply. */
  waiting: number;
}

/** Must be called before the workflow's first `await`, since messages may arrive with the start. */
export function registerHandlers(order: Order | undefined, inputs: Input[], door: Door): void {
  new Handlers(order, inputs, door).register();
}

class Handlers {
  readonly #order: Order | undefined;
  readonly #inputs: Input[];
  readonly #door: Door;

  constructor(order: Order | undefined, inputs: Input[], door: Door) {
    this.#order = order;
    this.#inputs = inputs;
    this.#door = door;
  }

  register(): void {
    const checkout = (reply: Reply) => ('checkout' in reply ? reply.checkout : undefined);
    this.#handle(decisionUpdate, (request) => ({ kind: 'decision', request }), checkout);
    this.#handle(retryUpdate, (request) => ({ kind: 'retry', request }), checkout);
    this.#handle(adoptUpdate, (request) => ({ kind: 'adopt', request }), checkout);
    this.#handle(
      recordGatewayResultUpdate,
      (request) => ({ kind: 'gateway-result', request }),
      (reply) => ('gateway' in reply ? reply.gateway : undefined),
    );
    this.#handle(
      acknowledgeUpdate,
      (request) => ({ kind: 'acknowledge', request }),
      (reply) => ('cleared' in reply ? reply : undefined),
    );
    this.#handle(
      overrideUpdate,
      (request) => ({ kind: 'override', request }),
      (reply) => ('override' in reply ? reply.override : undefined),
    );
    this.#handle(withdrawUpdate, (request) => ({ kind: 'withdraw', request }), portal);
    this.#handlePortal(cancelUpdate, (request) => ({ ...request, kind: 'cancel' }));
    this.#handlePortal(reportFraudUpdate, (request) => ({ ...request, kind: 'report-fraud' }));
    this.#handlePortal(submitChargebackUpdate, (request) => ({ ...request, kind: 'chargeback' }));
    this.#handlePortal(attachCustomerCodeUpdate, (request) => ({ ...request, kind: 'customer-code' }));
    setHandler(reviewHintSignal, (hint) => this.#signal('review-hint', whyUnread(hint)));
    setHandler(recheckSignal, (...given: unknown[]) => this.#signal('recheck', whyUnread(given[0])));
    // Canceling the workflow is no cancel at the screening service: a person is alerted, the order goes on.
    CancellationScope.current().cancelRequested.catch(() => this.#signal('cancellation'));
  }

  #handlePortal<Message>(
    update: UpdateDefinition<PortalAnswer, [Message]>,
    fieldsOf: (message: Message) => Attributed<PortalFields>,
  ): void {
    const read = (message: Message): Request => {
      // Who asks is no part of what is sent.
      const { by, ...fields } = fieldsOf(message);
      return { kind: 'portal', fields, ...(by && { by }) };
    };
    this.#handle(update, read, portal, portalMessageRefusal);
  }

  /**
   * @param read returns the request that a message means
   * @param answerIn returns the update's result from the reply
   * @param unreadable returns why the message can't be read at all
   */
  #handle<Answer, Message>(
    update: UpdateDefinition<Answer, [Message]>,
    read: (message: Message) => Request,
    answerIn: (reply: Reply) => Answer | undefined,
    unreadable: (message: unknown) => Refusal | undefined = () => undefined,
  ): void {
    setHandler(update, async (message) => required(answerIn(await this.#reply(read(message)))), {
      // Of what is refused here nothing is kept, the update's id neither.
      validator: (message) => {
        const order = this.#order;
        reject(this.#door.refusal ?? (this.#door.isClosed ? UNDER_WAY : undefined));
        reject(unreadable(message) ?? messageRefusal(message, currentUpdateInfo()?.id));
        // What came with the start is judged after the checkout.
        if (order !== undefined && isScreened(order))
          reject(refusalOf(order, read(message), instant(Date.now())));
      },
    });
  }

  /** Waits in a scope of its own: a request to cancel the workflow does not end what callers wait for. */
  async #reply(request: Request): Promise<Reply> {
    const order = required(this.#order);
    const until = (isTrue: () => boolean) => CancellationScope.nonCancellable(() => condition(isTrue));
    this.#door.waiting += 1;
    try {
      const input: Extract<Input, { kind: 'request' }> = {
        kind: 'request',
        request,
        at: instant(Date.now()),
      };
      this.#inputs.push(input);
      let reply: Reply | undefined;
      await until(() => {
        reply = input.taken === undefined ? this.#refused() : replyTo(order, input.taken);
        return reply !== undefined;
      });
      if (reply !== undefined && 'refusal' in reply) throw failureOf(reply.refusal);
      return required(reply);
    } finally {
      this.#door.waiting -= 1;
    }
  }

  #refused(): { refusal: Refusal } | undefined {
    const { refusal } = this.#door;
    return refusal && { refusal };
  }

  #signal(kind: Signal['kind'], unread?: string): void {
    this.#inputs.push({ kind: 'signal', signal: { kind, ...(unread !== undefined && { unread }) } });
  }
}

function portal(reply: Reply): PortalAnswer | undefined {
  return 'portal' in reply ? reply.portal : undefined;
}

function isScreened({ state }: Order): boolean {
  return currentAttempt(state).answer !== undefined;
}

const UNDER_WAY: Refusal = {
  code: 'checkout-under-way',
  message: 'The order is being screened: send the same request again.',
};

/** @throws TypeError for a reply of a different kind, which is a bug of ours */
function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new TypeError('a reply of a different kind');
  return value;
}

function reject(refusal: Refusal | undefined): void {
  if (refusal !== undefined) throw failureOf(refusal);
}

export function failureOf({ code, message, ...details }: Refusal): Error {
  return failure(code, message, details);
}
