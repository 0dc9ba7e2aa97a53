import { type ScreeningClient, ScreeningError, type TransactionResponse } from '../screening/index.ts';

/** What a look by invoice tells, which finds the first transaction only. */
export type Looked =
  /** One that is new to the order. */
  | { kind: 'found'; transaction: TransactionResponse }
  /** An earlier attempt's, which says nothing about this one. */
  | { kind: 'known' }
  | { kind: 'not-found' };

/** None was found, and one may still come: another create would make two of it. */
export const EARLIER_TRY = {
  reason: 'earlier-try',
  message: 'a create sent before may still arrive',
} as const;

/** @throws ScreeningError when that can't be told; a `transactionId` in it is new to the order */
export async function lookByInvoice(
  client: ScreeningClient,
  { invoiceNumber, knownTransactionIds }: { invoiceNumber: string; knownTransactionIds: string[] },
  timeoutMs: number,
): Promise<Looked> {
  const isKnown = (id: string | undefined) => id !== undefined && knownTransactionIds.includes(id);
  try {
    const transaction = await client.statusByInvoice(invoiceNumber, { timeoutMs });
    return isKnown(transaction.id) ? { kind: 'known' } : { kind: 'found', transaction };
  } catch (error) {
    if (!(error instanceof ScreeningError)) throw error;
    if (error.reason === 'not-found') return { kind: 'not-found' };
    if (isKnown(error.transactionId)) return { kind: 'known' };
    throw error;
  }
}
