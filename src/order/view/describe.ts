/** Describes an order to operators in the Temporal UI. */
import type { GatewayRecord, OrderState } from '../../contract/order/state.ts';
import type { Action, DeadlineKind, Phase } from '../../contract/words.ts';
import { nextDeadline } from '../deadlines.ts';
import { currentAttempt } from '../record.ts';
import { cancelByOf, transactionOf } from '../transactions.ts';

/** Returns the current details in the Temporal UI: the state and its reason, facts, the next deadline, and the operator's choices. */
export function describe(order: OrderState): string {
  const reason = order.reason === undefined ? '' : ` (${order.reason})`;
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
  if (sent === 'not-sent') return ', not sent to the screening service';
  return sent === undefined ? ', not sent yet' : '';
}

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
  'review-lead': 'An open review without an override needs attention; before policy cancels it, it is read',
  'review-cancel': 'An open review that could not be read needs attention and, by policy, is canceled',
  'review-limit': 'A review that is still open is closed',
  recheck: 'The decision is read again',
  'cancel-reminder': 'The operator is reminded to cancel',
  closes: 'The order closes',
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
