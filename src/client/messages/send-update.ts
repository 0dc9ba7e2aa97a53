/** Sends updates to an order. */
import { randomUUID } from 'node:crypto';
import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import { hasCode, OrderScreeningError } from '../../contract/errors.ts';
import { type Envelope, SCREEN_ORDER } from '../../contract/messages.ts';
import { defined } from '../../order/defined.ts';
import { fingerprintOfRaw } from '../../screening-service/index.ts';
import { closedOrder } from '../reading/read-orders.ts';
import type { OrderStart } from '../screening/order-start.ts';
import {
  ANSWER_WITHIN_MS,
  isEnded,
  isExhausted,
  isUnanswered,
  orderClosed,
  readable,
  temporalUnavailable,
  toOrderError,
  within,
} from '../temporal-errors.ts';
import type { ClientContext, PortalOptions } from '../types.ts';
import { readBy } from './portal-options.ts';

interface SentUpdate<Body> {
  args: [Envelope<Body>];
  updateId: string;
}

/**
 * Returns the argument and the id of an update. Repeats of one call use the same.
 * @param updateId a fixed id, so that a repeat of the caller gets the same outcome; random by default
 */
export function updateOf<Body extends object>(
  { name: type }: { name: string },
  request: Body,
  how: PortalOptions = {},
  updateId: string = randomUUID(),
): SentUpdate<Body> {
  const { idempotencyKey, ifAction } = how;
  const body = { ...request, ...readBy(how) };
  const envelope = { type, updateId, ...defined({ ifAction }), body };
  if (idempotencyKey === undefined) return { args: [envelope], updateId };
  // The policy may change between a request and its repeat, so `notCards` doesn't count.
  const fingerprint = fingerprintOfRaw({ type, body: { ...body, notCards: undefined } }).slice(0, 32);
  return { args: [{ ...envelope, key: { name: idempotencyKey, fingerprint } }], updateId };
}

/** Until its checkout has ended, seconds at most, the order refuses updates. */
const ASK_AGAIN_MS = 100;
const MOST_TRIES = 100;

/**
 * Sends an update, and retries while the checkout is running, until the deadline.
 * @throws OrderScreeningError `busy` if the server accepts no more updates of this order for now; other errors unchanged
 */
function sendUpdate<T>(client: Client, deadline: number, send: () => Promise<T>): Promise<T> {
  return within(client, deadline, async () => {
    for (let tries = 1; ; tries += 1) {
      try {
        return readable(await send());
      } catch (error) {
        if (isExhausted(error)) throw new OrderScreeningError('busy', BUSY, {}, error);
        if (tries >= MOST_TRIES || !hasCode(toOrderError(error), 'checkout-under-way')) throw error;
        await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
      }
    }
  });
}

const BUSY = 'Too many requests are waiting for this order, and this one was not accepted: send it again';

/** Starts an order unless it exists, and sends it an update. */
export function startWithUpdate<Answer, Body extends object>(
  client: Client,
  deadline: number,
  definition: UpdateDefinition<Answer, [Envelope<Body>]>,
  update: SentUpdate<Body>,
  start: OrderStart,
): Promise<Answer> {
  const options = { ...start, workflowIdConflictPolicy: 'USE_EXISTING' } as const;
  return sendUpdate(client, deadline, () =>
    client.workflow.executeUpdateWithStart(definition, {
      ...update,
      startWorkflowOperation: new WithStartWorkflowOperation(SCREEN_ORDER, options),
    }),
  );
}

/**
 * Sends an update that continues in the background once the order has accepted it.
 * @returns undefined if it was accepted and is still running at the deadline
 * @throws OrderScreeningError `temporal-unavailable` if it wasn't accepted in time, `busy`; other errors unchanged
 */
export async function startedUpdate<Answer, Body extends object>(
  { client }: ClientContext,
  workflowId: string,
  definition: UpdateDefinition<Answer, [Envelope<Body>]>,
  update: SentUpdate<Body>,
  deadline = Date.now() + ANSWER_WITHIN_MS,
): Promise<Answer | undefined> {
  const handle = client.workflow.getHandle(workflowId);
  let accepted = false;
  try {
    return await sendUpdate(client, deadline, async () => {
      const started = await handle.startUpdate(definition, { ...update, waitForStage: 'ACCEPTED' });
      accepted = true;
      return started.result().catch((error: unknown) => {
        // The order also ends an update so that it refused.
        accepted = isUnanswered(error);
        throw error;
      });
    });
  } catch (error) {
    if (!isUnanswered(error)) throw error;
    // Not accepted, so not recorded: it may never run.
    if (!accepted) throw temporalUnavailable(error);
    return undefined;
  }
}

/**
 * Sends an update to an open order and waits up to 10 s for the answer.
 * @throws OrderScreeningError as `whileOpen`
 */
export async function update<Answer, Request extends object>(
  context: ClientContext,
  workflowId: string,
  definition: UpdateDefinition<Answer, [Envelope<Request>]>,
  request: Request,
  how?: PortalOptions,
): Promise<Answer> {
  const { client } = context;
  const options = updateOf(definition, request, how);
  const handle = client.workflow.getHandle(workflowId);
  const send = () => handle.executeUpdate(definition, options);
  return whileOpen(context, workflowId, sendUpdate(client, Date.now() + ANSWER_WITHIN_MS, send));
}

/**
 * Returns the answer of an open order.
 * @throws OrderScreeningError `order-closed`, `unknown-order`, `temporal-unavailable`, or the order's own refusal
 */
export async function whileOpen<T>(
  context: ClientContext,
  workflowId: string,
  answer: Promise<T>,
): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!isEnded(error)) throw toOrderError(error);
    await closedOrder(context, workflowId);
    throw orderClosed();
  }
}
