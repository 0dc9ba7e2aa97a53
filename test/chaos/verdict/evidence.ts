/** What a run left of each order: Temporal's state and history, the sandbox's ledger, the events that arrived. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import proto, { type temporal } from '@temporalio/proto';
import type { OrderState } from '../../../src/contract/order/state.ts';
import type { LedgerEntry, TransactionRecord } from '../../../src/sandbox/model.ts';
import type { Span } from '../../books/books.ts';
import { someAtATime } from '../../support/index.ts';
import { readState } from '../../support/read-state.ts';
import type { Deployment } from '../deployment.ts';
import { type Departure, readDepartures } from '../faults/departures.ts';
import type { Diary } from '../people/client.ts';
import type { Arrival } from '../people/receiver.ts';
import { customerCodeOf, type OrderPlan, orderOfInvoice, workflowIdOf } from '../plan/plan.ts';

/** Times in milliseconds after the epoch. */
export interface Run {
  /** `NONE`: Temporal has no such order. */
  status: string;
  /** Absent: it can't be read. */
  state?: OrderState;
  startedAt: number;
  closedAt?: number;
  history: ReturnType<typeof summaryOf>;
}

/** A request to the screening service, as the sandbox and its sender noted it. */
export interface Request {
  entry: LedgerEntry;
  departure?: Departure | undefined;
}

/** A portal action that ran as its own workflow, since its order was over. */
interface PortalRun {
  /** `portal:<integration>:<kind>:<transaction or order>[:<hash>]` */
  workflowId: string;
  kind: string;
  status: string;
  startedAt: number;
}

/** Everything about one order. */
export interface OrderEvidence {
  plan: OrderPlan;
  diary: Diary;
  run: Run;
  /** Oldest first, as everything here. */
  transactions: TransactionRecord[];
  ledger: Request[];
  arrivals: Arrival[];
  portalRuns: PortalRun[];
  /** When it was gathered. */
  at: number;
}

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** A request that was sent so recently may not be on the order's record yet. */
const ON_RECORD_WITHIN_MS = 2_000;
const AT_A_TIME = 12;

/** Gathers everything about every order: again for each one that sent a request meanwhile, so that its record and its ledger agree. */
export async function gatherEvidence(
  deployment: Deployment,
  plans: readonly OrderPlan[],
  diaryOf: (orderId: string) => Diary,
): Promise<OrderEvidence[]> {
  const began = Date.now();
  const evidence = await gatherOnce(deployment, plans, diaryOf);
  const recent = deployment.sandbox.control
    .ledger()
    .filter(({ wallAt }) => Date.parse(wallAt) > began - ON_RECORD_WITHIN_MS);
  const moved = new Set(recent.map(orderIdIn));
  const again = plans.filter(({ orderId }) => moved.has(orderId));
  if (again.length === 0) return evidence;
  await sleep(ON_RECORD_WITHIN_MS);
  const newer = await gatherEvidence(deployment, again, diaryOf);
  return [...evidence.filter(({ plan }) => !moved.has(plan.orderId)), ...newer];
}

async function gatherOnce(
  { client, sandbox: { control }, receiver, departures }: Deployment,
  plans: readonly OrderPlan[],
  diaryOf: (orderId: string) => Diary,
): Promise<OrderEvidence[]> {
  const entries = control.ledger();
  const left = readDepartures(departures, entries);
  const requests = entries.map((entry): Request => ({ entry, departure: left.get(entry.sequence) }));
  const ledger = grouped(
    requests,
    ({ entry, departure }) => departure?.customerCode?.replace(customerCodeOf(''), '') ?? orderIdIn(entry),
  );
  const transactions = grouped(control.transactions(), orderIdIn);
  const arrivals = grouped(receiver.arrivals, ({ event }) => event.orderId);
  const portalRuns = await readPortalRuns(client);
  return aFewAtATime(plans, async (plan) => {
    const { orderId } = plan;
    const subjects = [orderId, ...(transactions.get(orderId) ?? []).map(({ id }) => id)];
    return {
      plan,
      diary: diaryOf(orderId),
      run: await readRun(client, workflowIdOf(plan)),
      transactions: transactions.get(orderId) ?? [],
      ledger: ledger.get(orderId) ?? [],
      arrivals: arrivals.get(orderId) ?? [],
      portalRuns: portalRuns.filter(({ workflowId }) =>
        subjects.some((subject) => workflowId.includes(subject)),
      ),
      at: Date.now(),
    };
  });
}

