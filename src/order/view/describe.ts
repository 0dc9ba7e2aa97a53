/** Describes an order for operators: details in the Temporal UI, and search attributes. */
import {
  defineSearchAttributeKey,
  type SearchAttributePair,
  type SearchAttributeType,
} from '@temporalio/common';
import { SCREEN_ORDER } from '../../contract/messages.ts';
import type { GatewayRecord, OrderState } from '../../contract/order/state.ts';
import {
  type Action,
  type DeadlineKind,
  millis,
  ORDER_DECISIONS,
  OUTCOMES,
  type Phase,
} from '../../contract/words.ts';
import { needsAttention } from '../attention.ts';
import { lastOf } from '../bounds.ts';
import { nextDeadline } from '../deadlines.ts';
import type { Order } from '../order.ts';
import { orderFactsOf } from '../order-rules.ts';
import { currentAttempt } from '../record.ts';
import { cancelByOf, isUnderWay, mayBeSeen, owedFor, transactionOf } from '../transactions.ts';
import { outcomesOf, reviewHours } from './outcomes.ts';

/** Returns the current details in the Temporal UI: the state and its reason, facts, the next deadline, and the operator's choices. */
export function describe(order: OrderState): string {
  const reason = order.reason === undefined ? '' : ` (${order.reason})`;
  const ended = order.endedAt !== undefined;
  const next = nextDeadline(order);
  return [
    `## ${PHASE_WORDS[order.phase]}`,
    '',
    `**Decision** ${order.decision}${reason} · **Action** ${ACTIONS[order.action]}`,
    ...(order.wouldBe
      ? ['', `Passive mode. Without it, the action would be *${ACTIONS[order.wouldBe]}*.`]
      : []),
    ...section(
      'Needs attention',
      order.attention.map((one) => `- ${one.words} *(since ${one.since})*`),
    ),
    ...section('Facts', factsOf(order)),
    ...section('Ended, but kept open by', ended ? keptOpenBy(order) : []),
    ...section('Next', next ? [`${DEADLINES[next.kind]} at ${next.at}.`] : []),
    ...section('What you can do', [order.policy.passive ? PASSIVE_CHOICES : CHOICES[order.phase]]),
  ].join('\n');
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `### ${title}`, '', ...lines];
}

