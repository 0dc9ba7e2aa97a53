/** An order with which nothing is wrong, one that was canceled, and one that should have been. */
import type { OrderEvidence } from './evidence.ts';
import {
  anArrival,
  anAttempt,
  anEntry,
  aPlan,
  aTransactionRecord,
  evidenceOf,
  ID,
  moment,
  withState,
} from './made-up.ts';
import type { Circumstances } from './verdict.ts';

export const QUIET: Circumstances = { outages: [], restless: new Set(), unreplayable: new Map() };
export const plan = aPlan('canceling');
export const fine = evidenceOf(plan);

export const canceledState = {
  phase: 'canceled',
  phaseSince: moment(5),
  decision: 'fail',
  action: 'cancel',
  attempts: [
    anAttempt(plan, {
      decision: 'fail',
      readings: [
        { decision: 'pass', at: moment(0), source: 'checkout' },
        { decision: 'fail', at: moment(4), source: 'poll' },
      ],
    }),
  ],
};
export const failed = {
  decision: 'fail' as const,
  decisions: [
    { decision: 'pass' as const, at: moment(0), by: 'screening' as const },
    { decision: 'fail' as const, at: moment(3), by: 'analyst' as const },
  ],
};
export const cancelRecord = {
  number: 1,
  kind: 'cancel',
  transactionId: ID,
  status: 'done',
  by: 'policy',
  requestedAt: moment(4),
  finishedAt: moment(5),
};
/** The create that passed, and the read that told of the fail. */
export const toldFail = [
  anEntry(plan),
  anEntry(plan, {
    sequence: 2,
    operation: 'status-by-url',
    wallAt: moment(4),
    outcome: { status: 200, code: null, decision: 'fail' },
  }),
];
const closedAs = (phase: string) => ({ phase, decision: 'fail', action: 'cancel', attempt: 1 });
export const toldCancel = [
  anArrival(plan, 1),
  anArrival(plan, 2, { type: 'order.canceled', data: closedAs('canceled') }),
  anArrival(plan, 3, { data: closedAs('canceled') }),
];
export const three = { sequence: 3, delivered: 3, waiting: 0 };
export const canceled = withState(
  plan,
  { ...canceledState, actions: [cancelRecord], events: three },
  {
    transactions: [aTransactionRecord(plan, { ...failed, canceledAt: moment(5) })],
    ledger: toldFail,
    arrivals: toldCancel,
  },
);
export const uncanceled = (state: object, more: Partial<OrderEvidence> = {}): OrderEvidence =>
  withState(
    plan,
    { ...canceledState, phase: 'closed', events: three, ...state },
    {
      transactions: [aTransactionRecord(plan, failed)],
      ledger: toldFail,
      arrivals: [toldCancel[0], toldCancel[1], anArrival(plan, 3, { data: closedAs('closed') })].flatMap(
        (one) => one ?? [],
      ),
      ...more,
    },
  );
