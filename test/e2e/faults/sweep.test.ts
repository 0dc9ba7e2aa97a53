/** The sweep finds orders that can't report their own trouble. */
import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { lostOrders } from '../../../src/activities/index.ts';
import { checkLostOrders, checkPolls } from '../../../src/cli/doctor/check-temporal.ts';
import { SWEEP_ID } from '../../../src/contract/sweep.ts';
import { startSweep } from '../../../src/platform/namespace.ts';
import { anIntegration } from '../../fixtures/integrations.ts';
import { eventually, withTestServer } from '../../support/index.ts';
import { orderOf, pendingActivity, poison, temporalCli } from '../operator.ts';
import type { ReceivedEvent } from '../receiver.ts';
import { anOrderId, withDeployment } from '../support.ts';

const poisoned: string[] = [];
const server = withTestServer({ except: (workflowId) => poisoned.some((id) => workflowId.endsWith(id)) });
const temporal = temporalCli(server);
const all = withDeployment(server, { default: {} });

/** From the beginning on: the server tries their tasks again at growing pauses, and only what was tried often is stuck. */
beforeAll(async () => {
  for (let count = 0; count < 2; count += 1) {
    const orderId = await all.inReview();
    poisoned.push(orderId);
    await poison(server.client, orderId);
  }
});

const integrations = new Map([['default', anIntegration()]]);

const theSweep = () => server.client.workflow.getHandle(SWEEP_ID);

/** A new worker's first sweep, as after a restart. */
async function sweepAnew(): Promise<void> {
  await theSweep().terminate('begun anew by the test');
  await startSweep(server.connection, server.namespace);
}

/** Sweeps until that holds. */
const untilSwept = (holds: () => void | Promise<void>) =>
  eventually(
    async () => {
      await sweepAnew();
      await holds();
    },
    { timeoutMs: 100_000, intervalMs: 2_000 },
  );

/** The sweep's events about an order: the order itself doesn't number them. */
const announced = (orderId: string): ReceivedEvent[] =>
  all.eventsOf(orderId).filter(({ sequence, type }) => sequence === 0 && type === 'order.attention');
const says = (words: string) => ({ data: { attention: [expect.stringContaining(words)] } });

it('poisoned orders hurt nobody else', async () => {
  const inReview = await all.inReview();
  expect(await all.screen(anOrderId())).toMatchObject({ status: 200, body: { decision: 'pass' } });
  all.sandbox.control.decide(inReview, 'pass');
  await all.until(inReview, ({ phase, decision }) => phase === 'decided' && decision === 'pass');
});

it('the sweep goes on with workers that lack the payload key of those before them', async () => {
  const sweepsHere = () =>
    eventually(
      async () => expect(await all.workerMetrics()).toContain('order_screening_last_sweep_timestamp_seconds'),
      { timeoutMs: 60_000 },
    );
  await all.restart({ PAYLOAD_KEYS: `gone:${randomBytes(32).toString('base64')}` });
  await sweepAnew();
  await sweepsHere();
  // The next worker is given the newest heartbeat with the activity.
  await eventually(
    async () => {
      const { pendingActivities } = (await theSweep().describe()).raw;
      expect(pendingActivities?.[0]?.heartbeatDetails?.payloads).toHaveLength(1);
    },
    { timeoutMs: 30_000 },
  );
  await all.restart({});
  await sweepsHere();
}, 180_000);

it('the sweep and doctor tell ops of each poisoned order, the sweep once, whoever sweeps', async () => {
  await untilSwept(() => {
    for (const orderId of poisoned) expect(announced(orderId)[0]).toMatchObject({ integration: 'default' });
  });
  const halted = await checkPolls(server.client, { integrations, maxRps: 5 });
  expect(halted).toMatchObject([{ check: 'stuck-orders', status: 'error' }]);
  for (const orderId of poisoned) {
    expect(announced(orderId)).toHaveLength(1);
    expect(halted[0]?.what).toContain(orderId);
    await server.client.workflow.getHandle(`order:default:${orderId}`).terminate('poisoned by the test');
  }
}, 180_000);

it('the sweep and doctor count an order that ended too early until a reset, and the sweep tells of it', async () => {
  const lost = await all.inReview();
  await temporal('workflow', 'terminate', ...orderOf(lost), '--reason', 'by mistake');
  await untilSwept(async () => {
    const counted = /order_screening_lost_orders\{[^}]*status="Terminated"[^}]*\} [1-9]/;
    expect(await all.workerMetrics()).toMatch(counted);
    expect(announced(lost)[0]).toMatchObject(says('Terminated'));
  });
  const found = await checkLostOrders(server.client);
  const what = expect.stringMatching(/ended too early.*Terminated/);
  expect(found).toMatchObject({ status: 'error', what });
  expect(found.what).toContain(lost);
  // A refused start fails, too. However many there are, they take no lost order's place.
  const request = { transactionId: randomUUID(), screenedAt: new Date().toISOString() };
  const { status } = await all.call('POST', `/v1/orders/${anOrderId()}/adopt`, request);
  expect(status).toBe(404);
  const query = "ExecutionStatus = 'Failed'";
  await eventually(async () => expect((await server.client.workflow.count(query)).count).toBe(1));
  expect(await lostOrders(server.client, 1)).toMatchObject([{ workflowId: `order:default:${lost}` }]);
  const reset = ['--type', 'LastWorkflowTask', '--reason', 'again'];
  await temporal('workflow', 'reset', ...orderOf(lost), ...reset);
  await eventually(async () => expect((await checkLostOrders(server.client)).what).not.toContain(lost));
  await all.until(lost, ({ phase }) => phase === 'review');
  // Its terminated run isn't listed beside the new one.
  const listed = await all.call('GET', `/v1/orders?find=${lost}`);
  expect(listed.body.orders).toMatchObject([{ orderId: lost, phase: 'review' }]);
}, 120_000);

it('the sweep and doctor count an order whose poll an operator paused, and name it', async () => {
  const held = await all.inReview();
  const poll = ['--activity-id', await pendingActivity(server.client, `order:default:${held}`)];
  await temporal('activity', 'pause', ...orderOf(held), ...poll);
  await untilSwept(async () => {
    expect(await all.workerMetrics()).toMatch(
      /order_screening_held_orders\{[^}]*reason="paused"[^}]*\} [1-9]/,
    );
    expect(announced(held)[0]).toMatchObject(says('paused'));
  });
  const polls = () => checkPolls(server.client, { integrations, maxRps: 5 });
  const what = expect.stringMatching(`1 paused.*${held}`);
  expect(await polls()).toMatchObject([{ status: 'warning', what }]);
  await temporal('activity', 'unpause', ...orderOf(held), ...poll);
  await eventually(async () => expect(await polls()).toMatchObject([{ status: 'ok' }]));
}, 120_000);
