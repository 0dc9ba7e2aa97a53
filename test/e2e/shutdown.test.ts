/** Processes that are stopped or killed while customers wait. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startEmbeddedTemporal } from '../../src/dev/embedded-temporal.ts';
import { freePort } from '../../src/dev/guarded-child.ts';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { type Api, anOrderId, type Deployment, deploy, WEBHOOK_SECRET } from './support.ts';

const server = withTestServer();

const screen = (call: Api['call'], orderId: string, email = 'pass@example.com') =>
  call('POST', `/v1/orders/${orderId}/screening`, { transaction: withEmail(email) });

const creates = ({ sandbox }: Deployment, orderId: string) =>
  sandbox.control.ledger({ operation: 'create-transaction', invoice: orderId });

/** Begins a checkout that the service is slow to answer; the service has its request when this returns. */
async function beginSlowCheckout(all: Deployment, call: Api['call'], orderId: string) {
  all.sandbox.control.setFaults({
    faults: [{ operation: 'create-transaction', kind: 'delay', delayMs: 2_500 }],
  });
  const answer = screen(call, orderId);
  await eventually(() => expect(creates(all, orderId)).toHaveLength(1), { timeoutMs: 20_000 });
  return { answer };
}

describe('SIGTERM', () => {
  let all: Deployment;
  beforeAll(async () => {
    const poll = { first: '10m', factor: 1, max: '10m' };
    all = await deploy(server.address, { default: {}, quiet: { poll } });
  });
  afterAll(() => all?.stop());

  it('lets a worker answer the checkout that waits for a slow service, and then ends it', async () => {
    const orderId = anOrderId();
    const { answer } = await beginSlowCheckout(all, all.call, orderId);
    all.worker().kill('SIGTERM');
    expect(await answer).toMatchObject({ status: 200, body: { decision: 'pass', action: 'proceed' } });
    expect(await all.worker().ended).toBe(0);

    // Another worker goes on with the order, and screens nothing again.
    await all.startWorker();
    const again = await screen(all.call, orderId);
    expect(again).toMatchObject({ status: 200, body: { decision: 'pass' } });
    expect(creates(all, orderId)).toHaveLength(1);
  }, 150_000);

  it('lets an API process answer what is under way, refuses what is new, and another gives the same answer', async () => {
    const stopping = await all.startApi();
    const orderId = anOrderId();
    const { answer } = await beginSlowCheckout(all, stopping.call, orderId);
    stopping.process.kill('SIGTERM');
    await eventually(() =>
      expect(stopping.call('GET', '/healthz')).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } }),
    );
    const again = await screen(all.call, orderId);
    expect(again).toMatchObject({ status: 200, body: { decision: 'pass', action: 'proceed' } });
    expect(await answer).toMatchObject({ status: 200, body: again.body });
    expect(await stopping.process.ended).toBe(0);
    expect(creates(all, orderId)).toHaveLength(1);
  }, 150_000);

  it('lets an API process send the webhook that it has taken and keeps', async () => {
    const stopping = await all.startApi();
    const orderId = anOrderId();
    const { body } = await stopping.call('POST', `/v1/orders/${orderId}/screening`, {
      integration: 'quiet',
      transaction: withEmail('review@example.com'),
    });
    const webhook = async () => {
      const address = `${stopping.url}/v1/webhooks/quiet/${WEBHOOK_SECRET}`;
      const response = await fetch(address, { method: 'POST', body: `{"id": "${body.transactionId}"}` });
      expect(await response.json()).toEqual({ status: 'accepted' });
    };
    await webhook();
    await all.until(orderId, ({ lastRead }) => lastRead?.source === 'webhook', 'quiet');
    // No webhook of the sandbox reaches this integration.
    all.sandbox.control.decide(orderId, 'pass');
    await webhook();
    stopping.process.kill('SIGTERM');
    expect(await stopping.process.ended).toBe(0);
    await all.until(orderId, ({ phase }) => phase === 'decided', 'quiet');
    const signals = (
      await server.client.workflow.getHandle(`order:quiet:${orderId}`).fetchHistory()
    ).events?.filter(({ workflowExecutionSignaledEventAttributes: signaled }) => signaled);
    expect(signals).toHaveLength(2);
  }, 150_000);
});

describe('Temporal killed under traffic', () => {
  it('is a 503 that says when to come back, and afterwards each order gets one decision', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'order-screening-killed-'));
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
    const port = await freePort();
    let temporal = await startEmbeddedTemporal({ port, dataDir });
    // After the deployment: a worker that can't reach its server takes all its time to stop.
    onTestFinished(() => temporal.stop());
    const all = await deploy(temporal.address, { default: { checkoutBudget: '3s' } });
    onTestFinished(() => all.stop());
    const { control } = all.sandbox;

    const inReview = anOrderId();
    expect(await screen(all.call, inReview, 'review@example.com')).toMatchObject({ status: 200 });
    const onHold = anOrderId();
    control.setFaults({
      faults: [
        { operation: 'create-transaction', kind: '5xx-before-commit', match: { invoice: onHold } },
        { operation: 'status-by-invoice', kind: '5xx-before-commit', match: { invoice: onHold } },
        { operation: 'create-transaction', kind: 'delay', delayMs: 200 },
      ],
    });
    expect(await screen(all.call, onHold)).toMatchObject({ status: 202, body: { decision: 'pending' } });

    const underWay = Array.from({ length: 20 }, anOrderId);
    const answers = Promise.all(underWay.map((orderId) => screen(all.call, orderId)));
    await eventually(() => underWay.filter((orderId) => creates(all, orderId).length > 0).length >= 5, {
      timeoutMs: 20_000,
    });
    temporal.kill('SIGKILL');
    await temporal.ended;

    const late = anOrderId();
    const refused = await screen(all.call, late);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('content-type')).toContain('application/problem+json');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.body.type).toContain('temporal-unavailable');
    for (const { status, headers } of await answers) {
      expect([200, 202, 503]).toContain(status);
      if (status === 503) expect(headers.get('retry-after')).not.toBeNull();
    }

    temporal = await startEmbeddedTemporal({ port, dataDir });
    control.clearFaults();
    for (const orderId of [...underWay, late])
      await eventually(async () => expect((await screen(all.call, orderId)).status).toBeLessThan(300), {
        timeoutMs: 60_000,
        intervalMs: 500,
      });
    control.decide(inReview, 'pass');
    for (const orderId of [...underWay, late, inReview, onHold])
      await eventually(
        async () => {
          const { body } = await all.call('GET', `/v1/orders/${orderId}`);
          expect(body).toMatchObject({ decision: 'pass', action: 'proceed' });
        },
        { timeoutMs: 90_000, intervalMs: 500 },
      );
    for (const orderId of [...underWay, late, inReview, onHold])
      expect(control.transactions(orderId)).toHaveLength(1);
  }, 240_000);
});
