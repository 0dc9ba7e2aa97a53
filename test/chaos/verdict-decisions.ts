import type { LedgerEntry, TransactionRecord } from '../../src/sandbox/index.ts';
import type { OrderEvidence, State } from './evidence.ts';
import { expectedAction, isSkipped, newest } from './oracle.ts';
import { policyOf } from './policies.ts';
import type { Circumstances, Finding } from './verdict.ts';

const READS = new Set(['status', 'status-by-url', 'status-by-invoice', 'create-transaction']);
/** A reading is recorded a moment after it was answered, unless its process is killed meanwhile. */
const RECORDED_WITHIN_MS = 2_500;
/** A workflow's clock stands still during a task: a reading made inside it carries the moment at which the task began. */
const LONGEST_TASK_MS = 10_000;

/** The order's decision is the service's, and its action is what the design makes of it. */
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
      if (own.some((one) => wasAt(one, decision, Date.parse(at)))) continue;
      wrong(`read ${decision} at ${at} (${source}), which the service never said by then`);
    }
  }
  const transaction = transactions.find(({ id }) => id === newest(state).transactionId);
  if (transaction !== undefined && state.decision !== transaction.decision) {
    const why = missed(evidence, state, transaction, circumstances);
    if (why !== undefined) wrong(`${state.decision}, the service says ${transaction.decision}: ${why}`);
  }
  const expected = expectedAction(plan, state);
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

function wasAt({ decisions }: TransactionRecord, decision: string, at: number): boolean {
  return decisions.some((one) => one.decision === decision && Date.parse(one.at) <= at + LONGEST_TASK_MS);
}

/** @returns why the order should have known the service's last decision, or undefined: it couldn't */
function missed(
  { plan, run, ledger }: OrderEvidence,
  state: State,
  transaction: TransactionRecord,
  { outages }: Circumstances,
): string | undefined {
  const changed = Date.parse(transaction.decisions.at(-1)?.at ?? transaction.createdAt);
  const policy = policyOf(plan.integration);
  const closing = run.closedAt ?? Number.POSITIVE_INFINITY;
  const final = state.phase === 'canceled' ? Date.parse(state.phaseSince) : closing;
  if (changed >= final) return undefined;
  // `error` is what we made of an answer that couldn't be used: it stands until somebody rechecks.
  if (state.decision === 'error') return undefined;
  const heard = ledger.find(
    (entry) =>
      tells(entry, transaction, changed) && quiet(entry, final, outages) && !ofStoppedPoll(entry, state),
  );
  if (heard !== undefined) return `it was told so at ${heard.wallAt}`;
  // Nobody reads a declined order, nor a passive one's pass, except at a hint.
  if (state.phase === 'declined' || policy.passive || wasDeclined(state)) return undefined;
  if (run.status === 'RUNNING') return 'the order is open';
  const { cancelBy } = newest(state);
  if (cancelBy === undefined) return undefined;
  const due = Date.parse(cancelBy) - policy.recheckLeadMs;
  const readInTime = state.decision === 'pass' && changed < due && due < final;
  const neverAsked = !ledger.some(
    (entry) => READS.has(entry.operation) && Date.parse(entry.wallAt) >= Math.max(changed, due),
  );
  return readInTime && neverAsked ? 'it was never read again before the window closed' : undefined;
}

function wasDeclined(state: State): boolean {
  return state.action === 'decline';
}

/** The gateway declined while a poll was on its way: nobody waits for it any more. */
function ofStoppedPoll({ wallAt }: LedgerEntry, state: State): boolean {
  const { gateway } = newest(state);
  if (gateway?.result !== 'fail' || !wasDeclined(state)) return false;
  const later = Date.parse(wallAt) - Date.parse(gateway.at);
  return later >= 0 && later <= RECORDED_WITHIN_MS;
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

/** Nothing was killed near the moment, and there was time to record the answer. */
function quiet(entry: LedgerEntry, final: number, outages: Circumstances['outages']): boolean {
  const at = Date.parse(entry.wallAt);
  if (at + RECORDED_WITHIN_MS > final) return false;
  return !outages.some(({ from, until = Number.POSITIVE_INFINITY, what }) => {
    const away = what === 'Temporal' ? until + RECORDED_WITHIN_MS : from;
    return from - 500 <= at + RECORDED_WITHIN_MS && at <= away + 500;
  });
}
