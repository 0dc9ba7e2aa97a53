/** Maps failed status reads to the product's error codes. */
import type { OrderErrorCode } from '../contract/errors.ts';
import type { ScreeningError } from './errors.ts';

/** Returns the product's error code for a failed status read, and a message without any data of the request or reply. */
export function whyUnread(error: ScreeningError): { code: OrderErrorCode; message: string } {
  switch (error.reason) {
    case 'not-found':
      return { code: 'unknown-transaction', message: UNKNOWN_TRANSACTION };
    case 'unknown-decision':
      return { code: 'transaction-without-decision', message: UNKNOWN_DECISION };
    default:
      return { code: 'screening-service-unavailable', message: whyUnavailable(error) };
  }
}

function whyUnavailable({ reason, outcome, status }: ScreeningError): string {
  if (reason === 'forbidden') return WRONG_KEY;
  if (reason === 'other-transaction') return OTHER_TRANSACTION;
  if (outcome === 'refused') return REFUSED;
  const facts = status === undefined ? reason : `${reason}, HTTP ${status}`;
  return `The screening service gave no usable answer (${facts})`;
}

const UNKNOWN_TRANSACTION = 'The screening service does not know the transaction';
const UNKNOWN_DECISION = 'The screening service returned an unknown decision for the transaction';
const WRONG_KEY = 'The screening service does not accept the API key';
const OTHER_TRANSACTION = 'The screening service returned a different transaction';
const REFUSED = 'The screening service refused to return the status';
