/** The open orders as Temporal knows them from outside. */
import type { Client } from '@temporalio/client';
import { PayloadCodecError } from '../codec/index.ts';
import { SCREEN_ORDER } from '../orders/messages.ts';
import { OVERDUE_AFTER_MS, SWEEP_SCHEDULE_ID, type SweepFinding, type SweepResult } from '../orders/sweep.ts';
import { instant, PHASES, type Phase } from '../orders/words.ts';

/** A sweep's result, with what the receiver of events didn't take: the next sweep tells it again. */
export interface Swept extends SweepResult {
  untold?: SweepFinding[];
}

export interface OrderDirectory {
  /** Open orders, a page at a time, from the newest on. */
  open(pageSize: number, cursor?: string): Promise<{ workflowIds: string[]; cursor?: string }>;
  /** Open orders that should have closed when their cancel window did. */
  overdue(limit: number): Promise<string[]>;
  /** How many orders are open, by phase. */
  countByPhase(): Promise<Map<Phase, number>>;
  /** How many open orders need a person. */
  countAttention(): Promise<number>;
  /** How the newest ended sweep ended; undefined too when its key is gone, so that sweeping never stops for that. */
  lastSweep(): Promise<Swept | undefined>;
  /** How often the order's current workflow task was begun; 0 when none is pending. */
  taskTries(workflowId: string): Promise<number>;
}

const OPEN = `WorkflowType = '${SCREEN_ORDER}' AND ExecutionStatus = 'Running'`;

/** @returns the directory of the client's namespace */
export function createOrderDirectory(client: Client): OrderDirectory {
  const { namespace } = client.options;
  const list = async (query: string, pageSize: number, cursor?: string) => {
    const answer = await client.workflowService.listWorkflowExecutions({
      namespace,
      query,
      pageSize,
      ...(cursor !== undefined && { nextPageToken: Buffer.from(cursor, 'base64') }),
    });
    const workflowIds = (answer.executions ?? []).flatMap(({ execution }) => execution?.workflowId ?? []);
    const next = Buffer.from(answer.nextPageToken ?? []).toString('base64');
    return { workflowIds, ...(next !== '' && { cursor: next }) };
  };
  const count = async (query: string): Promise<number> =>
    Number((await client.workflowService.countWorkflowExecutions({ namespace, query })).count);
  return {
    open: (pageSize, cursor) => list(OPEN, pageSize, cursor),
    overdue: async (limit) => {
      const before = instant(Date.now() - OVERDUE_AFTER_MS);
      const phases = `ScreeningPhase IN ('decided', 'awaiting-gateway', 'declined')`;
      const late = `${OPEN} AND CancelBy < '${before}' AND ScreeningDecision != 'review' AND ${phases}`;
      return (await list(late, limit)).workflowIds;
    },
    countByPhase: async () => {
      const phases = PHASES.filter((phase) => phase !== 'closed');
      const counts = await Promise.all(
        phases.map((phase) => count(`${OPEN} AND ScreeningPhase = '${phase}'`)),
      );
      return new Map(phases.map((phase, index) => [phase, counts[index] ?? 0]));
    },
    countAttention: () => count(`${OPEN} AND NeedsAttention = true`),
    // The schedule knows at once what it began; the list of workflows shows it later than the next sweep may begin.
    lastSweep: async () => {
      const { info } = await client.schedule.getHandle(SWEEP_SCHEDULE_ID).describe();
      for (const { action } of info.recentActions.toReversed()) {
        const { workflowId, firstExecutionRunId } = action.workflow;
        const sweep = client.workflow.getHandle<() => Promise<Swept>>(workflowId, firstExecutionRunId);
        if ((await sweep.describe()).status.name !== 'COMPLETED') continue;
        return sweep.result().catch((error: unknown) => {
          if (error instanceof PayloadCodecError) return undefined;
          throw error;
        });
      }
      return undefined;
    },
    taskTries: async (workflowId) => {
      const { pendingWorkflowTask } = await client.workflowService.describeWorkflowExecution({
        namespace,
        execution: { workflowId },
      });
      return pendingWorkflowTask?.attempt ?? 0;
    },
  };
}
