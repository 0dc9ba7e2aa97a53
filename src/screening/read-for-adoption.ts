/** Reads the transaction that an order adopts. */
import type { OrderErrorCode } from '../orders/errors.ts';
import { sameTransaction } from '../orders/ids.ts';
import type { ScreeningClient } from './client.ts';
import { ScreeningError } from './errors.ts';
import type { TransactionResponse } from './replies.ts';

/**
 * Reads the transaction and what the order's invoice number leads to, both within `timeoutMs`.
 * @returns its decision, or why no order may take it
 */
export async function readForAdoption(
  client: ScreeningClient,
  wanted: { transactionId: string; invoiceNumber: string; force?: boolean },
  timeoutMs: number,
): Promise<TransactionResponse | { code: OrderErrorCode; message: string }> {
  const { transactionId, invoiceNumber, force } = wanted;
  try {
    const [read, found] = await Promise.all([
      client.statusById(transactionId, { timeoutMs }),
      force === true ? transactionId : idByInvoice(client, invoiceNumber, timeoutMs),
    ]);
    if (read.decision === 'error') return { code: 'transaction-without-decision', message: IN_ERROR };
    if (found !== undefined && !sameTransaction(found, transactionId)) {
      return { code: 'invoice-mismatch', message: ANOTHER_BY_INVOICE };
    }
    return read;
  } catch (error) {
    if (!(error instanceof ScreeningError)) throw error;
    return whyUnread(error);
  }
}

/** @returns the id of the first transaction of that invoice number; undefined when there is none */
async function idByInvoice(
  client: ScreeningClient,
  invoiceNumber: string,
  timeoutMs: number,
): Promise<string | undefined> {
  try {
    return (await client.statusByInvoice(invoiceNumber, { timeoutMs })).id;
  } catch (error) {
    if (!(error instanceof ScreeningError)) throw error;
    if (error.reason === 'not-found') return undefined;
    if (error.transactionId !== undefined) return error.transactionId;
    throw error;
  }
}

function whyUnread({ reason, outcome }: ScreeningError): { code: OrderErrorCode; message: string } {
  if (reason === 'not-found') return { code: 'unknown-transaction', message: UNKNOWN_TO_SERVICE };
  if (reason === 'unknown-decision') return { code: 'transaction-without-decision', message: NO_DECISION };
  if (reason === 'other-transaction') {
    return { code: 'screening-service-unavailable', message: `${OTHER_TRANSACTION}, so nothing was adopted` };
  }
  const words = reason === 'forbidden' ? WRONG_KEY : outcome === 'refused' ? REFUSED_TO_TELL : NO_ANSWER;
  return { code: 'screening-service-unavailable', message: `${words}, so nothing was adopted` };
}

const UNKNOWN_TO_SERVICE = 'The screening service does not know the transaction';
const IN_ERROR = 'The decision of the transaction is «error»: there is nothing to adopt';
const NO_DECISION = 'The service’s word for the transaction is no decision: there is nothing to adopt';
const ANOTHER_BY_INVOICE =
  'The order’s invoice number leads to another transaction at the screening service: send it with force';
const WRONG_KEY = 'The screening service does not take the API key';
const OTHER_TRANSACTION =
  'The screening service answered about another transaction than the one that was asked for';
const REFUSED_TO_TELL = 'The screening service refused to tell the status';
const NO_ANSWER = 'The screening service did not answer';
