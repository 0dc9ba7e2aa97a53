/** What a run left behind, order by order: Temporal's state, the sandbox's ledger, the receiver's arrivals. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import type { OrderState, ScreenOrderInput } from '../../src/contract/messages.ts';
import type { LedgerEntry, TransactionRecord } from '../../src/sandbox/model.ts';
import { readState } from '../support/read-state.ts';
import type { Diary } from './client.ts';
import type { Departure } from './departures.ts';
import type { Deployment } from './deployment.ts';
import { customerCodeOf, type OrderPlan, orderOfInvoice, workflowIdOf } from './plan.ts';
import type { Arrival } from './receiver.ts';

export interface Run {
  /** `NONE`: Temporal knows no such order. */
  status: string;
  state?: OrderState;
  startedAt: number;
  closedAt?: number;
  history: HistorySummary;
}

export interface HistorySummary {
  events: number;
  /** By the cause of each failed workflow task. */
  failedTasks: Record<string, number>;
  timedOutTasks: number;
  /** Activities of which a try was lost, with its worker or with its end. */
  lostTries: number;
  /** An activity was stopped, and ended without a result. */
  cutOff: boolean;
  /** Temporal gave the first task to the process that started the order. */
  eager: boolean;
  /** The first task was run again, since its end never arrived. */
  firstTaskLost: boolean;
  /** When the first workflow task began, in milliseconds after the epoch. */
  begunAt?: number;
  /** When the order's answer was recorded, in milliseconds after the epoch. */
  recordedAt?: number;
}

/** A request to the screening service, as the sandbox and its sender noted it. */
export interface Request {
  entry: LedgerEntry;
  departure?: Departure;
}

/** A portal action that ran as a workflow of its own, since its order was over. */
export interface PortalRun {
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
  /** Oldest first. */
  transactions: TransactionRecord[];
  /** Entries of the ledger about it, oldest first. */
  ledger: Request[];
  arrivals: Arrival[];
  portalRuns: PortalRun[];
  /** When it was asked. */
  at: number;
}

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

const AT_A_TIME = 12;

/** Reads one order from Temporal, its history included. */
export async function readRun(client: Client, plan: OrderPlan): Promise<Run> {
  const handle = client.workflow.getHandle<(input: ScreenOrderInput) => Promise<OrderState>>(
    workflowIdOf(plan),
  );
  const none: Run = { status: 'NONE', startedAt: 0, history: summary([]) };
  let described: Awaited<ReturnType<typeof handle.describe>>;
  try {
    described = await handle.describe();
  } catch (error) {
    if (error instanceof Error && error.name === 'WorkflowNotFoundError') return none;
    throw error;
  }
  const status = described.status.name;
  const state =
    status === 'RUNNING'
      ? await readState(client, handle.workflowId).catch(() => undefined)
      : status === 'COMPLETED'
        ? await handle.result()
        : undefined;
  return {
    status,
    startedAt: described.startTime.getTime(),
    ...(state !== undefined && { state }),
    ...(described.closeTime !== undefined && { closedAt: described.closeTime.getTime() }),
    history: summary(await historyOf(client, handle.workflowId)),
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

type Sources = Pick<Deployment, 'temporal' | 'sandbox' | 'departures'>;

/** A request that was sent so recently may not be on the order's record yet. */
const ON_RECORD_WITHIN_MS = 2_000;

/** Gathers everything about every order: again for each one that sent a request meanwhile, so that its record and its ledger agree. */
export async function gatherEvidence(
  sources: Sources,
  arrivals: readonly Arrival[],
  plans: readonly OrderPlan[],
  diaryOf: (orderId: string) => Diary,
): Promise<OrderEvidence[]> {
  const began = Date.now();
  const evidence = await gatherOnce(sources, arrivals, plans, diaryOf);
  const moved = new Set(
    sources.sandbox.control
      .ledger()
      .filter(({ wallAt }) => Date.parse(wallAt) > began - ON_RECORD_WITHIN_MS)
      .map(orderIdIn),
  );
  const again = plans.filter(({ orderId }) => moved.has(orderId));
  if (again.length === 0) return evidence;
  await sleep(ON_RECORD_WITHIN_MS);
  const newer = await gatherEvidence(sources, arrivals, again, diaryOf);
  return [...evidence.filter(({ plan }) => !moved.has(plan.orderId)), ...newer];
}

async function gatherOnce(
  { temporal: client, sandbox, departures }: Sources,
  arrivals: readonly Arrival[],
  plans: readonly OrderPlan[],
  diaryOf: (orderId: string) => Diary,
): Promise<OrderEvidence[]> {
  const entries = sandbox.control.ledger();
  const left = departures(entries);
  const transactions = grouped(sandbox.control.transactions(), (one) => orderIdIn(one));
  const ledger = grouped(
    entries.map((entry): Request => {
      const departure = left.get(entry.sequence);
      return { entry, ...(departure !== undefined && { departure }) };
    }),
    ({ entry, departure }) => departure?.customerCode?.replace(CODE, '') ?? orderIdIn(entry),
  );
  const events = grouped(arrivals, ({ event }) => event.orderId);
  const portalRuns = await readPortalRuns(client);
  return inBatches(plans, async (plan) => {
    const mine = transactions.get(plan.orderId) ?? [];
    const ids = new Set(mine.map(({ id }) => id));
    return {
      plan,
      diary: diaryOf(plan.orderId),
      run: await readRun(client, plan),
      transactions: mine,
      ledger: ledger.get(plan.orderId) ?? [],
      arrivals: events.get(plan.orderId) ?? [],
      portalRuns: portalRuns.filter(
        ({ workflowId }) => workflowId.includes(plan.orderId) || ids.has(subjectIn(workflowId)),
      ),
      at: Date.now(),
    };
  });
}

const CODE = customerCodeOf('');

function grouped<T>(all: readonly T[], keyOf: (one: T) => string | undefined): Map<string | undefined, T[]> {
  const groups = new Map<string | undefined, T[]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group === undefined) groups.set(keyOf(one), [one]);
    else group.push(one);
  }
  return groups;
}

