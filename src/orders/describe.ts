/** What ops see of an order: words for the Temporal UI, and search attributes. */
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { nextDeadline } from './deadlines.ts';
import { currentAttempt } from './new-order.ts';
import type { Order } from './order.ts';
import { isUnderWay } from './same-action.ts';
import type { DeadlineKind, OrderState } from './state.ts';
import { type Action, millis, type Phase, type ReadingSource } from './words.ts';

/** @returns what a person who doesn't program wants to know: state, why, what comes next, what can be done */
export function describe({ state: order, outbox }: Pick<Order, 'state' | 'outbox'>): string {
  const attempt = currentAttempt(order);
  const lines = [
    `## ${PHASES[order.phase]}`,
    '',
    `**Decision** ${order.decision}${order.reason ? ` (${order.reason})` : ''} · **what the order service does** ${ACTIONS[order.action]}`,
  ];
  if (order.wouldBe !== undefined) lines.push('', `Passive: it would have been *${ACTIONS[order.wouldBe]}*.`);
  if (order.attention.length > 0) {
    lines.push('', '### Needs attention', '');
    lines.push(...order.attention.map((one) => `- ${one.words} *(since ${one.since})*`));
  }
  lines.push('', '### Facts', '');
  lines.push(
    `- Attempt ${attempt.number}${attempt.transactionId ? `, transaction \`${attempt.transactionId}\`` : ', no transaction'}`,
  );
  if (attempt.cancelBy !== undefined)
    lines.push(`- Can be canceled with the service until ${attempt.cancelBy}`);
  if (order.lastRead !== undefined)
    lines.push(`- Last read ${order.lastRead.at}, ${SOURCES[order.lastRead.source]}`);
  if (attempt.gateway !== undefined) {
    lines.push(
      `- The payment gateway said ${attempt.gateway.result}${attempt.gateway.sent ? '' : ', not sent on yet'}`,
    );
  }
  lines.push(
    ...order.actions.map(
      (action) =>
        `- ${action.number}. ${action.kind}: ${action.status}${action.message ? ` (${action.message})` : ''}`,
    ),
  );
  const open = keptOpenBy(order, outbox.length);
  if (order.ended && open.length > 0) lines.push('', '### It is over, and kept open by', '', ...open);
  const next = order.ended ? undefined : nextDeadline(order);
  if (next !== undefined) lines.push('', '### Next', '', `${DEADLINES[next.kind]} at ${next.at}.`);
  lines.push('', '### What you can do', '', CHOICES[order.phase]);
  return lines.join('\n');
}

function keptOpenBy(order: OrderState, events: number): string[] {
  const open = order.actions.filter(isUnderWay).map(({ kind, number }) => `- ${kind} (action ${number})`);
  for (const { number, gateway, transactionId, cardRef, cardForgotten } of order.attempts) {
    if (gateway !== undefined && gateway.sent === undefined && transactionId !== undefined) {
      open.push(`- the payment gateway’s result of attempt ${number}`);
    }
    if (cardRef !== undefined && !cardForgotten) open.push(`- the card of attempt ${number}, to be deleted`);
  }
  if (events > 0) open.push(`- ${events} event${events === 1 ? '' : 's'} to be delivered`);
  return open;
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

const SOURCES: Record<ReadingSource, string> = {
  checkout: 'at checkout',
  'catch-up': 'by the catch-up screening',
  rescreen: 'by screening again',
  webhook: 'after a webhook',
  poll: 'by the poll',
  operator: 'because a person asked',
  recheck: 'by the recheck before the window closes',
  'look-up': 'by invoice number',
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
  'hint-spacing': 'The decision is read again after a hint',
  'retry-over': 'No other attempt is expected any more',
  'window-closes': 'The cancel window closes, and the order with it',
  'nothing-left': 'The order is closed',
  'answer-late': 'Whoever waits for a portal action is told that it goes on',
  'action-over': 'A portal action is given up',
};

const CHOICES: Record<Phase, string> = {
  screening: 'Cancel the order, or wait: it goes on by itself.',
  'awaiting-gateway': 'Report the gateway’s result, recheck, or cancel.',
  review: 'Recheck to read the decision now, cancel while the window is open, or wait: it is polled.',
  declined: 'Recheck, or wait for another attempt.',
  decided:
    'Recheck, cancel while the window is open, report fraud, attach a customer code, submit a chargeback.',
  canceled: 'Nothing is left to do.',
  closed: 'Report fraud or submit a chargeback: each runs as a workflow of its own.',
};

/** Where the order is: the phase. Set at start and at each change of phase. */
export const screeningPhase = defineSearchAttributeKey('ScreeningPhase', 'KEYWORD');

/** The newest attempt's decision: the service's word, or `pending` or `skipped`. */
export const screeningDecision = defineSearchAttributeKey('ScreeningDecision', 'KEYWORD');

/** What the order service must do next: `proceed`, `hold`, `decline` or `cancel`. */
export const screeningAction = defineSearchAttributeKey('ScreeningAction', 'KEYWORD');

/** The integration's short key. */
export const screeningIntegration = defineSearchAttributeKey('ScreeningIntegration', 'KEYWORD');

/** Every invoice number the order was screened under. */
export const invoiceNumber = defineSearchAttributeKey('InvoiceNumber', 'KEYWORD_LIST');

/** The service's id of each of the order's transactions. */
export const transactionId = defineSearchAttributeKey('TransactionId', 'KEYWORD_LIST');

/** The moment after which the newest transaction can't be canceled with the service. */
export const cancelBy = defineSearchAttributeKey('CancelBy', 'DATETIME');

/** True while something about the order must be looked at by a person. */
export const needsAttention = defineSearchAttributeKey('NeedsAttention', 'BOOL');

/** The order's amount, in the order's own currency. */
export const orderAmount = defineSearchAttributeKey('OrderAmount', 'DOUBLE');

/** The number of the rules that the order lives by: a release is known to have gone when no open order needs it. */
export const screeningRules = defineSearchAttributeKey('ScreeningRules', 'INT');

/** Every search attribute of an order: what `npm run setup:temporal` registers and workers insist on. */
export const orderSearchAttributes = [
  screeningPhase,
  screeningDecision,
  screeningAction,
  screeningIntegration,
  invoiceNumber,
  transactionId,
  cancelBy,
  needsAttention,
  orderAmount,
  screeningRules,
] as const;

// The search attributes that an order shows: no personal data is among them.

/** @returns all search attributes of the order as it stands; `amount` undefined when the transaction names none */
export function searchAttributesOf(
  { state: order, rules }: Pick<Order, 'state' | 'rules'>,
  amount: number | undefined,
): SearchAttributePair[] {
  const attempt = currentAttempt(order);
  const invoices = order.attempts.flatMap((one) => one.invoiceNumber ?? []);
  const transactions = order.attempts.flatMap((one) => one.transactionIds);
  return [
    { key: screeningPhase, value: order.phase },
    { key: screeningDecision, value: order.decision },
    { key: screeningAction, value: order.action },
    { key: screeningIntegration, value: order.integration },
    { key: needsAttention, value: order.attention.length > 0 },
    ...(invoices.length > 0 ? [{ key: invoiceNumber, value: [...new Set(invoices)] }] : []),
    ...(transactions.length > 0 ? [{ key: transactionId, value: transactions }] : []),
    ...(attempt.cancelBy !== undefined ? [{ key: cancelBy, value: new Date(millis(attempt.cancelBy)) }] : []),
    ...(amount !== undefined ? [{ key: orderAmount, value: amount }] : []),
    ...(rules > 0 ? [{ key: screeningRules, value: rules }] : []),
  ];
}
