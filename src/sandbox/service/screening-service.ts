import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type Answer, DECISIONS, type Decision, type Mode, type TransactionRecord } from '../model.ts';
import { bareInvoiceNumber, type SandboxState } from '../state.ts';
import { eitherSpelling, oneSpelling } from './spelling.ts';
import { inWords, readTransactionRequest, type TransactionRequest } from './transaction-request.ts';

const NF_ID_FAULT =
  'The nf-id field is empty or malformed: send the id of the response to the initial transaction.';

const gatewayResponseRequest = z
  .looseObject({
    'gateway-response': eitherSpelling(
      z.looseObject({ result: z.string(), authcode: z.string(), 'transaction-id': z.string() }).partial(),
    ).optional(),
  })
  .superRefine(oneSpelling);

/** The operations of the screening API at the address of one mode. The caller has checked the key. */
export function createScreeningService(state: SandboxState, mode: Mode) {
  return {
    /** POST /transaction. Not idempotent: repeating a request creates another transaction. */
    create(body: Record<string, unknown>): Answer {
      const read = readTransactionRequest(body, mode, new Date(state.now()));
      if ('errors' in read) return refuse(400, ...read.errors);
      const { request } = read;
      if (!request.payment?.creditCard && state.screening.withoutCreditCard === 'refuse') {
        return refuse(400, 'Missing data, payment.creditCard field');
      }
      const transaction = recordOf(state, mode, request);
      state.add(transaction);
      const reply = request.enrich === true ? enrichedReply(transaction) : standardReply(transaction);
      return { status: 200, body: reply, committed: true, transaction };
    },

    /** POST /gateway_response. The reply for an unknown `nf-id` isn't documented; 404 is an assumption. */
    gatewayResponse(body: Record<string, unknown>): Answer {
      const id = body['nf-id'];
      if (id === undefined || id === null) return refuse(400, 'nf-id field is not defined.');
      const parsed = z.guid().safeParse(id);
      if (!parsed.success) return refuse(400, NF_ID_FAULT);
      const transaction = state.findById(mode, parsed.data);
      if (!transaction) return transactionNotFound();
      const read = gatewayResponseRequest.safeParse(body);
      if (!read.success) return refuse(400, ...inWords(read.error));
      const given = read.data['gateway-response'] ?? {};
      const { result = null, authcode = null, 'transaction-id': transactionId = null } = given;
      const isNamed = result === null || result === 'pass' || result === 'fail';
      if (!isNamed && state.screening.otherGatewayResults === 'refuse') {
        return refuse(400, 'gateway-response.result: must be pass or fail');
      }
      transaction.gatewayResponses.push({ at: state.nowIso(), result, authcode, transactionId });
      return { status: 200, body: { Status: 'OK' }, committed: true, transaction };
    },

    /** GET /status: by id, else by invoice number. Its 404 isn't documented; that of the other lookups is an assumption. */
    status: (idOrInvoice: string): Answer =>
      answerStatus(state.findById(mode, idOrInvoice) ?? state.findByInvoice(mode, idOrInvoice)),

    statusById: (id: string): Answer => answerStatus(state.findById(mode, id)),

    /** GET /status_by_invoice. Returns the first transaction only, and none for a number with a leading `#`. */
    statusByInvoice: (invoiceNumber: string): Answer =>
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

const DECIDING_LOCAL_PART = new RegExp(`^(${DECISIONS.join('|')})(?:[-+.].*)?@`, 'i');

/** The decision selected by the order's e-mail: `review@…`, `fail+anything@…`, `error-7@…`; `pass` by default. */
function decisionFor(email: string): Decision {
  const word = DECIDING_LOCAL_PART.exec(email)?.[1]?.toLowerCase();
  return DECISIONS.find((decision) => decision === word) ?? 'pass';
}

export function refuse(status: number, ...errors: string[]): Answer {
  return { status, body: { Errors: errors }, committed: false };
}

function transactionNotFound(): Answer {
  return refuse(404, 'Transaction Not Found');
}

function answerStatus(transaction: TransactionRecord | undefined): Answer {
  if (!transaction) return transactionNotFound();
  return { status: 200, body: standardReply(transaction), committed: false, transaction };
}

const FAIL_MESSAGE =
  'We could not accept this order. Please check your details or try another payment method.';

/** Transaction response (standard); `message` only with `fail`. */
function standardReply({ id, decision }: TransactionRecord): Record<string, unknown> {
  return decision === 'fail' ? { id, decision, message: FAIL_MESSAGE } : { id, decision };
}

/** What the enriched reply says about each decision: `sub_status`, the recommendation, and the impact of the risk. */
const ENRICHMENT: Record<Decision, { subStatus: string; advice: string; risk?: 'medium' | 'high' }> = {
  pass: { subStatus: 'approved', advice: 'Fulfil the order.' },
  fail: { subStatus: 'declined', advice: 'Do not fulfil the order.', risk: 'high' },
  review: { subStatus: 'manual-review', advice: 'Hold the order until the review is done.', risk: 'medium' },
  fraudulent: { subStatus: 'confirmed-fraud', advice: 'Cancel the order.', risk: 'high' },
  error: { subStatus: 'not-screened', advice: 'Screen the order again.', risk: 'high' },
};

/** Transaction response (enriched), which has no `message`. */
function enrichedReply({ id, decision, mode }: TransactionRecord): Record<string, unknown> {
  const { subStatus, advice, risk } = ENRICHMENT[decision];
  const distance = 'The IP address is far from the billing address.';
  const age = 'The e-mail address has been in use for years.';
  const amount = 'The amount is usual for this merchant.';
  const trust = risk ? 'low' : 'high';
  return {
    id,
    decision,
    account_mode: mode,
    passive_mode: false,
    sub_status: subStatus,
    insights: {
      risk: risk ? { 1: { name: 'ip-distance', kind: 'location', description: distance, impact: risk } } : {},
      trust: { 1: { name: 'e-mail-age', kind: 'identity', description: age, impact: trust } },
      neutral: { 1: { name: 'order-amount', kind: 'order', description: amount } },
      recommendation: { 1: { name: 'next-step', kind: 'advice', description: advice } },
    },
  };
}
