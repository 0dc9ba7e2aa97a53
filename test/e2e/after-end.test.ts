/** What comes after an order's end, in a whole deployment. The last test stops the worker. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDataConverter } from '../../src/starter.ts';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { anOrderId, type Deployment, deploy, type OrderReply, WEBHOOK_SECRET } from './support.ts';

const payloadKey = { id: 'after-end', key: randomBytes(32) };
const server = withTestServer({ dataConverter: createDataConverter([payloadKey]) });
let all: Deployment;

const soonClosed = { cancelWindow: '2s', recheckLeadTime: '0s', reviewLeadTime: '200ms' };

beforeAll(async () => {
  all = await deploy(
    server.address,
    { default: soonClosed, verbose: { ...soonClosed, events: 'all' } },
    { env: { PAYLOAD_KEYS: `${payloadKey.id}:${payloadKey.key.toString('base64')}` } },
  );
});
afterAll(() => all?.stop());

const pathOf = (orderId: string) => `/v1/orders/${encodeURIComponent(orderId)}`;
const read = async (orderId: string, integration = 'default'): Promise<OrderReply> =>
  (await all.call('GET', `${pathOf(orderId)}?integration=${integration}`)).body;
const eventsOf = (orderId: string) => all.events.filter((event) => event.orderId === orderId);

/** A webhook whose body is this. */
async function webhook(body: object): Promise<unknown> {
  const response = await fetch(`${all.apiUrl}/v1/webhooks/default/${WEBHOOK_SECRET}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(202);
  return response.json();
}

async function ended(workflowId: string): Promise<void> {
  const { workflowService } = server.client;
  const asked = { namespace: server.namespace, execution: { workflowId } };
  await eventually(
    async () => {
      const { workflowExecutionInfo } = await workflowService.describeWorkflowExecution(asked);
      expect(workflowExecutionInfo?.closeTime).toBeTruthy();
    },
    { timeoutMs: 30_000 },
  );
}

/** An order that passed and has ended, all its events delivered. @returns the id of its transaction */
async function closedOrder(orderId: string, integration = 'default'): Promise<string> {
  const { body } = await all.call('POST', `${pathOf(orderId)}/screening`, {
    integration,
    transaction: withEmail('pass@example.com'),
  });
  expect(body).toMatchObject({ decision: 'pass' });
  await ended(`order:${integration}:${orderId}`);
  return body.transactionId;
}

it('a later decision is read at its webhook, sent as the first event of an order that passed and shown with the order', async () => {
  const orderId = anOrderId();
  const transactionId = await closedOrder(orderId);
  expect(await read(orderId)).not.toHaveProperty('afterEnd');
  // The sandbox sends the webhook.
  all.sandbox.control.decide(orderId, 'fail');
  await eventually(() => expect(eventsOf(orderId)).toHaveLength(1), { timeoutMs: 20_000 });
  expect(eventsOf(orderId).at(-1)).toMatchObject({
    id: `default:${orderId}:1`,
    type: 'order.decision_changed',
    sequence: 1,
    data: { phase: 'closed', decision: 'fail', action: 'cancel', transactionId, afterClose: true },
  });
  const decisions = [
    {
      decision: 'fail',
      transactionId,
      attempt: 1,
      action: 'cancel',
      at: expect.any(String),
      event: { sequence: 1, status: 'delivered' },
    },
  ];
  await eventually(async () =>
    expect((await read(orderId)).afterEnd).toEqual({ decisions, actions: [], redeliveries: [] }),
  );
  const stored = await server.client.workflowService.describeWorkflowExecution({
    namespace: server.namespace,
    execution: { workflowId: `after:default:${orderId}` },
  });
  const { lateDecisions } = stored.workflowExecutionInfo?.memo?.fields ?? {};
  expect(Buffer.from(lateDecisions?.metadata?.encoding ?? []).toString()).toBe('binary/encrypted');
  const { body } = await all.call('POST', `${pathOf(orderId)}/recheck`, {});
  expect(body).toEqual({ status: 'requested' });
  const invoiced = { invoiceNumber: orderId, decision: 'pass' };
  expect(await webhook(invoiced)).toEqual({ status: 'accepted' });
  expect(await webhook({ id: transactionId })).toEqual({ status: 'accepted' });
  await ended(`after:default:${orderId}`);
  expect((await read(orderId)).afterEnd.decisions).toEqual(decisions);
  expect(eventsOf(orderId)).toHaveLength(1);
  // A run of its own, which goes on where the first one ended.
  all.sandbox.control.decide(orderId, 'pass');
  await eventually(() => expect(eventsOf(orderId)).toHaveLength(2), { timeoutMs: 20_000 });
  expect(eventsOf(orderId).at(-1)).toMatchObject({
    sequence: 2,
    data: { decision: 'pass', action: 'cancel' },
  });
  const after = (await read(orderId)).afterEnd;
  expect(after.decisions.map((one: { decision: string }) => one.decision)).toEqual(['fail', 'pass']);
});

it('a webhook of no order, and a recheck of none, are unknown', async () => {
  expect(await webhook({ invoiceNumber: anOrderId() })).toEqual({ status: 'unknown' });
  expect((await all.call('POST', `${pathOf(anOrderId())}/recheck`, {})).status).toBe(404);
});

it('portal actions and redeliveries are shown with the order, also without a worker', async () => {
  const integration = 'verbose';
  const orderId = `${anOrderId()}'s 100%_:1`;
  const transactionId = await closedOrder(orderId, integration);
  const other = `${orderId}:2`;
  await closedOrder(other, integration);
  const send = async (order: string, path: string, body: object = {}) => {
    const { status } = await all.call('POST', `${pathOf(order)}/${path}?integration=${integration}`, body);
    expect(status).toBe(200);
  };
  await send(orderId, 'report-fraud');
  await send(orderId, 'customer-code', { customerCode: '7', email: 'pass@example.com' });
  await send(orderId, 'events/1/redeliver');
  await send(other, 'customer-code', { customerCode: '8', email: 'pass@example.com' });
  await send(other, 'events/2/redeliver');
  const times = { requestedAt: expect.any(String), finishedAt: expect.any(String) };
  const afterEnd = {
    decisions: [],
    actions: [
      expect.objectContaining({ kind: 'report-fraud', status: 'done', transactionId, ...times }),
      expect.objectContaining({ kind: 'customer-code', status: 'done', ...times }),
    ],
    redeliveries: [{ sequence: 1, status: 'delivered', ...times }],
  };
  // The list of workflows lags.
  await eventually(async () => expect((await read(orderId, integration)).afterEnd).toEqual(afterEnd));
  await all.worker().stop();
  expect((await read(orderId, integration)).afterEnd).toEqual(afterEnd);
  expect((await read(other, integration)).afterEnd).toMatchObject({
    actions: [{ kind: 'customer-code' }],
    redeliveries: [{ sequence: 2 }],
  });
});
