/** The messages of an order. A handler queues an input, waits, and replies from the order; it starts nothing. */
import type { UpdateDefinition } from '@temporalio/common';
import { CancellationScope, condition, currentUpdateInfo, setHandler } from '@temporalio/workflow';
import { replyTo } from '../orders/answers.ts';
import { messageRefusal, whyUnread } from '../orders/check-messages.ts';
import { refusalOf } from '../orders/concerns/index.ts';
import { MESSAGES } from '../orders/message-shapes.ts';
import { type MessageKind, recheckSignal, reviewHintSignal, UPDATES } from '../orders/messages.ts';
import type { Input, Order, Refusal, Reply, Request, Signal } from '../orders/order.ts';
import { requestOf, withoutNulls } from '../orders/read-message.ts';
import { currentAttempt } from '../orders/record.ts';
import { instant } from '../orders/words.ts';
import { failureOf } from './activities.ts';

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
    for (const kind of Object.keys(UPDATES) as MessageKind[]) this.#handle(kind, UPDATES[kind]);
    setHandler(reviewHintSignal, (hint) => this.#signal('review-hint', whyUnread(hint)));
    setHandler(recheckSignal, (...given: unknown[]) => this.#signal('recheck', whyUnread(given[0])));
    // Canceling the workflow is no cancel at the screening service: a person is alerted, the order goes on.
    CancellationScope.current().cancelRequested.catch(() => this.#signal('cancellation'));
  }

  /** Nothing is kept of what the validator refuses, the update's id neither. What came with the start is judged after the checkout. */
  #handle(kind: MessageKind, definition: object): void {
    const update = definition as UpdateDefinition<unknown, [unknown]>;
    setHandler(update, async (message) => resultOf(await this.#reply(requestOf(kind, message))), {
      validator: (message) => {
        const order = this.#order;
        reject(this.#door.refusal ?? (this.#door.isClosed ? UNDER_WAY : undefined));
        reject(messageRefusal(withoutNulls(message), MESSAGES[kind], currentUpdateInfo()?.id));
        if (order !== undefined && isScreened(order))
          reject(refusalOf(order, requestOf(kind, message), instant(Date.now())));
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

/** Returns the result of an update: what its reply holds. */
function resultOf(reply: Reply): unknown {
  return 'cleared' in reply ? reply : Object.values(reply)[0];
}

function isScreened({ state }: Order): boolean {
  return currentAttempt(state).answer !== undefined;
}

const UNDER_WAY: Refusal = {
  code: 'checkout-under-way',
  message: 'The order is being screened: send the same request again.',
};

/** @throws TypeError for what is missing by a bug of ours */
function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new TypeError('an order or a reply is missing');
  return value;
}

function reject(refusal: Refusal | undefined): void {
  if (refusal !== undefined) throw failureOf(refusal);
}
