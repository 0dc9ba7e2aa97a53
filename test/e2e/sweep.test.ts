import { ScheduleOverlapPolicy } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SWEEP_SCHEDULE_ID } from '../../src/orders/activity-contract.ts';
import { TASK_QUEUE } from '../../src/orders/ids.ts';
import { scheduleSweep } from '../../src/temporal/namespace.ts';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { anOrderId, type Deployment, deploy } from './support.ts';

const poisoned = [anOrderId(), anOrderId()] as const;
const server = withTestServer({ except: (workflowId) => poisoned.some((id) => workflowId.endsWith(id)) });
let all: Deployment;

beforeAll(async () => {
  await beginAnew();
  all = await deploy(server.address, { default: {} });
});
afterAll(() => all?.stop());

const screen = (orderId: string, email: string) =>
  all.call('POST', `/v1/orders/${orderId}/screening`, { transaction: withEmail(email) });

const sweepSchedule = () => server.client.schedule.getHandle(SWEEP_SCHEDULE_ID);

/** The sweeps that are under way, with what holds them up. */
async function sweepsUnderWay() {
  const { runningActions } = (await sweepSchedule().describe()).info;
  const described = runningActions.map(async ({ workflow: { workflowId, firstExecutionRunId } }) => {
    const { raw } = await server.client.workflow.getHandle(workflowId, firstExecutionRunId).describe();
    const { pendingActivities, pendingWorkflowTask } = raw;
    return { workflowId, pendingActivities, pendingWorkflowTask };
  });
  return Promise.all(described);
}

/** A new schedule: each sweep of one is given the last one's result, and the file before may have sealed that with keys of its own. */
async function beginAnew(): Promise<void> {
  const isThere = await sweepSchedule()
    .describe()
    .catch(() => undefined);
  if (isThere !== undefined) {
    for (const { workflowId } of await sweepsUnderWay()) {
      await server.client.workflow
        .getHandle(workflowId)
        .terminate('of another file')
        .catch(() => undefined);
    }
    await sweepSchedule().delete();
  }
  // A schedule that is still being deleted is taken for one that is there.
  await eventually(async () => {
    await scheduleSweep(server.connection, server.namespace);
    await sweepSchedule().describe();
  });
}

const IN_A_ROW = 3;

/** What no worker can read. */
const unreadable = {
  payloads: [{ metadata: { encoding: Buffer.from('no/such-encoding') }, data: Buffer.from('?') }],
};

/** Starts an order with an argument that no worker can read. */
async function startPoisoned(orderId: string): Promise<void> {
  await server.client.workflowService.startWorkflowExecution({
    namespace: server.namespace,
    workflowId: `order:default:${orderId}`,
    workflowType: { name: 'screenOrder' },
    taskQueue: { name: TASK_QUEUE },
    requestId: orderId,
    input: unreadable,
  });
}

/** Gives an order in review a history that no worker can go through. */
async function poison(orderId: string): Promise<void> {
  await screen(orderId, 'review@example.com');
  await server.client.workflowService.signalWorkflowExecution({
    namespace: server.namespace,
    workflowExecution: { workflowId: `order:default:${orderId}` },
    signalName: 'reviewHint',
    input: unreadable,
  });
}

it('poisoned orders hurt nobody else, and the sweep tells ops of each once', async () => {
  const inReview = anOrderId();
  await screen(inReview, 'review@example.com');
  await startPoisoned(poisoned[0]);
  await poison(poisoned[1]);
  const healthy = anOrderId();
  const answer = await screen(healthy, 'pass@example.com');
  expect(answer).toMatchObject({ status: 200, body: { decision: 'pass' } });
  all.sandbox.control.decide(inReview, 'pass');
  await all.until(inReview, ({ phase, decision }) => phase === 'decided' && decision === 'pass');

  const sweep = sweepSchedule();
  // Sweeps that overlap tell the same thing under the same id, and a trigger overlaps unless told otherwise.
  const triggerNext = () => sweep.trigger(ScheduleOverlapPolicy.BUFFER_ONE);
  const found = (orderId: string) =>
    all.events.filter((event) => event.orderId === orderId && event.type === 'order.attention');
  await eventually(
    async () => {
      await triggerNext();
      const holdsUp = JSON.stringify(await sweepsUnderWay());
      for (const orderId of poisoned)
        expect(found(orderId), holdsUp).toMatchObject([{ sequence: 0, integration: 'default' }]);
    },
    { timeoutMs: 100_000, intervalMs: 1_000 },
  );
  const sweeps = async () => (await sweep.describe()).info.numActionsTaken;
  // One right after the other, faster than the list of workflows shows that the last one ended.
  const before = await sweeps();
  await eventually(
    async () => {
      await triggerNext();
      expect(await sweeps()).toBeGreaterThanOrEqual(before + IN_A_ROW);
    },
    { timeoutMs: 60_000, intervalMs: 10 },
  );
  for (const orderId of poisoned) {
    expect(found(orderId)).toHaveLength(1);
    await server.client.workflow.getHandle(`order:default:${orderId}`).terminate('poisoned by the test');
  }
}, 180_000);
