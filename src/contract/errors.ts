/**
 * The errors of the product, a small family with stable codes, shared by the workflow (as the `type` of an
 * `ApplicationFailure`), the client library, the API (as the slug of a problem document) and the CLI.
 */

/**
 * Code, HTTP status and title of each error, and what a caller can do, in Markdown: the table of `docs/calling.md` is made
 * of it.
 */
export const ORDER_ERRORS = {
  'temporal-unavailable': {
    status: 503,
    title: 'The outcome is unknown: send the same request again',
    advice: 'the outcome is unknown: send the same again',
  },
  'screening-service-unavailable': {
    status: 503,
    title: 'The screening service returned no status. Retrying is safe.',
    advice:
      'nothing was done: the screening service gave no usable answer, or the API key is missing or wrong. Retrying is safe',
  },
  'card-stash-unavailable': {
    status: 503,
    title: 'The card stash is unreachable: send the same request again',
    advice: 'nothing was done: send the same again',
  },
  busy: {
    status: 503,
    title: 'Too many wait for this order: send the same request again',
    advice: 'too many wait for this order, and this wasn’t taken: send the same again',
  },
  'checkout-under-way': {
    status: 503,
    title: 'The order is being screened: send the same request again',
    advice: 'the order is being screened, and this wasn’t taken: send the same again',
  },
  'invalid-request': {
    status: 422,
    title: 'The request breaks a rule',
    advice: 'correct what `details.errors` lists',
  },
  'card-data-in-request': {
    status: 422,
    title: 'Card data or a service key stands where it must not',
    advice:
      'a card or a key stands where it must not: send it in the card fields or through the card stash; an id that only looks like a card number: `notCards` of the policy',
  },
  'unknown-integration': { status: 404, title: 'No such integration', advice: 'look at the name' },
  'unknown-order': {
    status: 404,
    title: 'No such order',
    advice: 'look at the name. Orders are forgotten after 90 days',
  },
  'unknown-transaction': {
    status: 404,
    title: 'There is no such transaction',
    advice:
      'check the id or invoice number: the order has no such transaction, or the screening service does not know it',
  },
  'unknown-attempt': { status: 404, title: 'The order has no such attempt', advice: 'look at the number' },
  'unknown-action': {
    status: 404,
    title: 'The order has no such portal action',
    advice: 'look at the number',
  },
  'unknown-event': {
    status: 404,
    title: 'The order keeps no such event',
    advice: 'look at the number: the last 50 events of an order are kept',
  },
  'attempt-mismatch': {
    status: 409,
    title: 'The same attempt was sent with another content',
    advice: 'send the attempt as it was sent first, or the next attempt',
  },
  'retry-out-of-turn': {
    status: 409,
    title: 'The order takes no such attempt now',
    advice: 'the order isn’t declined, or the number isn’t the next: read the order',
  },
  'gateway-result-out-of-turn': {
    status: 409,
    title: 'The order takes no gateway result now',
    advice: 'read the order: it takes none now',
  },
  'gateway-result-mismatch': {
    status: 409,
    title: 'Another gateway result is recorded for this attempt',
    advice:
      'the first result stays, and the order asks for attention: look at the payment in the gateway, then refund it, fulfil the order by hand, or cancel it',
  },
  'attempt-required': {
    status: 409,
    title: 'The order has several attempts: name one',
    advice: 'read the order, and send the attempt’s number',
  },
  'record-unreadable': {
    status: 500,
    title: 'The order’s record cannot be read',
    advice:
      'nothing is wrong with the order: set the caller’s or the API’s `PAYLOAD_KEYS` as for the workers. Reading it again does not help',
  },
  'order-closed': {
    status: 409,
    title: 'The order is closed',
    advice: 'nothing more of this kind; a portal action still works while its own rule allows it',
  },
  'too-many-attempts': {
    status: 409,
    title: 'The order has had its twenty attempts',
    advice: 'the order has had its 20 attempts: go on with another order',
  },
  'too-many-actions': {
    status: 409,
    title: 'The order has had all its portal actions',
    advice:
      'the order has had its 200 portal actions, or 500,000 bytes of them: go on in the service’s portal',
  },
  'attention-stands': {
    status: 409,
    title: 'Its cause still stands',
    advice: 'the call keeps failing, or a deadline is ahead: end the cause first',
  },
  'action-ended': {
    status: 409,
    title: 'The portal action has ended: it can not be withdrawn',
    advice: 'there is nothing to withdraw: read the order for how it ended',
  },
  'action-withdrawn': {
    status: 409,
    title: 'The portal action was withdrawn before it was sent',
    advice: 'somebody took the action back: ask again if it is wanted after all',
  },
  'order-exists': {
    status: 409,
    title: 'The order exists, with another transaction',
    advice: 'read the order: it is screened here already',
  },
  'transaction-taken': {
    status: 409,
    title: 'Another order has this transaction',
    advice: 'look at both order ids: a transaction belongs to one order',
  },
  'invoice-mismatch': {
    status: 409,
    title: 'The order’s invoice number leads to another transaction: send it with force',
    advice: 'look in the service’s portal which transaction is the order’s, then send it with `force`',
  },
  'transaction-without-decision': {
    status: 409,
    title: 'The transaction has no usable decision',
    advice:
      'the screening service returned `error` or an unknown decision: no order can adopt the transaction',
  },
  'cancel-under-way': {
    status: 409,
    title: 'A cancel was sent to the screening service',
    advice: 'a cancel was sent: read the order for how it ends',
  },
  'order-declined': {
    status: 409,
    title: 'The order is declined',
    advice: 'the customer or the payment gateway was told no: send another attempt',
  },
  'no-transaction': {
    status: 409,
    title: 'The order has no transaction at the screening service',
    advice: 'nothing is at the service: there is nothing to act on',
  },
  passive: {
    status: 409,
    title: 'The integration is passive: nothing is sent to the portal',
    advice: 'the policy only watches',
  },
  'cancel-window-closed': {
    status: 409,
    title: 'The cancel window is closed',
    advice: 'refund, and report by hand; `details.cancelBy` says when it closed',
  },
  'cancel-window-unknown': {
    status: 409,
    title: 'The cancel window of this transaction is not known',
    advice: 'refund, and report by hand',
  },
  'outcome-unknown-before': {
    status: 409,
    title: 'An earlier try may have been done: send it with force',
    advice: 'look in the service’s portal, then send it with `force`',
  },
  'refused-by-screening-service': {
    status: 502,
    title: 'The screening service refused it',
    advice: '`details.serviceCode` and `details.serviceMessage` say why',
  },
  'event-not-delivered': {
    status: 502,
    title: 'The events receiver did not take the event',
    advice: 'see to the receiver, then send the same again',
  },
  'outcome-unknown': {
    status: 502,
    title: 'The screening service did not say whether it was done',
    advice: 'the service may have done it: look in its portal',
  },
  'action-not-sent': {
    status: 504,
    title: 'The portal action could not be sent within a day',
    advice: 'it could not be sent within a day, and is not tried any more: ask again',
  },
} as const;

export type OrderErrorCode = keyof typeof ORDER_ERRORS;

/** A error of one field. `path` leads to it, `message` says what is wrong and what to do; never the value. */
export interface FieldError {
  path: string;
  message: string;
}

/** What an error carries beside its words; a plain object, since it crosses Temporal as a failure's details. */
export interface OrderErrorDetails {
  errors?: FieldError[];
  cancelBy?: string;
  /** The service's answer to a refused portal action. */
  serviceCode?: string;
  serviceMessage?: string;
}

/** A message that the order refuses: a code for programs, words for people, details such as errors with their paths. */
export interface Refusal extends OrderErrorDetails {
  code: OrderErrorCode;
  message: string;
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

/** Returns whether it is the product's error with one of these codes. */
export function hasCode(error: unknown, ...codes: OrderErrorCode[]): error is OrderScreeningError {
  return error instanceof OrderScreeningError && codes.includes(error.code);
}
