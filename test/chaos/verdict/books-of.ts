/** The books of one order of a chaos run. */
import { DECISIONS, GATEWAY_RESULTS, type GatewayResult } from '../../../src/contract/words.ts';
import { attemptAsked } from '../../books/asked.ts';
import {
  type BookedNews,
  type BookedRequest,
  type Books,
  type Heard,
  type Operation,
  PORTAL_OPERATIONS,
  type Span,
  TELL_DECISIONS,
  type World,
} from '../../books/books.ts';
import { recordOf } from '../../books/record-of.ts';
import { SLOW_MS } from '../faults/fault-mix.ts';
import type { FaultsFromOutside } from '../faults/faults-from-outside.ts';
import type { Outage } from '../supervise.ts';
import type { OrderEvidence, Request } from './evidence.ts';

/** Senders, sandbox and Temporal share one clock, but on a busy machine a process notes a time late. */
const NOTED_LATE_MS = 2_000;
/** The report of a request may be lost with its process this long after the request's end. */
const REPORTED_WITHIN_MS = 2_000;

/** What happened to the deployment, by its own log. */
export interface Happened extends FaultsFromOutside {
  outages: readonly Outage[];
  /** When an operator asked for a read of an order, by order id. */
  rechecked: ReadonlyMap<string, number>;
}

/** @returns the books, or undefined for an order whose state can't be read */
export function booksOf(evidence: OrderEvidence, happened: Happened): Books | undefined {
  const { plan, diary, run, transactions, ledger, arrivals, at: closedAt } = evidence;
  const { policy, checkoutBudgetMs, attempts } = plan;
  if (run.state === undefined) return undefined;
  const record = recordOf(run.state);
  const requests = ledger
    .flatMap((one) => requestIn(one, evidence, happened))
    .sort((a, b) => a.sentAt - b.sentAt);
  return {
    policy,
    startedAt: run.startedAt,
    ...(run.closedAt !== undefined && { endedAt: run.closedAt }),
    closedAt,
    checkoutBudgetMs,
    attempts: attempts.map(({ skip }, index) => ({
      number: index + 1,
      skip,
      card: policy.workflow === 'pre-gateway',
    })),
    transactions: transactions.map(({ id, invoiceNumber, amount, createdAt, decisions, canceledAt }) => ({
      id,
      invoice: invoiceNumber ?? '',
      attempt: attemptOf(evidence, Number(amount)) ?? 0,
      createdAt: Date.parse(createdAt),
      cancelableUntil: Date.parse(createdAt) + policy.cancelWindowMs,
      decisions: decisions.map(({ decision, at }) => ({ decision, at: Date.parse(at) })),
      ...(canceledAt !== null && { canceledAt: Date.parse(canceledAt) }),
    })),
    requests,
    calls: diary.calls,
    news: newsOf(evidence, happened),
    arrivals: arrivals.filter(({ event }) => event.sequence > 0),
    shown: [{ at: closedAt, phase: record.phase, attention: record.attention }],
    world: worldOf(evidence, happened, requests),
    record,
  };
}

function attemptOf({ plan }: OrderEvidence, amount: number | undefined): number | undefined {
  const index = plan.attempts.findIndex((one) => one.amount === amount);
  return index < 0 ? undefined : index + 1;
}

const OPERATIONS: Operation[] = [...TELL_DECISIONS, 'gateway-response', ...Object.values(PORTAL_OPERATIONS)];

function requestIn(request: Request, evidence: OrderEvidence, { outages }: Happened): BookedRequest[] {
  const { entry, departure } = request;
  const operation =
    entry.operation === 'status-by-url' ? 'status' : OPERATIONS.find((one) => one === entry.operation);
  if (operation === undefined) return [];
  const { transactionId, invoiceNumber, committed, outcome } = entry;
  const notedAt = Date.parse(entry.wallAt);
  const arrivedAt = notedAt + (entry.fault === 'delay' ? SLOW_MS : 0);
  const sentAt = departure?.at ?? notedAt;
  const killedAt = outages.find(({ from }) => from >= sentAt)?.from ?? evidence.at;
  const heard = heardIn(request);
  const sent = sentIn(operation, request, evidence);
  // The sandbox notes the transaction's decision with every answer; only these answers contain it.
  const decision = TELL_DECISIONS.includes(operation) && DECISIONS.find((one) => one === outcome.decision);
  return [
    {
      sentAt,
      endedAt: departure === undefined ? arrivedAt : (departure.end?.endedAt ?? killedAt),
      operation,
      committed,
      ...((committed || outcome.decision !== null || outcome.status !== null) && { arrivedAt }),
      ...(heard !== undefined && { heard }),
      ...(transactionId !== null && { transactionId }),
      ...(invoiceNumber !== null && { invoice: invoiceNumber }),
      ...(operation === 'create-transaction' && { attempt: attemptIn(request, evidence) }),
      ...(decision && { decision }),
      ...(sent !== undefined && { sent }),
      ...(isApart(operation, sentAt, evidence) && { apart: true as const }),
    },
  ];
}

/** A portal action of this kind ran as its own workflow by then. */
function isApart(operation: Operation, sentAt: number, { portalRuns }: OrderEvidence): boolean {
  const operations = new Map<string, Operation>(Object.entries(PORTAL_OPERATIONS));
  return portalRuns.some((run) => operations.get(run.kind) === operation && run.startedAt <= sentAt);
}

