/** Made-up orders with which something is wrong, at least one for each kind of anomaly. */
import type { OrderEvidence } from './evidence.ts';
import {
  aDiary,
  anArrival,
  anAttempt,
  anEntry,
  aPlan,
  aTransactionRecord,
  evidenceOf,
  ID,
  moment,
  START,
  withFacts,
  withState,
} from './made-up.ts';
import { canceled, cancelRecord, fine, plan, QUIET, uncanceled } from './made-up-canceled.ts';
import { workflowIdOf } from './plan.ts';
import { PLANTED_DECISIONS } from './planted-decisions.ts';
import type { AnomalyKind, Circumstances } from './verdict.ts';

const chargeback = { transaction_id: ID, reason_code: '10.4', due_date: '2034-01-31' };

/** One way, at least, to plant each kind of anomaly. */
export const PLANTED: [AnomalyKind, string, OrderEvidence, Circumstances?][] = [
  ...PLANTED_DECISIONS,
  ['order lost', 'Temporal knows none', { ...fine, run: { status: 'NONE', history: fine.run.history } }],
  ['never answered', 'no answer came', { ...fine, diary: aDiary(plan, { answers: [] }) }],
  ['never answered', 'a request was given up', { ...fine, diary: aDiary(plan, { givenUp: ['cancel'] }) }],
  [
    'transaction created twice',
    'two creates of one invoice number',
    { ...fine, ledger: [anEntry(plan), anEntry(plan, { sequence: 2 })] },
  ],
  [
    'transaction unaccounted for',
    'an id that was never created',
    withState(plan, { attempts: [anAttempt(plan, { transactionIds: [ID, 'invented'] })] }),
  ],
  ['wrong action', 'hold for a pass', withState(plan, { action: 'hold' })],
  [
    'wrong action',
    'a checkout that was told otherwise than the table says',
    {
      ...fine,
      diary: aDiary(plan, { answers: aDiary(plan).answers.map((one) => ({ ...one, action: 'hold' })) }),
    },
  ],
  [
    'contradicting answers',
    'declined by fallback, and screened all the same',
    evidenceOf(aPlan('declining'), {
      diary: aDiary(aPlan('declining'), {
        answers: aDiary(plan).answers.map((one) => ({ ...one, decision: 'pending', action: 'decline' })),
      }),
    }),
  ],
  ['strange answer', 'HTTP 500', { ...fine, diary: aDiary(plan, { strange: ['screening: HTTP 500'] }) }],
  [
    'strange answer',
    'a refusal that nothing explains',
    { ...fine, diary: aDiary(plan, { refusals: [{ attempt: 1, slug: 'attempt-mismatch' }] }) },
  ],
  [
    'cancel sent late',
    'after cancelBy',
    {
      ...fine,
      ledger: [anEntry(plan), anEntry(plan, { operation: 'cancel-transaction', wallAt: moment(46) })],
    },
  ],
  ['cancel missing', 'a fail that nobody asked to cancel', uncanceled({})],
  [
    'cancel missing',
    'it waited for another action, as order 456 of seed 70702 did',
    withFacts(
      {
        ...canceled,
        run: withState(plan, {
          ...canceled.run.state,
          actions: [{ ...cancelRecord, by: 'caller', requestedAt: moment(1) }],
        }).run,
      },
      {
        tasks: [0, 1, 4, 5].map((at) => ({ from: START + at * 1_000, to: START + at * 1_000 + 20 })),
        portalTries: [
          { kind: 'chargeback', transactionId: ID, task: 0, scheduledAt: START + 20, endedAt: START + 3_900 },
          { kind: 'cancel', transactionId: ID, task: 2, scheduledAt: START + 4_020, endedAt: START + 4_900 },
        ],
      },
    ),
  ],
  [
    'cancel refused in the window',
    'a millisecond before the last call',
    {
      ...fine,
      diary: aDiary(plan, {
        actions: [{ kind: 'cancel', outcome: 'cancel-window-closed', sentAt: START, at: START + 44_549 }],
      }),
    },
  ],
  [
    'chargeback sent twice',
    'two in the books',
    withState(
      plan,
      { actions: [{ ...cancelRecord, kind: 'chargeback' }] },
      { transactions: [aTransactionRecord(plan, { chargebacks: [chargeback, chargeback] })] },
    ),
  ],
  [
    'portal action not in the ledger',
    'the record says done',
    withState(plan, { actions: [{ ...cancelRecord, kind: 'report-fraud' }] }),
  ],
  [
    'portal action not in the ledger',
    'the record says refused, the service never did',
    withState(plan, { actions: [{ ...cancelRecord, kind: 'report-fraud', status: 'refused' }] }),
  ],
  [
    'portal action not in the ledger',
    'the order service was told so',
    {
      ...fine,
      diary: aDiary(plan, {
        actions: [{ kind: 'customer-code', outcome: 'done', sentAt: START, at: START }],
      }),
    },
  ],
  [
    'portal action not on record',
    'the service has a report',
    { ...fine, transactions: [aTransactionRecord(plan, { fraudReports: [moment(3)] })] },
  ],
  [
    'portal action not on record',
    'withdrawn before it was sent, and the service was called',
    withState(
      plan,
      { actions: [{ ...cancelRecord, kind: 'report-fraud', status: 'withdrawn' }] },
      {
        ledger: [
          anEntry(plan),
          anEntry(plan, { sequence: 2, operation: 'report-fraud', fault: '5xx-before-commit' }),
        ],
      },
    ),
  ],
  [
    'portal action not on record',
    'given up before its day was over',
    withState(plan, { actions: [{ ...cancelRecord, kind: 'report-fraud', status: 'not-sent' }] }),
  ],
  [
    'portal action not on record',
    'passive, and the portal was called',
    evidenceOf(aPlan('passive'), {
      ledger: [anEntry(plan), anEntry(plan, { operation: 'report-fraud' })],
    }),
  ],
  [
    'gateway result lost',
    'taken, and not on record',
    { ...fine, diary: aDiary(plan, { gateway: [{ attempt: 1, result: 'pass', outcome: 'taken' }] }) },
  ],
  [
    'event lost',
    'it was never taken',
    { ...fine, arrivals: [anArrival(plan, 1), anArrival(plan, 2, { taken: false })] },
  ],
  [
    'event out of order',
    'the second came before the first was taken',
    {
      ...fine,
      arrivals: [anArrival(plan, 1, { taken: false }), anArrival(plan, 2), anArrival(plan, 1)],
    },
  ],
  [
    'event wrong',
    'it came again with another content',
    { ...fine, arrivals: [...fine.arrivals, anArrival(plan, 2, { body: 'another' })] },
  ],
  [
    'event wrong',
    'one more than the order counted',
    { ...fine, arrivals: [...fine.arrivals, anArrival(plan, 3)] },
  ],
  [
    'history does not replay',
    'Temporal says so',
    fine,
    { ...QUIET, unreplayable: new Map([[workflowIdOf(plan), 'TMPRL1100']]) },
  ],
  ['workflow stuck', 'it never came to rest', fine, { ...QUIET, restless: new Set([plan.orderId]) }],
  [
    'workflow stuck',
    'its state can’t be read',
    { ...fine, run: { status: 'RUNNING', history: fine.run.history } },
  ],
  [
    'workflow stuck',
    'a portal action still runs',
    { ...fine, portalRuns: [{ kind: 'cancel', status: 'RUNNING' }] },
  ],
  ['workflow failed', 'its status', { ...fine, run: { ...fine.run, status: 'TIMED_OUT' } }],
  [
    'workflow failed',
    'a history that does not replay',
    {
      ...fine,
      run: { ...fine.run, history: { ...fine.run.history, failedTasks: { nondeterminism: 1 } } },
    },
  ],
];
