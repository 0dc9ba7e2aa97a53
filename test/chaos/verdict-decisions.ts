import type { LedgerEntry, TransactionRecord } from '../../src/sandbox/model.ts';
import type { OrderEvidence, State } from './evidence.ts';
import { overAt, READS, whyNotOnRecord } from './lost-answers.ts';
import { expectedAction, isSkipped, newest } from './oracle.ts';
import { policyOf } from './policies.ts';
import type { Circumstances, Finding } from './verdict.ts';

/** The order's decision is the service's, and its action is what the policy makes of it. */
export function decisionsOf(evidence: OrderEvidence, circumstances: Circumstances): Finding[] {
  const { plan, run, transactions } = evidence;
  const { state } = run;
  if (state === undefined) return [];
  const findings: Finding[] = [];
  const wrong = (facts: string): number => findings.push({ kind: 'wrong decision', facts });
  if (isSkipped(plan) !== (state.decision === 'skipped'))
    wrong(`${state.decision}, skipped by plan: ${isSkipped(plan)}`);

  for (const attempt of state.attempts) {
    const planned = plan.attempts[attempt.number - 1] ?? 'pass';
    const own = transactions.filter(({ id }) => attempt.transactionIds.includes(id));
    for (const { id, decisions } of own) {
      if (decisions[0]?.decision !== planned) wrong(`${id} is not of attempt ${attempt.number}`);
    }
    for (const { decision, at, source } of attempt.readings) {
      if (!isService(decision)) continue;
      // «error» is also ours: refused, unreadable, or given up.
      if (decision === 'error') continue;
      const known = Math.max(Date.parse(at), ...endsOf(evidence, decision, Date.parse(at)));
      if (own.some((one) => wasTold(evidence, one, decision, known))) continue;
      wrong(`read ${decision} at ${at} (${source}), which the service never said by then`);
    }
  }
  const transaction = transactions.find(({ id }) => id === newest(state).transactionId);
  if (transaction !== undefined && state.decision !== transaction.decision) {
    const why = missed(evidence, state, transaction, circumstances);
    if (why !== undefined) wrong(`${state.decision}, the service says ${transaction.decision}: ${why}`);
  }
  const expected = expectedAction(plan, state, run.history.facts);
  if (state.action !== expected) {
    findings.push({
      kind: 'wrong action',
      facts: `${state.action} instead of ${expected} (${state.decision})`,
    });
  }
  return findings;
}

function isService(decision: string): boolean {
  return decision !== 'pending' && decision !== 'skipped';
}

/**
 * When the ends of the reads were recorded that may have brought a reading. A reading's moment counts from the schedule of its
 * try: how long the try waited for a worker isn't in it, so the answer may have come later, up to the end on record.
 */
function endsOf({ run }: OrderEvidence, decision: string, at: number): number[] {
  return run.history.facts.recordedReads
    .filter((read) => read.decision === decision && read.at !== undefined && read.at <= at)
    .map(({ to }) => to);
}

/** The service had decided so by the moment, and had said it. */
function wasTold(
  { ledger }: OrderEvidence,
  { id, decisions }: TransactionRecord,
  decision: string,
  by: number,
): boolean {
  return (
    decisions.some((one) => one.decision === decision && Date.parse(one.at) <= by) &&
    ledger.some(
      (entry) =>
        READS.has(entry.operation) &&
        entry.transactionId === id &&
        entry.outcome.decision === decision &&
        Date.parse(entry.wallAt) <= by,
    )
  );
}

/** @returns why the order should have known the service's last decision, or undefined: it couldn't */
function missed(
  evidence: OrderEvidence,
  state: State,
  transaction: TransactionRecord,
  { outages }: Circumstances,
): string | undefined {
  const { plan, run, ledger } = evidence;
  const changed = Date.parse(transaction.decisions.at(-1)?.at ?? transaction.createdAt);
  const policy = policyOf(plan.integration);
  const over = overAt(run, state);
  if (changed >= over) return undefined;
  // `error` is what we made of an answer that couldn't be used: it stands until somebody rechecks.
  if (state.decision === 'error') return undefined;
  const heard = ledger.find(
    (entry) =>
      tells(entry, transaction, changed) && whyNotOnRecord(entry, evidence, state, outages) === undefined,
  );
  if (heard !== undefined) return `it was told so at ${heard.wallAt}`;
  // Nobody reads a declined order, nor a passive one's pass, except at a hint.
  if (state.phase === 'declined' || policy.passive || state.action === 'decline') return undefined;
  if (run.status === 'RUNNING') return 'the order is open';
  const { cancelBy } = newest(state);
  if (cancelBy === undefined || state.decision !== 'pass') return undefined;
  const due = Date.parse(cancelBy) - policy.recheckLeadMs;
  if (changed >= due || due >= over || canceledBy(evidence, transaction.id, due)) return undefined;
  // A server or workers that were away let the recheck and the window's end come in one task: then it is over.
  const { tasks, overdueTimers, recordedReads } = run.history.facts;
  const hadATask = tasks.some(({ from }) => from >= due && from < over);
  // After them nothing may have told the order of the time but a timer that it began then, and that ended after the window.
  const toldTooLate = overdueTimers.some(
    (at) => at >= due && !tasks.some(({ from }) => from > at && from < over),
  );
  // What was asked before counts, too, when its answer came after: nothing in it may be of use.
  const asked =
    ledger.some((entry) => READS.has(entry.operation) && Date.parse(entry.wallAt) >= due) ||
    recordedReads.some(({ at }) => at !== undefined && at >= due);
  return hadATask && !asked && !toldTooLate ? 'it was never read again before the window closed' : undefined;
}

/** The cancel's end was on record by then: nothing was left to read for. */
function canceledBy({ run }: OrderEvidence, transactionId: string, moment: number): boolean {
  return run.history.facts.portalTries.some(
    ({ kind, transactionId: about, outcome, endedAt = Number.POSITIVE_INFINITY }) =>
      kind === 'cancel' && outcome === 'done' && about === transactionId && endedAt <= moment,
  );
}

/** A clean answer that held the decision. */
function tells(entry: LedgerEntry, transaction: TransactionRecord, since: number): boolean {
  return (
    READS.has(entry.operation) &&
    entry.transactionId === transaction.id &&
    Date.parse(entry.wallAt) >= since &&
    entry.outcome.status === 200 &&
    (entry.fault === null || entry.fault === 'delay') &&
    entry.outcome.decision === transaction.decision
  );
}
