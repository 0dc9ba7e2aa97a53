import type { LedgerEntry, TransactionRecord } from '../../src/sandbox/index.ts';
import type { Attempt, OrderEvidence, State } from './evidence.ts';
import { lastCall, newest } from './oracle.ts';
import { policyOf } from './policies.ts';
import type { Circumstances, Finding } from './verdict.ts';

const PORTAL_OPERATIONS = ['cancel-transaction', 'report-fraud', 'submit-chargeback', 'customer-code'];
/** A refusal this close to the end of the window was just in time. */
const CLOSE_MS = 1_500;

/** What is claimed to be done at the portal is done, what is done is on record, nothing twice, nothing late. */
export function portalOf(evidence: OrderEvidence, circumstances: Circumstances): Finding[] {
  const { state } = evidence.run;
  if (state === undefined) return [];
  return [
    ...lateCancels(evidence, state),
    ...missingCancel(evidence, state, circumstances),
    ...refusedCancels(evidence, state),
    ...claims(evidence, state),
    ...gatewayResults(evidence, state),
    ...evidence.portalRuns
      .filter(({ status }) => status === 'RUNNING')
      .map(
        ({ kind }): Finding => ({ kind: 'workflow stuck', facts: `the portal action ${kind} still runs` }),
      ),
  ];
}

function lateCancels({ ledger }: OrderEvidence, state: State): Finding[] {
  return ledger.flatMap((entry): Finding[] => {
    if (entry.operation !== 'cancel-transaction') return [];
    const cancelBy = attemptOf(state, entry.transactionId)?.cancelBy;
    if (cancelBy === undefined || Date.parse(entry.wallAt) <= Date.parse(cancelBy)) return [];
    return [{ kind: 'cancel sent late', facts: `at ${entry.wallAt}, the window closed at ${cancelBy}` }];
  });
}

function attemptOf(state: State, transactionId: string | null): Attempt | undefined {
  return state.attempts.find(({ transactionIds }) => transactionIds.includes(transactionId ?? ''));
}

/** A cancel that policy wants is made, unless the service or the window's end was in the way. */
function missingCancel(evidence: OrderEvidence, state: State, circumstances: Circumstances): Finding[] {
  const { plan, transactions, ledger } = evidence;
  const policy = policyOf(plan.integration);
  const attempt = newest(state);
  const transaction = transactions.find(({ id }) => id === attempt.transactionId);
  if (policy.passive || state.action !== 'cancel' || transaction === undefined) return [];
  if (transaction.canceledAt !== null) return [];
  const failed = state.decision === 'fail' || state.decision === 'fraudulent';
  const unresolved = state.decision === 'review' && policy.onUnresolvedReview === 'cancel';
  if (!unresolved && !(failed && policy.autoCancel)) return [];
  const { cancelBy } = attempt;
  if (cancelBy === undefined) return [{ kind: 'cancel missing', facts: 'no window is on record' }];
  const end = lastCall(policy, cancelBy);
  const decidedAt = Date.parse(attempt.readings.at(-1)?.at ?? state.startedAt);
  if (failed && decidedAt >= end) {
    const told = state.attention.some(({ code }) => code === 'failed-after-window' || code === 'cancel-due');
    return told ? [] : [{ kind: 'cancel missing', facts: 'it failed too late, and nobody was told' }];
  }
  const tried = state.actions.findLast(
    ({ kind, transactionId }) => kind === 'cancel' && transactionId === attempt.transactionId,
  );
  if (tried === undefined) return [{ kind: 'cancel missing', facts: `${state.decision}, never asked for` }];
  const sent = ledger.filter(({ operation }) => operation === 'cancel-transaction');
  const hindered =
    sent.some(({ fault, outcome }) => fault !== null || outcome.status === 403) ||
    Date.parse(tried.requestedAt) > end - CLOSE_MS ||
    circumstances.outages.some(({ from, until = Number.POSITIVE_INFINITY }) => {
      return from < end && until > Date.parse(tried.requestedAt) - CLOSE_MS;
    });
  return hindered
    ? []
    : [{ kind: 'cancel missing', facts: `${tried.status}, though nothing stood in its way` }];
}

function refusedCancels({ plan, diary }: OrderEvidence, state: State): Finding[] {
  const { cancelBy } = newest(state);
  if (cancelBy === undefined) return [];
  const end = lastCall(policyOf(plan.integration), cancelBy);
  return diary.actions.flatMap(({ kind, outcome, at }): Finding[] => {
    if (kind !== 'cancel' || outcome !== 'cancel-window-closed' || at > end - CLOSE_MS) return [];
    return [
      {
        kind: 'cancel refused in the window',
        facts: `at ${new Date(at).toISOString()}, open until ${cancelBy}`,
      },
    ];
  });
}

