import { afterAll, beforeAll, expect, it } from 'vitest';
import { TASK_QUEUE } from '../../src/orders/ids.ts';
import { SWEEP_SCHEDULE_ID } from '../../src/orders/sweep.ts';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { anOrderId, type Deployment, deploy } from './support.ts';

const server = withTestServer();
let all: Deployment;

beforeAll(async () => {
  all = await deploy(server.address, { default: {} });
});
afterAll(() => all?.stop());

/** Starts an order with an argument that no worker can read. */
async function startPoisoned(orderId: string): Promise<void> {
  await server.client.workflowService.startWorkflowExecution({
    namespace: server.namespace,
    workflowId: `order:default:${orderId}`,
    workflowType: { name: 'screenOrder' },
    taskQueue: { name: TASK_QUEUE },
    requestId: orderId,
    input: {
      payloads: [{ metadata: { encoding: Buffer.from('no/such-encoding') }, data: Buffer.from('?') }],
    },
  });
}

it('a poisoned order hurts nobody else, and the sweep tells ops of it once', async () => {
  const poisoned = anOrderId();
  await startPoisoned(poisoned);
  const healthy = anOrderId();
  const answer = await all.call('POST', `/v1/orders/${healthy}/screening`, {
    transaction: withEmail('pass@example.com'),
  });
  expect(answer).toMatchObject({ status: 200, body: { decision: 'pass' } });

  const sweep = server.client.schedule.getHandle(SWEEP_SCHEDULE_ID);
  const found = () => all.events.filter((event) => event.orderId === poisoned);
  await eventually(
    async () => {
      await sweep.trigger();
      expect(found()).toMatchObject([{ type: 'order.attention', sequence: 0, integration: 'default' }]);
    },
    { timeoutMs: 100_000, intervalMs: 1_000 },
  );
  const sweeps = async () => (await sweep.describe()).info.numActionsTaken;
  const before = await sweeps();
  await eventually(async () => {
    await sweep.trigger();
    expect(await sweeps()).toBeGreaterThan(before);
  });
  expect(found()).toHaveLength(1);
  await server.client.workflow.getHandle(`order:default:${poisoned}`).terminate('poisoned by the test');
}, 120_000);
