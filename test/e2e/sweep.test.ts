import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkLostOrders } from '../../src/cli/doctor/check-temporal.ts';
import { SWEEP_ID } from '../../src/contract/sweep.ts';
import { startSweep } from '../../src/temporal/namespace.ts';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { poison } from './poison.ts';
import { anOrderId, type Deployment, deploy } from './support.ts';
import { temporalCli } from './temporal-cli.ts';

const poisoned = [anOrderId(), anOrderId()] as const;
const lost = anOrderId();
const server = withTestServer({
  except: (workflowId) => poisoned.some((id) => workflowId.endsWith(id)),
});
let all: Deployment;

/** From the beginning on: the server tries their tasks again at pauses that grow, and only what was tried often is stuck. */
beforeAll(async () => {
  all = await deploy(server.address, { default: {} });
  await startPoisoned(poisoned[0]);
  await startPoisoned(poisoned[1]);
});
afterAll(() => all?.stop());

const screen = (orderId: string, email: string) =>
  all.call('POST', `/v1/orders/${orderId}/screening`, { transaction: withEmail(email) });

const theSweep = () => server.client.workflow.getHandle(SWEEP_ID);

/** A new worker's first sweep, as after a restart. */
async function sweepAnew(): Promise<void> {
  await theSweep().terminate('begun anew by the test');
  await startSweep(server.connection, server.namespace);
}

/** Gives an order in review a history that no worker can go through. */
async function startPoisoned(orderId: string): Promise<void> {
  await screen(orderId, 'review@example.com');
  await poison(server, `order:default:${orderId}`);
}

it('poisoned orders hurt nobody else', async () => {
  const inReview = anOrderId();
  await screen(inReview, 'review@example.com');
  const healthy = anOrderId();
  const answer = await screen(healthy, 'pass@example.com');
  expect(answer).toMatchObject({ status: 200, body: { decision: 'pass' } });
  all.sandbox.control.decide(inReview, 'pass');
  await all.until(inReview, ({ phase, decision }) => phase === 'decided' && decision === 'pass');
});

it('the sweep goes on with workers that lack the payload key of those before them', async () => {
  const sweepsHere = () =>
    eventually(
      async () => {
        const metrics = await (await fetch(all.workerMetricsUrl())).text();
        expect(metrics).toContain('order_screening_last_sweep_timestamp_seconds');
      },
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

it('the sweep tells ops of each poisoned order once, whoever sweeps', async () => {
  const found = (orderId: string) =>
    all.events.filter((event) => event.orderId === orderId && event.type === 'order.attention');
  await eventually(
    async () => {
      await sweepAnew();
      const { pendingActivities, pendingWorkflowTask } = (await theSweep().describe()).raw;
      const holdsUp = JSON.stringify({ pendingActivities, pendingWorkflowTask });
      for (const orderId of poisoned)
        expect(found(orderId)[0], holdsUp).toMatchObject({ sequence: 0, integration: 'default' });
    },
    { timeoutMs: 100_000, intervalMs: 2_000 },
  );
  for (const orderId of poisoned) {
    expect(found(orderId)).toHaveLength(1);
    await server.client.workflow.getHandle(`order:default:${orderId}`).terminate('poisoned by the test');
  }
}, 180_000);

it('the sweep and doctor count orders that ended too early, and the sweep tells of each', async () => {
  const temporal = temporalCli(server);
  for (const orderId of [lost, anOrderId()]) await screen(orderId, 'review@example.com');
  const workflowId = `order:default:${lost}`;
  await temporal('workflow', 'terminate', '--workflow-id', workflowId, '--reason', 'by mistake');
  const wanted = /order_screening_lost_orders\{[^}]*status="Terminated"[^}]*\} ([1-9]\d*)/;
  await eventually(
    async () => {
      await sweepAnew();
      expect(await (await fetch(all.workerMetricsUrl())).text()).toMatch(wanted);
      const told = all.events.filter(({ orderId, sequence }) => orderId === lost && sequence === 0);
      expect(told[0]?.data).toMatchObject({ attention: [expect.stringContaining('Terminated')] });
    },
    { timeoutMs: 60_000, intervalMs: 2_000 },
  );
  const found = await checkLostOrders(server.client);
  expect(found).toMatchObject({
    status: 'error',
    what: expect.stringMatching(/ended too early.*Terminated/),
  });
  expect(found.what).toContain(lost);
  // A reset brings the order back, under another run.
  await temporal(
    'workflow',
    'reset',
    '--workflow-id',
    workflowId,
    '--type',
    'LastWorkflowTask',
    '--reason',
    'again',
  );
  await eventually(async () => {
    expect((await checkLostOrders(server.client)).what).not.toContain(lost);
  });
  await all.until(lost, ({ phase }) => phase === 'review');
}, 120_000);

it('the sweep counts and reports an order whose poll an operator paused', async () => {
  const temporal = temporalCli(server);
  const held = anOrderId();
  await screen(held, 'review@example.com');
  const id = ['--workflow-id', `order:default:${held}`];
  const activityId = await eventually(async () => {
    const { raw } = await server.client.workflow.getHandle(`order:default:${held}`).describe();
    const poll = raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'pollStatus');
    if (!poll?.activityId) throw new Error('the poll has not begun');
    return poll.activityId;
  });
  await temporal('activity', 'pause', ...id, '--activity-id', activityId);
  await eventually(
    async () => {
      await sweepAnew();
      expect(await (await fetch(all.workerMetricsUrl())).text()).toMatch(
        /order_screening_held_orders\{[^}]*\} [1-9]/,
      );
      const told = all.events.filter(({ orderId, sequence }) => orderId === held && sequence === 0);
      expect(told[0]?.data).toMatchObject({ attention: [expect.stringContaining('paused')] });
    },
    { timeoutMs: 60_000, intervalMs: 2_000 },
  );
  await temporal('activity', 'unpause', ...id, '--activity-id', activityId);
}, 120_000);
