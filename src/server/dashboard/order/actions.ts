/** The actions on the pages, for one order or several: their words, how each is sent, and when an order accepts it. */
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { ORDER_ERRORS, type OrderErrorCode } from '../../../contract/errors.ts';
import { momentSchema, reasonSchema } from '../../../contract/fields.ts';
import type { OrderKey } from '../../../contract/ids.ts';
import { ACTIONS, instant } from '../../../contract/words.ts';
import { staysOpen } from '../../../order/attention.ts';
import { overrideRefusal } from '../../../order/concerns/operators.ts';
import { defined } from '../../../order/defined.ts';
import { portalRefusal } from '../../../order/portal/portal-records.ts';
import { isUnderWay } from '../../../order/transactions.ts';
import type { InspectedOrder, OrderScreening, PortalOptions } from '../../../starter.ts';
import { withLineFeeds } from '../html.ts';
import { unlessOurs } from '../queue-store.ts';
import { HOUR_MS } from '../words.ts';

export const askedSchema = z.object({
  reason: z
    .string()
    // A browser counts a line break as one character, and sends two.
    .transform((words) => withLineFeeds(words).trim() || undefined)
    .pipe(reasonSchema.optional())
    .optional(),
  /** Of a snooze. */
  hours: z.coerce.number('must be a number').int().min(1).max(720).optional(),
  assignee: z
    .string()
    .transform((name) => name.trim() || undefined)
    .optional(),
  /** What the person saw of the order: its action, and when its newest matter was raised. */
  ifAction: z.enum(ACTIONS).optional().catch(undefined),
  until: momentSchema.optional().catch(undefined),
  /** Identifies the form, so that one that is sent twice is done once. */
  once: z.uuid().optional().catch(undefined),
});
/** The fields of a form as they were typed; empty if there are several of the name. */
export const typedFields = z.record(z.string(), z.string().catch('')).catch({});
/** `number`: of a portal action or event. */
type Asked = z.output<typeof askedSchema> & { number?: number | undefined };

export const formOf = (action: PageAction) =>
  askedSchema.refine(({ reason }) => reason !== undefined || PAGE_ACTIONS[action].reason !== 'required', {
    path: ['reason'],
    error: 'is required',
  });

/** The actions that can be applied to several orders at once. */
export const SEVERAL = ['recheck', 'acknowledge', 'proceed', 'decide-cancel', 'snooze', 'note'] as const;
export type PageAction = (typeof SEVERAL)[number] | 'cancel' | 'assign' | 'withdraw' | 'redeliver';

interface ActionDefinition {
  about: string;
  button: string;
  /** Overriding the screening service's decision needs `ops`, as in the API. Default: `act`. */
  scope?: 'ops';
  reason?: 'required' | 'optional';
  /** What the form calls the reason. */
  label?: string;
  /** It can't be undone. */
  danger?: true;
  /** @throws OrderScreeningError */
  send: (orders: OrderScreening, order: OrderKey, asked: Asked, how: PortalOptions) => Promise<Notice>;
}

