/** The actions on the pages, for one order or several: when an order accepts them, their forms, and their results. */
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { checked } from '../../../client/read-requests.ts';
import { ORDER_ERRORS } from '../../../contract/errors.ts';
import { reasonSchema } from '../../../contract/fields.ts';
import type { OrderKey } from '../../../contract/ids.ts';
import { instant } from '../../../contract/words.ts';
import { overrideRefusal } from '../../../order/concerns/operators.ts';
import { portalRefusal } from '../../../order/portal/portal-records.ts';
import { isUnderWay } from '../../../order/portal/portal-requests.ts';
import {
  type InspectedOrder,
  type OrderName,
  type OrderScreening,
  OrderScreeningError,
  type PortalOptions,
} from '../../../starter.ts';
import { FROM_LIMIT, orderParams, orderQuery } from '../../api/request-schemas.ts';
import { HOUR_MS } from '../words.ts';
import { type PageAction, SEVERAL, type Several, wordsOf } from './action-words.ts';

export interface Asked {
  reason?: string | undefined;
  /** Of a snooze. */
  hours?: number | undefined;
  assignee?: string | undefined;
  number?: number | undefined;
  once?: string | undefined;
}

/**
 * @param asked a snooze isn't recognized, since its end counts from when it was sent; sent again, it only moves that end
 * @returns who asks, and the key by which the order recognizes a form that it has accepted before: the same form with the same words
 */
export function howOf(by: Pick<PortalOptions, 'by'>, { once, ...asked }: Asked): PortalOptions {
  if (once === undefined || asked.hours !== undefined) return by;
  const words = JSON.stringify([once, asked]);
  return { ...by, idempotencyKey: createHash('sha256').update(words).digest('base64url') };
}

const WITHDRAWALS = {
  withdrawn: 'withdrawn',
  done: 'done-before',
  requested: 'withdraw-requested',
} as const;

/** What came of an action. `unchanged`: there was nothing to do. */
export interface Performed {
  notice: Notice;
  unchanged?: true;
}

/** Performs the action. @throws OrderScreeningError */
export async function perform(
  orders: OrderScreening,
  action: PageAction,
  order: OrderName,
  { reason = '', number = 0, hours = 1, assignee }: Asked,
  how: PortalOptions,
): Promise<Performed> {
  switch (action) {
    case 'recheck':
      await orders.recheck(order);
      return { notice: 'recheck' };
    case 'acknowledge': {
      const { cleared } = await orders.acknowledge(order, { reason }, how);
      return cleared > 0 ? { notice: 'resolved' } : { notice: 'nothing-to-resolve', unchanged: true };
    }
    case 'proceed':
      await orders.override(order, { action: 'proceed', reason }, how);
      return { notice: 'proceeds' };
    case 'decide-cancel': {
      const { notCanceled } = await orders.override(order, { action: 'cancel', reason }, how);
      return { notice: notCanceled === undefined ? 'decided-to-cancel' : 'not-canceled' };
    }
    case 'cancel': {
      const { status } = await orders.cancel(order, reason === '' ? {} : { reason }, how);
      return { notice: status === 'done' ? 'canceled' : 'cancel-requested' };
    }
    case 'snooze': {
      const until = instant(Date.now() + hours * HOUR_MS);
      await orders.snooze(order, { until, note: reason }, how);
      return { notice: 'snoozed' };
    }
    case 'note':
      await orders.note(order, { text: reason }, how);
      return { notice: 'noted' };
    case 'assign':
      await orders.assign(order, { assignee: assignee ?? null }, how);
      return { notice: assignee === undefined ? 'unassigned' : 'assigned' };
    case 'withdraw': {
      const { status } = await orders.withdraw(order, { number }, how);
      return { notice: WITHDRAWALS[status] };
    }
    case 'redeliver': {
      const { status } = await orders.redeliver(order, { sequence: number }, how);
      return { notice: status === 'delivered' ? 'redelivered' : 'redeliver-requested' };
    }
  }
}

/** How long a page waits for a cancel. Then the order's page shows it as running. */
const QUICK_MS = 1_500;

/**
 * Performs the action; returns early if it is a cancel that the order has recorded and still tries to send.
 * @param log called if an action fails after this function has returned
 * @throws OrderScreeningError
 */
