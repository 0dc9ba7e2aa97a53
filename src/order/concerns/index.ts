/** The concerns of an order. Each is one file and one entry here. Effects are started in this order. */
import type { Action, Instant } from '../../contract/words.ts';
import { announce } from '../events.ts';
import { note } from '../journal.ts';
import { adoptRefusal, decisionRefusal, refusal, retryRefusal } from '../messages/check-messages.ts';
import type { Concern, Handler, Handlers, Order, Refusal, Request, Requests, Taken } from '../order.ts';
import { withdrawRefusal } from '../portal/portal-requests.ts';
import { card } from './card.ts';
import { deadlines } from './deadlines.ts';
import { delivery } from './delivery.ts';
import { gateway, gatewayRefusal, takeGatewayResult } from './gateway.ts';
import { lookup } from './lookup.ts';
import { operatorRequests } from './operators.ts';
import { actionRefusal, portal, takePortalAction, withdraw } from './portal.ts';
import { beginAttempt, confirmAdoption, screening } from './screening.ts';
import { status } from './status.ts';

export const CONCERNS: readonly Concern[] = [
  screening,
  status,
  gateway,
  lookup,
  card,
  portal,
  delivery,
  deadlines,
];

const REQUESTS: Handlers = {
  decision: {
    refusal: ({ state }, request) => decisionRefusal(state, request),
    apply: (_order, { attempt }) => ({ taken: { attempt } }),
  },
  adopt: { refusal: ({ state }, request) => adoptRefusal(state, request), apply: confirmAdoption },
  retry: {
    needsPolicy: true,
    refusal: ({ state }, request) => retryRefusal(state, request),
    apply: beginAttempt,
  },
  'gateway-result': { needsPolicy: true, refusal: gatewayRefusal, apply: takeGatewayResult },
  portal: { needsPolicy: true, refusal: actionRefusal, apply: takePortalAction },
  withdraw: { refusal: withdrawRefusal, apply: withdraw },
  ...operatorRequests,
};

/** @param ifAction the action that the sender saw */
export function refusalOf<Kind extends keyof Requests>(
  order: Order,
  { kind, request }: Request<Kind>,
  at: Instant,
  ifAction?: Action,
): Refusal | undefined {
  const { action } = order.state;
  // Rule «what the person saw».
  if (ifAction !== undefined && ifAction !== action) {
    const words = `The order’s action is «${action}» now, not «${ifAction}»: read the order again.`;
    return refusal('order-changed', words);
  }
  const { needsPolicy, refusal: refusalBy }: Handler<Kind> = REQUESTS[kind];
  if (needsPolicy && order.policyMissing)
    return refusal('busy', 'The policy is not known yet: send the same request again.');
  return refusalBy?.(order, request, at);
}

/** Accepts or refuses a request. Announces its events, and records a person's action in the journal. */
export function acceptRequest<Kind extends keyof Requests>(
  order: Order,
  asked: Request<Kind>,
  at: Instant,
  ifAction?: Action,
): Taken {
  const refused = refusalOf(order, asked, at, ifAction);
  if (refused !== undefined) return { refusal: refused };
  const { kind, request } = asked;
  const handler: Handler<Kind> = REQUESTS[kind];
  const { taken, events = [], entry } = handler.apply(order, request, at);
  if (entry !== undefined) note(order, entry, 'by' in request ? request.by : undefined);
  announce(order, events);
  return taken;
}