/** What each kind of portal action leaves in the sandbox's books. */
function doneAt(evidence: OrderEvidence, kind: string, transactionId?: string): number {
  const about = evidence.transactions.filter(({ id }) => transactionId === undefined || id === transactionId);
  const sum = (count: (one: TransactionRecord) => number): number =>
    about.reduce((total, one) => total + count(one), 0);
  if (kind === 'cancel') return sum(({ canceledAt }) => (canceledAt === null ? 0 : 1));
  if (kind === 'report-fraud') return sum(({ fraudReports }) => fraudReports.length);
  if (kind === 'chargeback') return sum(({ chargebacks }) => chargebacks.length);
  return evidence.customerCodes;
}

const KINDS = ['cancel', 'report-fraud', 'chargeback', 'customer-code'];

function claims(evidence: OrderEvidence, state: State): Finding[] {
  const { diary, transactions, portalRuns, ledger, plan } = evidence;
  const findings: Finding[] = [];
  const claimed = (facts: string): number =>
    findings.push({ kind: 'portal action not in the ledger', facts });
  if (doneAt(evidence, 'chargeback') > 1) {
    findings.push({ kind: 'chargeback sent twice', facts: `${doneAt(evidence, 'chargeback')} chargebacks` });
  }
  for (const { kind, status, transactionId } of state.actions) {
    const nothingToSend = kind === 'cancel' && transactionId === undefined;
    if (status !== 'done' || nothingToSend) continue;
    if (doneAt(evidence, kind, transactionId) === 0)
      claimed(`${kind} of ${transactionId} is on record as done`);
  }
  const current = transactions.find(({ id }) => id === newest(state).transactionId);
  if (state.phase === 'canceled' && current !== undefined && current.canceledAt === null) {
    claimed('the phase is canceled, the transaction is not');
  }
  for (const { kind: path, outcome } of diary.actions) {
    const kind = path === 'chargebacks' ? 'chargeback' : path;
    const nothingToSend = kind === 'cancel' && newest(state).transactionId === undefined;
    if (outcome === 'done' && !nothingToSend && doneAt(evidence, kind) === 0)
      claimed(`${kind} was answered with done`);
  }
  for (const kind of KINDS) {
    if (doneAt(evidence, kind) === 0) continue;
    const onRecord = state.actions.some(
      (record) => record.kind === kind && ['done', 'unconfirmed'].includes(record.status),
    );
    if (onRecord || portalRuns.some((run) => run.kind === kind)) continue;
    findings.push({ kind: 'portal action not on record', facts: `${kind} was done at the service` });
  }
  const calls = ledger.filter(({ operation }) => PORTAL_OPERATIONS.includes(operation));
  if (policyOf(plan.integration).passive && calls.length > 0) {
    findings.push({
      kind: 'portal action not on record',
      facts: `passive, and ${namesOf(calls)} was called`,
    });
  }
  return findings;
}

function namesOf(entries: readonly LedgerEntry[]): string {
  return [...new Set(entries.map(({ operation }) => operation))].join(', ');
}

/** A gateway result that was taken is kept, and sent on once there is a transaction. */
function gatewayResults({ diary, transactions }: OrderEvidence, state: State): Finding[] {
  const findings: Finding[] = [];
  const lost = (facts: string): number => findings.push({ kind: 'gateway result lost', facts });
  for (const attempt of state.attempts) {
    const taken = diary.gateway.findLast((one) => one.attempt === attempt.number && one.outcome === 'taken');
    if (taken !== undefined && attempt.gateway?.result !== taken.result) {
      lost(`${taken.result} was taken, ${attempt.gateway?.result} is on record`);
    }
    if (attempt.gateway === undefined || attempt.transactionId === undefined) continue;
    const { result, sent } = attempt.gateway;
    const received = transactions
      .filter(({ id }) => attempt.transactionIds.includes(id))
      .some(({ gatewayResponses }) => gatewayResponses.some((one) => one.result === result));
    if (sent === undefined) lost(`${result} was never sent on`);
    else if (sent !== 'recorded' && !received)
      lost(`${result} is on record as sent, the service never got it`);
  }
  for (const { outcome } of diary.gateway) {
    if (outcome === 'gateway-result-mismatch')
      lost('an earlier report of the same attempt was taken for another');
  }
  return findings;
}
