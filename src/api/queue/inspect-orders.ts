import {
  type InspectedOrder,
  type OrderScreening,
  OrderScreeningError,
  type OrderSummary,
} from '../../starter.ts';

/** For all orders of a page together: without a worker the page comes this late, and says so. In milliseconds. */
const WITHIN_MS = 2_000;

/** An order of the queue; `inspected` is absent when Temporal didn't tell in time, or knows it no more. */
export interface QueuedOrder {
  summary: OrderSummary;
  inspected: InspectedOrder | undefined;
}

/** Looks into the orders of one page, all at once, so that their number bounds the questions. */
export async function inspectOrders(
  { inspect }: Pick<OrderScreening, 'inspect'>,
  orders: readonly OrderSummary[],
): Promise<QueuedOrder[]> {
  return Promise.all(
    orders.map(async (summary) => {
      const { orderId, integration } = summary;
      const inspected = await inspect({ orderId, integration }, { withinMs: WITHIN_MS }).catch(unlessOurs);
      return { summary, inspected };
    }),
  );
}

function unlessOurs(error: unknown): undefined {
  if (!(error instanceof OrderScreeningError)) throw error;
}
