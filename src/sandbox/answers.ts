import type { Answer, Decision, TransactionRecord } from './model.ts';

/** The account's own words for a refused customer. */
const FAIL_MESSAGE =
  'We could not accept this order. Please check your details or try another payment method.';

/** An answer of the shape every error has (interface document, "Errors"). */
export function refuse(status: number, ...errors: string[]): Answer {
  return { status, body: { Errors: errors }, committed: false };
}

export const notAuthorized = (): Answer => refuse(403, 'Not Authorized');
export const transactionNotFound = (): Answer => refuse(404, 'Transaction Not Found');

/** Transaction response (standard); `message` only with `fail`. */
export function standardReply(transaction: TransactionRecord): Record<string, unknown> {
  const { id, decision } = transaction;
  return decision === 'fail' ? { id, decision, message: FAIL_MESSAGE } : { id, decision };
}

/** Transaction response (enriched). */
export function enrichedReply(transaction: TransactionRecord): Record<string, unknown> {
  return {
    ...standardReply(transaction),
    account_mode: transaction.mode,
    passive_mode: false,
    sub_status: SUB_STATUS[transaction.decision],
    insights: insightsOf(transaction.decision),
  };
}

const SUB_STATUS: Record<Decision, string> = {
  pass: 'approved',
  fail: 'declined',
  review: 'manual-review',
  fraudulent: 'confirmed-fraud',
  error: 'not-screened',
};

const ADVICE: Record<Decision, string> = {
  pass: 'Fulfil the order.',
  fail: 'Do not fulfil the order.',
  review: 'Hold the order until the review is done.',
  fraudulent: 'Cancel the order.',
  error: 'Screen the order again.',
};

function insightsOf(decision: Decision): Record<string, Record<string, object>> {
  const risky = decision !== 'pass';
  return {
    risk: risky
      ? {
          1: {
            name: 'ip-distance',
            kind: 'location',
            description: 'The IP address is far from the billing address.',
            impact: decision === 'review' ? 'medium' : 'high',
          },
        }
      : {},
    trust: {
      1: {
        name: 'e-mail-age',
        kind: 'identity',
        description: 'The e-mail address has been in use for years.',
        impact: risky ? 'low' : 'high',
      },
    },
    neutral: {
      1: { name: 'order-amount', kind: 'order', description: 'The amount is usual for this merchant.' },
    },
    recommendation: { 1: { name: 'next-step', kind: 'advice', description: ADVICE[decision] } },
  };
}
