/** The properties of each portal action that workflow code needs. `portal-actions.ts` adds the zod schemas. */

/** The type of a field: text that isn't empty, text that may be empty, `true` or `false`, `'true'` or `'false'`. `?`: optional. */
export type PortalField = 'text' | 'text?' | 'empty-text?' | 'flag?' | 'true-or-false?';

interface PortalKind {
  /** For people, such as «Report fraud». */
  name: string;
  /** The name of the update and of the client library's method. */
  method: string;
  /** All fields. The content fields, in this order, form the action's recorded identity: don't change the order. */
  fields: Readonly<Record<string, PortalField>>;
  /** Message for an action that was sent and got no answer. */
  unconfirmed: string;
  /** The action applies to the order, not to one of its transactions. */
  ofOrder?: true;
  /** Assumption «repeated requests»: a second one would be another one, so it is resent only with `force`. */
  once?: true;
}

export const PORTAL_KINDS = {
  cancel: {
    name: 'Cancel',
    method: 'cancel',
    fields: { reason: 'text?', transactionId: 'text?' },
    unconfirmed: 'The cancel may have been done: look in the portal, or ask for it again.',
  },
  'report-fraud': {
    name: 'Report fraud',
    method: 'reportFraud',
    fields: { reason: 'text?', transactionId: 'text?' },
    unconfirmed: 'The fraud report may have been made: look in the portal, or send it again.',
  },
  chargeback: {
    name: 'Chargeback',
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
    name: 'Attach customer code',
    method: 'attachCustomerCode',
    fields: { customerCode: 'text', email: 'text?', transactionId: 'text?' },
    unconfirmed: 'The customer code may be attached: look in the portal, or send it again.',
    ofOrder: true,
  },
} as const satisfies Record<string, PortalKind>;

export type PortalActionKind = keyof typeof PORTAL_KINDS;

/** The same table, typed for code that handles any kind. */
export const portalKind: (kind: PortalActionKind) => PortalKind = (kind) => PORTAL_KINDS[kind];

export const PORTAL_ACTIONS = Object.keys(PORTAL_KINDS) as PortalActionKind[];

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

/** Returns whether the action must not be resent after an unknown outcome. */
export function isSentOnce({ kind, force }: { kind: PortalActionKind; force?: boolean }): boolean {
  return portalKind(kind).once === true && force !== true;
}

/** Fields that only the order uses. They aren't sent to the screening service. */
const ORDERS_OWN = ['reason', 'force', 'transactionId'];

/** Returns the fields that are sent to the screening service. They distinguish actions of the same kind and transaction. */
export function contentOf(kind: PortalActionKind): string[] {
  return Object.keys(PORTAL_KINDS[kind].fields).filter((name) => !ORDERS_OWN.includes(name));
}
