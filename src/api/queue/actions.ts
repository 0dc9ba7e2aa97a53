/** What can be done on the pages, to one order or to several: its words, when an order takes it, what came of it. */
import { z } from 'zod';
import { checked } from '../../client/read-requests.ts';
import { ORDER_ERRORS } from '../../contract/errors.ts';
import { reasonSchema } from '../../contract/fields.ts';
import type { OrderKey } from '../../contract/ids.ts';
import { overrideRefusal } from '../../orders/concerns/operators.ts';
import { portalRefusal } from '../../orders/portal-records.ts';
import type { InspectedOrder, OrderName, OrderScreening, PortalOptions } from '../../starter.ts';
import { orderParams, orderQuery } from '../request-schemas.ts';

interface Words {
  title: string;
  about: string;
  button: string;
  scope: 'act' | 'ops';
  reason?: 'required' | 'optional';
}

/** Everything that a button does. Who decides in place of the service needs the scope `ops`, as by the API. */
export const PAGE_ACTIONS = {
  recheck: {
    title: 'Recheck order',
    about:
      'The decision is read from the screening service now, also of a closed order. An open order whose decision is error is screened again.',
    button: 'Recheck now',
    scope: 'act',
  },
  acknowledge: {
    title: 'Acknowledge order',
    about: 'What needs attention is cleared. Say what was done about it.',
    button: 'Acknowledge',
    scope: 'act',
    reason: 'required',
  },
  proceed: {
    title: 'Let proceed order',
    about:
      'You decide in place of the screening service: the order service is told to proceed, whatever the service says later. A cancel that waits is withdrawn.',
    button: 'Let it proceed',
    scope: 'ops',
    reason: 'required',
  },
  'decide-cancel': {
    title: 'Decide to cancel order',
    about:
      'You decide in place of the screening service: the order service is told to cancel the order, and the transaction is canceled with the service where that can still be done. It doesn’t void or refund the payment: that is the order service’s.',
    button: 'Decide to cancel',
    scope: 'ops',
    reason: 'required',
  },
  cancel: {
    title: 'Cancel order',
    about:
      'The transaction is canceled with the screening service, and the order service is told to cancel the order. This can’t be taken back. It doesn’t void or refund the payment: that is the order service’s.',
    button: 'Cancel the order',
    scope: 'act',
    reason: 'optional',
  },
  withdraw: {
    title: 'Withdraw a portal action of order',
    about:
      'It is not sent to the screening service any more. What was sent already may still be done: the order then says so.',
    button: 'Withdraw the action',
    scope: 'act',
  },
  redeliver: {
    title: 'Send an event again of order',
    about: 'The receiver gets it once more, with the same id and content.',
    button: 'Send it again',
    scope: 'act',
  },
} as const satisfies Record<string, Words>;
export type PageAction = keyof typeof PAGE_ACTIONS;

/** What can be done to several orders at once. */
export const SEVERAL = [
  'recheck',
  'acknowledge',
  'proceed',
  'decide-cancel',
] as const satisfies readonly PageAction[];
export type Several = (typeof SEVERAL)[number];

/** @returns what an action is, by its name */
export function wordsOf(action: PageAction): Words {
  return PAGE_ACTIONS[action];
}

/** @returns the address below the order's own, where it is confirmed @param number of the portal action or event */
export function confirmPath(action: PageAction, number?: number | ':number'): string {
  if (action === 'withdraw') return `actions/${number}/withdraw`;
  return action === 'redeliver' ? `events/${number}/redeliver` : action;
}

export interface Asked {
  reason?: string | undefined;
  number?: number | undefined;
}

const WITHDRAWALS = {
  withdrawn: 'withdrawn',
  done: 'done-before',
  requested: 'withdraw-requested',
} as const;

