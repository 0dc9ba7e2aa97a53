/** The message handlers of an order. A handler queues an input, waits, and replies with the order's reply. It starts nothing. */
import type { UpdateDefinition } from '@temporalio/common';
import {
  CancellationScope,
  condition,
  currentUpdateInfo,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import {
  type Envelope,
  type MessageKind,
  recheckSignal,
  reviewHintSignal,
  UPDATES,
} from '../contract/messages.ts';
import { instant } from '../contract/words.ts';
import { defined } from '../order/defined.ts';
import { lacksKey, opened, updateRefusal, whyUnread } from '../order/messages/check-messages.ts';
import { fieldsOf, moment } from '../order/messages/shapes.ts';
import { inputRefusal } from '../order/messages/used-messages.ts';
import type { Input, Order, Refusal, Reply, RequestInput, Signal } from '../order/order.ts';
import { onlyWaits } from '../order/portal/portal-requests.ts';
import { currentAttempt } from '../order/record.ts';
import { replyTo } from '../order/view/answers.ts';
import { failureOf } from './activities.ts';

/** What the handlers and the loop share. */
export interface Intake {
  /** Absent if the start was refused. */
  order?: Order;
  /** The inputs that the order has not applied yet. */
  inputs: Input[];
  /** Set if the order can't be screened at all. */
  refusal?: Refusal;
  /** The checkout is running: updates are refused, except those that arrived with the start. */
  isClosed: boolean;
  /** The number of callers that wait for a reply. */
  waiting: number;
}

/** Must be called before the workflow's first `await`, since messages may arrive with the start. */
export function registerHandlers(intake: Intake): void {
  const { order, inputs } = intake;
  for (const kind of Object.keys(UPDATES) as MessageKind[]) {
    setHandler(UPDATES[kind] as UpdateDefinition<unknown, [unknown]>, (message) => replyOf(kind, message), {
      // A message refused here leaves no trace, not even the update's id.
      validator: (message) => {
        reject(intake.refusal ?? (intake.isClosed ? UNDER_WAY : undefined));
        const update = currentUpdateInfo();
        if (update === undefined) throw new TypeError('an update has an id');
        reject(updateRefusal(kind, message, update));
        // Messages that arrived with the start are checked after the checkout.
        const isScreened = order !== undefined && currentAttempt(order.state).answer !== undefined;
        if (!isScreened) return;
        const input = inputOf(kind, message);
        reject(inputRefusal(order, input) ?? (onlyWaits(order, input.request) ? crowded() : undefined));
      },
    });
  }

  /** Waits in its own scope, so that a cancellation of the workflow does not end the wait. */
  async function replyOf(kind: MessageKind, message: unknown): Promise<unknown> {
    const input = inputOf(kind, message);
    const until = (isTrue: () => boolean) => CancellationScope.nonCancellable(() => condition(isTrue));
    intake.waiting += 1;
    try {
      inputs.push(input);
      let reply: Reply | undefined;
      await until(() => {
        const { taken } = input;
        reply = order && taken ? replyTo(order, taken) : intake.refusal && { refusal: intake.refusal };
        return reply !== undefined;
      });
      return resultOf(reply, input.repeated);
    } finally {
      intake.waiting -= 1;
    }
  }

  const signal = (kind: Signal['kind'], given?: unknown): void => {
    const { sentAt: named } = fieldsOf(given);
    const sentAt = kind === 'recheck' && moment(named) ? named : undefined;
    // A worker with the key replays this signal without the attention, which would be a command.
    const unread = lacksKey(given) ? undefined : whyUnread(given);
    inputs.push({ kind: 'signal', signal: { kind, ...defined({ unread, sentAt }) } });
  };
  setHandler(reviewHintSignal, (hint) => signal('review-hint', hint));
  setHandler(recheckSignal, (request) => signal('recheck', request));
  // Canceling the workflow does not cancel the order at the screening service. It raises attention, and the order continues.
  CancellationScope.current().cancelRequested.catch(() => signal('cancellation'));
}

/**
 * The message has been checked: an update that isn't an envelope is refused before it is accepted.
 * @throws Error for a message that an earlier worker accepted and this one can't read. It fails the workflow task until a worker reads it
 */
function inputOf(kind: MessageKind, message: unknown): RequestInput {
  const unread = whyUnread(message);
  if (unread !== undefined) throw new Error(unread);
  return { kind: 'request', ...opened(kind, message as Envelope<unknown>), at: instant(Date.now()) };
}

function resultOf(reply: Reply | undefined, repeated: true | undefined): unknown {
  if (reply === undefined) throw new TypeError('a reply is missing');
  const again = repeated && { repeated };
  if ('refusal' in reply) throw failureOf({ ...reply.refusal, ...again });
  // The other replies are named by their kind.
  const [answer] = 'cleared' in reply ? [reply] : Object.values(reply);
  return { ...answer, ...again };
}

const UNDER_WAY: Refusal = {
  code: 'checkout-under-way',
  message: 'The order is being screened: send the same request again.',
};

/** A run can't continue as new while an action runs, and it takes a limited number of updates: repeats must not use them up. */
function crowded(): Refusal | undefined {
  if (!workflowInfo().continueAsNewSuggested) return undefined;
  return {
    code: 'busy',
    message:
      'The portal action is pending, and the order has a long history: retry later, or read the order.',
  };
}

function reject(refusal: Refusal | undefined): void {
  if (refusal !== undefined) throw failureOf(refusal);
}
