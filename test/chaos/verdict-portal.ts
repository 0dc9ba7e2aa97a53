import type { LedgerEntry, TransactionRecord } from '../../src/sandbox/model.ts';
import type { Attempt, OrderEvidence, State } from './evidence.ts';
import { overAt } from './lost-answers.ts';
import { ACTION_BOUND_MS, chargebackIdentity, lastCall, NEVER_SENT, newest } from './oracle.ts';
import { policyOf } from './policies.ts';
import type { Circumstances, Finding } from './verdict.ts';

const OPERATIONS: Record<string, LedgerEntry['operation']> = {
  cancel: 'cancel-transaction',
  'report-fraud': 'report-fraud',
  chargeback: 'submit-chargeback',
  'customer-code': 'customer-code',
};

/** What is claimed to be done at the portal is done, what is done is on record, nothing twice, nothing late. */
export function portalOf(evidence: OrderEvidence, circumstances: Circumstances): Finding[] {
  const { state } = evidence.run;
  if (state === undefined) return [];
  return [
    ...lateCancels(evidence, state),
    ...missingCancel(evidence, state, circumstances),
    ...waitingCancels(evidence, state),
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

function lateCancels({ ledger, departures }: OrderEvidence, state: State): Finding[] {
  return ledger.flatMap((entry): Finding[] => {
    if (entry.operation !== 'cancel-transaction') return [];
    const attempt = attemptOf(state, entry.transactionId);
    const newest = entry.transactionId === attempt?.transactionId;
    const cancelBy = newest ? attempt?.cancelBy : attempt?.earlierWindows?.[entry.transactionId ?? ''];
    // A worker that was killed just then may have written nothing down.
    const leftAt = departures[entry.sequence] ?? Date.parse(entry.wallAt);
    if (cancelBy === undefined || leftAt <= Date.parse(cancelBy)) return [];
    const at = new Date(leftAt).toISOString();
    return [{ kind: 'cancel sent late', facts: `at ${at}, the window closed at ${cancelBy}` }];
  });
}

function attemptOf(state: State, transactionId: string | null): Attempt | undefined {
  return state.attempts.find(({ transactionIds }) => transactionIds.includes(transactionId ?? ''));
}

/** What tells a person that a fraudulent order was not canceled, or may not have been. */
const TELLS_OF_A_CANCEL = new Set([
  'failed-after-window',
  'cancel-due',
  'cancel-too-late',
  'cancel-refused',
  'portal-unconfirmed',
]);

/** A cancel that policy wants is made, unless the service or the window's end was in the way. */
function missingCancel(evidence: OrderEvidence, state: State, circumstances: Circumstances): Finding[] {
  const { plan, transactions } = evidence;
  const policy = policyOf(plan.integration);
  const attempt = newest(state);
  const transaction = transactions.find(({ id }) => id === attempt.transactionId);
  if (policy.passive || state.action !== 'cancel' || transaction === undefined) return [];
  if (transaction.canceledAt !== null) return [];
  const failed = state.decision === 'fail' || state.decision === 'fraudulent';
  // A person who decides leaves nothing to policy.
  const unresolved =
    state.decision === 'review' && policy.onUnresolvedReview === 'cancel' && attempt.override === undefined;
  if (!unresolved && !(failed && policy.autoCancel)) return [];
  const { cancelBy } = attempt;
  if (cancelBy === undefined) return [{ kind: 'cancel missing', facts: 'no window is on record' }];
  const end = lastCall(policy, cancelBy);
  const decidedAt = Date.parse(attempt.readings.at(-1)?.at ?? state.startedAt);
  // What turns up when the order is over is recorded, not acted on; a person was told before.
  if ((failed && decidedAt >= end) || decidedAt >= overAt(evidence.run, state)) {
    // A person who decided was told by the answer that nothing is canceled with the service.
    const told =
      attempt.override?.action === 'cancel' ||
      state.attention.some(({ code }) => TELLS_OF_A_CANCEL.has(code));
    return told ? [] : [{ kind: 'cancel missing', facts: 'it failed too late, and nobody was told' }];
  }
  const tried = state.actions.findLast(
    ({ kind, transactionId }) => kind === 'cancel' && transactionId === attempt.transactionId,
  );
  if (tried === undefined) return [{ kind: 'cancel missing', facts: `${state.decision}, never asked for` }];
  // Who took a cancel back didn't know what was read since.
  const takenBack = Date.parse(tried.finishedAt ?? state.startedAt) >= decidedAt;
  if (tried.status === 'withdrawn' && takenBack) return [];
  return hinderedCancel(evidence, tried, end, circumstances)
    ? []
    : [{ kind: 'cancel missing', facts: `${tried.status}, though nothing stood in its way` }];
}

/** A worker that is given a try in the last moment may look at its clock after it. */
const TAKEN_UP_MS = 2_000;

/**
 * Whether something stood in a cancel's way: the service, or that something was killed, or that no task of the order ended, with
 * which it could leave, or no worker took it up before the last call. Another portal action is no reason: a cancel goes beside the others.
 */
function hinderedCancel(
  { run, ledger }: OrderEvidence,
  tried: State['actions'][number],
  end: number,
  { outages }: Circumstances,
): boolean {
  const asked = Date.parse(tried.requestedAt);
  const meanwhile = ({ from, until = Number.POSITIVE_INFINITY }: { from: number; until?: number }) =>
    from < end && until > asked;
  const { facts } = run.history;
  const own = facts.portalTries.filter(
    ({ kind, scheduledAt, transactionId }) =>
      kind === 'cancel' && scheduledAt >= asked && transactionId === tried.transactionId,
  );
  return (
    asked >= end ||
    !facts.tasks.some(({ to }) => to >= asked && to < end) ||
    ledger.some(
      ({ operation, fault, outcome }) =>
        operation === 'cancel-transaction' && (fault !== null || outcome.status === 403),
    ) ||
    outages.some(meanwhile) ||
    facts.lostTasks.some(({ from, to }) => meanwhile({ from, until: to })) ||
    own.some(({ scheduledAt, lastTryAt }) => Math.max(scheduledAt, lastTryAt ?? 0) >= end - TAKEN_UP_MS)
  );
}

/** A cancel goes beside the other actions; it waits only for a create. */
function waitingCancels({ run }: OrderEvidence, state: State): Finding[] {
  const { tasks, portalTries, readsUnderWay } = run.history.facts;
  return state.actions.flatMap(({ kind, by, transactionId, requestedAt }): Finding[] => {
    if (kind !== 'cancel' || by !== 'caller') return [];
    const asked = tasks.findIndex(({ to }) => to >= Date.parse(requestedAt));
    const own = portalTries.find(
      (one) => one.kind === 'cancel' && one.transactionId === transactionId && one.task >= asked,
    );
    const task = tasks[asked];
    if (own === undefined || task === undefined || own.task === asked) return [];
    // An end that comes while the task is under way isn't known in it.
    const open = ({
      scheduledAt,
      endedAt = Number.POSITIVE_INFINITY,
    }: {
      scheduledAt: number;
      endedAt?: number;
    }) => scheduledAt <= task.to && endedAt >= task.from;
    if (readsUnderWay.some((read) => read.screens && open(read))) return [];
    if (portalTries.some((one) => one.kind === 'cancel' && open(one))) return [];
    const other = portalTries.find((one) => one.kind !== 'cancel' && open(one));
    return other === undefined ? [] : [{ kind: 'cancel missing', facts: `it waited for ${other.kind}` }];
  });
}

/** The window is that of the newest transaction: before there was one it wasn't open. */
function refusedCancels({ plan, diary, transactions }: OrderEvidence, state: State): Finding[] {
  const { cancelBy, transactionId } = newest(state);
  if (cancelBy === undefined) return [];
  const { createdAt } = transactions.find(({ id }) => id === transactionId) ?? {};
  const begin = createdAt === undefined ? 0 : Date.parse(createdAt);
  const end = lastCall(policyOf(plan.integration), cancelBy);
  return diary.actions.flatMap(({ kind, outcome, at }): Finding[] => {
    if (kind !== 'cancel' || outcome !== 'cancel-window-closed' || at < begin || at >= end) return [];
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
  findings.push(...doubledChargebacks(transactions));
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
  for (const record of state.actions) findings.push(...endsAsSaid(record, ledger, state));
  const calls = ledger.filter(({ operation }) => Object.values(OPERATIONS).includes(operation));
  if (policyOf(plan.integration).passive && calls.length > 0) {
    findings.push({
      kind: 'portal action not on record',
      facts: `passive, and ${namesOf(calls)} was called`,
    });
  }
  return findings;
}

/** The same chargeback is one with the same fields: other evidence for the same transaction is another submission. */
function doubledChargebacks(transactions: readonly TransactionRecord[]): Finding[] {
  return transactions.flatMap(({ id, chargebacks }): Finding[] => {
    const different = new Set(chargebacks.map(chargebackIdentity)).size;
    if (different === chargebacks.length) return [];
    return [
      { kind: 'chargeback sent twice', facts: `${chargebacks.length} of ${id}, ${different} different` },
    ];
  });
}

/** What was never sent is in no ledger, nothing is given up before its day is over, and only the service's own words refuse. */
function endsAsSaid(
  { kind, status, transactionId, requestedAt, finishedAt = requestedAt }: State['actions'][number],
  ledger: readonly LedgerEntry[],
  state: State,
): Finding[] {
  const calls = ledger.filter(
    (entry) =>
      entry.operation === OPERATIONS[kind] &&
      (transactionId === undefined || entry.transactionId === transactionId),
  );
  const alone = !state.actions.some((one) => one.kind === kind && !NEVER_SENT.has(one.status));
  if (NEVER_SENT.has(status) && alone && calls.length > 0)
    return [
      { kind: 'portal action not on record', facts: `${kind} is ${status}, and the service was called` },
    ];
  if (status === 'not-sent' && Date.parse(finishedAt) - Date.parse(requestedAt) < ACTION_BOUND_MS)
    return [{ kind: 'portal action not on record', facts: `${kind} was given up before its day was over` }];
  // A customer code names no transaction, so that the ledger can't say whose it was.
  if (kind === 'customer-code') return [];
  if (status === 'refused' && !calls.some(({ outcome: { code } }) => code !== null && Number(code) !== 200))
    return [
      {
        kind: 'portal action not in the ledger',
        facts: `${kind} is on record as refused, which the service never said`,
      },
    ];
  return [];
}

function namesOf(entries: readonly LedgerEntry[]): string {
  return [...new Set(entries.map(({ operation }) => operation))].join(', ');
}

/** A gateway result that was taken is kept, and sent on for the newest transaction once there is one. */
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
      .find(({ id }) => id === attempt.transactionId)
      ?.gatewayResponses.some((one) => one.result === result);
    if (sent === undefined) lost(`${result} was never sent on`);
    else if (sent !== 'recorded' && received !== true)
      lost(`${result} is on record as sent, the service never got it`);
  }
  for (const { outcome } of diary.gateway) {
    if (outcome === 'gateway-result-mismatch')
      lost('an earlier report of the same attempt was taken for another');
  }
  return findings;
}
