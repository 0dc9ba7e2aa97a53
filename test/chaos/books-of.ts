/** The books of one order of a chaos run. */
import { DECISIONS } from '../../src/contract/words.ts';
import {
  type BookedNews,
  type BookedRequest,
  type Books,
  type Heard,
  PORTAL_OPERATIONS,
  type Span,
  type World,
} from '../books/books.ts';
import { recordOf } from '../books/record-of.ts';
import type { Outage } from './deployment.ts';
import type { HistorySummary, OrderEvidence, Request } from './evidence.ts';
import { SLOW_MS } from './fault-mix.ts';
import type { FaultsFromOutside } from './faults-from-outside.ts';

/** Senders, sandbox and Temporal share one clock, but a busy machine gives a process its turn late. */
const NOTED_LATE_MS = 2_000;
/** After its end a request may still be lost with its process, so long after it. */
const REPORTED_WITHIN_MS = 2_000;

/** What happened to the deployment, by its own log. */
export interface Happened extends Pick<FaultsFromOutside, 'spans' | 'hints'> {
  outages: readonly Outage[];
  /** Orders that an operator asked to be read again, and when. */
  rechecked: ReadonlyMap<string, number>;
}

/** @returns the books, or undefined for an order whose state can't be read */
export function booksOf(evidence: OrderEvidence, happened: Happened): Books | undefined {
  const { plan, diary, run, transactions, ledger, arrivals, at: closedAt } = evidence;
  const { policy, checkoutBudgetMs, attempts } = plan;
  if (run.state === undefined) return undefined;
  const record = recordOf(run.state);
  const requests = ledger
    .map((one) => requestIn(one, evidence, happened))
    .filter((one) => one !== undefined)
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

const OPERATIONS: Record<string, BookedRequest['operation']> = {
  'create-transaction': 'create-transaction',
  'gateway-response': 'gateway-response',
  status: 'status',
  'status-by-url': 'status',
  'status-by-invoice': 'status-by-invoice',
  'customer-code': 'customer-code',
  'report-fraud': 'report-fraud',
  'cancel-transaction': 'cancel-transaction',
  'submit-chargeback': 'submit-chargeback',
};

const TELL_DECISIONS: ReadonlySet<BookedRequest['operation']> = new Set([
  'create-transaction',
  'status',
  'status-by-invoice',
]);

function requestIn(
  request: Request,
  evidence: OrderEvidence,
  { outages }: Happened,
): BookedRequest | undefined {
  const { entry, departure } = request;
  const operation = OPERATIONS[entry.operation];
  if (operation === undefined) return undefined;
  const { transactionId, invoiceNumber, committed, outcome } = entry;
  const arrivedAt = Date.parse(entry.wallAt) + (entry.fault === 'delay' ? SLOW_MS : 0);
  const sentAt = departure?.at ?? Date.parse(entry.wallAt);
  const killedAt = outages.find(({ from }) => from >= sentAt)?.from ?? evidence.at;
  const endedAt = departure === undefined ? arrivedAt : (departure.end?.endedAt ?? killedAt);
  const heard = heardIn(request);
  const attempt = operation === 'create-transaction' ? attemptIn(request, evidence) : undefined;
  const sent = sentIn(operation, request, evidence);
  // The sandbox notes with each answer how its transaction stood; only these say it.
  const decision = TELL_DECISIONS.has(operation)
    ? DECISIONS.find((one) => one === outcome.decision)
    : undefined;
  return {
    sentAt,
    endedAt,
    operation,
    committed,
    ...((committed || outcome.decision !== null || outcome.status !== null) && { arrivedAt }),
    ...(heard !== undefined && { heard }),
    ...(transactionId !== null && { transactionId }),
    ...(invoiceNumber !== null && { invoice: invoiceNumber }),
    ...(attempt !== undefined && { attempt }),
    ...(decision !== undefined && { decision }),
    ...(sent !== undefined && { sent }),
    ...(isApart(operation, sentAt, evidence) && { apart: true as const }),
  };
}

/** A portal action of that kind ran as a workflow of its own by then. */
function isApart(
  operation: BookedRequest['operation'],
  sentAt: number,
  { portalRuns }: OrderEvidence,
): boolean {
  return Object.entries(PORTAL_OPERATIONS).some(
    ([kind, one]) =>
      one === operation && portalRuns.some((run) => run.kind === kind && run.startedAt <= sentAt),
  );
}

/** What the sender heard: nothing if it was killed before an answer came, else what the fault left of the answer. */
function heardIn({ entry, departure }: Request): Heard | undefined {
  const { fault, outcome, operation } = entry;
  if (departure !== undefined && departure.end === undefined) return undefined;
  if (departure?.end?.answered === false) return 'unknown';
  switch (fault) {
    case null:
    case 'delay':
      break;
    case '429':
      return 'not-done';
    case 'refused-in-body':
      return 'refused';
    case 'unknown-decision':
    case 'reply-without-id':
      if (outcome.status === 200) return 'unreadable';
      break;
    case '403':
      return 'forbidden';
    default:
      return 'unknown';
  }
  if (outcome.status === 403) return 'forbidden';
  if (outcome.status === 404) return 'not-found';
  if (outcome.status !== 200) return outcome.status === null ? 'unknown' : 'refused';
  if (outcome.code !== null) return Number(outcome.code) === 200 ? 'done' : 'refused';
  return operation === 'gateway-response' ? 'done' : 'transaction';
}

/** The amount tells it; without it the newest attempt that had been asked for. */
function attemptIn({ entry, departure }: Request, evidence: OrderEvidence): number {
  const transaction = evidence.transactions.find(({ id }) => id === entry.transactionId);
  const amount = departure?.amount ?? (transaction && Number(transaction.amount));
  const second = evidence.diary.calls.find((one) => one.asks === 'checkout' && one.attempt === 2);
  const newest = second !== undefined && second.sentAt <= Date.parse(entry.wallAt) ? 2 : 1;
  return attemptOf(evidence, amount) ?? newest;
}

function sentIn(
  operation: BookedRequest['operation'],
  { departure }: Request,
  { plan }: OrderEvidence,
): BookedRequest['sent'] {
  if (operation === 'gateway-response') return departure?.result;
  if (operation === 'cancel-transaction') return { kind: 'cancel' };
  return plan.actions.find(({ fields }) => PORTAL_OPERATIONS[fields.kind] === operation)?.fields;
}

/** Webhooks that the API took, hints that were signaled, and what an operator asked. */
function newsOf({ plan, ledger }: OrderEvidence, { hints, rechecked }: Happened): BookedNews[] {
  const webhooks = ledger.flatMap(({ entry }): BookedNews[] =>
    entry.operation === 'webhook' && entry.committed && entry.transactionId !== null
      ? [{ at: Date.parse(entry.wallAt), what: 'hint', transactionId: entry.transactionId }]
      : [],
  );
  const signals = hints.flatMap(({ orderId, at }): BookedNews[] =>
    orderId === plan.orderId ? [{ at, what: 'hint' }] : [],
  );
  const at = rechecked.get(plan.orderId);
  const asked: BookedNews[] = at === undefined ? [] : [{ at, what: 'recheck' }];
  return [...webhooks, ...signals, ...asked].sort((a, b) => a.at - b.at);
}

/** A checkout's task that waited in a worker which has run nothing yet can't know that: its window counts from the task's beginning. */
function waitedInWorkerMs({ begunAt }: HistorySummary, requests: readonly BookedRequest[]): number {
  const waitedMs = (requests[0]?.sentAt ?? 0) - (begunAt ?? Number.POSITIVE_INFINITY);
  return waitedMs > NOTED_LATE_MS ? waitedMs : 0;
}

function worldOf(
  { run, diary, at: closedAt }: OrderEvidence,
  { outages, spans }: Happened,
  requests: readonly BookedRequest[],
): World {
  const { startedAt, closedAt: until = closedAt, history } = run;
  const mine = (span: Span): boolean => span.from < until && span.until > startedAt;
  const ended = outages.map((one) => ({ ...one, until: one.until ?? closedAt }));
  const kills = ended.filter(({ what }) => what !== 'API');
  const hit = (from: number, to: number): boolean =>
    kills.some((kill) => kill.from >= from && kill.from <= to);
  const lostInMemory =
    requests.some(({ sentAt, endedAt }) => hit(sentAt, endedAt + REPORTED_WITHIN_MS)) ||
    diary.calls.some(({ sentAt, at }) => hit(Math.max(sentAt, startedAt), at));
  const failed = Object.keys(history.failedTasks).length > 0;
  return {
    workersAway: ended.filter(({ what }) => what === 'Temporal').filter(mine),
    unreachable: spans.unreachable.filter(mine),
    wrongKey: spans.wrongKey.filter(mine),
    slow: [],
    receiverDown: spans.receiverDown.filter(mine),
    resets: [],
    continuedAt: [],
    skewMs: 0,
    losses: lostInMemory || failed || history.timedOutTasks > 0 || history.lostTries > 0,
    lateByMs: waitedInWorkerMs(history, requests),
    brokeDown: false,
    cutOff: history.cutOff,
    recordLost: history.eager && (history.firstTaskLost || failed),
    notedLateMs: NOTED_LATE_MS,
  };
}
