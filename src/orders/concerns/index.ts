/** The concerns of an order. A new one is one file and one entry here. Effects are started in this order. */
import { adoptRefusal, byRefusal, refusal } from '../check-messages.ts';
import { announce } from '../events.ts';
import type { Concern } from '../kernel.ts';
import type { Order, Refusal, Request, Taken } from '../order.ts';
import type { Instant } from '../words.ts';
import { card } from './card.ts';
import { deadlines } from './deadlines.ts';
import { delivery } from './delivery.ts';
import { applyGatewayResult, gateway, gatewayRefusal, gatewayReply } from './gateway.ts';
import { lookup } from './lookup.ts';
import { override, overrideRefusal, resolve, resolveRefusal } from './operators.ts';
import { portal } from './portal.ts';
import { portalRequestRefusal, takePortalAction, withdraw } from './portal-requests.ts';
import { attemptRefusal, screening, takeAttempt } from './screening.ts';
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

/** @returns why the order refuses the request as it stands, or undefined: it takes it */
export function refusalOf(order: Order, asked: Request, at: Instant): Refusal | undefined {
  switch (asked.kind) {
    case 'decision':
    case 'retry':
      return attemptRefusal(order, asked);
    case 'adopt':
      return adoptRefusal(order.state, asked.request) ?? byRefusal(asked.request.by);
    case 'acknowledge':
      return resolveRefusal(order, asked.request, at);
    case 'withdraw':
      return portalRequestRefusal(order, asked, at);
  }
  if (order.policyMissing)
    return refusal('busy', 'The policy is not known yet: send the same request again.');
  switch (asked.kind) {
    case 'gateway-result':
      return gatewayRefusal(order, asked.request);
    case 'portal':
      return portalRequestRefusal(order, asked, at);
    case 'override':
      return overrideRefusal(order.state, asked.request) ?? byRefusal(asked.request.by);
  }
}

/** Takes a request in. */
export function takeIn(order: Order, asked: Request, at: Instant): Taken {
  const refused = refusalOf(order, asked, at);
  if (refused !== undefined) return { refusal: refused };
  switch (asked.kind) {
    case 'decision':
    case 'adopt':
    case 'retry':
      return takeAttempt(order, asked, at);
    case 'gateway-result':
      announce(order, applyGatewayResult(order.state, asked.request, order.now));
      return gatewayReply(order, asked.request);
    case 'portal':
      return takePortalAction(order, asked, at);
    case 'withdraw': {
      const { taken, events } = withdraw(order, asked.request, at);
      announce(order, events);
      return taken;
    }
    case 'override': {
      const { taken, events, decided } = override(order, asked.request, at);
      announce(order, events);
      announce(order, decided, 'person');
      return taken;
    }
    case 'acknowledge':
      return resolve(order, asked.request, at);
  }
}
