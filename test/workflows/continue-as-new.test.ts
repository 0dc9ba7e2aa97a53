import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { gatewayResultAnswer } from '../../src/orders/gateway.ts';
import {
  orderQuery,
  recheckSignal,
  recordGatewayResultUpdate,
  reportFraudUpdate,
  retryUpdate,
} from '../../src/orders/messages.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { eventually } from '../support/index.ts';
import { answered, aPolicy, withOrders } from './support.ts';

const { order, environment } = withOrders({
  workflowModules: [fileURLToPath(import.meta.resolve('./long-history.ts'))],
});

describe('an order whose history grows long', () => {
  it('continues as new, keeps its answers and what it knows, and lives on', async () => {
    const { answer, handle, world } = await order((world) => {
      world.policy = aPolicy({ workflow: 'pre-gateway' });
      world.screenings = [answered('fail'), answered('review', { transactionId: 'second' })];
      world.status = { kind: 'read', decision: 'review' };
    });
    const retry = { attempt: 2, transaction: { ...aTransaction() } };
    const second = await handle.executeUpdate(retryUpdate, { args: [retry] });
    const gateway = { attempt: 2, result: 'pass' } as const;
    const told = await handle.executeUpdate(recordGatewayResultUpdate, { args: [gateway] });
    const reported = await handle.executeUpdate(reportFraudUpdate, { args: [{}] });

    const { runId } = await handle.describe();
    const latest = environment().client.workflow.getHandle(handle.workflowId);
    while ((await latest.describe()).runId === runId) {
      const { reads } = world;
      // The test server ends one run before it begins the next: between them it knows no running order.
      await eventually(() => latest.signal(recheckSignal));
      await eventually(() => world.reads > reads);
      // A signal that comes before the task's end keeps the order from continuing.
      await eventually(() => taskHasEnded(latest));
    }
    const now = await latest.describe();
    expect(now.runId).not.toBe(runId);
    expect(now.status.name).toBe('RUNNING');
    expect(now.historyLength).toBeLessThan(90);

    // The test server brings no update to a run that continues another, nor skips time: so its state is compared.
    const state = await latest.query(orderQuery);
    expect(state).toMatchObject({ phase: 'review', decision: 'review', action: 'hold' });
    expect(state.attempts.map((attempt) => attempt.answer)).toEqual([answer, second]);
    expect(gatewayResultAnswer(state, gateway)).toEqual(told);
    expect(state.actions).toMatchObject([{ kind: 'report-fraud', status: 'done', finishedAt: reported.at }]);
    expect(world.screened).toHaveLength(2);
    expect(world.portalCalls).toHaveLength(1);

    const before = world.reads;
    world.status = { kind: 'read', decision: 'pass' };
    await latest.signal(recheckSignal);
    await eventually(async () =>
      expect(await latest.query(orderQuery)).toMatchObject({ phase: 'decided', action: 'proceed' }),
    );
    expect(world.reads).toBeGreaterThan(before);
    await eventually(() =>
      expect(world.eventTypes()).toEqual(['order.decided', 'order.decided', 'order.review_resolved']),
    );
  });
});

async function taskHasEnded(handle: Pick<WorkflowHandle, 'fetchHistory'>): Promise<boolean> {
  const events = (await handle.fetchHistory()).events ?? [];
  const ofTasks = events.filter(
    (event) =>
      event.workflowTaskScheduledEventAttributes ||
      event.workflowTaskStartedEventAttributes ||
      event.workflowTaskCompletedEventAttributes,
  );
  return Boolean(ofTasks.at(-1)?.workflowTaskCompletedEventAttributes);
}