function factsOf(order: OrderState): string[] {
  const attempt = currentAttempt(order);
  const { number, override, gateway } = attempt;
  const transaction = transactionOf(order, attempt);
  const cancelBy = cancelByOf(order, attempt);
  const { adopted, lastRead, actions } = order;
  return [
    `- Attempt ${number}, ${transaction ? `transaction \`${transaction.id}\`` : 'no transaction'}`,
    ...(adopted ? [`- Adopted: screened outside of order-screening at ${adopted.screenedAt}`] : []),
    ...(override ? [`- Overridden ${override.at}: ${override.action}`] : []),
    ...(cancelBy ? [`- Can be canceled at the screening service until ${cancelBy}`] : []),
    ...(lastRead ? [`- Last read ${lastRead.at} (${lastRead.source})`] : []),
    ...(gateway ? [`- The payment gateway’s result: ${gateway.result}${notSent(gateway)}`] : []),
    ...actions.map(({ number, kind, status, message }) => {
      return `- ${number}. ${kind}: ${status}${message ? ` (${message})` : ''}`;
    }),
  ];
}

function notSent({ sent }: GatewayRecord): string {
  if (sent === 'given-up') return ', not sent to the screening service';
  return sent === undefined ? ', not sent yet' : '';
}

function keptOpenBy(state: OrderState): string[] {
  const { waiting } = state.events;
  const attempts = state.attempts.flatMap((attempt) => {
    const { number, cardRef, cardForgotten } = attempt;
    return [
      ...(mayBeSeen(attempt) ? [`- a lookup of the transaction of attempt ${number}`] : []),
      ...(owedFor(state, attempt) ? [`- the payment gateway’s result of attempt ${number}`] : []),
      ...(cardRef && !cardForgotten ? [`- the card of attempt ${number}, to be deleted`] : []),
    ];
  });
  return [
    ...state.actions.filter(isUnderWay).map(({ kind, number }) => `- ${kind} (action ${number})`),
    ...attempts,
    ...(waiting > 0 ? [`- ${waiting} event${waiting === 1 ? '' : 's'} to be delivered`] : []),
  ];
}

/** What happens to an order in a phase. */
export const PHASE_WORDS: Record<Phase, string> = {
  screening: 'Being screened: no decision yet',
  'awaiting-gateway': 'Waiting for the payment gateway’s result',
  review: 'In review at the screening service',
  declined: 'Declined: another attempt is possible',
  decided: 'Decided',
  canceled: 'Canceled',
  closed: 'Closed',
};

const ACTIONS: Record<Action, string> = {
  proceed: 'proceed: continue',
  hold: 'hold: don’t fulfill it yet',
  decline: 'decline: tell the customer',
  cancel: 'cancel: void or refund',
};

/** What a deadline does; also the summary of its timer. */
export const DEADLINES: Record<DeadlineKind, string> = {
  'screening-deadline': 'Screening is given up',
  rescreen: 'The order is screened again',
  'gateway-late': 'The gateway’s result is overdue',
  'gateway-over': 'The time for the gateway’s result ends',
  'review-lead': 'A review that is still open needs attention',
  'review-limit': 'A review that is still open is closed',
  recheck: 'The decision is read again',
  'cancel-reminder': 'The operator is reminded to cancel',
  'retry-over': 'The time for another attempt ends',
  'window-closes': 'The cancel window closes, and the order with it',
  'nothing-left': 'The order is closed',
  'leftovers-over': 'Unsent results and open lookups are given up',
  'reply-due': 'Callers of a portal action get the reply `requested`',
  'retry-due': 'Retry after a failure',
  'action-over': 'A portal action is given up',
  'lookup-over': 'A cancel no longer waits for the lookup of another transaction',
  'snooze-over': 'The snooze ends',
};

const CHOICES: Record<Phase, string> = {
  screening: 'Override the decision, cancel the order, or wait: screening continues automatically.',
  'awaiting-gateway': 'Report the gateway’s result, recheck, override the decision, or cancel.',
  review:
    'Recheck to read the decision now, override it, cancel while the window is open, or wait: the review is polled.',
  declined: 'Recheck, or wait for another attempt.',
  decided:
    'Recheck, override the decision, cancel while the window is open, report fraud, attach a customer code, submit a chargeback.',
  canceled: 'Nothing.',
  closed: 'Report fraud or submit a chargeback. Each runs as its own workflow.',
};

const PASSIVE_CHOICES = 'Recheck, or wait: a passive integration only records decisions.';

/**
 * Every search attribute of an order. `npm run setup:temporal` registers them, workers require them, and the table in `docs/temporal-ui.md`
 * is generated from them. Temporal always stores them unencrypted: no personal data.
 */
export const orderAttributes = {
  phase: attribute('ScreeningPhase', 'KEYWORD', listed(Object.keys(PHASE_WORDS))),
  decision: attribute('ScreeningDecision', 'KEYWORD', listed(ORDER_DECISIONS)),
  action: attribute(
    'ScreeningAction',
    'KEYWORD',
    `what the order service does: ${listed(Object.keys(ACTIONS))}`,
  ),
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

export function searchAttributesOf({
  state,
  transactions,
}: Pick<Order, 'state' | 'transactions'>): SearchAttributePair[] {
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
    amount: orderFactsOf(transactions[attempt.number]).amount,
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

/** Returns the visibility query for the open workflows of a type, by default orders. */
export function openQuery(workflowType: string = SCREEN_ORDER): string {
  return `WorkflowType = '${workflowType}' AND ExecutionStatus = 'Running'`;
}

export function transactionQuery(transactionId: string): string {
  return [
    `WorkflowType = '${SCREEN_ORDER}'`,
    `${orderAttributes.transactionId.name} = ${quoted(transactionId.toLowerCase())}`,
  ].join(' AND ');
}

/** Returns a value as a string literal of the query language. */
export function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function listed(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}
