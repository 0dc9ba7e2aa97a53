/** Maps failed status reads to the product's error codes. */
import type { OrderErrorCode } from '../contract/errors.ts';
import type { ScreeningError } from './errors.ts';

/** Returns the product's error code for a failed status read, and a message without any data of the request or reply. */
export function whyUnread(error: ScreeningError): { code: OrderErrorCode; message: string } {
  switch (error.reason) {
    case 'not-found':
      return { code: 'unknown-transaction', message: 'The screening service does not know the transaction' };
    case 'unknown-decision':
      return {
        code: 'transaction-without-decision',
        message: 'The screening service returned an unknown decision for the transaction',
      };
    default:
      return { code: 'screening-service-unavailable', message: whyUnavailable(error) };
  }
}

function whyUnavailable({ reason, outcome, status }: ScreeningError): string {
  if (reason === 'forbidden') return 'The screening service does not accept the API key';
  if (reason === 'other-transaction') return 'The screening service returned a different transaction';
  if (outcome === 'refused') return 'The screening service refused to return the status';
  const facts = status === undefined ? reason : `${reason}, HTTP ${status}`;
  return `The screening service gave no usable answer (${facts})`;
}
