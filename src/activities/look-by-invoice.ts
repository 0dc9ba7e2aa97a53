/** A lookup by invoice number, as an order reads it. */
import { activityInfo, log } from '@temporalio/activity';
import { sameTransaction } from '../contract/ids.ts';
import { type ScreeningClient, ScreeningError, type TransactionResponse } from '../screening/index.ts';
import type { ActivityWorld } from './activity-world.ts';

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
  world: ActivityWorld,
  client: ScreeningClient,
  { invoiceNumber, knownTransactionIds }: { invoiceNumber: string; knownTransactionIds: string[] },
  timeoutMs: number,
): Promise<Looked> {
  const isOld = async (id: string) =>
    knownTransactionIds.some((known) => sameTransaction(known, id)) || (await isAnothers(world, id));
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

/**
 * @returns whether the transaction is another order's: two integrations with one key may share an invoice number. Where that can't be
 * asked, it isn't
 */
async function isAnothers({ orders }: ActivityWorld, transactionId: string): Promise<boolean> {
  if (orders === undefined) return false;
  const own = activityInfo().workflowExecution?.workflowId;
  try {
    return (await orders.withTransaction(transactionId)).some((workflowId) => workflowId !== own);
  } catch (error) {
    log.warn('the list of orders could not be asked whose a transaction is', { error: String(error) });
    return false;
  }
}
