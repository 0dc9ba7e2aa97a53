/**
 * The messages that an order has accepted, by the caller's idempotency key, else by update id. A repeat does nothing and gets the reply of
 * the first. Temporal recognizes an update id only until the order continues as new, and doesn't compare contents.
 */
import { acceptRequest, refusalOf } from '../concerns/index.ts';
import { waitFor } from '../concerns/portal.ts';
import { defined } from '../defined.ts';
import type { Order, Refusal, RequestInput, Sent, Taken, Used } from '../order.ts';
import { actionNumbered } from '../portal/portal-records.ts';
import { isUnderWay } from '../transactions.ts';
import { refusal } from './check-messages.ts';

const MAX_USED = 1_000;

export function inputRefusal(order: Order, input: RequestInput): Refusal | undefined {
  const used = usedBefore(order, input);
  return used ? reuseRefusal(used, input) : refusalOf(order, input.request, input.at, input.sent?.ifAction);
}

/** Accepts or refuses a request, or repeats the reply of an earlier one. Sets `taken`. */
export function takeRequest(order: Order, input: RequestInput): void {
  const used = usedBefore(order, input);
  if (used === undefined) {
    input.taken = acceptRequest(order, input.request, input.at, input.sent?.ifAction);
    remember(order, input, input.taken);
    return;
  }
  const refused = reuseRefusal(used, input);
  input.taken = refused ? { refusal: refused } : takenAgain(order, used.taken, input);
  if (refused === undefined) input.repeated = true;
}

function usedBefore(order: Order, { sent }: RequestInput): Used | undefined {
  return sent && order.used?.[nameOf(sent)];
}

function nameOf({ updateId, key }: Sent): string {
  return key === undefined ? `id:${updateId}` : `key:${key.name}`;
}

function reuseRefusal({ fingerprint }: Used, { sent }: RequestInput): Refusal | undefined {
  if (fingerprint === sent?.key?.fingerprint) return undefined;
  return refusal(
    'idempotency-key-reused',
    'The order has this idempotency key from a different caller, or with different content.',
  );
}

/** A caller of a pending action waits for its result. */
function takenAgain(order: Order, taken: Taken, { at }: RequestInput): Taken {
  if (!('action' in taken)) return taken;
  const record = actionNumbered(order.state, taken.action);
  return isUnderWay(record) ? { ...taken, ...waitFor(order, record, at) } : taken;
}

function remember(order: Order, { request, sent, at }: RequestInput, taken: Taken): void {
  // Attempts are recognized by their number and fingerprint, and a refusal may be different next time.
  if (sent === undefined || 'refusal' in taken || IS_AN_ATTEMPT.includes(request.kind)) return;
  order.used ??= {};
  order.used[nameOf(sent)] = defined({ fingerprint: sent.key?.fingerprint, taken: shortened(taken, at) });
  const [oldest, ...others] = Object.keys(order.used);
  if (oldest !== undefined && others.length >= MAX_USED) delete order.used[oldest];
}

const IS_AN_ATTEMPT: readonly RequestInput['request']['kind'][] = ['decision', 'adopt', 'retry'];

/** The record has the rest of a portal action's answer. */
function shortened(taken: Taken, at: RequestInput['at']): Taken {
  const number = 'portal' in taken ? taken.portal.number : undefined;
  return number === undefined ? taken : { action: number, until: at };
}
