import type { OrderList, OrderSummary } from '../../contract/order/order.ts';

/** The maximum number of orders per file. */
const CSV_ROWS = 2_000;
const QUEUE_CUT = 'the queue has more orders with later deadlines.';
const CSV_COLUMNS: Record<string, (order: OrderSummary) => string | number | undefined> = {
  order: ({ orderId }) => orderId,
  integration: ({ integration }) => integration,
  phase: ({ phase }) => phase,
  decision: ({ decision }) => decision,
  action: ({ action }) => action,
  attention: ({ needsAttention }) => (needsAttention ? 'yes' : 'no'),
  amount: ({ amount }) => amount,
  currency: ({ currency }) => currency,
  'cancel by': ({ cancelBy }) => cancelBy,
  came: ({ startedAt }) => startedAt,
  closed: ({ closedAt }) => closedAt,
  transactions: ({ transactionIds }) => transactionIds.join(' '),
};

/**
 * Writes all pages of a list as one CSV file; if it was truncated, the last line says so.
 * @param read reads a page: the first one, then the one at each cursor. `cut`: the queue has more orders than were read
 */
export async function csvOf(
  read: (cursor?: string) => Promise<OrderList & { cut?: boolean }>,
): Promise<string> {
  const orders: OrderSummary[] = [];
  let cursor: string | undefined;
  let partly = false;
  do {
    const page = await read(cursor);
    orders.push(...page.orders);
    cursor = page.cursor;
    partly ||= page.cut === true;
  } while (cursor !== undefined && orders.length < CSV_ROWS);
  const rows = orders.map((order) => Object.values(CSV_COLUMNS).map((of) => of(order)));
  const cut = cursor !== undefined || orders.length > CSV_ROWS;
  const words = cut ? `these are the first ${CSV_ROWS} orders. Choose narrower filters.` : QUEUE_CUT;
  const last = cut || partly ? [[`Cut: ${words}`]] : [];
  const lines = [Object.keys(CSV_COLUMNS), ...rows.slice(0, CSV_ROWS), ...last];
  return lines.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('');
}

/** Prevents formula injection: spreadsheets run text that begins with these characters. Also removes control characters, which move a terminal's cursor. */
function csvCell(value: string | number | undefined): string {
  if (typeof value !== 'string') return value === undefined ? '' : `${value}`;
  const plain = value.replace(/\p{Cc}+/gu, ' ');
  const text = /^[\s;,|]*[=+\-@]/.test(plain) ? `'${plain}` : plain;
  return /[",;]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
