/** What an order's history says of its tasks, its reads and its portal actions: the facts that a verdict may rest on. */
import type { temporal } from '@temporalio/proto';
import { z } from 'zod';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
type Payloads = temporal.api.common.v1.IPayloads | null | undefined;

/** A stretch of time, milliseconds after the epoch. Whole milliseconds, rounded outwards: the sandbox's ledger has no smaller ones. */
export interface Span {
  from: number;
  to: number;
}

/** A read of the service whose end is in the history. */
export interface RecordedRead extends Span {
  /** What its end says; absent: nothing that could be used. */
  decision?: string;
  /** The moment that its end carries. Counted from the try's schedule, so the wait for a worker is not in it. */
  at?: number;
  began?: number;
  /** The first workflow task that knew of its end. */
  task: number;
  /** The try before the last one was cut off: the server waited in vain for it. */
  triedAgainAfterLoss: boolean;
}

/** An activity that reads the service, under way from its schedule. */
export interface ReadUnderWay {
  /** It may create a transaction, or looks for one. */
  screens: boolean;
  scheduledAt: number;
  /** When its last try began; absent: no end is in the history, so its tries aren't either. */
  lastTryAt?: number;
  /** When its end was recorded; absent: the order ended first, or is still open. */
  endedAt?: number;
  /** The order asked for its end. */
  stoppedAt?: number;
}

/** A portal action's activity. */
export interface PortalTry {
  kind: string;
  transactionId?: string;
  /** The workflow task that asked for it. */
  task: number;
  scheduledAt: number;
  lastTryAt?: number;
  endedAt?: number;
  outcome?: string;
}

export interface HistoryFacts {
  /** Workflow tasks that ended well, in order; the moments of the server. */
  tasks: Span[];
  /** From the start of a task that was lost or failed to the start of the one that took its place. */
  lostTasks: Span[];
  recordedReads: RecordedRead[];
  readsUnderWay: ReadUnderWay[];
  portalTries: PortalTry[];
  /** Gateway results that the order took. */
  gatewayResults: { attempt?: number | undefined; result: string; task: number; at: number }[];
  /** When the order began a timer for what was due already: it was told of the time by nothing else. */
  overdueTimers: number[];
  /** The first task after which the order was canceled or closed. */
  overInTask?: number;
}

/** Activities that ask the service what it decided. */
const READS = new Set([
  'screenAtCheckout',
  'screenRetry',
  'catchUp',
  'lookUp',
  'look',
  'readStatus',
  'readStatusDurably',
  'pollStatus',
]);
const SCREENS = new Set(['screenRetry', 'catchUp', 'lookUp']);
const LOCAL_ACTIVITY = 'core_local_activity';

const outcomeSchema = z.object({ kind: z.string().optional(), decision: z.string().optional() });
const endSchema = outcomeSchema.extend({
  outcome: outcomeSchema.optional(),
  at: z.string().optional(),
  began: z.string().optional(),
});
const markerSchema = z.object({ activity_type: z.string() });
const portalSchema = z.object({
  fields: z.object({ kind: z.string() }),
  transactionId: z.string().optional(),
});
const gatewaySchema = z.object({ attempt: z.number().optional(), result: z.string() });

/** @param runs the events of each run of the order, oldest run first */
export function historyFacts(runs: readonly (readonly HistoryEvent[])[]): HistoryFacts {
  const facts: HistoryFacts = {
    tasks: [],
    lostTasks: [],
    recordedReads: [],
    readsUnderWay: [],
    portalTries: [],
    gatewayResults: [],
    overdueTimers: [],
  };
  for (const events of runs) readRun(events, facts);
  return facts;
}

