/** Made-up orders whose decision isn't what it should be. */
import type { OrderEvidence } from './evidence.ts';
import {
  anAttempt,
  anEntry,
  aRead,
  aTransactionRecord,
  evidenceOf,
  moment,
  withFacts,
  withState,
} from './made-up.ts';
import { canceled, failed, fine, plan } from './made-up-canceled.ts';
import type { AnomalyKind } from './verdict.ts';

const readAt = (at: number, decision: string) =>
  anEntry(plan, {
    sequence: 2,
    operation: 'status-by-url',
    wallAt: moment(at),
    outcome: { status: 200, code: null, decision },
  });
const changedAt = (at: number) => [
  { decision: 'pass' as const, at: moment(0), by: 'screening' as const },
  { decision: 'fail' as const, at: moment(at), by: 'analyst' as const },
];
export const PLANTED_DECISIONS: [AnomalyKind, string, OrderEvidence][] = [
  [
    'wrong decision',
    'a reading that the service never gave',
    withState(plan, {
      attempts: [
        anAttempt(plan, {
          readings: [...anAttempt(plan).readings, { decision: 'fraudulent', at: moment(3), source: 'poll' }],
        }),
      ],
    }),
  ],
  [
    'wrong decision',
    'a change that it was told',
    {
      ...fine,
      transactions: [aTransactionRecord(plan, failed)],
      ledger: [anEntry(plan), readAt(10, 'fail')],
    },
  ],
  [
    'wrong decision',
    'a change that a read on record told it',
    withFacts(
      {
        ...fine,
        transactions: [aTransactionRecord(plan, failed)],
        ledger: [anEntry(plan), readAt(10, 'fail')],
      },
      { recordedReads: [aRead(9, 11, { decision: 'fail', task: 1 })] },
    ),
  ],
  [
    'wrong decision',
    'a reading from before the service said it',
    {
      ...canceled,
      transactions: [
        aTransactionRecord(plan, { ...failed, decisions: changedAt(4.001), canceledAt: moment(5) }),
      ],
    },
  ],
  [
    'wrong decision',
    'a reading of a request that the service never got',
    { ...canceled, ledger: [anEntry(plan)] },
  ],
  [
    'wrong decision',
    'a change before the recheck, which was never made',
    { ...fine, transactions: [aTransactionRecord(plan, failed)] },
  ],
  ['wrong decision', 'not skipped as planned', evidenceOf({ ...plan, amount: 0.5 })],
];