async function readRun(client: Client, workflowId: string): Promise<Run> {
  const handle = client.workflow.getHandle(workflowId);
  const described = await handle.describe().catch((error: Error) => {
    if (error.name !== 'WorkflowNotFoundError') throw error;
  });
  if (described === undefined) return { status: 'NONE', startedAt: 0, history: summaryOf([]) };
  const { status, startTime, closeTime } = described;
  const state = await readState(client, workflowId).catch(() => undefined);
  return {
    status: status.name,
    ...(state !== undefined && { state }),
    startedAt: startTime.getTime(),
    ...(closeTime !== undefined && { closedAt: closeTime.getTime() }),
    history: summaryOf(await historyOf(client, workflowId)),
  };
}

/** The events of all runs of an order, oldest first: an order that continues as new has several. */
async function historyOf(client: Client, workflowId: string): Promise<HistoryEvent[]> {
  const runs: HistoryEvent[][] = [];
  let runId: string | undefined;
  do {
    const events = (await client.workflow.getHandle(workflowId, runId).fetchHistory()).events ?? [];
    runs.unshift(events);
    runId = events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || undefined;
  } while (runId !== undefined);
  return runs.flat();
}

async function readPortalRuns(client: Client): Promise<PortalRun[]> {
  const runs: PortalRun[] = [];
  for await (const run of client.workflow.list({ query: "WorkflowType = 'portalAction'" })) {
    const { workflowId, status, startTime } = run;
    const [, , kind = ''] = workflowId.split(':');
    runs.push({ workflowId, kind, status: status.name, startedAt: startTime.getTime() });
  }
  return runs;
}

function grouped<T>(all: readonly T[], keyOf: (one: T) => string | undefined): Map<string | undefined, T[]> {
  const groups = new Map<string | undefined, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

function orderIdIn({ invoiceNumber }: { invoiceNumber: string | null }): string | undefined {
  return orderOfInvoice(invoiceNumber ?? '');
}

/** Calls for each item, a few at a time. @returns the results in the items' order */
export function aFewAtATime<T, R>(items: readonly T[], call: (item: T) => Promise<R>): Promise<R[]> {
  return someAtATime(AT_A_TIME, items, call);
}

/** The SDK's failure if a worker doesn't have an order in memory, and Temporal is away. No code of ours had begun. */
const NOT_FETCHED = /^Fetching history failed: Status \{ code: Unavailable\b/;

function summaryOf(events: readonly HistoryEvent[]) {
  /** By the cause of each failed workflow task. */
  const failedTasks: Record<string, number> = {};
  for (const { workflowTaskFailedEventAttributes: failed } of events) {
    if (!failed) continue;
    const known = proto.temporal.api.enums.v1.WorkflowTaskFailedCause[failed.cause ?? 0] ?? '';
    const cause = NOT_FETCHED.test(failed.failure?.message ?? '')
      ? 'HISTORY_NOT_FETCHED'
      : known.replace('WORKFLOW_TASK_FAILED_CAUSE_', '');
    failedTasks[cause] = (failedTasks[cause] ?? 0) + 1;
  }
  const isTimeout = (event: HistoryEvent) =>
    event.workflowTaskTimedOutEventAttributes ||
    event.activityTaskTimedOutEventAttributes ||
    event.activityTaskStartedEventAttributes?.lastFailure?.timeoutFailureInfo;
  const isFast = events[0]?.workflowExecutionStartedEventAttributes?.eagerExecutionAccepted === true;
  const firstEnd = events.findIndex((event) => event.workflowTaskCompletedEventAttributes);
  const lostFirst = events.slice(0, firstEnd).some((event) => event.workflowTaskTimedOutEventAttributes);
  const begun = events.find((event) => event.workflowTaskStartedEventAttributes);
  return {
    failedTasks,
    /** A task timed out, or the try of an activity was lost. */
    timedOut: events.some(isTimeout),
    /** An activity was canceled, or failed when it was to stop, and so ended without a result. */
    cutOff: events.some(
      (event) => event.activityTaskCanceledEventAttributes || event.activityTaskFailedEventAttributes,
    ),
    /** Temporal gave the first task to the process that started the order, and that task ran again. */
    fastPathLost: isFast && (lostFirst || Object.keys(failedTasks).length > 0),
    /** When the first workflow task began. */
    begunAt: begun ? msOf(begun) : Number.POSITIVE_INFINITY,
    tasksWaited: tasksWaited(events),
  };
}

/** From when a workflow task waited until it was done, where that took over a second. */
function tasksWaited(events: readonly HistoryEvent[]): Span[] {
  const spans: Span[] = [];
  let from: number | undefined;
  for (const event of events) {
    const at = msOf(event);
    if (event.workflowTaskScheduledEventAttributes) from ??= at;
    if (event.workflowTaskCompletedEventAttributes && from !== undefined) {
      if (at - from > 1_000) spans.push({ from, until: at });
      from = undefined;
    }
  }
  return spans;
}

function msOf({ eventTime }: HistoryEvent): number {
  return Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1e6;
}
