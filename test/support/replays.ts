/** Replays histories, with the workflow code of today unless told otherwise: one that doesn't replay is an order that will stop. */
import { randomUUID } from 'node:crypto';
import { type Client, isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { Worker, type WorkflowBundleOption } from '@temporalio/worker';
import { grpcCode } from '../../src/client/temporal-errors.ts';
import { workflowBundle } from '../../src/platform/workflow-bundle.ts';

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;

export interface OneHistory {
  workflowId: string;
  history: History;
}

export interface Replays {
  /** What Temporal says of each history that does not replay, by workflow id. */
  faults: Map<string, string>;
  whole: number;
  /** How many were replayed that end with the start of a workflow task. */
  cut: number;
}

/**
 * Replays each history in one piece, and cut at the start of each of its workflow tasks, as a worker gets it that has never seen
 * the order. That last task is lived, not replayed; the tasks before it must make the commands that are recorded. None is cut at a
 * task that ran a local activity, because nobody is there to run it.
 *
 * @param options.code other workflow code than that of today
 * @param options.workflowModules paths of workflow interceptors that the histories were made with
 * @param options.dataConverter that of the workers that made them
 */
export async function replay(
  histories: AsyncIterable<OneHistory>,
  options: { code?: WorkflowBundleOption; workflowModules?: string[]; dataConverter?: DataConverter } = {},
): Promise<Replays> {
  const { workflowModules = [], dataConverter } = options;
  const code = options.code ?? (await workflowBundle({ workflowInterceptorModules: workflowModules }));
  const found: Replays = { faults: new Map(), whole: 0, cut: 0 };
  /** After which event each was cut, by the id of its run. */
  const cutAt = new Map<string, number>();
  async function* pieces(): AsyncIterable<OneHistory> {
    for await (const { workflowId, history } of histories) {
      const events = history.events ?? [];
      yield { workflowId, history };
      for (const last of startsWithoutLocalActivity(events)) {
        const { runId, history: cut } = asRunOfItsOwn(events.slice(0, last + 1));
        cutAt.set(runId, last + 1);
        yield { workflowId, history: cut };
      }
    }
  }
  const worker = { workflowBundle: code, ...(dataConverter !== undefined && { dataConverter }) };
  const replays = Worker.runReplayHistories(worker, pieces());
  for await (const { workflowId, runId, error } of replays) {
    const at = cutAt.get(runId);
    if (at === undefined) found.whole += 1;
    else found.cut += 1;
    if (error === undefined) continue;
    const piece = at === undefined ? 'whole' : `cut after event ${at}`;
    found.faults.set(workflowId, `${piece}: ${error.message.slice(0, 600)}`);
  }
  return found;
}

/** The worker keeps what it replayed by the run's id. The workflow's id stays, since the order looks at it. */
function asRunOfItsOwn([first, ...others]: NonNullable<History['events']>) {
  if (first === undefined) throw new TypeError('a history begins with an event');
  const runId = randomUUID();
  const started = { ...first.workflowExecutionStartedEventAttributes, originalExecutionRunId: runId };
  const own = { ...first, workflowExecutionStartedEventAttributes: started };
  return { runId, history: { events: [own, ...others] } };
}

/** Where the workflow tasks begin that ran no local activity. */
function startsWithoutLocalActivity(events: NonNullable<History['events']>): number[] {
  const starts = events.flatMap((event, index) => (event.workflowTaskStartedEventAttributes ? [index] : []));
  return starts.filter((start, nth) => {
    const own = events.slice(start, starts[nth + 1]);
    return !own.some((event) => event.markerRecordedEventAttributes?.markerName === 'core_local_activity');
  });
}

/** The history of each workflow that there is, of its last run. */
export async function* historiesOf(
  client: Client,
  workflowIds: readonly string[],
): AsyncIterable<OneHistory> {
  for (const workflowId of workflowIds) {
    try {
      yield { workflowId, history: await client.workflow.getHandle(workflowId).fetchHistory() };
    } catch (error) {
      // The time-skipping server's own error comes as it is.
      const gone = isGrpcServiceError(error) && error.code === grpcCode.notFound;
      if (!gone && !(error instanceof WorkflowNotFoundError)) throw error;
    }
  }
}

/**
 * The history of each run of our workflows. A run that an operator's reset made is none of them: the SDK replays it under the id of
 * the run before, and the order would not know that it was reset.
 */
export async function* everyHistory(
  client: Client,
  { except = () => false }: { except?: (workflowId: string) => boolean } = {},
): AsyncIterable<OneHistory> {
  const ours = "WorkflowType IN ('screenOrder', 'portalAction', 'redeliverEvent', 'sweepOrders')";
  for await (const { workflowId, runId } of listed(client, ours)) {
    if (except(workflowId)) continue;
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
    if (started?.originalExecutionRunId === runId) yield { workflowId, history };
  }
}

/** The SDK's own list decodes memos, and some tests have several keys. */
export async function* listed(
  client: Client,
  query: string,
): AsyncIterable<{ workflowId: string; runId: string }> {
  const { namespace } = client.options;
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const page = await client.workflowService.listWorkflowExecutions({ namespace, query, nextPageToken });
    for (const { execution } of page.executions) {
      yield { workflowId: execution?.workflowId ?? '', runId: execution?.runId ?? '' };
    }
    ({ nextPageToken } = page);
  } while (nextPageToken.length > 0);
}