/** Does it. @returns what came of it, by the word that the order's page has for it @throws OrderScreeningError */
export async function perform(
  orders: OrderScreening,
  action: PageAction,
  order: OrderName,
  { reason = '', number = 0 }: Asked,
  how: Pick<PortalOptions, 'by'>,
): Promise<Notice> {
  switch (action) {
    case 'recheck':
      await orders.recheck(order);
      return 'recheck';
    case 'acknowledge':
      await orders.acknowledge(order, { reason }, how);
      return 'acknowledged';
    case 'proceed':
      await orders.override(order, { action: 'proceed', reason }, how);
      return 'proceeds';
    case 'decide-cancel': {
      const { notCanceled } = await orders.override(order, { action: 'cancel', reason }, how);
      return notCanceled === undefined ? 'decided-to-cancel' : 'not-canceled';
    }
    case 'cancel': {
      const { status } = await orders.cancel(order, reason === '' ? {} : { reason }, how);
      return status === 'done' ? 'canceled' : 'cancel-requested';
    }
    case 'withdraw': {
      const { status } = await orders.withdraw(order, { number }, how);
      return WITHDRAWALS[status];
    }
    case 'redeliver': {
      const { status } = await orders.redeliver(order, { sequence: number }, how);
      return status === 'delivered' ? 'redelivered' : 'redeliver-requested';
    }
  }
}

/** What was just done, by the word that stands in the address. */
export const NOTICES = {
  recheck: 'The recheck was asked for. The decision is read in the next seconds.',
  acknowledged: 'Acknowledged: nothing needs attention now.',
  proceeds: 'The order proceeds: you decided.',
  'decided-to-cancel': 'You decided to cancel. The cancel with the service is under way, or done.',
  'not-canceled':
    'You decided to cancel. The service can’t be asked to: the order’s action is cancel all the same.',
  canceled: 'The order is canceled with the service.',
  withdrawn: 'The portal action is withdrawn: it was not sent.',
  'done-before': 'The portal action was done before it could be withdrawn.',
  'withdraw-requested': 'The withdrawal was asked for. Reload the page to see how it ends.',
  'cancel-requested': 'The cancel was asked for, and goes on. Reload the page to see how it ends.',
  redelivered: 'The event was sent again, and taken.',
  'redeliver-requested': 'The event is being sent again.',
} as const;
export type Notice = keyof typeof NOTICES;

/** @returns whether a word of an address is a notice */
export function isNotice(word: unknown): word is Notice {
  return typeof word === 'string' && Object.hasOwn(NOTICES, word);
}

/** @returns why the order doesn't take it now, in words; undefined: it may, or nobody knows */
export function refusalOf(
  action: PageAction,
  { summary, state }: InspectedOrder,
  nowMs: number,
): string | undefined {
  const open = summary.closedAt === undefined && state?.phase !== 'closed';
  if (state === undefined) return undefined;
  if (action === 'acknowledge') return state.attention.length === 0 ? 'nothing needs attention' : undefined;
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

// What a form of theirs sends.

const MOST_CHOSEN = 50;

const reason = z
  .string()
  // A browser counts the end of a line as one character, and sends two.
  .transform((words) => words.replaceAll('\r\n', '\n').trim() || undefined)
  .pipe(reasonSchema.optional())
  .optional();
/** @returns what reads the form of an action */
export const formOf = (action: PageAction) =>
  z.object({
    reason:
      wordsOf(action).reason === 'required'
        ? reason.refine((words) => words !== undefined, 'is required')
        : reason,
  });
const severalSchema = z.object({
  do: z.enum(SEVERAL, { error: `must be one of ${SEVERAL.join(', ')}` }),
  order: z
    .preprocess(
      (given) => (typeof given === 'string' ? [given] : given),
      z.array(z.string(), 'must be chosen'),
    )
    .refine((list) => list.length <= MOST_CHOSEN, `must be at most ${MOST_CHOSEN}`),
});

/** @throws OrderScreeningError for a form that names no orders */
export function chosenIn(given: unknown): { action: Several; chosen: OrderKey[] } {
  const { do: action, order } = checked(severalSchema, given);
  const chosen = [...new Set(order)].map((one) => {
    const [, integration, orderId] = /^([^/]*)\/(.*)$/s.exec(one) ?? [];
    return { ...checked(orderParams, { orderId }), integration: integration ?? '' };
  });
  for (const { integration } of chosen) {
    checked(orderQuery, { integration });
  }
  return { action, chosen };
}

/** @returns whether a word is an action */
export function isAction(word: string): word is PageAction {
  return Object.hasOwn(PAGE_ACTIONS, word);
}