/** What each injected fault left of the answer; `unknown` for any other fault. */
const HEARD_OF_FAULT: Partial<Record<string, Heard>> = {
  '429': 'not-done',
  '403': 'forbidden',
  'refused-in-body': 'refused',
};
const ANSWERED_FAULTS = ['delay', 'unknown-decision', 'reply-without-id'];

/** Nothing if its sender was killed before an answer. */
function heardIn({ entry: { fault, outcome, operation }, departure }: Request): Heard | undefined {
  const { status, code } = outcome;
  if (departure !== undefined && departure.end === undefined) return undefined;
  if (departure?.end?.answered === false) return 'unknown';
  // The status is known, also of a truncated reply.
  if (status === 403) return 'forbidden';
  if (fault !== null && !ANSWERED_FAULTS.includes(fault)) return HEARD_OF_FAULT[fault] ?? 'unknown';
  if (status === 404) return 'not-found';
  if (status !== 200) return status === null ? 'unknown' : 'refused';
  if (fault !== null && fault !== 'delay') return 'unreadable';
  if (code !== null) return Number(code) === 200 ? 'done' : 'refused';
  return operation === 'gateway-response' ? 'done' : 'transaction';
}

/** By its amount; without that the newest attempt that had been sent. */
function attemptIn({ entry, departure }: Request, evidence: OrderEvidence): number {
  const transaction = evidence.transactions.find(({ id }) => id === entry.transactionId);
  const amount = departure?.amount ?? (transaction && Number(transaction.amount));
  const second = evidence.diary.calls.find((one) => attemptAsked(one) === 2);
  const newest = second !== undefined && second.sentAt <= Date.parse(entry.wallAt) ? 2 : 1;
  return attemptOf(evidence, amount) ?? newest;
}

function sentIn(operation: Operation, request: Request, evidence: OrderEvidence): BookedRequest['sent'] {
  if (operation === 'gateway-response') return request.departure?.result ?? resultTaken(request, evidence);
  if (operation === 'cancel-transaction') return { kind: 'cancel' };
  return evidence.plan.actions.find(({ fields }) => PORTAL_OPERATIONS[fields.kind] === operation)?.fields;
}

/** A killed sender may have noted nothing. The sandbox keeps the results that it took, in the order of their requests. */
function resultTaken({ entry }: Request, { ledger, transactions }: OrderEvidence): GatewayResult | undefined {
  const { operation, transactionId } = entry;
  const same = ledger.filter((one) => one.entry.operation === operation && one.entry.committed);
  const taken = same.filter((one) => one.entry.transactionId === transactionId);
  const results = transactions.find(({ id }) => id === transactionId)?.gatewayResponses ?? [];
  const result = results[taken.findIndex((one) => one.entry === entry)]?.result;
  return GATEWAY_RESULTS.find((one) => one === result);
}

/** Webhooks that the API accepted, hints that were signaled, and what an operator asked. */
function newsOf({ plan, ledger }: OrderEvidence, { hints, rechecked }: Happened): BookedNews[] {
  const webhooks = ledger.flatMap(({ entry: { operation, committed, transactionId, wallAt } }) =>
    operation === 'webhook' && committed && transactionId !== null
      ? [{ at: Date.parse(wallAt), what: 'hint' as const, transactionId }]
      : [],
  );
  const signals = hints
    .filter(({ orderId }) => orderId === plan.orderId)
    .map(({ at }) => ({ at, what: 'hint' as const }));
  const at = rechecked.get(plan.orderId);
  const asked = at === undefined ? [] : [{ at, what: 'recheck' as const }];
  return [...webhooks, ...signals, ...asked].sort((a, b) => a.at - b.at);
}

function worldOf(
  { run: { startedAt, closedAt, history }, diary, at }: OrderEvidence,
  { outages, spans }: Happened,
  requests: readonly BookedRequest[],
): World {
  const until = closedAt ?? at;
  const mine = (span: Span): boolean => span.from < until && span.until > startedAt;
  const ended = outages.map((one) => ({ ...one, until: one.until ?? at }));
  const kills = ended.filter(({ what }) => what !== 'API');
  const isHit = (from: number, to: number) => kills.some((kill) => kill.from >= from && kill.from <= to);
  const lostInMemory =
    requests.some(({ sentAt, endedAt }) => isHit(sentAt, endedAt + REPORTED_WITHIN_MS)) ||
    diary.calls.some((call) => isHit(Math.max(call.sentAt, startedAt), call.at));
  // The first task of a checkout may wait in a worker that just started, unnoticed: the cancel window counts from the task's start.
  const waitedMs = (requests[0]?.sentAt ?? 0) - history.begunAt;
  return {
    workersAway: ended.filter(({ what }) => what === 'Temporal').filter(mine),
    unreachable: spans.unreachable.filter(mine),
    wrongKey: spans.wrongKey.filter(mine),
    tasksWaited: history.tasksWaited,
    receiverDown: spans.receiverDown.filter(mine),
    resets: [],
    continuedAt: [],
    skewMs: 0,
    losses: lostInMemory || history.timedOut || Object.keys(history.failedTasks).length > 0,
    lateByMs: waitedMs > NOTED_LATE_MS ? waitedMs : 0,
    brokeDown: false,
    cutOff: history.cutOff,
    // The history doesn't say why a call ended without a result.
    endedByHand: history.cutOff,
    recordLost: history.fastPathLost,
    notedLateMs: NOTED_LATE_MS,
  };
}
