import type { OrderErrorCode } from '../contract/errors.ts';
import { sameTransaction } from '../contract/ids.ts';
import type { ScreeningClient } from './client.ts';
import { readFailure, ScreeningError } from './errors.ts';
import type { TransactionResponse } from './replies.ts';

/**
 * Reads the transaction and looks the order's invoice number up, both within `timeoutMs`.
 * @returns the transaction, or the reason why it can't be adopted
 */
export async function readForAdoption(
  client: ScreeningClient,
  requested: { transactionId: string; invoiceNumber: string; force?: boolean },
  timeoutMs: number,
): Promise<TransactionResponse | { code: OrderErrorCode; message: string }> {
  const { transactionId, invoiceNumber, force } = requested;
  try {
    const [read, found] = await Promise.all([
      client.statusById(transactionId, { timeoutMs }),
      force === true ? transactionId : idByInvoice(client, invoiceNumber, timeoutMs),
    ]);
    if (read.decision === 'error') {
      const message = 'The decision of the transaction is «error»: there is nothing to adopt';
      return { code: 'transaction-without-decision', message };
    }
    if (found === undefined || sameTransaction(found, transactionId)) return read;
    const message =
      'The screening service has a different transaction for the order’s invoice number. To adopt it anyway, send force';
    return { code: 'invoice-mismatch', message };
  } catch (error) {
    if (!(error instanceof ScreeningError)) throw error;
    const { code, message } = readFailure(error);
    return { code, message: `${message}, so nothing was adopted` };
  }
}

/** @returns the id of the first transaction with this invoice number; undefined without one */
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