export async function performSoon(
  orders: OrderScreening,
  action: PageAction,
  order: OrderName,
  [asked, how]: [Asked, PortalOptions],
  log: (error: unknown) => void,
): Promise<Performed> {
  const performed = perform(orders, action, order, asked, how);
  if (action !== 'cancel') return performed;
  const late = Symbol('late');
  const first = await Promise.race([performed, pause(QUICK_MS, late, { ref: false })]);
  if (first !== late) return performed;
  const found = await orders.inspect(order, { withinMs: QUICK_MS }).catch(unlessOurs);
  if (!found?.state?.actions.some((one) => one.kind === 'cancel' && isUnderWay(one))) return performed;
  performed.catch(log);
  return { notice: 'cancel-requested' };
}

/** Ignores an `OrderScreeningError`. @throws any other error */
export function unlessOurs(error: unknown): undefined {
  if (!(error instanceof OrderScreeningError)) throw error;
}

/** The result of the last action, by the value of the query parameter `notice`. */
export const NOTICES = {
  recheck: 'Recheck requested. The decision is read within seconds.',
  resolved: 'Resolved, except for a matter whose cause still exists.',
  'nothing-to-resolve': 'Nothing needed attention: nothing was changed.',
  snoozed: 'Snoozed. The order is under “Snoozed” until then.',
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
export type Notice = keyof typeof NOTICES;

/** @returns whether a query parameter is the name of a notice */
export function isNotice(word: unknown): word is Notice {
  return typeof word === 'string' && Object.hasOwn(NOTICES, word);
}

/** @returns why the order doesn't accept the action now; undefined if it does, or if that is unknown */
export function refusalOf(
  action: PageAction,
  { summary, state }: InspectedOrder,
  nowMs: number,
): string | undefined {
  const open = summary.closedAt === undefined && state?.phase !== 'closed';
  if (state === undefined) return undefined;
  if (action === 'acknowledge') return state.attention.length === 0 ? 'nothing needs attention' : undefined;
  if (action === 'snooze' || action === 'note' || action === 'assign')
    return state.endedAt === undefined && open ? undefined : 'the order is closed';
  if (action === 'recheck') {
    return open || state.transactions.length > 0
      ? undefined
      : 'the order is closed and has no transaction to read';
  }
  if (action === 'proceed' || action === 'decide-cancel') {
    const request = { action: action === 'proceed' ? 'proceed' : 'cancel' } as const;
    const code = open ? overrideRefusal(state, request)?.code : 'order-closed';
    return code && ORDER_ERRORS[code].title.toLowerCase();
  }
  if (action !== 'cancel') return undefined;
  const code = portalRefusal(state, { kind: 'cancel' }, nowMs, !open)?.code;
  return code && ORDER_ERRORS[code].title.toLowerCase();
}

// Parsing of forms.

/** As many as a page of the queue has. */
const MOST_CHOSEN = 100;

const reason = z
  .string()
  // A browser counts a line break as one character, and sends two.
  .transform((words) => words.replaceAll('\r\n', '\n').trim() || undefined)
  .pipe(reasonSchema.optional())
  .optional();
/** @returns the schema of an action's form */
export const formOf = (action: PageAction) =>
  z.object({
    reason:
      wordsOf(action).reason === 'required'
        ? reason.refine((words) => words !== undefined, 'is required')
        : reason,
    hours: z.coerce.number('must be a number').int().min(1).max(720).optional(),
    assignee: z
      .string()
      .transform((name) => name.trim() || undefined)
      .optional(),
    once: z.uuid().optional().catch(undefined),
  });
const severalSchema = z.object({
  do: z.enum(SEVERAL, { error: `must be one of ${SEVERAL.join(', ')}` }),
  order: z
    .preprocess(
      (given) => (typeof given === 'string' ? [given] : given),
      z.array(z.string(), 'must be selected'),
    )
    .refine((list) => list.length <= MOST_CHOSEN, `must be at most ${MOST_CHOSEN}`),
  from: z.string().max(FROM_LIMIT).optional().catch(undefined),
});

/** @throws OrderScreeningError `invalid-request` for a form without orders */
export function chosenIn(given: unknown): { action: Several; chosen: OrderKey[]; from: string | undefined } {
  const { do: action, order, from } = checked(severalSchema, given);
  const chosen = [...new Set(order)].map((one) => {
    const [, integration, orderId] = /^([^/]*)\/(.*)$/s.exec(one) ?? [];
    return { ...checked(orderParams, { orderId }), integration: integration ?? '' };
  });
  for (const { integration } of chosen) {
    checked(orderQuery, { integration });
  }
  return { action, chosen, from };
}
