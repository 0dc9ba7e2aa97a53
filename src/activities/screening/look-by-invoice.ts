/** Looks a transaction up by invoice number and checks whether it can belong to the order's attempt. */
import { activityInfo, log } from '@temporalio/activity';
import { sameTransaction } from '../../contract/ids.ts';
import {
  type ScreeningClient,
  ScreeningError,
  type TransactionResponse,
} from '../../screening-service/index.ts';
import type { ActivityWorld } from '../activity-world.ts';

/** Result of a lookup by invoice number, which returns the first transaction only. */
export type Looked =
  /** A transaction that is new to the order and belongs to no other order. */
  | { kind: 'found'; transaction: TransactionResponse }
  /** Like `found`, but with an unknown decision. */
  | { kind: 'undecided'; transactionId: string }
  /** A transaction of an earlier attempt or another order, which says nothing about this attempt. */
  | { kind: 'known' }
  | { kind: 'none' };

/** @throws ScreeningError if the lookup fails for another reason than `not-found` */
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
 * @returns whether the transaction belongs to another order: two integrations with the same key may use the same invoice number. If the
 * list of orders can't be queried, returns false
 */
async function isAnothers({ orders }: ActivityWorld, transactionId: string): Promise<boolean> {
  if (orders === undefined) return false;
  const own = activityInfo().workflowExecution?.workflowId;
  try {
    return (await orders.withTransaction(transactionId)).some((workflowId) => workflowId !== own);
  } catch (error) {
    log.warn('could not check whether a transaction belongs to another order', { error: String(error) });
    return false;
  }
}
