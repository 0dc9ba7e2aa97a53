/** What ops see of an order: words for the Temporal UI, and search attributes. */

import {
  defineSearchAttributeKey,
  type SearchAttributePair,
  type SearchAttributeType,
} from '@temporalio/common';
import { leftoversBound, nextDeadline } from './deadlines.ts';
import { orderFactsOf } from './decide.ts';
import { SCREEN_ORDER } from './messages.ts';
import type { Order } from './order.ts';
import { isUnderWay } from './portal-requests.ts';
import { currentAttempt } from './record.ts';
import type { OrderState } from './state.ts';
import { cancelByOf, mayBeSeen, transactionOf } from './transactions.ts';
import {
  type Action,
  type DeadlineKind,
  type Instant,
  millis,
  ORDER_DECISIONS,
  type Phase,
} from './words.ts';

/** Returns the current details in the Temporal UI: the state and its reason, facts, what comes next, and what a person can do. */
export function describe({ state: order, outbox }: Pick<Order, 'state' | 'outbox'>): string {
  const reason = order.reason === undefined ? '' : ` (${order.reason})`;
  const ended = order.endedAt !== undefined;
  const next = ended ? leftoversBound(order) : nextDeadline(order);
  return [
    `## ${PHASES[order.phase]}`,
    '',
    `**Decision** ${order.decision}${reason} · **what the order service does** ${ACTIONS[order.action]}`,
    ...(order.wouldBe ? ['', `Passive: it would have been *${ACTIONS[order.wouldBe]}*.`] : []),
    ...section(
      'Needs attention',
      order.attention.map((one) => `- ${one.words} *(since ${one.since})*`),
    ),
    ...section('Facts', factsOf(order)),
    ...section('It is over, and kept open by', ended ? keptOpenBy(order, outbox.length) : []),
    ...section('Next', next ? [`${DEADLINES[next.kind]} at ${next.at}.`] : []),
    ...section('What you can do', [CHOICES[order.phase]]),
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
    ...(adopted ? [`- Adopted: it was screened without us, at ${adopted.screenedAt}`] : []),
    ...(override ? [`- A person decided ${override.at}: ${override.action}`] : []),
    ...(cancelBy ? [`- Can be canceled with the screening service until ${cancelBy}`] : []),
    ...(lastRead ? [`- Last read ${lastRead.at} (${lastRead.source})`] : []),
    ...(gateway
      ? [`- The payment gateway said ${gateway.result}${gateway.sent ? '' : ', not sent on yet'}`]
      : []),
    ...actions.map(({ number, kind, status, message }) => {
      return `- ${number}. ${kind}: ${status}${message ? ` (${message})` : ''}`;
    }),
  ];
}

function keptOpenBy(state: OrderState, events: number): string[] {
  const attempts = state.attempts.flatMap((attempt) => {
    const { number, gateway, cardRef, cardForgotten } = attempt;
    const owesGateway = gateway !== undefined && !gateway.sent && transactionOf(state, attempt) !== undefined;
    return [
      ...(mayBeSeen(attempt) ? [`- a look for the transaction of attempt ${number}`] : []),
      ...(owesGateway ? [`- the payment gateway’s result of attempt ${number}`] : []),
      ...(cardRef && !cardForgotten ? [`- the card of attempt ${number}, to be deleted`] : []),
    ];
  });
  return [
    ...state.actions.filter(isUnderWay).map(({ kind, number }) => `- ${kind} (action ${number})`),
    ...attempts,
    ...(events > 0 ? [`- ${events} event${events === 1 ? '' : 's'} to be delivered`] : []),
  ];
}

/** @returns what a deadline does, in words: also the summary of its timer */
export function describeDeadline(kind: DeadlineKind): string {
  return DEADLINES[kind];
}

const PHASES: Record<Phase, string> = {
  screening: 'Being screened: no decision yet',
  'awaiting-gateway': 'Waiting for the payment gateway’s result',
  review: 'In review at the screening service',
  declined: 'Declined: another attempt may come',
  decided: 'Decided',
  canceled: 'Canceled',
  closed: 'Closed',
};

const ACTIONS: Record<Action, string> = {
  proceed: 'proceed: carry on',
  hold: 'hold: keep it, don’t fulfil',
  decline: 'decline: tell the customer',
  cancel: 'cancel: void or refund',
};

const DEADLINES: Record<DeadlineKind, string> = {
  'screening-deadline': 'Screening is given up',
  rescreen: 'The order is screened again',
  'gateway-late': 'The gateway’s result is overdue',
  'gateway-over': 'No gateway result is expected any more',
  'review-lead': 'An unresolved review is acted on',
  'review-limit': 'An unresolved review is closed',
  recheck: 'The decision is read once more',
  'cancel-reminder': 'A person is reminded to cancel',
  'retry-over': 'No other attempt is expected any more',
  'window-closes': 'The cancel window closes, and the order with it',
  'nothing-left': 'The order is closed',
  'leftovers-over': 'What is still owed to the screening service is given up',
  'reply-due': 'Callers of a portal action get the reply that it continues',
  'retry-due': 'Try again after a failure',
  'action-over': 'A portal action is given up',
};

