/** The search attributes of an order, and queries by them. */
import {
  defineSearchAttributeKey,
  type SearchAttributePair,
  type SearchAttributeType,
} from '@temporalio/common';
import { SCREEN_ORDER } from '../../contract/messages.ts';
import { ACTIONS, millis, ORDER_DECISIONS, OUTCOMES, PHASES } from '../../contract/words.ts';
import { needsAttention } from '../attention.ts';
import { lastOf } from '../bounds.ts';
import type { Order } from '../order.ts';
import { orderFactsOf } from '../order-rules.ts';
import { currentAttempt } from '../record.ts';
import { cancelByOf, isUnderWay } from '../transactions.ts';
import { outcomesOf, reviewHours } from './outcomes.ts';

/**
 * Every search attribute of an order. `npm run setup:temporal` registers them, workers require them, and the table in `docs/temporal-ui.md`
 * is generated from them. Temporal always stores them unencrypted: no personal data.
 */
export const orderAttributes = {
  phase: attribute('ScreeningPhase', 'KEYWORD', listed(PHASES)),
  decision: attribute('ScreeningDecision', 'KEYWORD', listed(ORDER_DECISIONS)),
  action: attribute('ScreeningAction', 'KEYWORD', `what the order service does: ${listed(ACTIONS)}`),
  integration: attribute('ScreeningIntegration', 'KEYWORD', 'the integration’s name'),
  invoiceNumber: attribute(
    'InvoiceNumber',
    'KEYWORD_LIST',
    'the invoice numbers that the order was screened under: the newest 2,000 bytes',
  ),
  transactionId: attribute(
    'TransactionId',
    'KEYWORD_LIST',
    'its transactions at the screening service, in small letters: the newest 51',
  ),
  cancelBy: attribute('CancelBy', 'DATETIME', 'the end of the cancel window'),
  needsAttention: attribute('NeedsAttention', 'BOOL', 'a person must look at it'),
  actionUnderWay: attribute('ActionUnderWay', 'BOOL', 'a portal action is queued or running'),
  outcomes: attribute('OrderOutcomes', 'KEYWORD_LIST', `what statistics count: ${listed(OUTCOMES)}`),
  reviewHours: attribute('ReviewHours', 'DOUBLE', 'how long its newest review took'),
  amount: attribute('OrderAmount', 'DOUBLE', 'in the order’s own currency'),
};

export const orderSearchAttributes = Object.values(orderAttributes);

/** @param about its description in the guide, in Markdown */
function attribute<Type extends SearchAttributeType>(name: string, type: Type, about: string) {
  return { ...defineSearchAttributeKey(name, type), about };
}

export function searchAttributesOf({ state, asked }: Pick<Order, 'state' | 'asked'>): SearchAttributePair[] {
  const attempt = currentAttempt(state);
  // An attempt has the number of its newest create only.
  const creates = [...state.transactions, ...state.attempts];
  const cancelBy = cancelByOf(state, attempt);
  const { phase, decision, action, integration } = state;
  return pairsOf({
    ...{ phase, decision, action, integration },
    invoiceNumber: newestOf(creates.flatMap((one) => one.invoiceNumber ?? [])),
    transactionId: newestOf(state.transactions.map(({ id }) => id.toLowerCase())),
    cancelBy: cancelBy && new Date(millis(cancelBy)),
    needsAttention: needsAttention(state),
    actionUnderWay: state.actions.some(isUnderWay),
    outcomes: outcomesOf(state),
    reviewHours: reviewHours(state),
    amount: orderFactsOf(asked.transaction).amount,
  });
}

/** Temporal terminates a workflow that sets a search attribute of more than 2 KiB. */
const VALUE_BYTES = 2_000;

function newestOf(values: string[]): string[] {
  return lastOf([...new Set(values)], values.length, VALUE_BYTES);
}

/**
 * Returns the search attributes that an order is started with. At the start they cost no history event.
 * @param known its `amount` is NaN if the transaction has none
 */
export function searchAttributesAtStart({
  invoiceNumber,
  ...known
}: Record<'integration' | 'invoiceNumber', string> & { amount: number }): SearchAttributePair[] {
  return pairsOf({ phase: 'screening', ...known, invoiceNumber: [invoiceNumber], needsAttention: false });
}

type Values = {
  [Name in keyof typeof orderAttributes]?: string | string[] | number | boolean | Date | undefined;
};

/** Omits unknown values: undefined, an empty list, and a number that isn't finite. */
function pairsOf(values: Values): SearchAttributePair[];
function pairsOf(values: Values): object[] {
  return (Object.keys(orderAttributes) as (keyof Values)[]).flatMap((attribute) => {
    const value = values[attribute];
    if (value === undefined || (Array.isArray(value) && value.length === 0)) return [];
    if (typeof value === 'number' && !Number.isFinite(value)) return [];
    const { name, type } = orderAttributes[attribute];
    return [{ key: { name, type }, value }];
  });
}

export function openQuery(workflowType: string = SCREEN_ORDER): string {
  return `WorkflowType = '${workflowType}' AND ExecutionStatus = 'Running'`;
}

/** The condition of a query that leaves out refused starts: a file of refused adoptions would fill a page. */
export const STARTED = "(ExecutionStatus != 'Failed' OR CancelBy IS NOT NULL)";

export function transactionQuery(transactionId: string): string {
  return `WorkflowType = '${SCREEN_ORDER}' AND ${equals(orderAttributes.transactionId, transactionId.toLowerCase())}`;
}

/** Returns a condition of the query language. */
export function equals({ name }: { name: string }, value: string): string {
  return `${name} = ${quoted(value)}`;
}

/** Returns a value as a string literal of the query language. */
export function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function listed(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}
