import { ApplicationFailure } from '@temporalio/common';
import type { Fault } from '../screening/index.ts';

/** All of it goes into history, where one payload has its limits: the first say enough. */
const MOST_FAULTS = 100;

/** @returns the faults in one line, without any value that was sent */
export function faultWords(faults: readonly Fault[]): string {
  const shown = faults.slice(0, MOST_FAULTS).map(({ path, message }) => `${path} ${message}`.trim());
  const more = faults.length - shown.length;
  return more > 0 ? `${shown.join('; ')}; and ${more} more` : shown.join('; ');
}

/** @returns the failure of an order whose transaction can't be screened, with its faults as its detail */
export function invalidTransaction(faults: readonly Fault[]): ApplicationFailure {
  const errors = faults.map(({ path, message }) => ({
    path: path === '' ? 'transaction' : `transaction.${path}`,
    message,
  }));
  return ApplicationFailure.create({
    type: 'invalid-request',
    message: `The transaction breaks a rule: ${faultWords(errors)}.`,
    nonRetryable: true,
    details: [{ errors: errors.slice(0, MOST_FAULTS) }],
  });
}
