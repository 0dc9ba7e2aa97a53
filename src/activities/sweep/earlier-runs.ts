/** Queries about the ended runs of a workflow id, for a run that may repeat them. */
import type { Client } from '@temporalio/client';
import { listWorkflows, pagesOf } from '../../client/lists/visibility.ts';
import { type Run, startedBefore } from '../../client/reading/describe-order.ts';
import { toOrderError, within } from '../../client/temporal-errors.ts';
import { hasCode, OrderScreeningError } from '../../contract/errors.ts';
import type { OrderState } from '../../contract/order/state.ts';
import { LOST_STATUSES } from '../../contract/sweep.ts';
import { quoted } from '../../order/view/search-attributes.ts';

/** A checkout's local activity waits for it, though no customer does. */
const ENDED_WITHIN_MS = 2_000;

const FAILURE_WITHIN_MS = 5_000;

const UNFINISHED = LOST_STATUSES.map((status) => `'${status}'`).join(', ');

export function earlierRuns(client: Client) {
  const completedRun = async (workflowId: string): Promise<string | undefined> => {
    const query = `WorkflowId = ${quoted(workflowId)} AND ExecutionStatus = 'Completed'`;
    const page = await listWorkflows(client, query, 1);
    return page.executions[0]?.execution?.runId ?? undefined;
  };
  const resultOf = (workflowId: string, runId: string): Promise<OrderState> =>
    client.workflow.getHandle<() => Promise<OrderState>>(workflowId, runId).result();
  const failureOf = (workflowId: string, runId: string): Promise<unknown> =>
    within(client, Date.now() + FAILURE_WITHIN_MS, () =>
      client.workflow.getHandle(workflowId, runId).result(),
    ).then(() => undefined, toOrderError);
  /** @throws if the run's end can't be read */
  const isCertain = async (workflowId: string, runId: string): Promise<boolean> => {
    const failure = await failureOf(workflowId, runId);
    if (hasCode(failure, 'temporal-unavailable', 'record-unreadable')) throw failure;
    return failure instanceof OrderScreeningError && failure.code !== 'outcome-unknown';
  };
  return {
    /** Returns the result of an earlier run of the order; `lost`: there was one, but none has a result, for example because it was terminated. */
    ended: (run: Pick<Run, 'workflowId' | 'runId'>): Promise<OrderState | 'lost' | undefined> =>
      within(client, Date.now() + ENDED_WITHIN_MS, async () => {
        const { workflowId } = run;
        const completed = await completedRun(workflowId);
        if (completed !== undefined) return resultOf(workflowId, completed);
        const earlier = await startedBefore({ client }, run);
        return earlier?.status === 'completed' ? resultOf(workflowId, earlier.runId) : earlier && 'lost';
      }),
    /** Returns whether a run with this workflow id has ended by itself, without a failure. */
    isDone: async (workflowId: string) => (await completedRun(workflowId)) !== undefined,
    /** Returns whether a run with this workflow id ended, by a person or by itself, so that its portal action may have been done. */
    isInDoubt: async (workflowId: string): Promise<boolean> => {
      const query = `WorkflowId = ${quoted(workflowId)} AND ExecutionStatus IN (${UNFINISHED})`;
      for await (const executions of pagesOf(client, query, RUNS)) {
        for (const { execution } of executions) {
          if (!(await isCertain(workflowId, execution?.runId ?? ''))) return true;
        }
      }
      return false;
    },
  };
}

/** Runs per page. More are not expected. */
const RUNS = 100;
