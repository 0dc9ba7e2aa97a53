/** Worker and API in one process: a checkout is answered before its record is written, and the record says the same. */

import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../src/dev/embedded-temporal.ts';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually } from '../support/index.ts';
import { type Api, anOrderId, type Deployment, deploy } from './support.ts';

let temporal: EmbeddedTemporal;
let connection: Connection;
let all: Deployment;
let serve: Api;

beforeAll(async () => {
  temporal = await startEmbeddedTemporal({ port: 0 });
  connection = await Connection.connect({ address: temporal.address });
  all = await deploy(
    temporal.address,
    { default: {}, strict: { whenUnavailable: 'decline' } },
    { worker: false },
  );
  serve = await all.startServe();
});
afterAll(async () => {
  await all?.stop();
  await connection?.close();
  await temporal?.stop();
});

const screen = (api: Api, orderId: string, email: string, more: object = {}) =>
  api.call('POST', `/v1/orders/${orderId}/screening`, { transaction: withEmail(email), ...more });

/** What the order's history says of its start, and of the updates that waited for its answer. */
async function startOf(orderId: string, integration = 'default') {
  const client = new Client({ connection });
  const { events } = await client.workflow.getHandle(`order:${integration}:${orderId}`).fetchHistory();
  const started = events?.[0]?.workflowExecutionStartedEventAttributes;
  return {
    eager: started?.eagerExecutionAccepted === true,
    updates: (events ?? []).filter((one) => one.workflowExecutionUpdateAcceptedEventAttributes).length,
  };
}

describe('a checkout', () => {
  it.each([
    ['pass', 'proceed', 0],
    ['review', 'hold', 0],
    ['fail', 'decline', 1],
    ['fraudulent', 'decline', 1],
    ['error', 'hold', 1],
  ])('that gets %s is told %s, as the record has it, with %i updates', async (decision, action, updates) => {
    const orderId = anOrderId();
    const { body } = await screen(serve, orderId, `${decision}@example.com`);
    expect(body).toMatchObject({ orderId, attempt: 1, decision, action });
    expect(await startOf(orderId)).toEqual({ eager: true, updates });
    const again = await screen(serve, orderId, `${decision}@example.com`);
    expect(again.body).toEqual(body);
    expect(all.sandbox.control.ledger({ operation: 'create-transaction', invoice: orderId })).toHaveLength(1);
    expect(all.sandbox.control.ledger({ operation: 'status-by-invoice', invoice: orderId })).toHaveLength(0);
  });

  it('waits for its record where an order without a decision would be declined', async () => {
    const [orderId, integration] = [anOrderId(), 'strict'];
    const { body } = await screen(serve, orderId, 'pass@example.com', { integration });
    expect(body).toMatchObject({ decision: 'pass', action: 'proceed' });
    expect(await startOf(orderId, integration)).toEqual({ eager: true, updates: 1 });
  });

  it('is the same for another process, which has no worker of its own', async () => {
    const orderId = anOrderId();
    const { body } = await all.call('POST', `/v1/orders/${orderId}/screening`, {
      transaction: withEmail('pass@example.com'),
    });
    expect(body).toMatchObject({ decision: 'pass', action: 'proceed' });
    expect(await startOf(orderId)).toEqual({ eager: false, updates: 1 });
    expect((await screen(serve, orderId, 'pass@example.com')).body).toEqual(body);
  });
});

it('a process that is killed after it answered and before that is recorded gives the same decisions, each by one transaction', async () => {
  const { control } = all.sandbox;
  control.setFaults({
    faults: [{ operation: 'create-transaction', kind: 'delay', delayMs: 1_500, times: 2 }],
  });
  const orders = ['pass', 'review'].map((decision) => {
    const orderId = anOrderId();
    const ask = () => screen(serve, orderId, `${decision}@example.com`);
    const creates = () => control.ledger({ operation: 'create-transaction', invoice: orderId }).length;
    return { decision, ask, creates, first: ask() };
  });
  await eventually(() => orders.every(({ creates }) => creates() === 1));
  // From here on Temporal takes nothing: what is told isn't recorded.
  temporal.kill('SIGSTOP');
  try {
    for (const { decision, first } of orders)
      expect(await first).toMatchObject({ status: 200, body: { decision } });
    serve.process.kill('SIGKILL');
    await serve.process.ended;
  } finally {
    temporal.kill('SIGCONT');
  }
  serve = await all.startServe();
  for (const { ask, creates, first } of orders) {
    const { decision, action, transactionId } = (await first).body;
    await eventually(
      async () =>
        expect(await ask()).toMatchObject({ status: 200, body: { decision, action, transactionId } }),
      { timeoutMs: 45_000, intervalMs: 500 },
    );
    expect(creates()).toBe(1);
  }
}, 120_000);
