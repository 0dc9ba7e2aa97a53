/**
 * The errors of the product, a small family with stable codes, shared by the workflow (as the `type` of an
 * `ApplicationFailure`), the client library, the API (as the slug of a problem document) and the CLI.
 */

/** Code, HTTP status and title of each error. */
export const ORDER_ERRORS = {
  'invalid-request': { status: 422, title: 'The request breaks a rule' },
  'card-data-in-request': { status: 422, title: 'Card data or a service key stands where it must not' },
  'unknown-integration': { status: 404, title: 'No such integration' },
  'unknown-order': { status: 404, title: 'No such order' },
  'unknown-transaction': { status: 404, title: 'The order has no such transaction' },
  'unknown-attempt': { status: 404, title: 'The order has no such attempt' },
  'attempt-mismatch': { status: 409, title: 'The same attempt was sent with another content' },
  'retry-out-of-turn': { status: 409, title: 'The order takes no such attempt now' },
  'gateway-result-out-of-turn': { status: 409, title: 'The order takes no gateway result now' },
  'gateway-result-mismatch': { status: 409, title: 'Another gateway result was recorded for this attempt' },
  'attempt-required': { status: 409, title: 'The order has several attempts: name one' },
  'order-closed': { status: 409, title: 'The order is closed' },
  'no-transaction': { status: 409, title: 'The order has no transaction at the screening service' },
  passive: { status: 409, title: 'The integration is passive: nothing is sent to the portal' },
  'cancel-window-closed': { status: 409, title: 'The cancel window is closed' },
  'cancel-window-unknown': { status: 409, title: 'The cancel window of this transaction is not known' },
  'too-many-attempts': { status: 409, title: 'The order has had its twenty attempts' },
  'too-many-actions': { status: 409, title: 'The order has had its two hundred portal actions' },
  'unknown-action': { status: 404, title: 'The order has no such portal action' },
  'action-ended': { status: 409, title: 'The portal action has ended: it can not be withdrawn' },
  'action-withdrawn': { status: 409, title: 'The portal action was withdrawn before it was sent' },
  'action-not-sent': { status: 504, title: 'The portal action could not be sent within a day' },
  'outcome-unknown-before': { status: 409, title: 'An earlier try may have been done: send it with force' },
  'hint-not-needed': { status: 202, title: 'A hint is waiting already' },
  'refused-by-screening-service': { status: 502, title: 'The screening service refused it' },
  'outcome-unknown': { status: 502, title: 'The screening service did not say whether it was done' },
  busy: { status: 503, title: 'Too many wait for this order: send the same request again' },
  late: { status: 503, title: 'The order changed in this very moment: send the same request again' },
  'card-stash-unavailable': {
    status: 503,
    title: 'The card stash is unreachable: send the same request again',
  },
  'temporal-unavailable': { status: 503, title: 'The outcome is unknown: send the same request again' },
} as const;

export type OrderErrorCode = keyof typeof ORDER_ERRORS;

/** A fault of one field. `path` leads to it, `message` says what is wrong and what to do; never the value. */
export interface Fault {
  path: string;
  message: string;
}

/** What an error carries beside its words; a plain object, since it crosses Temporal as a failure's details. */
export interface OrderErrorDetails {
  errors?: Fault[];
  cancelBy?: string;
  /** The service's answer to a refused portal action. */
  serviceCode?: string;
  serviceMessage?: string;
}

/** Thrown by the client library. `code` is stable, the message is for people. */
export class OrderScreeningError extends Error {
  override readonly name = 'OrderScreeningError';
  readonly code: OrderErrorCode;
  readonly details: OrderErrorDetails;

  constructor(code: OrderErrorCode, message: string, details: OrderErrorDetails = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** @returns whether a failure's type is one of our codes */
export function isOrderErrorCode(type: string | null | undefined): type is OrderErrorCode {
  return typeof type === 'string' && Object.hasOwn(ORDER_ERRORS, type);
}
