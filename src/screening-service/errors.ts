import type { OrderErrorCode } from '../contract/errors.ts';
import { defined } from '../order/defined.ts';

/**
 * Outcome of a failed call.
 * - `refused`: the screening service refused it with a message; the same call would be refused again.
 * - `not-done`: the screening service did nothing; the call may be sent again without a lookup.
 * - `unknown`: it may or may not have been processed; look it up before sending it again.
 */
type Outcome = 'refused' | 'not-done' | 'unknown';

/** The operations of the screening service, by its own names. */
export type Operation =
  | 'create-transaction'
  | 'gateway-response'
  | 'status'
  | 'status-by-url'
  | 'status-by-invoice'
  | 'customer-code'
  | 'report-fraud'
  | 'cancel-transaction'
  | 'submit-chargeback';

/** Why a call failed, as a stable slug. */
export type Reason =
  | 'bad-request'
  | 'forbidden'
  | 'not-found'
  | 'portal-refused'
  | 'rate-limited'
  | 'connection-refused'
  | 'dns'
  | 'tls'
  | 'unreachable'
  | 'proxy'
  | 'timeout'
  | 'reset'
  | 'truncated'
  | 'redirect'
  | 'http-5xx'
  | 'http-other'
  | 'portal-5xx'
  | 'malformed-reply'
  | 'too-large'
  | 'missing-id'
  | 'other-transaction'
  | 'unknown-decision';

export interface ScreeningFailure {
  outcome: Outcome;
  operation: Operation;
  reason: Reason;
  /** HTTP status, if there was a reply. */
  status?: number | undefined;
  /** Error messages of the screening service, bounded and without secrets. */
  words?: string[] | undefined;
  /** `code` in the body of a portal reply. */
  code?: number | undefined;
  /** The pause from the Retry-After header, in milliseconds. */
  retryAfterMs?: number | undefined;
  /** The transaction's id, if an otherwise unusable reply has one. */
  transactionId?: string | undefined;
}

/**
 * The only error of the screening client. It never has a `cause`, because the underlying errors contain addresses, and
 * addresses of status calls contain the API key.
 */
export class ScreeningError extends Error {
  readonly outcome: Outcome;
  readonly operation: Operation;
  readonly reason: Reason;
  readonly status?: number;
  readonly words?: string[];
  readonly code?: number;
  readonly retryAfterMs?: number;
  readonly transactionId?: string;

  constructor(failure: ScreeningFailure) {
    super(describe(failure));
    this.name = 'ScreeningError';
    this.outcome = failure.outcome;
    this.operation = failure.operation;
    this.reason = failure.reason;
    // Listed, so that nothing else of a failure gets into an error.
    const { status, words, code, retryAfterMs, transactionId } = failure;
    Object.assign(this, defined({ status, words, code, retryAfterMs, transactionId }));
  }
}

const SAYINGS: Record<Outcome, string> = {
  refused: 'was refused by the screening service',
  'not-done': 'did not reach the screening service',
  unknown: 'has no known outcome',
};

function describe({ operation, outcome, reason, status, code, words }: ScreeningFailure): string {
  const saying = reason === 'rate-limited' ? 'was rate-limited by the screening service' : SAYINGS[outcome];
  const facts: string[] = [reason];
  if (status !== undefined) facts.push(`HTTP ${status}`);
  if (code !== undefined) facts.push(`code ${code}`);
  const said = words?.length ? `: ${words.join('; ')}` : '';
  return `${operation} ${saying} (${facts.join(', ')})${said}`;
}

/** Returns the product's error code for a failed status read, and a message without any data of the request or reply. */
export function readFailure(error: ScreeningError): { code: OrderErrorCode; message: string } {
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

// Recognizes error messages of the screening service itself, as opposed to the error page of a proxy.

/** The other operations are the portal's. */
export const SCREENING: ReadonlySet<Operation> = new Set([
  'create-transaction',
  'gateway-response',
  'status',
  'status-by-url',
  'status-by-invoice',
]);

/** @returns the texts of `Errors`, or of the portal's `code` and `message`; empty if the reply isn't from the screening service */
export function ownWords(body: Record<string, unknown>, operation: Operation): string[] {
  if (Array.isArray(body.Errors)) return body.Errors.filter(isText);
  const { code, message } = body;
  if (SCREENING.has(operation) || !isText(message)) return [];
  if (typeof code === 'number') return [message];
  return isText(code) ? [message, code] : [];
}

const MAY_NOT = /\b(?:not authori[sz]ed|unauthori[sz]ed)\b/i;
const ABOUT_AN_ORDER = /\b(?:transaction|(?<!\bin )order|chargeback|cancel|fraud|customer)/i;
const FAULTY = 'invalid|not valid|unknown|wrong|incorrect|expired|revoked|missing|not recogni[sz]ed';
const FAULTY_KEY = new RegExp(
  `\\b(?:${FAULTY})\\b.{0,40}\\b(?:token|(?:api ?)?key)\\b|\\b(?:token|(?:api ?)?key)\\b.{0,40}\\b(?:${FAULTY})\\b`,
  'i',
);

/**
 * @param words of a reply with status or code 401 or 403
 * @returns whether it is about the API key. Assumption «wrong key»: for a screening operation it always is. The portal's wording
 * isn't documented, hence the patterns
 */
export function isAboutKey(words: readonly string[], operation: Operation): boolean {
  return SCREENING.has(operation) || saysWrongKey(words);
}

/** @returns whether the words are about the API key, whatever the status */
export function saysWrongKey(words: readonly string[]): boolean {
  return words.some((word) => {
    const text = word.replaceAll(/[_-]/g, ' ').trim();
    return FAULTY_KEY.test(text) || (MAY_NOT.test(text) && !ABOUT_AN_ORDER.test(text));
  });
}

/** Assumption «no such transaction». @returns whether the messages say that the transaction doesn't exist, which permits another create */
export function saysNoTransaction(words: readonly string[]): boolean {
  return words.some((word) => /^transaction not found\.?$/i.test(word.trim()));
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
