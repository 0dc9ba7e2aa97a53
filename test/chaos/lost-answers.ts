/** Why an answer of the service may be missing on an order's record. Each excuse is a fact of the evidence, none is a time. */
import type { LedgerEntry } from '../../src/sandbox/model.ts';
import type { OrderEvidence, State } from './evidence.ts';
import type { HistoryFacts, RecordedRead, Span } from './history-facts.ts';
import type { Circumstances } from './verdict.ts';

/** Requests that are answered with a decision. */
export const READS = new Set(['status', 'status-by-url', 'status-by-invoice', 'create-transaction']);

type Outages = Circumstances['outages'];

/** @returns when the order was over, by its own record: nothing that is learned later changes it */
export function overAt({ closedAt }: OrderEvidence['run'], { phase, phaseSince }: State): number {
  if (phase === 'canceled' || phase === 'closed') return Date.parse(phaseSince);
  return closedAt ?? Number.POSITIVE_INFINITY;
}

/**
 * @param entry a clean answer that held the decision
 * @returns the fact that explains why the order doesn't know of it, or undefined: nothing does
 */
export function whyNotOnRecord(
  entry: LedgerEntry,
  { run, ledger }: OrderEvidence,
  state: State,
  outages: Outages,
): string | undefined {
  const { facts } = run.history;
  const told = Date.parse(entry.wallAt);
  if (told >= overAt(run, state)) return 'the order was over';
  const again = ledger.find(
    (one) => READS.has(one.operation) && one.sequence > entry.sequence && Date.parse(one.wallAt) >= told,
  );
  const askedAgainAt = again === undefined ? Number.POSITIVE_INFINITY : Date.parse(again.wallAt);
  const around = facts.recordedReads.filter((read) => holds(read, told));
  const recorded = around.filter(({ decision }) => decision === entry.outcome.decision);
  if (recorded.length > 0) {
    const reasons = recorded.map((read) => whyNotTaken(read, facts, state, overAt(run, state)));
    return reasons.every((reason) => reason !== undefined) ? reasons[0] : undefined;
  }
  if (facts.lostTasks.some((task) => holds(task, told))) return 'the task in which it was asked was lost';
  if (around.some(({ decision }) => decision === undefined) && again !== undefined)
    return 'its try ended without an answer, and it was asked again';
  const underWay = facts.readsUnderWay.filter(
    ({ scheduledAt, endedAt = Number.POSITIVE_INFINITY }) => scheduledAt <= told && told <= endedAt,
  );
  const seen = around.length > 0 || underWay.length > 0 || facts.tasks.some((task) => holds(task, told));
  // A task for an update stands in the history only once it has ended well. The sender of the hint was told that it was not taken.
  if (!seen && ledger.some((one) => one.sequence < entry.sequence && isHintNotTaken(one)))
    return 'the task of a hint that was not taken left no trace';
  if (underWay.some(({ stoppedAt }) => stoppedAt !== undefined)) return 'the order stopped the read';
  const ended = run.status !== 'RUNNING';
  if (ended && again === undefined && underWay.some(({ endedAt }) => endedAt === undefined))
    return 'the order ended while it was being read';
  const afterLoss = facts.recordedReads.some(
    (read) => read.triedAgainAfterLoss && read.from > told && askedAgainAt >= read.from,
  );
  if (afterLoss) return 'its try was cut off, and tried again';
  const nextTry = underWay.flatMap(({ lastTryAt }) =>
    lastTryAt !== undefined && lastTryAt > told ? [lastTryAt] : [],
  );
  const nextTask = facts.tasks.filter(({ from }) => from > told).map(({ from }) => from);
  const until = Math.min(askedAgainAt, ...(underWay.length > 0 ? nextTry : nextTask));
  return killedMeanwhile({ from: told, to: until }, outages);
}

/** Why an order passes over the end of a read that is in its history. */
function whyNotTaken(
  read: RecordedRead,
  facts: HistoryFacts,
  state: State,
  over: number,
): string | undefined {
  const { overInTask = Number.POSITIVE_INFINITY } = facts;
  if (read.task > overInTask) return 'its end was recorded after the order was over';
  // Ends are taken in the order of their begins, and before timers: a cancel's may come first, a deadline only by its moment.
  if (read.task === overInTask && (state.phase === 'canceled' || read.to > over))
    return 'its end came with the end of the order';
  const stopped = facts.readsUnderWay.some((one) => one.endedAt === read.to && one.stoppedAt !== undefined);
  if (stopped || stoppedByItsPolicy(read, facts, state)) return 'the order stopped the read';
  const begun = read.began ?? read.from;
  const newer = facts.recordedReads.some(
    (one) => one !== read && one.task <= read.task && one.at !== undefined && one.at > begun,
  );
  return newer ? 'another read ended after this one had begun' : undefined;
}

/**
 * A poll is stopped when the policy cancels. Where its end is there already, taken up in the same task, the history has no trace of
 * that; the record has: the cancel was asked for at a moment before that of the read, so its cause was taken in first.
 */
function stoppedByItsPolicy(
  { task, at }: RecordedRead,
  { portalTries }: HistoryFacts,
  { actions }: State,
): boolean {
  const begun = portalTries.some((one) => one.kind === 'cancel' && one.task === task);
  return (
    begun &&
    at !== undefined &&
    actions.some(
      ({ kind, by, requestedAt }) => kind === 'cancel' && by === 'policy' && Date.parse(requestedAt) < at,
    )
  );
}

function killedMeanwhile({ from, to }: Span, outages: Outages): string | undefined {
  const killed = outages.find(
    (outage) =>
      outage.what !== 'API' && outage.from <= to && from <= (outage.until ?? Number.POSITIVE_INFINITY),
  );
  return killed && `${killed.what} was killed before its end was recorded`;
}

function isHintNotTaken({ operation, outcome }: LedgerEntry): boolean {
  return operation === 'webhook' && outcome.status === 503;
}

function holds({ from, to }: Span, moment: number): boolean {
  return from <= moment && moment <= to;
}
