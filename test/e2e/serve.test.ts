/** Worker and API in one process: a checkout is answered before its record is written, and the record says the same. */
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../src/dev/embedded-temporal.ts';
import { aTransaction, withEmail } from '../fixtures/transactions.ts';
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
    const { body } = await serve.screen(orderId, decision);
    expect(body).toMatchObject({ orderId, attempt: 1, decision, action });
    expect(await startOf(orderId)).toEqual({ eager: true, updates });
    const again = await serve.screen(orderId, decision);
    expect(again.body).toEqual(body);
    expect(all.requests('create-transaction', orderId)).toHaveLength(1);
    expect(all.requests('status-by-invoice', orderId)).toHaveLength(0);
  });

  it('whose content is screened gets its answer, though a second click with different content asks at the same time', async () => {
    const clicks = (orderId: string) => {
      const transaction = withEmail('fail@example.com', aTransaction());
      return [transaction, { ...transaction, amount: '17.00' }].map((sent) =>
        serve.screen(orderId, '', { transaction: sent }),
      );
    };
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all(clicks(anOrderId()));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    }
  });

  it('waits for its record where an order without a decision would be declined', async () => {
    const [orderId, integration] = [anOrderId(), 'strict'];
    const { body } = await serve.screen(orderId, 'pass', { integration });
    expect(body).toMatchObject({ decision: 'pass', action: 'proceed' });
    expect(await startOf(orderId, integration)).toEqual({ eager: true, updates: 1 });
  });

  it('is the same for another process, which has no worker of its own', async () => {
    const orderId = anOrderId();
    const { body } = await all.screen(orderId);
    expect(body).toMatchObject({ decision: 'pass', action: 'proceed' });
    expect(await startOf(orderId)).toEqual({ eager: false, updates: 1 });
    expect((await serve.screen(orderId)).body).toEqual(body);
  });
});

it('a process that is killed after it answered and before that is recorded gives the same decisions, each by one transaction', async () => {
  const slow = { operation: 'create-transaction', kind: 'delay', delayMs: 1_500, times: 2 } as const;
  all.sandbox.control.setFaults({ faults: [slow] });
  const orders = ['pass', 'review'].map((decision) => {
    const orderId = anOrderId();
    const ask = () => serve.screen(orderId, decision);
    const creates = () => all.requests('create-transaction', orderId).length;
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
    const same = { status: 200, body: { decision, action, transactionId } };
    const limits = { timeoutMs: 45_000, intervalMs: 500 };
    await eventually(async () => expect(await ask()).toMatchObject(same), limits);
    expect(creates()).toBe(1);
  }
}, 120_000);
