/** A lookup by invoice number, as an order reads it. */
import { sameTransaction } from '../orders/ids.ts';
import { type ScreeningClient, ScreeningError, type TransactionResponse } from '../screening/index.ts';

/** What a lookup by invoice number shows: the first transaction only. */
export type Looked =
  /** A transaction that is new to the order, and no other order's. */
  | { kind: 'found'; transaction: TransactionResponse }
  /** The same, but its decision can't be read. */
  | { kind: 'undecided'; transactionId: string }
  /** An earlier attempt's or another order's, which says nothing about this one. */
  | { kind: 'known' }
  | { kind: 'none' };

/** @throws ScreeningError when the screening service doesn't say */
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
    const { reason, transactionId } = error;
    if (reason === 'not-found') return { kind: 'none' };
    if (transactionId === undefined) throw error;
    return (await isOld(transactionId)) ? { kind: 'known' } : { kind: 'undecided', transactionId };
  }
}
