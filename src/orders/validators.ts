/** Why an order doesn't take what it is asked. Read only: what is refused here leaves no trace in the history. */
import {
  acknowledgeRefusal,
  decisionRefusal,
  portalFieldsRefusal,
  retryRefusal,
  withdrawRefusal,
} from './check-messages.ts';
import { gatewayResultRefusal } from './gateway.ts';
import { hintIsNews } from './hints.ts';
import type { ReviewHint } from './messages.ts';
import type { Ask, Input, Order, Refusal } from './order.ts';
import { portalRefusal } from './portal.ts';
import { earlier, stands } from './same-action.ts';
import { mayWait } from './tickets.ts';

const MOST_ACTIONS = 200;

/**
 * @param waiting what came with it and has not been taken in yet
 * @returns why the order doesn't take it, or undefined: it does
 */
export function refusalOf(
  order: Order,
  waiting: readonly Input[],
  asked: Ask,
  nowMs: number,
): Refusal | undefined {
  return refusalNow(order, asked, nowMs) ?? tooMany(order, waiting, asked);
}

/** @returns why the order doesn't take a hint, or undefined: it does. Of those that come together it takes one */
export function hintRefusal(
  { state }: Order,
  waiting: readonly Input[],
  hint: ReviewHint,
  nowMs: number,
): Refusal | undefined {
  const another = waiting.some((input) => input.kind === 'hint');
  if (!another && hintIsNews(state, hint, nowMs)) return undefined;
  return { code: 'hint-not-needed', message: 'A read is due already.' };
}

/** @returns why the order can't take it as it stands, or undefined: it can, or that can't be told yet */
export function refusalNow(order: Order, asked: Ask, nowMs: number): Refusal | undefined {
  const { state } = order;
  switch (asked.kind) {
    case 'decision':
      return decisionRefusal(state, asked.request);
    case 'retry':
      return comesEarly(order, asked.request?.attempt)
        ? undefined
        : retryRefusal(state, asked.request, nowMs);
    case 'gateway-result': {
      const code = gatewayResultRefusal(state, asked.request, nowMs);
      return code && { code, message: 'The order does not take this gateway result now.' };
    }
    case 'portal':
      return portalFieldsRefusal(asked.fields) ?? actionRefusal(order, asked.fields, nowMs);
    case 'withdraw':
      return withdrawRefusal(state, asked.request);
    case 'acknowledge':
      return acknowledgeRefusal(state, asked.request, nowMs);
  }
}

/** After a reset Temporal sends the updates again at once, also those that came after the attempt before, which may not come this time. */
export function comesEarly({ wasReset, state: { attempts } }: Order, attempt: number): boolean {
  return wasReset && attempts.length < attempt && attempts[attempt - 2]?.answer === undefined;
}

function actionRefusal(
  { state }: Order,
  fields: Extract<Ask, { kind: 'portal' }>['fields'],
  nowMs: number,
): Refusal | undefined {
  if (stands(earlier(state, fields))) return undefined;
  const refused = portalRefusal(state, fields, nowMs);
  if (refused !== undefined) {
    return { message: 'The order does not take this portal action now.', ...refused };
  }
  if (state.actions.length < MOST_ACTIONS) return undefined;
  return { code: 'too-many-actions', message: `An order has at most ${MOST_ACTIONS} portal actions.` };
}

/** An answer that is long in coming must not make the order deaf: Temporal lets ten updates be in flight. */
function tooMany(order: Order, waiting: readonly Input[], asked: Ask): Refusal | undefined {
  const attempt = asked.kind === 'decision' || asked.kind === 'retry' ? asked.request.attempt : undefined;
  const unanswered = attempt !== undefined && order.state.attempts[attempt - 1]?.answer === undefined;
  const unjudged = asked.kind === 'portal' && order.state.policy === undefined;
  if (!unanswered && !unjudged) return undefined;
  const asks = waiting.filter((input) => input.kind === 'ask').length;
  const all = asks + order.tickets.length + order.held.length;
  if (all < MOST_AT_ONCE && mayWait(order, (one) => 'attempt' in one && one.attempt === attempt))
    return undefined;
  return { code: 'busy', message: 'Too many wait for this order: send the same request again.' };
}

const MOST_AT_ONCE = 6;
