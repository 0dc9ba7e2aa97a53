/** Compares, order by order, what was planned, answered, recorded, sent and announced. Each anomaly must not happen. */
import type { OrderEvidence } from './evidence.ts';
import { workflowIdOf } from './plan.ts';
import { answersOf } from './verdict-answers.ts';
import { createsOf } from './verdict-creates.ts';
import { decisionsOf } from './verdict-decisions.ts';
import { eventsOf } from './verdict-events.ts';
import { portalOf } from './verdict-portal.ts';

/** What may be wrong with an order. Every count must be zero. */
export const ANOMALIES = [
  'order lost',
  'never answered',
  'transaction created twice',
  'transaction unaccounted for',
  'wrong decision',
  'wrong action',
  'contradicting answers',
  'strange answer',
  'cancel sent late',
  'cancel missing',
  'cancel refused in the window',
  'chargeback sent twice',
  'portal action not in the ledger',
  'portal action not on record',
  'gateway result lost',
  'event lost',
  'event out of order',
  'event wrong',
  'workflow stuck',
  'workflow failed',
  'history does not replay',
] as const;
export type AnomalyKind = (typeof ANOMALIES)[number];

export interface Anomaly {
  kind: AnomalyKind;
  orderId: string;
  facts: string;
}

/** One check's finding about an order. */
export type Finding = Omit<Anomaly, 'orderId'>;

/** When processes were killed, and when they were back; milliseconds after the epoch. */
export interface Circumstances {
  outages: readonly {
    what: 'worker' | 'API' | 'API with worker' | 'Temporal';
    from: number;
    until?: number;
  }[];
  /** Orders that had not come to rest when the run stopped waiting. */
  restless: ReadonlySet<string>;
  /** What Temporal says of histories that the workflow code of today could not have made, by workflow id. */
  unreplayable: ReadonlyMap<string, string>;
}

/** @returns everything that is wrong with the order */
export function judge(evidence: OrderEvidence, circumstances: Circumstances): Anomaly[] {
  const findings: Finding[] = [
    ...lifeOf(evidence, circumstances),
    ...createsOf(evidence),
    ...decisionsOf(evidence, circumstances),
    ...answersOf(evidence),
    ...portalOf(evidence, circumstances),
    ...eventsOf(evidence),
  ];
  return findings.map((finding) => ({ ...finding, orderId: evidence.plan.orderId }));
}

/** Failures of a workflow task that mean nothing: messages came meanwhile, a worker forgot the order, or could not ask for its history. */
const HARMLESS = new Set(['forced', 'unhandled command', 'sticky queue reset', 'history not fetched']);

function lifeOf(
  { plan, diary, run, transactions }: OrderEvidence,
  { restless, unreplayable }: Circumstances,
): Finding[] {
  const findings: Finding[] = [];
  const fault = unreplayable.get(workflowIdOf(plan));
  if (fault !== undefined) findings.push({ kind: 'history does not replay', facts: fault });
  if (diary.answers.length === 0) {
    findings.push({ kind: 'never answered', facts: `refusals: ${JSON.stringify(diary.refusals)}` });
  }
  if (run.status === 'NONE') {
    const traces = `${diary.answers.length} answers, ${transactions.length} transactions`;
    return [...findings, { kind: 'order lost', facts: `Temporal knows no such order; ${traces}` }];
  }
  if (run.status !== 'RUNNING' && run.status !== 'COMPLETED') {
    findings.push({ kind: 'workflow failed', facts: `status ${run.status}` });
  }
  if (run.state === undefined) findings.push({ kind: 'workflow stuck', facts: 'its state cannot be read' });
  for (const [cause, count] of Object.entries(run.history.failedTasks)) {
    // The SDK itself may stumble once over a task that was forced to fail; a task that fails again is our fault.
    const stumbled =
      cause === 'nondeterminism' && count === 1 && run.history.failedTasks.forced !== undefined;
    if (!HARMLESS.has(cause) && !stumbled)
      findings.push({ kind: 'workflow failed', facts: `${count} tasks: ${cause}` });
  }
  if (restless.has(plan.orderId)) {
    findings.push({
      kind: 'workflow stuck',
      facts: `phase ${run.state?.phase}, decision ${run.state?.decision}`,
    });
  }
  return findings;
}
