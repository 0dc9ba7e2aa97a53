/** Exit codes of the commands, and the errors that they show. */
import { CommanderError } from 'commander';
import { withoutCardNumbers } from '../card-data/card-numbers.ts';
import { PayloadCodecError } from '../codec/index.ts';
import { ConfigError } from '../config/index.ts';
import {
  type FieldError,
  isOrderErrorCode,
  ORDER_ERRORS,
  type OrderErrorCode,
  type OrderErrorDetails,
  OrderScreeningError,
} from '../contract/errors.ts';

export const EXIT = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  refused: 3,
  notFound: 4,
  unknownOutcome: 5,
  errorFound: 6,
  notYet: 7,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_CODES = `Exit codes
  0  done
  1  unexpected: an error in this program, or no room for its output
  2  bad usage, bad input, bad settings: nothing was done
  3  refused: by the order, its window, or the screening service
  4  not found: the order, its attempt, its transaction, its portal action, or the integration
  5  no answer from Temporal, a worker, the card stash or the screening service, or an answer that PAYLOAD_KEYS here
     can't decrypt: the outcome may be unknown; retrying is safe
  6  doctor: something is wrong; repair: the order's workflow task still fails
  7  not yet: the action is still running after 10 s, or no worker has taken a repaired order`;

/** Invalid arguments, input or environment; nothing was sent. Errors name an option, an argument or a path in the input. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly errors: FieldError[];

  constructor(message: string, errors: FieldError[] = []) {
    super(message);
    this.errors = errors;
  }
}

/** Temporal is unreachable, so nothing was sent. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

/** Exit codes of errors that have no order error code. With `payload-keys` the request may have been done: only its answer can't be decrypted. */
const EXIT_OF = {
  usage: EXIT.usage,
  settings: EXIT.usage,
  'payload-keys': EXIT.unknownOutcome,
  'temporal-unreachable': EXIT.unknownOutcome,
  unexpected: EXIT.unexpected,
} as const;

export interface Problem extends Omit<OrderErrorDetails, 'errors'> {
  type: OrderErrorCode | keyof typeof EXIT_OF;
  detail: string;
  errors?: readonly FieldError[];
}

/** Returns the shown form of an error; it repeats no input value. */
export function problemOf(error: unknown): Problem {
  if (error instanceof OrderScreeningError) {
    return { type: error.code, detail: error.message, ...error.details };
  }
  if (error instanceof UsageError) {
    return { type: 'usage', detail: error.message, ...(error.errors.length > 0 && { errors: error.errors }) };
  }
  if (error instanceof ConfigError) {
    return { type: 'settings', detail: 'The settings have errors', errors: error.fieldErrors };
  }
  if (error instanceof UnreachableError) return { type: 'temporal-unreachable', detail: error.message };
  if (error instanceof PayloadCodecError) {
    return { type: 'payload-keys', detail: `${error.message}: set PAYLOAD_KEYS as for the workers` };
  }
  if (error instanceof CommanderError) return { type: 'usage', detail: wordsOf(error) };
  return { type: 'unexpected', detail: error instanceof Error ? error.message : 'Unknown error' };
}

export function exitCodeOf(error: unknown): ExitCode {
  const { type } = problemOf(error);
  if (!isOrderErrorCode(type)) return EXIT_OF[type];
  if (type === 'refused-by-screening-service') return EXIT.refused;
  const { status } = ORDER_ERRORS[type];
  if (status === 404) return EXIT.notFound;
  if (status === 422) return EXIT.usage;
  return status === 409 || status === 403 ? EXIT.refused : EXIT.unknownOutcome;
}

/** Returns the failure of one order of several, and its word: without an answer it may have been done. */
export function failureOf(error: unknown) {
  const code = exitCodeOf(error);
  const word = code === EXIT.unknownOutcome ? 'unanswered' : 'refused';
  return { problem: problemOf(error), code, word };
}

/** Commander's message, without the value of an unknown `--option=value`, and without card numbers. */
function wordsOf({ message }: CommanderError): string {
  return withoutCardNumbers(message.replace(/^error: /, '').replace(/('--?[\w-]+)=[\s\S]*?'/, "$1'"));
}
