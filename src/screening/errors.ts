/**
 * What is known after a call that did not succeed.
 * - `refused`: the service said no, definitely, in its own words; the same call will be refused again.
 * - `not-done`: nothing happened at the service; the call may be sent again without looking.
 * - `unknown`: it may have happened or not; look before sending again.
 */
export type Outcome = 'refused' | 'not-done' | 'unknown';

/** The operations of the service, by its own names. */
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

/** Why a call did not succeed, as a stable slug. */
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
  | 'unknown-decision';

/** All that a `ScreeningError` tells. */
export interface ScreeningFailure {
  outcome: Outcome;
  operation: Operation;
  reason: Reason;
  /** HTTP status, when there was a reply. */
  status?: number;
  /** The service's own words, bounded, with everything secret taken out. */
  words?: string[];
  /** Code in the body of a portal reply. */
  code?: number;
  /** How long the service asks to wait, in milliseconds. */
  retryAfterMs?: number;
  /** The transaction's id, when the reply named one though it can't be used. */
  transactionId?: string;
}

/**
 * The one error of the screening client. It never has a `cause`: the errors beneath hold addresses, and
 * addresses of status calls hold the API key.
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
    if (failure.status !== undefined) this.status = failure.status;
    if (failure.words !== undefined) this.words = failure.words;
    if (failure.code !== undefined) this.code = failure.code;
    if (failure.retryAfterMs !== undefined) this.retryAfterMs = failure.retryAfterMs;
    if (failure.transactionId !== undefined) this.transactionId = failure.transactionId;
  }
}

const SAYINGS: Record<Outcome, string> = {
  refused: 'was refused by the screening service',
  'not-done': 'did not reach the screening service',
  unknown: 'has no known outcome',
};

function describe({ operation, outcome, reason, status, code, words }: ScreeningFailure): string {
  const saying = reason === 'rate-limited' ? 'was put off by the screening service' : SAYINGS[outcome];
  const facts: string[] = [reason];
  if (status !== undefined) facts.push(`HTTP ${status}`);
  if (code !== undefined) facts.push(`code ${code}`);
  const said = words === undefined || words.length === 0 ? '' : `: ${words.join('; ')}`;
  return `${operation} ${saying} (${facts.join(', ')})${said}`;
}
