/** Processes that are stopped while customers wait. */
import { expect, it } from 'vitest';
import { eventually, withTestServer } from '../../support/index.ts';
import { type Api, anOrderId, WEBHOOK_SECRET, withDeployment } from '../support.ts';

const server = withTestServer();
const poll = { first: '10m', factor: 1, max: '10m' };
const all = withDeployment(server, { default: {}, quiet: { poll } });

const creates = (orderId: string) => all.requests('create-transaction', orderId);

/** Begins a checkout that the service is slow to answer; the service has its request when this returns. */
async function beginSlowCheckout(api: Pick<Api, 'screen'>, orderId: string) {
  all.sandbox.control.setFaults({
    faults: [{ operation: 'create-transaction', kind: 'delay', delayMs: 2_500 }],
  });
  const answer = api.screen(orderId);
  await eventually(() => expect(creates(orderId)).toHaveLength(1), { timeoutMs: 20_000 });
  return { answer };
}

it('SIGTERM lets a worker answer the checkout that waits for a slow service, and then ends it', async () => {
  const orderId = anOrderId();
  const { answer } = await beginSlowCheckout(all, orderId);
  all.worker().kill('SIGTERM');
  expect(await answer).toMatchObject({ status: 200, body: { decision: 'pass', action: 'proceed' } });
  expect(await all.worker().ended).toBe(0);

  // Another worker goes on with the order, and screens nothing again.
  await all.startWorker();
  const again = await all.screen(orderId);
  expect(again).toMatchObject({ status: 200, body: { decision: 'pass' } });
  expect(creates(orderId)).toHaveLength(1);
}, 150_000);

it('SIGTERM lets an API process answer what is under way, refuses what is new, and another gives the same answer', async () => {
  const stopping = await all.startApi();
  const orderId = anOrderId();
  const { answer } = await beginSlowCheckout(stopping, orderId);
  stopping.process.kill('SIGTERM');
  await eventually(() =>
    expect(stopping.call('GET', '/healthz')).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } }),
  );
  const again = await all.screen(orderId);
  expect(again).toMatchObject({ status: 200, body: { decision: 'pass', action: 'proceed' } });
  expect(await answer).toMatchObject({ status: 200, body: again.body });
  expect(await stopping.process.ended).toBe(0);
  expect(creates(orderId)).toHaveLength(1);
}, 150_000);

it('SIGTERM lets an API process send the webhook that it has taken and keeps', async () => {
  const stopping = await all.startApi();
  const orderId = await stopping.inReview('quiet');
  const [transaction] = all.sandbox.control.transactions(orderId);
  const webhook = async () => {
    const address = `${stopping.url}/v1/webhooks/quiet/${WEBHOOK_SECRET}`;
    const response = await fetch(address, { method: 'POST', body: `{"id": "${transaction?.id}"}` });
    expect(await response.json()).toEqual({ status: 'accepted' });
  };
  await webhook();
  await all.until(orderId, ({ lastRead }) => lastRead?.source === 'webhook', 'quiet');
  // The test sends the webhook itself, after the decision.
  all.sandbox.control.setWebhooks({ enabled: false });
  all.sandbox.control.decide(orderId, 'pass');
  await webhook();
  stopping.process.kill('SIGTERM');
  expect(await stopping.process.ended).toBe(0);
  await all.until(orderId, ({ phase }) => phase === 'decided', 'quiet');
  const { events } = await server.client.workflow.getHandle(`order:quiet:${orderId}`).fetchHistory();
  const signals = events?.filter((event) => event.workflowExecutionSignaledEventAttributes);
  expect(signals).toHaveLength(2);
}, 150_000);
