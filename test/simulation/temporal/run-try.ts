/** Runs one try of an activity: the real code, in a context as a worker makes it. */
import { asyncLocalStorage, type Info } from '@temporalio/activity';
import { ActivityCancellationDetails, ApplicationFailure, noopMetricMeter } from '@temporalio/common';
import { type Process, TryContext } from '../network/process.ts';
import type { World } from '../world.ts';
import { PlannedFailure } from './workers.ts';

export interface TryInfo {
  /** The run that has the activity now. */
  runId: string;
  /** Counts the tries from 1. */
  attempt: number;
  /** The number of the activity in its run. */
  activityId?: string;
  /** When the server first scheduled the activity; a local one has no schedule. */
  firstScheduledAt?: number;
  scheduledAt: number;
  /** What the try before told this one. */
  told: unknown;
  isLocal: boolean;
}

export type TryEnd<Result> = { result: Result } | { failure: ApplicationFailure };

/** A try that runs: what the server may tell it. */
export interface RunningTry {
  process: Process;
  askToStop(): void;
}

const BASE: Info = {
  attempt: 1,
  taskQueue: '',
  isLocal: false,
  heartbeatDetails: undefined,
  taskToken: new Uint8Array(),
  activityId: '',
  activityType: '',
  workflowType: '',
  base64TaskToken: '',
  activityNamespace: '',
  workflowNamespace: '',
  scheduledTimestampMs: 0,
  startToCloseTimeoutMs: 0,
  scheduleToCloseTimeoutMs: 0,
  currentAttemptScheduledTimestampMs: 0,
  namespace: '',
  inWorkflow: true,
};
const silent = (): void => undefined;
const LOG = { log: silent, trace: silent, debug: silent, info: silent, warn: silent, error: silent };
const NEVER = new Promise<never>(() => undefined);
const { signal: NO_SIGNAL } = new AbortController();
const STOP = new ActivityCancellationDetails({ cancelRequested: true });

/**
 * @param tellNext called with what the try tells the next one
 * @param onEnd called when it ends, unless nobody hears of it
 */
export function runTry<Result>(
  world: World,
  process: Process,
  run: () => Promise<Result>,
  { runId, activityId = '', attempt, firstScheduledAt = 0, scheduledAt, told, isLocal }: TryInfo,
  tellNext: (details: unknown) => void,
  onEnd: (end: TryEnd<Result>) => void,
): RunningTry {
  const info: Info = {
    ...BASE,
    activityId,
    attempt,
    isLocal,
    heartbeatDetails: told,
    workflowExecution: { workflowId: 'order', runId },
    scheduledTimestampMs: firstScheduledAt,
    currentAttemptScheduledTimestampMs: scheduledAt,
  };
  const cancellation: { details?: ActivityCancellationDetails } = {};
  const context = new TryContext(
    info,
    NEVER,
    NO_SIGNAL,
    tellNext,
    undefined,
    LOG,
    noopMetricMeter,
    cancellation,
  );
  context.process = process;
  const ended = (end: TryEnd<Result>): void => {
    if (!process.heard) return;
    if (process.now <= world.agenda.now) onEnd(end);
    else world.agenda.at(process.now, () => process.heard && onEnd(end));
  };
  process.run(() => {
    asyncLocalStorage.run(context, run).then(
      (result) => ended({ result }),
      (error: unknown) => ended({ failure: failureOf(world, error) }),
    );
  });
  return {
    process,
    askToStop: () => {
      cancellation.details = STOP;
    },
  };
}

function failureOf(world: World, error: unknown): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (!(error instanceof PlannedFailure)) {
    world.fault(`an activity threw ${error instanceof Error ? error.stack : String(error)}`);
  }
  return ApplicationFailure.retryable('an unexpected error', 'Error');
}