export const PAGE_ACTIONS: Readonly<Record<PageAction, ActionDefinition>> = {
  recheck: {
    about:
      'Reads the decision from the screening service now, also for a closed order. Screens an open order again if its decision is error.',
    button: 'Recheck',
    send: (orders, order) => orders.recheck(order).then(() => 'recheck'),
  },
  acknowledge: {
    about: 'Clears everything that needs attention. Describe what was done about it.',
    button: 'Resolve',
    reason: 'required',
    send: async (orders, order, { reason = '', until }, how) => {
      const { cleared } = await orders.acknowledge(order, { reason, ...defined({ until }) }, how);
      return cleared > 0 ? 'resolved' : 'nothing-to-resolve';
    },
  },
  proceed: {
    about:
      'Overrides the screening service: the order’s action becomes proceed, whatever the screening service decides later. Withdraws a queued cancel.',
    button: 'Approve',
    scope: 'ops',
    reason: 'required',
    send: (orders, order, { reason = '', ifAction }, how) =>
      orders.override(order, { action: 'proceed', reason }, { ...how, ifAction }).then(() => 'proceeds'),
  },
  'decide-cancel': {
    about:
      'Overrides the screening service: the order’s action becomes cancel, and the transaction is canceled with the screening service if that is still possible. This doesn’t void or refund the payment; the order service does that.',
    button: 'Reject and cancel',
    scope: 'ops',
    reason: 'required',
    danger: true,
    send: async (orders, order, { reason = '', ifAction }, how) => {
      const request = { action: 'cancel', reason } as const;
      const { notCanceled } = await orders.override(order, request, { ...how, ifAction });
      return notCanceled === undefined ? 'decided-to-cancel' : 'not-canceled';
    },
  },
  cancel: {
    about:
      'Cancels the transaction with the screening service. The order’s action becomes cancel. This can’t be undone, and it doesn’t void or refund the payment; the order service does that.',
    button: 'Cancel order',
    reason: 'optional',
    danger: true,
    send: async (orders, order, { reason, ifAction }, how) => {
      const { status } = await orders.cancel(order, defined({ reason }), { ...how, ifAction });
      return status === 'done' ? 'canceled' : 'cancel-requested';
    },
  },
  snooze: {
    about:
      'Puts the order off. It comes back at that time, and before if anything new needs a person or its cancel window ends.',
    button: 'Snooze',
    reason: 'required',
    label: 'Note',
    send: (orders, order, { reason = '', hours = 1 }, how) => {
      const until = instant(Date.now() + hours * HOUR_MS);
      return orders.snooze(order, { until, note: reason }, how).then(() => 'snoozed');
    },
  },
  note: {
    about: 'Adds a note to the order’s journal.',
    button: 'Add note',
    reason: 'required',
    label: 'Note',
    send: (orders, order, { reason = '' }, how) =>
      orders.note(order, { text: reason }, how).then(() => 'noted'),
  },
  assign: {
    about: 'Names the person who handles the order. Leave it empty for nobody.',
    button: 'Assign',
    send: (orders, order, { assignee = null }, how) =>
      orders.assign(order, { assignee }, how).then(() => (assignee === null ? 'unassigned' : 'assigned')),
  },
  withdraw: {
    about:
      'Stops sending the action to the screening service. An action that was already sent may still succeed; the order then shows it as done.',
    button: 'Withdraw action',
    send: async (orders, order, { number = 0 }, how) => {
      const { status } = await orders.withdraw(order, { number }, how);
      if (status === 'withdrawn') return 'withdrawn';
      return status === 'done' ? 'done-before' : 'withdraw-requested';
    },
  },
  redeliver: {
    about: 'Sends the event to the receiver again, with the same id and content.',
    button: 'Resend event',
    send: async (orders, order, { number = 0 }, how) => {
      const { status } = await orders.redeliver(order, { sequence: number }, how);
      return status === 'delivered' ? 'redelivered' : 'redeliver-requested';
    },
  },
};

/** @returns the path of an action, relative to the order's page @param number of the portal action or event */
export function actionPath(action: PageAction, number?: number | ':number'): string {
  if (action === 'withdraw') return `actions/${number}/withdraw`;
  return action === 'redeliver' ? `events/${number}/redeliver` : action;
}

