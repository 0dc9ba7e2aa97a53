/** Addresses of the pages, and of what they link to. */
import { type OrderKey, orderWorkflowId } from '../../orders/ids.ts';

/** The Temporal UI that the pages link to. */
export interface TemporalUi {
  /** Its address, such as `https://temporal.example.com`. */
  url: string;
  namespace: string;
}

/** @returns the address of an order's page, or of one of its actions */
export function orderPath({ orderId, integration }: OrderKey, action?: string, notice?: string): string {
  const query = new URLSearchParams({ integration, ...(notice !== undefined && { notice }) });
  return `/orders/${encodeURIComponent(orderId)}${action === undefined ? '' : `/${action}`}?${query}`;
}

/** @returns the address of an order in the Temporal UI; undefined when none is known */
export function temporalLink(
  ui: TemporalUi | undefined,
  { orderId, integration }: OrderKey,
  runId: string | undefined,
): string | undefined {
  if (ui === undefined) return undefined;
  const segments = ['namespaces', ui.namespace, 'workflows', orderWorkflowId(integration, orderId)];
  const run = runId === undefined ? [] : [runId, 'history'];
  return `${ui.url.replace(/\/+$/, '')}/${[...segments, ...run].map(encodeURIComponent).join('/')}`;
}
