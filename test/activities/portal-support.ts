import type { PortalRequest } from '../../src/contract/activity-contract.ts';
import type { PortalFields } from '../../src/contract/messages.ts';
import type { Operation, TransactionRecord } from '../../src/sandbox/model.ts';
import { type Attempt, aWorld, outcomeOf, sandbox, UNKNOWN_ID } from './support.ts';

export type Kind = PortalFields['kind'];

/** What each kind sends, the operation it calls, and what the sandbox then knows of it. */
export const KINDS: [kind: Kind, operation: Operation, done: (transaction: TransactionRecord) => number][] = [
  ['cancel', 'cancel-transaction', ({ canceledAt }) => (canceledAt === null ? 0 : 1)],
  ['report-fraud', 'report-fraud', ({ fraudReports }) => fraudReports.length],
  ['chargeback', 'submit-chargeback', ({ chargebacks }) => chargebacks.length],
  ['customer-code', 'customer-code', () => sandbox.control.customerCodes().length],
];

/** The kinds that may be sent again after an unknown outcome. */
export const REPEATABLE = KINDS.filter(([kind]) => kind !== 'chargeback');

export function fieldsOf(kind: Kind): PortalFields {
  switch (kind) {
    case 'cancel':
    case 'report-fraud':
      return { kind, reason: 'asked by the customer' };
    case 'chargeback':
      return { kind, reason_code: '4837', due_date: '2030-01-31', inquiry: 'false', notes: 'none' };
    case 'customer-code':
      return { kind, customerCode: 'PHONE-1' };
  }
}

export function aPortalRequest(kind: Kind, changes: Partial<PortalRequest> = {}): PortalRequest {
  return {
    integration: 'default',
    fields: fieldsOf(kind),
    transactionId: UNKNOWN_ID,
    email: 'pass@example.com',
    forbiddenKnown: false,
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
