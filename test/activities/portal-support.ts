import type { PortalRequest } from '../../src/contract/activity-contract.ts';
import type { PortalFields } from '../../src/contract/messages.ts';
import type { Operation, TransactionRecord } from '../../src/sandbox/model.ts';
import {
  ACTIVITY_RESET,
  AFTER_RESET,
  type Attempt,
  aWorld,
  CALLED_BEFORE_RESET,
  outcomeOf,
  sandbox,
  UNKNOWN_ID,
} from './support.ts';

export type Kind = PortalFields['kind'];

/** What each kind sends, the operation it calls, and what the sandbox then knows of it. */
export const KINDS: [kind: Kind, operation: Operation, done: (transaction: TransactionRecord) => number][] = [
  ['cancel', 'cancel-transaction', ({ canceledAt }) => (canceledAt === null ? 0 : 1)],
  ['report-fraud', 'report-fraud', ({ fraudReports }) => fraudReports.length],
  ['chargeback', 'submit-chargeback', ({ chargebacks }) => chargebacks.length],
  ['customer-code', 'customer-code', () => sandbox.control.customerCodes().length],
];

export function fieldsOf(kind: Kind): PortalFields {
  switch (kind) {
    case 'cancel':
    case 'report-fraud':
      return { kind, reason: 'asked by the customer' };
    case 'chargeback':
      return { kind, reason_code: '4837', due_date: '2030-01-31', inquiry: 'false', notes: 'none' };
    case 'customer-code':
      return { kind, customerCode: 'PHONE-1', email: 'pass@example.com' };
  }
}

export function aPortalRequest(kind: Kind, changes: Partial<PortalRequest> = {}): PortalRequest {
  return {
    integration: 'default',
    fields: fieldsOf(kind),
    transactionId: UNKNOWN_ID,
    ...changes,
  };
}

/** Runs the activity as a worker would. */
export function act(
  request: PortalRequest,
  attempt: Attempt = {},
  heartbeats: unknown[] = [],
  world = aWorld(),
) {
  return outcomeOf(world.background.performPortalAction, request, attempt, heartbeats);
}

/** What may have happened before a try of an action. */
export type Before = [what: string, changes: Partial<PortalRequest>, attempt: Attempt];

/** Before these tries nothing was done. */
export const UNDONE: Before[] = [
  ['the first try', {}, {}],
  ['a try after one that did nothing', {}, { attempt: 2, heartbeatDetails: { reported: 1 } }],
];

/** Before these tries the action may have been done. `known`: to a person, who may force it. */
export const IN_DOUBT: [...Before, known: boolean][] = [
  ['a try after one that was lost', {}, { attempt: 2 }, false],
  ['a try after two, the last one lost', {}, { attempt: 3, heartbeatDetails: { reported: 1 } }, false],
  ['a try after an activity that may have done it', { maybeDone: true }, {}, true],
  ['a try that the run before the reset began', {}, CALLED_BEFORE_RESET, false],
  ['a try after a reset', {}, AFTER_RESET, true],
  ['a try after a reset and one that was lost', {}, { ...AFTER_RESET, attempt: 2 }, false],
  ...ACTIVITY_RESET.map(([what, attempt]): [...Before, known: boolean] => [
    `a try after a reset of the activity ${what}`,
    {},
    attempt,
    false,
  ]),
];
