/** What people who handle an order write on it: notes, an assignee, and a snooze, which puts its attention off. */
import type { HandlingRequests } from '../../contract/messages.ts';
import type { OrderState } from '../../contract/order/state.ts';
import { type Instant, instant, millis } from '../../contract/words.ts';
import { snoozeLimit } from '../deadlines.ts';
import { defined } from '../defined.ts';
import { invalid, refusal } from '../messages/check-messages.ts';
import type { Accepted, Order, Refusal, Request } from '../order.ts';

/** @returns why the order refuses the snooze, or undefined: it accepts it */
export function snoozeRefusal(
  state: OrderState,
  { until }: HandlingRequests['snooze'],
  now: Instant,
): Refusal | undefined {
  if (state.endedAt !== undefined)
    return refusal('order-closed', 'The order is closed: acknowledge its attention instead.');
  if (millis(until) <= millis(now)) return invalid([{ path: 'until', message: 'must be in the future' }]);
  const limit = snoozeLimit(state, now);
  if (limit === undefined || millis(until) <= millis(limit)) return undefined;
  const message = `must not be later than ${limit}, when the order’s time to act ends`;
  return invalid([{ path: 'until', message }]);
}

type Asked = Extract<Request, { kind: keyof HandlingRequests }>;

export function takeHandling({ state }: Order, asked: Asked): Accepted {
  const entry = writeOn(state, asked);
  const { orderId, integration, assignee, snoozedUntil } = state;
  const handling = { orderId, integration, ...defined({ assignee, snoozedUntil }) };
  return { taken: { handling }, ...(entry !== undefined && { entry }) };
}

/** @returns the journal entry; undefined if nothing changed */
function writeOn(state: OrderState, { kind: what, request }: Asked): Accepted['entry'] {
  switch (what) {
    case 'note':
      return { what, because: request.text };
    case 'assign': {
      const { assignee: before } = state;
      delete state.assignee;
      if (request.assignee) state.assignee = request.assignee;
      const { assignee } = state;
      return assignee === before ? undefined : { what, ...defined({ assignee }) };
    }
    case 'snooze':
      state.snoozedUntil = instant(millis(request.until));
      return { what, until: state.snoozedUntil, because: request.note };
  }
}
