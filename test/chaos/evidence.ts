/** What a run left behind, order by order: Temporal's state, the sandbox's ledger, the receiver's arrivals. */
import type { Client } from '@temporalio/client';
import { z } from 'zod';
import { orderQuery } from '../../src/orders/messages.ts';
import type { LedgerEntry, TransactionRecord } from '../../src/sandbox/model.ts';
import type { Diary } from './client.ts';
import type { Deployment } from './deployment.ts';
import { type HistoryFacts, historyFacts, timeOf } from './history-facts.ts';
import { type OrderPlan, orderOfInvoice, workflowIdOf } from './plan.ts';
import type { Arrival } from './receiver.ts';

const readingSchema = z.object({ decision: z.string(), at: z.string(), source: z.string() });
const attemptSchema = z.object({
  number: z.number(),
  startedAt: z.string(),
  cancelBy: z.string().optional(),
  invoiceNumber: z.string().optional(),
  transactionId: z.string().optional(),
  transactionIds: z.array(z.string()),
  earlierWindows: z.record(z.string(), z.string()).optional(),
  decision: z.string(),
  readings: z.array(readingSchema),
  rescreens: z.number(),
  screeningOver: z.boolean().optional(),
  answer: z
    .object({
      decision: z.string(),
      action: z.string(),
      phase: z.string(),
      transactionId: z.string().optional(),
      wouldBe: z.string().optional(),
      message: z.string().optional(),
      reason: z.string().optional(),
    })
    .optional(),
  gateway: z.object({ result: z.string(), at: z.string(), sent: z.string().optional() }).optional(),
  override: z.object({ action: z.string(), at: z.string() }).optional(),
});

/** An order's state as the checker reads it, by its own schema. */
export const stateSchema = z.object({
  orderId: z.string(),
  integration: z.string(),
  workflow: z.string(),
  phase: z.string(),
  phaseSince: z.string(),
  decision: z.string(),
  action: z.string(),
  wouldBe: z.string().optional(),
  reason: z.string().optional(),
  attempts: z.array(attemptSchema).min(1),
  attention: z.array(z.object({ code: z.string(), since: z.string() })),
  actions: z.array(
    z.object({
      number: z.number(),
      kind: z.string(),
      transactionId: z.string().optional(),
      status: z.string(),
      by: z.string(),
      requestedAt: z.string(),
      finishedAt: z.string().optional(),
    }),
  ),
  events: z.object({ sequence: z.number(), delivered: z.number(), waiting: z.number() }),
  lastRead: z.object({ at: z.string(), source: z.string() }).optional(),
  passed: z.array(z.string()),
  policy: z.object({ events: z.union([z.string(), z.boolean()]) }).optional(),
  startedAt: z.string(),
});
export type State = z.infer<typeof stateSchema>;
export type Attempt = State['attempts'][number];

export interface Run {
  /** `NONE`: Temporal knows no such order. */
  status: string;
  state?: State;
  closedAt?: number;
  history: HistorySummary;
}

export interface HistorySummary {
  events: number;
  /** By the cause of each failed workflow task. */
  failedTasks: Record<string, number>;
  timedOutTasks: number;
  /** Temporal gave the first task to the process that started the order. */
  eager: boolean;
  /** The first task was run again, since its end never arrived. */
  firstTaskLost: boolean;
  /** When the order's answer was recorded, in milliseconds after the epoch. */
  recordedAt?: number;
  facts: HistoryFacts;
}

/** Everything about one order. */
export interface OrderEvidence {
  plan: OrderPlan;
  diary: Diary;
  run: Run;
  /** Oldest first. */
  transactions: TransactionRecord[];
  /** Entries of the ledger about its invoice numbers, oldest first. */
  ledger: LedgerEntry[];
  arrivals: Arrival[];
  /** Its portal actions that ran as workflows of their own. */
  portalRuns: { kind: string; status: string }[];
  /** Attachments of the order's customer code to its e-mail address: the same one is the same in both. */
  customerCodes: number;
  /** When each of its cancels left a worker, by the entry's sequence; milliseconds after the epoch. */
  departures: Record<number, number>;
}

type HistoryEvent = Parameters<typeof timeOf>[0];

const AT_A_TIME = 12;

/** Reads one order from Temporal, its history included. */
export async function readRun(client: Client, plan: OrderPlan): Promise<Run> {
  const handle = client.workflow.getHandle(workflowIdOf(plan));
  const none: Run = { status: 'NONE', history: summary([[]]) };
  let described: Awaited<ReturnType<typeof handle.describe>>;
  try {
    described = await handle.describe();
  } catch (error) {
    if (error instanceof Error && error.name === 'WorkflowNotFoundError') return none;
    throw error;
  }
  const status = described.status.name;
  // An order whose workflow task fails again and again can't be asked: that is a finding, not the end of the run.
  const raw: unknown =
    status === 'RUNNING'
      ? await handle.query(orderQuery).catch(() => undefined)
      : status === 'COMPLETED'
        ? await handle.result()
        : undefined;
  return {
    status,
    ...(raw !== undefined && { state: stateSchema.parse(raw) }),
    ...(described.closeTime !== undefined && { closedAt: described.closeTime.getTime() }),
    history: summary(await historyOf(client, handle.workflowId)),
  };
}

