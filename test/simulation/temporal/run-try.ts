/** Runs one try of an activity: the real code, in a context as a worker makes it. */
import { asyncLocalStorage, type Info } from '@temporalio/activity';
import { ApplicationFailure, noopMetricMeter } from '@temporalio/common';
import { defaultActivityInfo } from '@temporalio/testing';
import { type Process, TryContext } from '../network/process.ts';
import type { World } from '../world.ts';
import { PlannedFailure } from './workers.ts';

export type TryEnd<Result> = { result: Result } | { failure: ApplicationFailure };

const silent = (): void => undefined;
const LOG = { log: silent, trace: silent, debug: silent, info: silent, warn: silent, error: silent };
const NEVER = new Promise<never>(() => undefined);
const { signal: NO_SIGNAL } = new AbortController();

/**
 * @param tellNext called with what the try tells the next one
 * @param onEnd called when it ends, unless nobody hears of it
 */
export function runTry<Result>(
  world: World,
  process: Process,
  run: () => Promise<Result>,
  { runId, ...about }: Partial<Info> & { runId: string },
  tellNext: (details: unknown) => void,
  onEnd: (end: TryEnd<Result>) => void,
): void {
  const info = { ...defaultActivityInfo, ...about, workflowExecution: { workflowId: 'order', runId } };
  const { cancellation } = process;
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
}

function failureOf(world: World, error: unknown): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (!(error instanceof PlannedFailure)) {
    world.fault(`an activity threw ${error instanceof Error ? error.stack : String(error)}`);
  }
  return ApplicationFailure.retryable('an unexpected error', 'Error');
}
