/** Reads the transaction that an order adopts. */
import type { OrderErrorCode } from '../contract/errors.ts';
import { sameTransaction } from '../contract/ids.ts';
import type { ScreeningClient } from './client.ts';
import { ScreeningError } from './errors.ts';
import type { TransactionResponse } from './replies.ts';
import { whyUnread } from './why-unread.ts';

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
    const { code, message } = whyUnread(error);
    return { code, message: `${message}, so nothing was adopted` };
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

const IN_ERROR = 'The decision of the transaction is «error»: there is nothing to adopt';
const ANOTHER_BY_INVOICE =
  'The order’s invoice number leads to another transaction at the screening service: send it with force';
