/** Replays histories with the workflow code of today: one that doesn't replay is an order that will stop. */
import { randomUUID } from 'node:crypto';
import { type Client, isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { workflowBundle } from '../../src/workflow-bundle.ts';

/** The status of gRPC. */
const NOT_FOUND = 5;

/**
 * @param workflowModules paths of workflow interceptors that the histories were made with
 * @returns what Temporal says of each history that does not replay, by workflow id
 */
export async function faultsOfReplays(
  client: Client,
  workflowIds: readonly string[],
  workflowModules: string[] = [],
): Promise<Map<string, string>> {
  const faults = new Map<string, string>();
  const histories: { workflowId: string; history: History }[] = [];
  for await (const one of historiesOf(client, workflowIds)) histories.push(one);
  const options = { workflowBundle: await workflowBundle({ workflowInterceptorModules: workflowModules }) };
  for await (const one of Worker.runReplayHistories(options, histories)) {
    if (one.error !== undefined) faults.set(one.workflowId, one.error.message.slice(0, 600));
  }
  return faults;
}

/** Cuts at each workflow task. */
export function everyTask(_workflowId: string, tasks: number): number[] {
  return Array.from({ length: tasks }, (_, nth) => nth + 1);
}

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;

/**
 * Replays histories that are cut: each ends with the start of a workflow task, as a worker gets it that has never seen the order. That
 * last task is lived, not replayed; the tasks before it must make the commands that are recorded. None is cut at a task that ran a
 * local activity, because nobody is there to run it.
 *
 * @param chosen which of a history's workflow tasks to cut at, of so many; from 1
 * @returns how many were replayed, and what Temporal says of those that don't, by workflow id
 */
export async function faultsOfCutReplays(
  histories:
    | AsyncIterable<{ workflowId: string; history: History }>
    | Iterable<{ workflowId: string; history: History }>,
  chosen: (workflowId: string, tasks: number) => Iterable<number>,
  workflowModules: string[] = [],
): Promise<{ replayed: number; faults: Map<string, string> }> {
  const faults = new Map<string, string>();
  const cutAt = new Map<string, number>();
  let replayed = 0;
  async function* cut() {
    for await (const { workflowId, history } of histories) {
      const events = history.events ?? [];
      const starts = startsWithoutLocalActivity(events);
      for (const task of chosen(workflowId, starts.length)) {
        const last = starts[task - 1];
        const [first, ...others] = events;
        if (last === undefined || first === undefined) continue;
        // A run of its own each: the worker keeps what it replayed by the run's id. The workflow's id stays, since the order looks at it.
        const originalExecutionRunId = randomUUID();
        cutAt.set(originalExecutionRunId, last + 1);
        const { workflowExecutionStartedEventAttributes: started } = first;
        const own = {
          ...first,
          workflowExecutionStartedEventAttributes: { ...started, originalExecutionRunId },
        };
        yield { workflowId, history: { events: [own, ...others.slice(0, last)] } };
      }
    }
  }
  const options = { workflowBundle: await workflowBundle({ workflowInterceptorModules: workflowModules }) };
  for await (const { workflowId, runId, error } of Worker.runReplayHistories(options, cut())) {
    replayed += 1;
    if (error !== undefined) {
      faults.set(workflowId, `cut after event ${cutAt.get(runId)}: ${error.message.slice(0, 600)}`);
    }
  }
  return { replayed, faults };
}

/** Where the workflow tasks begin that ran no local activity. */
function startsWithoutLocalActivity(events: NonNullable<History['events']>): number[] {
  const starts = events.flatMap((event, index) => (event.workflowTaskStartedEventAttributes ? [index] : []));
  return starts.filter((start, nth) => {
    const own = events.slice(start, starts[nth + 1]);
    return !own.some((event) => event.markerRecordedEventAttributes?.markerName === 'core_local_activity');
  });
}

/** The history of each workflow that there is. */
export async function* historiesOf(client: Client, workflowIds: readonly string[]) {
  for (const workflowId of workflowIds) {
    try {
      yield { workflowId, history: await client.workflow.getHandle(workflowId).fetchHistory() };
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

/** The time-skipping server's own error comes as it is. */
function isNotFound(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError || (isGrpcServiceError(error) && error.code === NOT_FOUND);
}
