/** What an order has to know of each portal action. Workflow code imports this table; `portal-actions.ts` adds the zod schemas. */

/** How a field may be sent to an order: text that isn't empty, text that may be empty, `true` or `false`, `'true'` or `'false'`. */
export type PortalField = 'text' | 'text?' | 'empty-text?' | 'flag?' | 'true-or-false?';

interface PortalKind {
  /** The name of the update, and of the client library's method. */
  method: string;
  /** All fields. Those of the content, in this order, make the action's identity, which is on record: don't change the order. */
  fields: Readonly<Record<string, PortalField>>;
  /** Words for an action that was sent and has no answer. */
  unconfirmed: string;
  /** The action belongs to the order and not to one of its transactions. */
  ofOrder?: true;
  /** The screening service would do it twice: it is sent again only with `force`. */
  once?: true;
}

export const PORTAL_KINDS = {
  cancel: {
    method: 'cancel',
    fields: { reason: 'text?', transactionId: 'text?' },
    unconfirmed: 'The cancel may have been done: look in the portal, or ask for it again.',
  },
  'report-fraud': {
    method: 'reportFraud',
    fields: { reason: 'text?', transactionId: 'text?' },
    unconfirmed: 'The fraud report may have been made: look in the portal, or send it again.',
  },
  chargeback: {
    method: 'submitChargeback',
    fields: {
      reason_code: 'text',
      due_date: 'text',
      notice_date: 'text?',
      reference_number: 'empty-text?',
      carrier: 'empty-text?',
      carrier_tracking_number: 'empty-text?',
      notes: 'empty-text?',
      inquiry: 'true-or-false?',
      force: 'flag?',
      transactionId: 'text?',
    },
    unconfirmed:
      'The chargeback may have been submitted: look in the portal before you send it again with force.',
    once: true,
  },
  'customer-code': {
    method: 'attachCustomerCode',
    fields: { customerCode: 'text', email: 'text?', transactionId: 'text?' },
    unconfirmed: 'The customer code may be attached: look in the portal, or send it again.',
    ofOrder: true,
  },
} as const satisfies Record<string, PortalKind>;

export type PortalActionKind = keyof typeof PORTAL_KINDS;

/** The same table, for code that is about any of the kinds. */
export const portalKind: (kind: PortalActionKind) => PortalKind = (kind) => PORTAL_KINDS[kind];

export const PORTAL_ACTIONS = Object.keys(PORTAL_KINDS) as PortalActionKind[];

/** Makes a value for each kind. */
export function byPortalKind<Value>(
  make: (kind: PortalActionKind) => Value,
): Record<PortalActionKind, Value> {
  return Object.fromEntries(PORTAL_ACTIONS.map((kind) => [kind, make(kind)])) as Record<
    PortalActionKind,
    Value
  >;
}

export function isPortalAction(kind: string): kind is PortalActionKind {
  return Object.hasOwn(PORTAL_KINDS, kind);
}

/** Returns whether the action must not be sent again after an unknown outcome. */
export function isSentOnce({ kind, force }: { kind: PortalActionKind; force?: boolean }): boolean {
  return portalKind(kind).once === true && force !== true;
}

/** Fields that the order uses itself, and that the screening service doesn't get. */
const ORDERS_OWN = ['reason', 'force', 'transactionId'];

/** Returns the names of the fields that the screening service gets. They distinguish an action from others of its kind and transaction. */
export function contentOf(kind: PortalActionKind): string[] {
  return Object.keys(PORTAL_KINDS[kind].fields).filter((name) => !ORDERS_OWN.includes(name));
}