/** The result of the last action, by the value of the query parameter `notice`. */
export const NOTICES = {
  recheck: 'Recheck requested. The decision is read within seconds, of a canceled order when it ends.',
  resolved: 'Resolved, except for a matter whose cause still exists.',
  'nothing-to-resolve': 'Nothing needed attention: nothing was changed.',
  snoozed:
    'Snoozed. Until then, an order in review or screening is under “Snoozed”; find any other by its id.',
  noted: 'The note is in the timeline.',
  assigned: 'Assigned.',
  unassigned: 'Assigned to nobody.',
  proceeds: 'You approved the order.',
  'decided-to-cancel': 'You rejected the order. The cancel with the screening service is running or done.',
  'not-canceled':
    'You rejected the order. The transaction can’t be canceled with the screening service, but the order’s action is cancel.',
  canceled: 'The transaction is canceled.',
  withdrawn: 'The portal action was withdrawn before it was sent.',
  'done-before': 'The portal action was done before it could be withdrawn.',
  'withdraw-requested': 'Withdrawal requested. Reload the page to see the result.',
  'cancel-requested': 'Cancel requested. It is being sent to the screening service.',
  redelivered: 'The event was resent, and the receiver accepted it.',
  'redeliver-requested': 'The event is being resent.',
} as const;
type Notice = keyof typeof NOTICES;

/** How long a page waits for a cancel. Then the order's page shows it as running. */
const QUICK_MS = 1_500;

/**
 * Performs the action; returns early if it is a cancel that the order has recorded and still tries to send.
 * @param late called if an action fails after this function has returned
 * @throws OrderScreeningError
 */
export async function perform(
  orders: OrderScreening,
  action: PageAction,
  order: OrderKey,
  asked: Asked,
  by: Pick<PortalOptions, 'by'>,
  late: (error: unknown) => void,
): Promise<Notice> {
  const performed = PAGE_ACTIONS[action].send(orders, order, asked, howOf(by, asked));
  if (action !== 'cancel') return performed;
  const first = await Promise.race([performed, pause(QUICK_MS, undefined, { ref: false })]);
  if (first !== undefined) return first;
  const found = await orders.inspect(order, { withinMs: QUICK_MS }).catch(unlessOurs);
  if (!found?.state?.actions.some((one) => one.kind === 'cancel' && isUnderWay(one))) return performed;
  performed.catch(late);
  return 'cancel-requested';
}

/**
 * Returns who asks, and the key by which the order recognizes a form that it has accepted before: the same form with the same words. A
 * snooze isn't recognized, since its end counts from when it was sent; sent again, it only moves that end.
 */
function howOf(by: Pick<PortalOptions, 'by'>, { once, ...asked }: Asked): PortalOptions {
  if (once === undefined || asked.hours !== undefined) return by;
  const words = JSON.stringify([once, asked]);
  return { ...by, idempotencyKey: createHash('sha256').update(words).digest('base64url') };
}

/** @returns why the order doesn't accept the action now; undefined if it does, or if that is unknown */
export function refusalOf(
  action: PageAction,
  { summary, state }: InspectedOrder,
  nowMs: number,
): string | undefined {
  const isClosed = summary.closedAt !== undefined;
  const isOver = isClosed || state?.phase === 'closed';
  const titleOf = (code?: OrderErrorCode) => code && ORDER_ERRORS[code].title.toLowerCase();
  if (action === 'acknowledge' && isClosed) return titleOf('order-closed');
  if (state === undefined) return undefined;
  if (action === 'acknowledge') {
    if (state.attention.length === 0) return 'nothing needs attention';
    const remain = state.attention.every((one) => staysOpen(state, one, nowMs));
    return remain ? titleOf('attention-stands') : undefined;
  }
  if (action === 'recheck') {
    const isDone = isOver && state.transactions.length === 0;
    return isDone ? 'the order is closed and has no transaction to read' : undefined;
  }
  if (action === 'cancel') return titleOf(portalRefusal(state, { kind: 'cancel' }, nowMs, isOver)?.code);
  if (isOver || state.endedAt !== undefined) return titleOf('order-closed');
  if (action === 'proceed') return titleOf(overrideRefusal(state, { action: 'proceed' })?.code);
  if (action === 'decide-cancel') return titleOf(overrideRefusal(state, { action: 'cancel' })?.code);
  return undefined;
}
