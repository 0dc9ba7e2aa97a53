import type { Client } from '@temporalio/client';
import { readOrder } from '../../src/client/reading/read-orders.ts';
import type { OrderRecord } from '../../src/contract/order/order-record.ts';

/** Reads an order by what Temporal's server has of it, in the full view. */
export function readState(client: Client, workflowId: string): Promise<OrderRecord> {
  return readOrder({ client, findIntegration: () => undefined }, workflowId, 'full');
}
