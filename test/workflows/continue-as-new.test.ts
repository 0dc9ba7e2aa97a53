import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { updateOf } from '../../src/client/messages/send-update.ts';
import type { PortalOutcome } from '../../src/contract/activity-contract.ts';
import {
  cancelUpdate,
  recheckSignal,
  recordGatewayResultUpdate,
  reportFraudUpdate,
  retryUpdate,
  submitChargebackUpdate,
} from '../../src/contract/messages.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { eventually } from '../support/index.ts';
import { answered, aPolicy, withOrders } from './support.ts';

// On the dev server: the one that skips time resets nothing, and brings no update to a run that continues another.
const { order, environment } = withOrders({
  workflowModules: [fileURLToPath(import.meta.resolve('./long-history.ts'))],
  known: 10,
});

const TASK = /^workflowTask(Scheduled|Started|Completed)EventAttributes$/;
/** A pending read waits for the spacing, which has doubled a few times. */
const SPACED_READ_WITHIN_MS = 40_000;

describe('an order whose history grows long', () => {
  it('continues as new, keeps its answers and what it knows, and lives on', async () => {
    const {
      answer,
      handle,
      world,
      state: now,
      update,
    } = await order((world) => {
      world.policy = aPolicy({ workflow: 'pre-gateway', events: 'all' });
      world.screenings = [answered('fail'), answered('review', { transactionId: 'second' })];
      world.status = { kind: 'read', decision: 'review' };
    });
    const retry = { attempt: 2, transaction: { ...aTransaction() } };
    const second = await update(retryUpdate, retry);
    const gateway = { attempt: 2, result: 'pass' } as const;
    const told = await update(recordGatewayResultUpdate, gateway);
    const reported = await update(reportFraudUpdate, {});

    const { runId } = await handle.describe();
    const latest = environment().client.workflow.getHandle(handle.workflowId);
    await untilContinued(latest);
    const described = await latest.describe();
    expect(described.runId).not.toBe(runId);
    expect(described.status.name).toBe('RUNNING');
    expect(described.historyLength).toBeLessThan(90);

    const input = await inputOf(latest);
    expect(input).toMatchObject({ transaction: {}, resume: { asked: { transaction: retry.transaction } } });
    expect(JSON.stringify(input).split(JSON.stringify(retry.transaction))).toHaveLength(2);

    const state = await now();
    expect(state).toMatchObject({ phase: 'review', decision: 'review', action: 'hold' });
    expect(state.attempts.map((attempt) => attempt.answer)).toEqual([answer, second]);
    expect(
      await latest.executeUpdate(recordGatewayResultUpdate, updateOf(recordGatewayResultUpdate, gateway)),
    ).toEqual(told);
    expect(state.actions).toMatchObject([{ kind: 'report-fraud', status: 'done', finishedAt: reported.at }]);
    expect(world.screened).toHaveLength(2);
    expect(world.portalCalls).toHaveLength(1);

    const before = world.reads;
    world.status = { kind: 'read', decision: 'pass' };
    await latest.signal(recheckSignal);
    const decided = { phase: 'decided', action: 'proceed' };
    const within = { timeoutMs: SPACED_READ_WITHIN_MS };
    await eventually(async () => expect(await now()).toMatchObject(decided), within);
    expect(world.reads).toBeGreaterThan(before);
    const events = ['order.decided', 'order.decided', 'order.decision_changed', 'order.review_resolved'];
    await eventually(() => expect(world.eventTypes()).toEqual(events));
  });

  it('knows of a reset that what it was asked since may have been done', async () => {
    const { handle, world } = await order();
    const latest = environment().client.workflow.getHandle(handle.workflowId);
    await untilContinued(latest);
    const chargeback = { reason_code: '10.4', due_date: '2030-01-01' };
    await latest.executeUpdate(submitChargebackUpdate, updateOf(submitChargebackUpdate, chargeback));
    await resetToItsBeginning(environment(), handle.workflowId);
    await eventually(() => expect(world.portalRuns.map(({ wasReset }) => wasReset)).toEqual([false, true]));
    await environment().client.workflow.getHandle(handle.workflowId).terminate();
  });
});

it('an adopted order that is reset is not ended by a read that fails: its task is run again', async () => {
  const adopt = { transactionId: randomUUID(), screenedAt: new Date().toISOString() };
  const adopted = answered('review', { transactionId: adopt.transactionId });
  const { handle, world } = await order(
    (one) => (one.screenings = [adopted]),
    () => ({ adopt }),
  );
  world.screenAtCheckout = async () => {
    world.screenAtCheckout = async () => adopted;
    throw new Error('no answer');
  };
  await resetToItsBeginning(environment(), handle.workflowId);
  const latest = environment().client.workflow.getHandle(handle.workflowId);
  await eventually(() => taskHasEnded(latest));
  expect(world.screened).toHaveLength(3);
  await latest.terminate();
});

describe('an order that can’t continue as new while a cancel runs', () => {
  it('refuses repeats of the cancel, and takes everything else', async () => {
    let answer: (outcome: PortalOutcome) => void = () => undefined;
    const hangs = new Promise<PortalOutcome>((resolve) => (answer = resolve));
    const { handle, update, until } = await order((world) => {
      const { portal } = world;
      world.portal = (request, run) => (request.fields.kind === 'cancel' ? hangs : portal(request, run));
    });
    const cancel = () => update(cancelUpdate, {});
    const first = cancel();
    await until(({ actions }) => actions[0]?.status === 'running');
    await eventually(
      async () => {
        await handle.signal(recheckSignal);
        await expect(cancel()).rejects.toMatchObject({ cause: { type: 'busy' } });
      },
      { timeoutMs: SPACED_READ_WITHIN_MS },
    );
    await update(reportFraudUpdate, {});
    answer({ kind: 'done', code: '200', message: 'canceled' });
    await until(({ actions }) => actions[0]?.status === 'done');
    expect(await first).toMatchObject({ number: 1 });
  });
});

/** Rechecks make the history long. No call waits for their reads: the spacing between reads doubles. */
async function untilContinued(latest: WorkflowHandle): Promise<void> {
  const { runId } = await latest.describe();
  while ((await latest.describe()).runId === runId) {
    await latest.signal(recheckSignal);
    // A signal that comes before the task's end keeps the order from continuing.
    await eventually(() => taskHasEnded(latest));
  }
}

async function resetToItsBeginning({ client }: TestWorkflowEnvironment, workflowId: string): Promise<void> {
  const handle = client.workflow.getHandle(workflowId);
  const { runId } = await handle.describe();
  const { events } = await handle.fetchHistory();
  const first = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId, runId },
    workflowTaskFinishEventId: first?.eventId ?? null,
    reason: 'reset by the test',
    requestId: randomUUID(),
  });
}

async function inputOf(handle: Pick<WorkflowHandle, 'fetchHistory'>): Promise<unknown> {
  const [started] = (await handle.fetchHistory()).events ?? [];
  const payload = started?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
  return payload && defaultPayloadConverter.fromPayload(payload);
}

async function taskHasEnded(handle: Pick<WorkflowHandle, 'fetchHistory'>): Promise<boolean> {
  const { events } = await handle.fetchHistory();
  const attributes = (events ?? []).flatMap((event) => Object.keys(event));
  return attributes.findLast((name) => TASK.test(name)) === 'workflowTaskCompletedEventAttributes';
}
