/**
 * The errors of order-screening. Their codes are stable and shared by the workflow (as the `type` of an `ApplicationFailure`),
 * the client library, the API (as the slug of a problem document) and the CLI.
 */
import type { OrderErrorDetails } from './terms.ts';

export type { FieldError, OrderErrorDetails } from './terms.ts';

/**
 * Each error's code, HTTP status, title and advice for the caller, in Markdown. The table in `docs/calling.md` is generated
 * from it.
 */
export const ORDER_ERRORS = {
  'temporal-unavailable': {
    status: 503,
    title: 'No answer yet. Retrying is safe',
    advice: 'the outcome is unknown: retry the same request',
  },
  'screening-service-unavailable': {
    status: 503,
    title: 'The screening service returned no status. Retrying is safe',
    advice:
      'nothing was done: the screening service gave no usable answer, or the API key is missing or wrong. Retrying is safe',
  },
  'card-stash-unavailable': {
    status: 503,
    title: 'The card stash is unreachable. Retrying is safe',
    advice: 'nothing was done: retry the same request',
  },
  busy: {
    status: 503,
    title: 'Too many requests are waiting for this order. Retrying is safe',
    advice:
      'too many requests are waiting for this order, and this one was not accepted: retry it later, or read the order',
  },
  'checkout-under-way': {
    status: 503,
    title: 'The order is being screened. Retrying is safe',
    advice: 'the order is being screened, and the request was not accepted: retry it',
  },
  'invalid-request': {
    status: 422,
    title: 'Invalid request',
    advice: 'correct the fields that `errors` lists',
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'The idempotency key belongs to a different request',
    advice:
      'the order has this key from a different caller, or with different content: send that request again, or choose a new key',
  },
  'card-data-in-request': {
    status: 422,
    title: 'Card data or a screening service key in a field that must not contain it',
    advice:
      'send card data in the card fields or through the card stash, and never send a key; list ids that only look like card numbers in `notCards` of the policy. An address in `order` (`landing_page`, `referring_url`, `referring_site`) that seems to contain a card number is left out, with a warning',
  },
  'other-integration': {
    status: 403,
    title: 'Only for a different integration',
    advice:
      'the API key is for other integrations, or the transaction belongs to an order of a different one: specify its integration, with a key for it',
  },
  'unknown-integration': { status: 404, title: 'Integration not found', advice: 'check the name' },
  'unknown-order': {
    status: 404,
    title: 'Order not found',
    advice: 'check the order id and the integration. Closed orders are deleted after 90 days',
  },
  'unknown-transaction': {
    status: 404,
    title: 'Transaction not found',
    advice:
      'check the id or invoice number: the order has no such transaction, or the screening service does not know it',
  },
  'unknown-attempt': { status: 404, title: 'The order has no such attempt', advice: 'check the number' },
  'unknown-action': {
    status: 404,
    title: 'The order has no such portal action',
    advice: 'check the number',
  },
  'unknown-event': {
    status: 404,
    title: 'The order has no such event',
    advice: 'check the number: an order keeps its last 50 events',
  },
  'attempt-mismatch': {
    status: 409,
    title: 'The same attempt was sent with different content',
    advice:
      'send the attempt with its original content, or read the order; only a declined order, or one with the decision `error`, takes the next attempt',
  },
  'retry-out-of-turn': {
    status: 409,
    title: 'The order does not accept this attempt now',
    advice:
      'the order isn’t declined, or the number isn’t the next one: read the order. If it was changed or paid again, send it as a new order with an invoice number of its own',
  },
  'order-changed': {
    status: 409,
    title: 'The order’s action has changed since it was read',
    advice: 'read the order, then decide again: another person, or a later decision, has changed its action',
  },
  'gateway-result-out-of-turn': {
    status: 409,
    title: 'The order does not accept a gateway result for this attempt',
    advice: 'the attempt was declined, or the order’s workflow isn’t pre-gateway: read the order',
  },
  'gateway-result-mismatch': {
    status: 409,
    title: 'A different gateway result is recorded for this attempt',
    advice:
      'the first result is kept, and the order needs attention: look up the payment in the gateway, then refund it, fulfil the order manually, or cancel it',
  },
  'attempt-required': {
    status: 409,
    title: 'The order has several attempts: specify one',
    advice: 'read the order, then send the attempt’s number',
  },
  'record-unreadable': {
    status: 500,
    title: 'The order’s record cannot be read',
    advice:
      'the order itself is intact, and the request may have been done: set the same `PAYLOAD_KEYS` for the caller or the API as for the workers, then retry',
  },
  'order-closed': {
    status: 409,
    title: 'The order is closed',
    advice:
      'a closed order does not accept this request; portal actions still work while their own rules allow it. Send another payment as a new order with an invoice number of its own',
  },
  'too-many-attempts': {
    status: 409,
    title: 'The order has reached its limit of 20 attempts',
    advice: 'the limit is 20 attempts per order: continue with a new order with an invoice number of its own',
  },
  'too-many-actions': {
    status: 409,
    title: 'The order has reached its limit of portal actions',
    advice:
      'the limit is 200 portal actions (more for cancels), or 500,000 bytes of them, per order: continue in the screening service’s portal',
  },
  'attention-stands': {
    status: 409,
    title: 'The cause still exists',
    advice:
      'the call keeps failing, a deadline is ahead, or the gateway’s result is missing: resolve the cause first, or report the result',
  },
  'action-ended': {
    status: 409,
    title: 'The portal action has ended and cannot be withdrawn',
    advice: 'read the order to see how the action ended',
  },
  'action-withdrawn': {
    status: 409,
    title: 'The portal action was withdrawn before it was sent',
    advice:
      'a person withdrew the action: request it again, with a new idempotency key, if it is still needed',
  },
  'order-exists': {
    status: 409,
    title: 'The order exists with a different transaction',
    advice: 'read the order: it is already screened here',
  },
  'transaction-taken': {
    status: 409,
    title: 'Another order has this transaction',
    advice: 'check both order ids: a transaction belongs to one order',
  },
  'invoice-mismatch': {
    status: 409,
    title: 'The order’s invoice number belongs to a different transaction: retry with force',
    advice:
      'send `invoiceNumber` if it differs from the order id; else check in the screening service’s portal which transaction is the order’s, then retry with `force`',
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
    advice: 'read the order to see how the cancel ends',
  },
  'order-declined': {
    status: 409,
    title: 'The order is declined',
    advice: 'the customer or the payment gateway already has the decline: send a new attempt',
  },
  'no-transaction': {
    status: 409,
    title: 'The order has no transaction at the screening service',
    advice: 'there is no transaction to act on',
  },
  passive: {
    status: 409,
    title: 'The integration is passive: nothing is sent to the portal',
    advice: 'a passive integration only records decisions',
  },
  'cancel-window-closed': {
    status: 409,
    title: 'The cancel window is closed',
    advice:
      'it closed at `cancelBy`, and no retry helps: refund the customer yourself. Reporting fraud still works',
  },
  'cancel-window-unknown': {
    status: 409,
    title: 'The cancel window of this transaction is unknown',
    advice: 'refund the customer yourself. Reporting fraud still works',
  },
  'chargeback-not-allowed': {
    status: 409,
    title: 'The transaction is neither `pass` nor `fraudulent`: retry with force',
    advice:
      'the screening service takes chargebacks only of a transaction that is `pass` or `fraudulent`: recheck the order, or retry with `force`',
  },
  'outcome-unknown-before': {
    status: 409,
    title: 'An earlier attempt may have succeeded: retry with force',
    advice: 'check in the screening service’s portal, then retry with `force`',
  },
  'refused-by-screening-service': {
    status: 502,
    title: 'The screening service refused the action',
    advice: '`serviceCode` and `serviceMessage` say why; another request needs a new idempotency key',
  },
  'event-not-delivered': {
    status: 502,
    title: 'The events receiver did not accept the event',
    advice: 'fix the receiver, then retry the same request',
  },
  'outcome-unknown': {
    status: 502,
    title: 'The screening service did not confirm the action',
    advice: 'the action may have succeeded: check in the screening service’s portal',
  },
  'action-not-sent': {
    status: 504,
    title: 'The portal action could not be sent within a day',
    advice: 'it is not retried any more: request it again, with a new idempotency key',
  },
} as const;

export type OrderErrorCode = keyof typeof ORDER_ERRORS;

/** Why an order rejects a message: a code for programs, a message for people, and details such as field errors. */
export interface Refusal extends OrderErrorDetails {
  code: OrderErrorCode;
  message: string;
}

/** The error that the client library throws. `code` is stable; the message is for people and may change. */
export class OrderScreeningError extends Error {
  override readonly name = 'OrderScreeningError';
  readonly code: OrderErrorCode;
  readonly details: OrderErrorDetails;

  constructor(code: OrderErrorCode, message: string, details: OrderErrorDetails = {}, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.details = details;
  }
}

export function isOrderErrorCode(type: string | null | undefined): type is OrderErrorCode {
  return typeof type === 'string' && Object.hasOwn(ORDER_ERRORS, type);
}

export function hasCode(error: unknown, ...codes: OrderErrorCode[]): error is OrderScreeningError {
  return error instanceof OrderScreeningError && codes.includes(error.code);
}
