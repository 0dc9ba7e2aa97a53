/** The concerns of an order. Each is one file and one entry here. Effects are started in this order. */
import { type By, type Instant, millis } from '../../contract/words.ts';
import { announce } from '../events.ts';
import { note } from '../journal.ts';
import { refusal } from '../messages/check-messages.ts';
import type { Accepted, Order, Refusal, Request, Taken } from '../order.ts';
import { withdrawRefusal } from '../portal/portal-requests.ts';
import { card } from './card.ts';
import type { Concern } from './concern.ts';
import { deadlines } from './deadlines.ts';
import { delivery } from './delivery.ts';
import { gateway, gatewayRefusal, takeGatewayResult } from './gateway.ts';
import { snoozeRefusal, takeHandling } from './handling.ts';
import { lookup } from './lookup.ts';
import { acknowledgeRefusal, override, overrideRefusal, resolve } from './operators.ts';
import { portal } from './portal.ts';
import { actionRefusal, takePortalAction, withdraw } from './portal-requests.ts';
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

/** @returns why the order refuses the request in its current state, or undefined: it accepts it */
export function refusalOf(order: Order, asked: Request, at: Instant): Refusal | undefined {
  switch (asked.kind) {
    case 'decision':
    case 'retry':
    case 'adopt':
      return attemptRefusal(order, asked);
    case 'acknowledge':
      return acknowledgeRefusal(order.state, millis(at));
    case 'note':
    case 'assign':
      return undefined;
    case 'snooze':
      return snoozeRefusal(order.state, asked.request, at);
    case 'withdraw':
      return withdrawRefusal(order.state, asked.request);
  }
  if (order.policyMissing)
    return refusal('busy', 'The policy is not known yet: send the same request again.');
  switch (asked.kind) {
    case 'gateway-result':
      return gatewayRefusal(order, asked.request);
    case 'portal':
      return actionRefusal(order, asked.fields, at);
    case 'override':
      return overrideRefusal(order.state, asked.request);
  }
}

/** Accepts or refuses a request. Announces its events, and records a person's action in the journal. */
export function acceptRequest(order: Order, asked: Request, at: Instant): Taken {
  const refused = refusalOf(order, asked, at);
  if (refused !== undefined) return { refusal: refused };
  const by = byOf(asked);
  const { taken, events = [], decided = [], entry } = applyRequest(order, asked, at);
  if (entry !== undefined) note(order, entry, by);
  announce(order, events);
  announce(order, decided, 'person');
  return taken;
}

function applyRequest(order: Order, asked: Request, at: Instant): Accepted {
  switch (asked.kind) {
    case 'decision':
    case 'adopt':
    case 'retry':
      return takeAttempt(order, asked, at);
    case 'gateway-result':
      return takeGatewayResult(order, asked.request);
    case 'portal':
      return takePortalAction(order, asked, at);
    case 'withdraw':
      return withdraw(order, asked.request, at);
    case 'override':
      return override(order, asked.request, at);
    case 'acknowledge':
      return resolve(order, asked.request, at);
    case 'note':
    case 'assign':
    case 'snooze':
      return takeHandling(order, asked);
  }
}

function byOf(asked: Request): By | undefined {
  if (asked.kind === 'portal') return asked.by;
  const { request } = asked;
  return 'by' in request ? request.by : undefined;
}