/** The events of each run of an order, oldest run first: an order that continues as new has several. */
async function historyOf(client: Client, workflowId: string): Promise<HistoryEvent[][]> {
  const runs: HistoryEvent[][] = [];
  let runId: string | undefined;
  do {
    const events = (await client.workflow.getHandle(workflowId, runId).fetchHistory()).events ?? [];
    runs.unshift(events);
    runId = events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || undefined;
  } while (runId !== undefined);
  return runs;
}

/** Gathers everything about every order. */
export async function gatherEvidence(
  { temporal: client, sandbox, departures }: Pick<Deployment, 'temporal' | 'sandbox' | 'departures'>,
  arrivals: readonly Arrival[],
  plans: readonly OrderPlan[],
  diaryOf: (orderId: string) => Diary,
): Promise<OrderEvidence[]> {
  const departureOf = departures();
  const transactions = byOrder(sandbox.control.transactions());
  const ledger = byOrder(sandbox.control.ledger());
  const events = new Map<string, Arrival[]>();
  for (const arrival of arrivals) {
    events.set(arrival.orderId, [...(events.get(arrival.orderId) ?? []), arrival]);
  }
  const portalRuns = await readPortalRuns(client);
  const codes = sandbox.control.customerCodes();
  return inBatches(plans, async (plan) => {
    const mine = transactions.get(plan.orderId) ?? [];
    const ids = new Set(mine.map(({ id }) => id));
    const entries = ledger.get(plan.orderId) ?? [];
    const left = entries.flatMap((entry) => {
      const at = departureOf(entry);
      return at === undefined ? [] : [[entry.sequence, at] as const];
    });
    return {
      plan,
      diary: diaryOf(plan.orderId),
      run: await readRun(client, plan),
      transactions: mine,
      ledger: entries,
      arrivals: events.get(plan.orderId) ?? [],
      portalRuns: portalRuns
        .filter(({ workflowId }) => workflowId.includes(plan.orderId) || ids.has(subjectIn(workflowId)))
        .map(({ workflowId, status }) => ({ kind: workflowId.split(':')[2] ?? '', status })),
      customerCodes: codes.filter(
        ({ customerCode, email }) =>
          customerCode === `code-${plan.orderId}` && email === `pass+${plan.orderId}@example.com`,
      ).length,
      departures: Object.fromEntries(left),
    };
  });
}

/** Calls for each item, a few at a time, and keeps their order. */
export async function inBatches<T, R>(items: readonly T[], call: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += AT_A_TIME) {
    results.push(...(await Promise.all(items.slice(from, from + AT_A_TIME).map(call))));
  }
  return results;
}

async function readPortalRuns(client: Client): Promise<{ workflowId: string; status: string }[]> {
  const runs: { workflowId: string; status: string }[] = [];
  for await (const run of client.workflow.list({ query: "WorkflowType = 'portalAction'" })) {
    runs.push({ workflowId: run.workflowId, status: run.status.name });
  }
  return runs;
}

/** `portal:<integration>:<kind>:<transaction or order>[:<hash>]` */
function subjectIn(workflowId: string): string {
  return workflowId.split(':')[3] ?? '';
}

function byOrder<T extends { invoiceNumber: string | null }>(entries: readonly T[]): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const entry of entries) {
    const orderId = entry.invoiceNumber === null ? undefined : orderOfInvoice(entry.invoiceNumber)?.orderId;
    if (orderId === undefined) continue;
    const known = found.get(orderId);
    if (known === undefined) found.set(orderId, [entry]);
    else known.push(entry);
  }
  return found;
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

function summary(runs: readonly HistoryEvent[][]): HistorySummary {
  const events = runs.flat();
  const failedTasks: Record<string, number> = {};
  let timedOutTasks = 0;
  for (const event of events) {
    const { workflowTaskFailedEventAttributes: failed } = event;
    if (failed) {
      const cause = causeOf(failed);
      failedTasks[cause] = (failedTasks[cause] ?? 0) + 1;
    }
    if (event.workflowTaskTimedOutEventAttributes) timedOutTasks += 1;
  }
  const recordedIn = events.findIndex((event) => event.workflowTaskCompletedEventAttributes);
  const recorded = events[recordedIn];
  return {
    events: events.length,
    failedTasks,
    timedOutTasks,
    eager: events[0]?.workflowExecutionStartedEventAttributes?.eagerExecutionAccepted === true,
    firstTaskLost: events.slice(0, recordedIn).some((event) => event.workflowTaskTimedOutEventAttributes),
    ...(recorded && { recordedAt: timeOf(recorded) }),
    facts: historyFacts(runs),
  };
}