const CHOICES: Record<Phase, string> = {
  screening: 'Cancel the order, or wait: it goes on by itself.',
  'awaiting-gateway': 'Report the gateway’s result, recheck, or cancel.',
  review:
    'Recheck to read the decision now, decide in its place (override), cancel while the window is open, or wait: it is polled.',
  declined: 'Recheck, or wait for another attempt.',
  decided:
    'Recheck, cancel while the window is open, report fraud, attach a customer code, submit a chargeback.',
  canceled: 'Nothing is left to do.',
  closed: 'Report fraud or submit a chargeback: each runs as a workflow of its own.',
};

/** What search attributes are made of. */
type Shown = Pick<Order, 'state' | 'transactions'>;

/** What is known when an order is started. */
export interface KnownAtStart {
  integration: string;
  invoiceNumber: string;
  /** Not a number when the transaction names none. */
  amount: number;
}

type AttributeValue<Type> = Extract<SearchAttributePair, { key: { type: Type } }>['value'];

interface AttributeWords<Type> {
  /** Its line in the guide, in Markdown. */
  about: string;
  /** Undefined is not shown. */
  of(order: Shown): AttributeValue<Type> | undefined;
  /** Its value in the start itself, where it costs no event. */
  atStart?(known: KnownAtStart): AttributeValue<Type> | undefined;
}

function attribute<Type extends SearchAttributeType>(name: string, type: Type, words: AttributeWords<Type>) {
  const key = defineSearchAttributeKey(name, type);
  const pairs = (value: AttributeValue<Type> | undefined) =>
    value === undefined ? [] : [pairOf(key, value)];
  return {
    ...key,
    about: words.about,
    of: (order: Shown) => pairs(words.of(order)),
    atStart: (known: KnownAtStart) => pairs(words.atStart?.(known)),
  };
}

function pairOf<Type extends SearchAttributeType>(
  key: ReturnType<typeof defineSearchAttributeKey<Type>>,
  value: AttributeValue<Type>,
): SearchAttributePair;
function pairOf(key: object, value: unknown): object {
  return { key, value };
}

/**
 * Every search attribute of an order: what `npm run setup:temporal` registers, workers insist on, and the table of
 * `docs/temporal-ui.md` is made of. Temporal keeps them in plain, always: no personal data.
 */
export const orderAttributes = {
  phase: attribute('ScreeningPhase', 'KEYWORD', {
    about: listed(Object.keys(PHASES)),
    of: ({ state }) => state.phase,
    atStart: () => 'screening',
  }),
  decision: attribute('ScreeningDecision', 'KEYWORD', {
    about: listed(ORDER_DECISIONS),
    of: ({ state }) => state.decision,
  }),
  action: attribute('ScreeningAction', 'KEYWORD', {
    about: `what the order service does: ${listed(Object.keys(ACTIONS))}`,
    of: ({ state }) => state.action,
  }),
  integration: attribute('ScreeningIntegration', 'KEYWORD', {
    about: 'the integration’s name',
    of: ({ state }) => state.integration,
    atStart: ({ integration }) => integration,
  }),
  invoiceNumber: attribute('InvoiceNumber', 'KEYWORD_LIST', {
    about: 'every invoice number that the order was screened under',
    of: ({ state }) => unlessEmpty([...new Set(state.attempts.flatMap((one) => one.invoiceNumber ?? []))]),
    atStart: ({ invoiceNumber }) => [invoiceNumber],
  }),
  transactionId: attribute('TransactionId', 'KEYWORD_LIST', {
    about: 'each of its transactions at the screening service, in small letters',
    of: ({ state }) => unlessEmpty(state.transactions.map(({ id }) => id.toLowerCase())),
  }),
  cancelBy: attribute('CancelBy', 'DATETIME', {
    about: 'the end of the cancel window',
    of: ({ state }) => dateOf(cancelByOf(state, currentAttempt(state))),
  }),
  needsAttention: attribute('NeedsAttention', 'BOOL', {
    about: 'a person must look at it',
    of: ({ state }) => state.attention.length > 0,
    atStart: () => false,
  }),
  amount: attribute('OrderAmount', 'DOUBLE', {
    about: 'in the order’s own currency',
    of: ({ state, transactions }) =>
      ifFinite(orderFactsOf(transactions[currentAttempt(state).number]).amount),
    atStart: ({ amount }) => ifFinite(amount),
  }),
};

/** The same as a list. */
export const orderSearchAttributes = Object.values(orderAttributes);

/** @returns all search attributes of the order as it stands */
export function searchAttributesOf(order: Shown): SearchAttributePair[] {
  return orderSearchAttributes.flatMap(({ of }) => of(order));
}

/** @returns the search attributes that an order is started with */
export function searchAttributesAtStart(known: KnownAtStart): SearchAttributePair[] {
  return orderSearchAttributes.flatMap(({ atStart }) => atStart(known));
}

/** Returns the visibility query for the orders that have a transaction. */
export function transactionQuery(transactionId: string): string {
  return [
    `WorkflowType = '${SCREEN_ORDER}'`,
    `${orderAttributes.transactionId.name} = ${quoted(transactionId.toLowerCase())}`,
  ].join(' AND ');
}

/** Returns a value as a string of the query language. */
export function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function ifFinite(number: number): number | undefined {
  return Number.isFinite(number) ? number : undefined;
}

function unlessEmpty(list: string[]): string[] | undefined {
  return list.length > 0 ? list : undefined;
}

function dateOf(at: Instant | undefined): Date | undefined {
  return at === undefined ? undefined : new Date(millis(at));
}

function listed(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}