function orderIdIn({ invoiceNumber }: { invoiceNumber: string | null }): string | undefined {
  return orderOfInvoice(invoiceNumber ?? '');
}

/** Calls for each item, a few at a time, and keeps their order. */
export async function inBatches<T, R>(items: readonly T[], call: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += AT_A_TIME) {
    results.push(...(await Promise.all(items.slice(from, from + AT_A_TIME).map(call))));
  }
  return results;
}

async function readPortalRuns(client: Client): Promise<PortalRun[]> {
  const runs: PortalRun[] = [];
  for await (const run of client.workflow.list({ query: "WorkflowType = 'portalAction'" })) {
    const { workflowId } = run;
    const kind = workflowId.split(':')[2] ?? '';
    runs.push({ workflowId, kind, status: run.status.name, startedAt: run.startTime.getTime() });
  }
  return runs;
}

function subjectIn(workflowId: string): string {
  return workflowId.split(':')[3] ?? '';
}

/** Numbers of Temporal's `WorkflowTaskFailedCause` that are met here. */
const CAUSES: Record<number, string> = {
  1: 'unhandled command',
  13: 'sticky queue reset',
  14: 'unhandled failure',
  17: 'forced',
  24: 'nondeterminism',
};

/** Said by the SDK of a worker that knows an order no more, and that can't ask Temporal for what it forgot, since Temporal is down. */
const NOT_FETCHED = /^Fetching history failed: Status \{ code: Unavailable\b/;

/** @returns why a workflow task failed; where its history could not be fetched, no code of ours had begun */
export function causeOf({
  cause,
  failure,
}: NonNullable<HistoryEvent['workflowTaskFailedEventAttributes']>): string {
  if (NOT_FETCHED.test(failure?.message ?? '')) return 'history not fetched';
  return CAUSES[cause ?? 0] ?? `cause ${cause}`;
}

function summary(events: readonly HistoryEvent[]): HistorySummary {
  const failedTasks: Record<string, number> = {};
  let timedOutTasks = 0;
  let lostTries = 0;
  for (const event of events) {
    const { workflowTaskFailedEventAttributes: failed } = event;
    if (failed) {
      const cause = causeOf(failed);
      failedTasks[cause] = (failedTasks[cause] ?? 0) + 1;
    }
    if (event.workflowTaskTimedOutEventAttributes) timedOutTasks += 1;
    const { lastFailure } = event.activityTaskStartedEventAttributes ?? {};
    if (lastFailure?.timeoutFailureInfo || event.activityTaskTimedOutEventAttributes) lostTries += 1;
  }
  const recordedIn = events.findIndex((event) => event.workflowTaskCompletedEventAttributes);
  const recorded = events[recordedIn];
  const begun = events.find((event) => event.workflowTaskStartedEventAttributes);
  return {
    events: events.length,
    failedTasks,
    timedOutTasks,
    lostTries,
    cutOff: events.some((event) => event.activityTaskCanceledEventAttributes),
    eager: events[0]?.workflowExecutionStartedEventAttributes?.eagerExecutionAccepted === true,
    firstTaskLost: events.slice(0, recordedIn).some((event) => event.workflowTaskTimedOutEventAttributes),
    ...(begun && { begunAt: timeOf(begun) }),
    ...(recorded && { recordedAt: timeOf(recorded) }),
  };
}

/** The moment of an event, by the server, in milliseconds after the epoch. */
function timeOf({ eventTime }: HistoryEvent): number {
  return Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1e6;
}
