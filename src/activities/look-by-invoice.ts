/** A lookup by invoice number, as an order reads it. */
import { sameTransaction } from '../orders/ids.ts';
import { type ScreeningClient, ScreeningError, type TransactionResponse } from '../screening/index.ts';

/** What a look by invoice tells, which finds the first transaction only. */
export type Looked =
  /** One that is new to the order. */
  | { kind: 'found'; transaction: TransactionResponse }
  /** An earlier attempt's or another order's, which says nothing about this one. */
  | { kind: 'known' }
  | { kind: 'not-found' };

/** @throws ScreeningError when that can't be told; a `transactionId` in it is new to the order, and no other order's */
export async function lookByInvoice(
  {
    client,
    isAnothers,
  }: { client: ScreeningClient; isAnothers: (transactionId: string) => Promise<boolean> },
  { invoiceNumber, knownTransactionIds }: { invoiceNumber: string; knownTransactionIds: string[] },
  timeoutMs: number,
): Promise<Looked> {
  const isOld = async (id: string) =>
    knownTransactionIds.some((known) => sameTransaction(known, id)) || (await isAnothers(id));
  try {
    const transaction = await client.statusByInvoice(invoiceNumber, { timeoutMs });
    return (await isOld(transaction.id)) ? { kind: 'known' } : { kind: 'found', transaction };
  } catch (error) {
    if (!(error instanceof ScreeningError)) throw error;
    if (error.reason === 'not-found') return { kind: 'not-found' };
    if (error.transactionId !== undefined && (await isOld(error.transactionId))) return { kind: 'known' };
    throw error;
  }
}
