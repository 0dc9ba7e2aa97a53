import { z } from 'zod';
import type { Ledger } from '../ledger.ts';
import {
  type Answer,
  chargebackSchema,
  type Mode,
  type PortalOperation,
  type TransactionRecord,
} from '../model.ts';
import type { SandboxState } from '../state.ts';

const customerCodeRequest = z.looseObject({
  customer_code: z.string().min(1),
  email: z.email({ pattern: z.regexes.html5Email }),
});
const transactionRequest = z.looseObject({ transaction_id: z.string().min(1) });

/**
 * The portal-action API. Its refusals aren't documented; in practice they have HTTP 200 and a `code` other than 200 in the body.
 */
export function createPortalService(state: SandboxState, ledger: Ledger) {
  let replies = 0;

  /** Returns a portal reply: `code` in the configured type; `committed`, whether something was changed, is false unless `more` has it. */
  function reply(code: number, message: string, more: Partial<Answer> = {}): Answer {
    replies += 1;
    const { codeType } = state.portal;
    const asText = codeType === 'string' || (codeType === 'alternating' && replies % 2 === 0);
    const body = { code: asText ? String(code) : code, message, ...more.body };
    return { status: 200, committed: false, ...more, body };
  }

  function attachCustomerCode(mode: Mode, body: Record<string, unknown>): Answer {
    const parsed = customerCodeRequest.safeParse(body);
    if (!parsed.success) return refuseFields(parsed.error);
    const { customer_code: customerCode, email } = parsed.data;
    state.customerCodes.push({ at: state.nowIso(), mode, customerCode, email });
    return reply(200, 'customer code created successfully', { committed: true });
  }

  /** Alerts the analysts. A test decides in their place: `/_sandbox/…`. */
  function reportFraud(transaction: TransactionRecord): Answer {
    transaction.fraudReports.push(state.nowIso());
    ledger.addEvent('alert', transaction);
    return reply(200, 'transaction reported as fraudulent', { committed: true, transaction });
  }

  /** Allowed within 5 days of the first screening, also as a repeat, which changes nothing. */
  function cancel(transaction: TransactionRecord): Answer {
    if (state.now() - Date.parse(transaction.createdAt) > state.portal.cancelWindowMs) {
      const message = 'A transaction can be canceled only within 5 days of its screening.';
      return reply(403, message, { transaction });
    }
    const committed = transaction.canceledAt === null;
    transaction.canceledAt ??= state.nowIso();
    return reply(200, 'transaction canceled successfully', { committed, transaction });
  }

  /** Allowed while the decision is pass or fraudulent. Not idempotent: a repeat submits another chargeback. */
  function submitChargeback(transaction: TransactionRecord, given: Record<string, unknown>): Answer {
    const parsed = chargebackSchema.safeParse(given);
    if (!parsed.success) return refuseFields(parsed.error);
    if (transaction.decision !== 'pass' && transaction.decision !== 'fraudulent') {
      const message = 'A chargeback can be submitted only while the status is pass or fraudulent.';
      return reply(403, message, { transaction });
    }
    if (!transaction.covered) {
      const message = 'The transaction is not covered by chargeback protection.';
      return reply(403, message, { transaction });
    }
    transaction.chargebacks.push(parsed.data);
    const body = { chargeback: parsed.data };
    return reply(200, 'chargeback submitted successfully', { body, committed: true, transaction });
  }

  function refuseFields({ issues }: z.ZodError): Answer {
    const fields = issues.map(({ path }) => path.join('.'));
    return reply(400, `Missing or malformed: ${[...new Set(fields)].join(', ')}`);
  }
  return {
    act(operation: PortalOperation, mode: Mode, body: Record<string, unknown>): Answer {
      if (operation === 'customer-code') return attachCustomerCode(mode, body);
      const parsed = transactionRequest.safeParse(body);
      if (!parsed.success) return refuseFields(parsed.error);
      const transaction = state.findById(mode, parsed.data.transaction_id);
      if (!transaction) return reply(404, 'Transaction Not Found');
      if (operation === 'report-fraud') return reportFraud(transaction);
      if (operation === 'cancel-transaction') return cancel(transaction);
      return submitChargeback(transaction, body);
    },
  };
}
