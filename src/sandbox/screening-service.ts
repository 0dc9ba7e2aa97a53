/** The screening operations of the sandbox. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import {
  type Answer,
  DECISIONS,
  type Decision,
  type Mode,
  type Subject,
  type TransactionRecord,
} from './model.ts';
import { asObject, eitherSpelling, oneSpelling } from './spelling.ts';
import { bareInvoiceNumber, type SandboxState } from './state.ts';
import { inWords, readTransactionRequest, type TransactionRequest } from './transaction-request.ts';

const NF_ID_FAULT =
  'The nf-id field is empty or malformed: send the id of the response to the initial transaction.';

const gatewayResponseRequest = z
  .looseObject({
    'gateway-response': eitherSpelling(
      z.looseObject({
        result: z.string().optional(),
        authcode: z.string().optional(),
        'transaction-id': z.string().optional(),
      }),
    ).optional(),
  })
  .superRefine(oneSpelling);

export type ScreeningService = ReturnType<typeof createScreeningService>;

/** The operations of the screening API. The caller has checked the key. */
export function createScreeningService(state: SandboxState) {
  return {
    /** The subject of an unvalidated create-transaction request. */
    subjectOfCreate(body: Record<string, unknown>): Subject {
      const { invoiceNumber } = asObject(body.order);
      const bare = typeof invoiceNumber === 'string' ? bareInvoiceNumber(invoiceNumber) : null;
      return { transactionId: null, invoiceNumber: bare };
    },

    subjectOfGatewayResponse: (body: Record<string, unknown>): Subject => state.subjectOf(body['nf-id']),

    /** The subject of a status request: a known transaction id, else an invoice number. */
    subjectOfStatus(idOrInvoice: string): Subject {
      const subject = state.subjectOf(idOrInvoice);
      return subject.invoiceNumber === null && !z.guid().safeParse(idOrInvoice).success
        ? { transactionId: null, invoiceNumber: idOrInvoice }
        : subject;
    },

    /** POST /transaction. Not idempotent: repeating a request creates another transaction. */
    create(mode: Mode, body: Record<string, unknown>): Answer {
      const read = readTransactionRequest(body, mode, new Date(state.now()));
      if ('errors' in read) return refuse(400, ...read.errors);
      const hasCard = read.request.payment?.creditCard !== undefined;
      if (!hasCard && state.screening.withoutCreditCard === 'refuse') {
        return refuse(400, 'Missing data, payment.creditCard field');
      }
      const transaction = recordOf(state, mode, read.request);
      state.add(transaction);
      const reply = read.request.enrich === true ? enrichedReply(transaction) : standardReply(transaction);
      return { status: 200, body: reply, committed: true, transaction };
    },

    /** POST /gateway_response. The reply for an unknown `nf-id` isn't documented; 404 is an assumption. */
    gatewayResponse(mode: Mode, body: Record<string, unknown>): Answer {
      const id = body['nf-id'];
      if (id === undefined || id === null) return refuse(400, 'nf-id field is not defined.');
      const parsed = z.guid().safeParse(id);
      if (!parsed.success) return refuse(400, NF_ID_FAULT);
      const transaction = state.findById(mode, parsed.data);
      if (!transaction) return transactionNotFound();
      const read = gatewayResponseRequest.safeParse(body);
      if (!read.success) return refuse(400, ...inWords(read.error));
      const {
        result = null,
        authcode = null,
        'transaction-id': own = null,
      } = read.data['gateway-response'] ?? {};
      const isNamed = result === null || result === 'pass' || result === 'fail';
      if (!isNamed && state.screening.otherGatewayResults === 'refuse') {
        return refuse(400, 'gateway-response.result: must be pass or fail');
      }
      transaction.gatewayResponses.push({ at: state.nowIso(), result, authcode, transactionId: own });
      return { status: 200, body: { Status: 'OK' }, committed: true, transaction };
    },

    /** GET /status: by id, else by invoice number. Its 404 isn't documented; that of the other lookups is an assumption. */
    status: (mode: Mode, idOrInvoice: string): Answer =>
      answerStatus(state.findById(mode, idOrInvoice) ?? state.findByInvoice(mode, idOrInvoice)),

    statusById: (mode: Mode, id: string): Answer => answerStatus(state.findById(mode, id)),

    /** GET /status_by_invoice. Returns the first transaction only, and none for a number with a leading `#`. */
    statusByInvoice: (mode: Mode, invoiceNumber: string): Answer =>
      answerStatus(state.findByInvoice(mode, invoiceNumber)),
  };
}

function recordOf(state: SandboxState, mode: Mode, request: TransactionRequest): TransactionRecord {
  const at = state.nowIso();
  const decision = decisionFor(request.customer.email);
  const card = request.payment?.creditCard;
  const invoiceNumber = request.order?.invoiceNumber;
  return {
    id: randomUUID(),
    mode,
    invoiceNumber: invoiceNumber ? bareInvoiceNumber(invoiceNumber) : null,
    amount: request.amount,
    last4: card?.last4 ?? card?.cardNumber?.slice(-4) ?? null,
    decision,
    decisions: [{ decision, at, by: 'screening' }],
    createdAt: at,
    gatewayResponses: [],
    fraudReports: [],
    canceledAt: null,
    covered: state.portal.covered,
    chargebacks: [],
  };
}

function answerStatus(transaction: TransactionRecord | undefined): Answer {
  if (!transaction) return transactionNotFound();
  return { status: 200, body: standardReply(transaction), committed: false, transaction };
}

const DECIDING_LOCAL_PART = new RegExp(`^(${DECISIONS.join('|')})(?:[-+.].*)?@`, 'i');

/** The decision selected by the order's e-mail: `review@…`, `fail+anything@…`, `error-7@…`; `pass` by default. */
function decisionFor(email: string): Decision {
  const word = DECIDING_LOCAL_PART.exec(email)?.[1]?.toLowerCase();
  return DECISIONS.find((decision) => decision === word) ?? 'pass';
}

const FAIL_MESSAGE =
  'We could not accept this order. Please check your details or try another payment method.';

export function refuse(status: number, ...errors: string[]): Answer {
  return { status, body: { Errors: errors }, committed: false };
}

export const notAuthorized = (): Answer => refuse(403, 'Not Authorized');
const transactionNotFound = (): Answer => refuse(404, 'Transaction Not Found');

/** Transaction response (standard); `message` only with `fail`. */
function standardReply(transaction: TransactionRecord): Record<string, unknown> {
  const { id, decision } = transaction;
  return decision === 'fail' ? { id, decision, message: FAIL_MESSAGE } : { id, decision };
}

/** Transaction response (enriched), which has no `message`. */
function enrichedReply(transaction: TransactionRecord): Record<string, unknown> {
  const { id, decision } = transaction;
  return {
    id,
    decision,
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
