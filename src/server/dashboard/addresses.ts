/** Addresses of the pages and of what they link to. */
import { type OrderKey, orderWorkflowId } from '../../contract/ids.ts';
import type { OrderDecision, Phase } from '../../contract/words.ts';

/** The lists of the queue, as tabs, and `every`: every order that Temporal keeps. */
export const TABS = ['overdue', 'soon', 'attention', 'stuck', 'held', 'all'] as const;
/** A list of the queue. `snoozed` is a tab only if it has orders. */
export type Tab = (typeof TABS)[number] | 'snoozed';
export const LISTS = [...TABS, 'snoozed', 'every'] as const;
type List = (typeof LISTS)[number];

export const TAB_NAMES: Readonly<Record<List, string>> = {
  overdue: 'Overdue',
  soon: 'Within 12 h',
  attention: 'Attention',
  stuck: 'Stuck',
  held: 'Held',
  all: 'All',
  snoozed: 'Snoozed',
  every: 'Every order',
};

export interface Filters {
  /** Of a search it is `every`. */
  list: List;
  /** A search, which has no other filter than the store. */
  q?: string | undefined;
  /** The store. */
  integration?: string | undefined;
  decision?: OrderDecision | undefined;
  phase?: Phase | undefined;
  amountFrom?: number | undefined;
  amountTo?: number | undefined;
}

/** What an address of a list has besides the filters. */
interface Place {
  page?: number;
  cursor?: string | undefined;
  select?: 'all';
}

/** @returns the query of a list; empty for the whole queue */
export function listQuery(filters: Filters, { page = 1, cursor, select }: Place = {}): string {
  const { amountFrom, amountTo, list, ...others } = filters;
  return queryOf({
    list: list === 'all' || filters.q !== undefined ? undefined : list,
    ...others,
    'amount-from': amountFrom,
    'amount-to': amountTo,
    page: page === 1 ? undefined : page,
    cursor,
    select,
  });
}

/** Fields without a value are left out. */
function queryOf(fields: Record<string, string | number | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) query.set(name, `${value}`);
  return query.toString();
}

/** @returns the path of a list, or of what belongs to it, such as `/queue.csv` */
export function listPath(filters: Filters, place?: Place, path = '/'): string {
  const query = listQuery(filters, place);
  return query === '' ? path : `${path}?${query}`;
}

/** Where an order's page was opened from: the query of the list, and the order's position in it, from 1. */
export interface From {
  from?: string | undefined;
  pos?: number | undefined;
}

export function orderPath(order: OrderKey, action?: string, place: From & { notice?: string } = {}): string {
  const path = ['', 'orders', encodeURIComponent(order.orderId), ...(action === undefined ? [] : [action])];
  const { from, pos, notice } = place;
  return `${path.join('/')}?${queryOf({ integration: order.integration, from, pos, notice })}`;
}

/** A selected order in a form: `integration/orderId`, after what the person saw of it. */
export const CHOSEN = /^(?:(?<ifAction>\w*) (?<until>\S*) )?(?<integration>[^/]*)\/(?<orderId>.*)$/s;

export function transactionPath(idOrInvoice: string, integration: string): string {
  return `/transactions/${encodeURIComponent(idOrInvoice)}?${queryOf({ integration })}`;
}

export interface TemporalUi {
  /** Such as `https://temporal.example.com`. */
  url: string;
  namespace: string;
}

export function temporalLink(ui: TemporalUi, order: OrderKey, runId: string): string {
  const workflowId = orderWorkflowId(order.integration, order.orderId);
  const segments = ['namespaces', ui.namespace, 'workflows', workflowId, runId, 'history'];
  return `${ui.url.replace(/\/+$/, '')}/${segments.map(encodeURIComponent).join('/')}`;
}

/** @returns a link of the policy, with the value of its placeholder, such as `{transactionId}`; nothing without one of them */
export function policyLink(link: string | undefined, placeholder: string, value = ''): string | undefined {
  return value && link?.replaceAll(placeholder, encodeURIComponent(value));
}