function readRun(events: readonly HistoryEvent[], facts: HistoryFacts): void {
  const started = new Map<string, HistoryEvent>();
  const reads = new Map<string, ReadUnderWay>();
  const portal = new Map<string, PortalTry>();
  /** Ends that no task knows of yet. */
  let unseen: RecordedRead[] = [];
  let known = 0;
  let taskFrom = 0;
  let lostFrom: number | undefined;
  for (const event of events) {
    const at = timeOf(event);
    if (event.workflowTaskStartedEventAttributes) {
      taskFrom = at;
      known = unseen.length;
    }
    const timedOut = event.workflowTaskTimedOutEventAttributes;
    // A task that nobody took within its time was never begun: nothing was read in it.
    const cutOff = timedOut
      ? Number(timedOut.startedEventId ?? 0) > 0
      : event.workflowTaskFailedEventAttributes;
    if (cutOff) lostFrom ??= taskFrom;
    if (event.workflowTaskCompletedEventAttributes) {
      if (lostFrom !== undefined)
        facts.lostTasks.push({ from: Math.floor(lostFrom), to: Math.ceil(taskFrom) });
      lostFrom = undefined;
      facts.tasks.push({ from: Math.floor(taskFrom), to: Math.ceil(at) });
      // What ended while the task ran is known to the next one only.
      for (const read of unseen.slice(0, known)) read.task = facts.tasks.length - 1;
      unseen = unseen.slice(known);
    }
    const task = facts.tasks.length - 1;
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled) {
      const name = scheduled.activityType?.name ?? '';
      if (READS.has(name)) {
        const read = { screens: SCREENS.has(name), scheduledAt: Math.floor(at) };
        reads.set(String(event.eventId), read);
        facts.readsUnderWay.push(read);
      }
      const asked = name === 'performPortalAction' ? parsed(portalSchema, scheduled.input) : undefined;
      if (asked !== undefined) {
        const { fields, transactionId } = asked;
        const one = {
          kind: fields.kind,
          ...(transactionId && { transactionId }),
          task,
          scheduledAt: Math.floor(at),
        };
        portal.set(String(event.eventId), one);
        facts.portalTries.push(one);
      }
    }
    if (event.activityTaskStartedEventAttributes) {
      const { scheduledEventId } = event.activityTaskStartedEventAttributes;
      started.set(String(scheduledEventId), event);
      const subject = reads.get(String(scheduledEventId)) ?? portal.get(String(scheduledEventId));
      if (subject !== undefined) subject.lastTryAt = Math.floor(at);
    }
    const stopped = event.activityTaskCancelRequestedEventAttributes;
    const stoppedRead = stopped ? reads.get(String(stopped.scheduledEventId)) : undefined;
    if (stoppedRead !== undefined) stoppedRead.stoppedAt = Math.ceil(at);
    const ended = endOf(event);
    if (ended !== undefined) {
      const id = String(ended.scheduledEventId);
      const action = portal.get(id);
      const end = parsed(endSchema, ended.result);
      if (action !== undefined) {
        action.endedAt = Math.ceil(at);
        const outcome = end?.outcome?.kind ?? end?.kind;
        if (outcome !== undefined) action.outcome = outcome;
      }
      const read = reads.get(id);
      if (read !== undefined) {
        read.endedAt = Math.ceil(at);
        const last = started.get(id);
        if (ended.result !== undefined && last !== undefined) {
          const recorded = recordedRead(end, { from: Math.floor(timeOf(last)), to: Math.ceil(at) }, last);
          facts.recordedReads.push(recorded);
          unseen.push(recorded);
        }
      }
    }
    const marker = event.markerRecordedEventAttributes;
    if (
      marker?.markerName === LOCAL_ACTIVITY &&
      READS.has(parsed(markerSchema, marker.details?.data)?.activity_type ?? '')
    ) {
      const end = parsed(endSchema, marker.details?.result);
      const span = facts.tasks[task] ?? { from: taskFrom, to: at };
      // A long task is recorded in pieces: the read may have begun in an earlier one, at the moment that its end names.
      const from = Math.min(span.from, momentOf(end?.began) ?? span.from);
      facts.recordedReads.push({ ...recordedRead(end, { from, to: span.to }), task });
    }
    const timer = event.timerStartedEventAttributes;
    if (timer && spanOf(timer.startToFireTimeout) <= AT_ONCE_MS) facts.overdueTimers.push(Math.floor(at));
    const accepted = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input;
    if (accepted?.name === 'recordGatewayResult') {
      const request = parsed(gatewaySchema, accepted.args);
      if (request !== undefined)
        facts.gatewayResults.push({ ...request, task, at: facts.tasks[task]?.from ?? at });
    }
    const phase =
      event.upsertWorkflowSearchAttributesEventAttributes?.searchAttributes?.indexedFields?.ScreeningPhase;
    const over = phase && parsed(z.enum(['canceled', 'closed']), { payloads: [phase] });
    if (over) facts.overInTask ??= task;
    else if (phase) delete facts.overInTask;
  }
  if (lostFrom !== undefined)
    facts.lostTasks.push({ from: Math.floor(lostFrom), to: Number.POSITIVE_INFINITY });
}

function recordedRead(
  end: z.infer<typeof endSchema> | undefined,
  span: Span,
  lastTry?: HistoryEvent,
): RecordedRead {
  const decision = end?.outcome?.decision ?? end?.decision;
  const at = momentOf(end?.at);
  const began = momentOf(end?.began);
  const lost = lastTry?.activityTaskStartedEventAttributes?.lastFailure?.timeoutFailureInfo;
  return {
    ...span,
    task: Number.POSITIVE_INFINITY,
    triedAgainAfterLoss: lost !== undefined && lost !== null,
    ...(decision !== undefined && { decision }),
    ...(at !== undefined && { at }),
    ...(began !== undefined && { began }),
  };
}

/** The end of an activity; with a result only when it ended well. */
function endOf(event: HistoryEvent): { scheduledEventId: unknown; result?: Payloads } | undefined {
  const done = event.activityTaskCompletedEventAttributes;
  if (done) return { scheduledEventId: done.scheduledEventId, result: done.result };
  const ended =
    event.activityTaskFailedEventAttributes ??
    event.activityTaskTimedOutEventAttributes ??
    event.activityTaskCanceledEventAttributes;
  return ended ? { scheduledEventId: ended.scheduledEventId } : undefined;
}

function momentOf(written: string | undefined): number | undefined {
  return written === undefined ? undefined : Date.parse(written);
}

/** What an order gives a timer for a moment that has passed. */
const AT_ONCE_MS = 1;

function spanOf(duration: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(duration?.seconds ?? 0) * 1_000 + (duration?.nanos ?? 0) / 1e6;
}

/** The moment of an event, by the server, in milliseconds after the epoch with their fractions. */
export function timeOf({ eventTime }: HistoryEvent): number {
  return spanOf(eventTime);
}

/** The first of the payloads, as the schema reads it; a chaos run encrypts nothing. */
function parsed<T>(schema: z.ZodType<T>, payloads: Payloads): T | undefined {
  const data = payloads?.payloads?.[0]?.data;
  if (!data) return undefined;
  try {
    const json: unknown = JSON.parse(Buffer.from(data).toString('utf8'));
    return schema.safeParse(json).data;
  } catch {
    return undefined;
  }
}
