/** The same checkout asked again after an outage, by HTTP and by the library: the decision, as soon as there is one. */
import { Client, Connection } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../../src/dev/embedded-temporal.ts';
import { createOrderScreening, type OrderScreening } from '../../../src/starter.ts';
import { anIntegration, finding } from '../../fixtures/integrations.ts';
import { withEmail } from '../../fixtures/transactions.ts';
import { eventually, freePort, spawnForTest } from '../../support/index.ts';
import { untilEnded } from '../operator.ts';
import { EVENTS_SECRET } from '../receiver.ts';
import { anOrderId, type Deployment, deploy } from '../support.ts';

/** Beside other programs the next try of a create may come late. */
const AFTER_MS = 60_000;

/** A server of its own: it is stopped here. */
let temporal: EmbeddedTemporal;
let connection: Connection;
let all: Deployment;
let library: OrderScreening;

beforeAll(async () => {
  temporal = await startEmbeddedTemporal({ port: 0 });
  connection = await Connection.connect({ address: temporal.address });
  all = await deploy(temporal.address, { default: { checkoutBudget: '500ms' } });
  const client = new Client({ connection });
  library = createOrderScreening({ client, findIntegration: finding(anIntegration()) });
});
afterEach(() => void all?.sandbox.control.clearFaults());
afterAll(async () => {
  await all?.stop();
  await connection?.close();
  await temporal?.stop();
});

const inLibrary = (orderId: string) =>
  library.screen({ orderId, transaction: withEmail('review@example.com') });

const overHttp = async (orderId: string) => {
  const { status, body } = await all.screen(orderId, 'review');
  return { status, decision: body.decision, action: body.action };
};

const outageOfTheService = () => {
  const operations = ['create-transaction', 'status-by-invoice'] as const;
  const faults = operations.map((operation) => ({ operation, kind: '5xx-before-commit' as const }));
  all.sandbox.control.setFaults({ faults });
};

/** Repeats the same call until it is a decision. */
const asksAgain = (orderId: string) =>
  eventually(
    async () => {
      const reply = await overHttp(orderId);
      if (reply.status !== 200) throw new Error(`not yet: ${reply.status}`);
      return reply;
    },
    { timeoutMs: AFTER_MS, intervalMs: 250 },
  );

describe('a checkout that is sent again', () => {
  it(
    'after an outage of the service is pending until the decision, by HTTP and by the library',
    async () => {
      const orderId = anOrderId();
      outageOfTheService();
      const pending = { status: 202, decision: 'pending', action: 'hold' };
      expect(await overHttp(orderId)).toEqual(pending);
      expect(await overHttp(orderId)).toEqual(pending);
      expect(await inLibrary(orderId)).toMatchObject({ decision: 'pending', action: 'hold' });
      all.sandbox.control.clearFaults();
      expect(await asksAgain(orderId)).toEqual({ status: 200, decision: 'review', action: 'hold' });
      expect(await inLibrary(orderId)).toMatchObject({ decision: 'review', phase: 'review' });

      all.sandbox.control.decide(orderId, 'fraudulent');
      await all.until(orderId, ({ phase }) => phase === 'canceled');
      await untilEnded(new Client({ connection }), `order:default:${orderId}`);
      // The first decision, and what is to be done now.
      expect(await asksAgain(orderId)).toEqual({ status: 200, decision: 'review', action: 'cancel' });
      expect(await inLibrary(orderId)).toMatchObject({ decision: 'review', action: 'cancel' });
      expect(all.sandbox.control.transactions(orderId)).toHaveLength(1);
    },
    2 * AFTER_MS,
  );

  it.each([
    ['of Temporal', () => undefined],
    ['of both', outageOfTheService],
  ])(
    'after an outage %s is the decision, by one transaction',
    async (_of, before) => {
      const [waiting, orderId] = [anOrderId(), anOrderId()];
      before();
      // One that was answered before, or told to wait, and one that comes in the outage.
      const first = await overHttp(waiting);
      temporal.kill('SIGSTOP');
      try {
        // A request that was on its way may still be answered.
        await eventually(async () => expect((await overHttp(anOrderId())).status).toBe(503));
        const away = await all.screen(orderId, 'review');
        const body = { type: '/problems/temporal-unavailable', action: 'hold', recorded: false };
        expect(away).toMatchObject({ status: 503, body });
        expect(Number(away.headers.get('retry-after'))).toBeGreaterThan(0);
        expect((await overHttp(waiting)).status).toBe(503);
      } finally {
        temporal.kill('SIGCONT');
      }
      all.sandbox.control.clearFaults();
      expect(first.status).toBe(before === outageOfTheService ? 202 : 200);
      for (const one of [waiting, orderId]) {
        expect(await asksAgain(one)).toEqual({ status: 200, decision: 'review', action: 'hold' });
        expect(all.sandbox.control.transactions(one)).toHaveLength(1);
      }
    },
    2 * AFTER_MS,
  );

  it('the order service of the examples keeps what could not be recorded, and repeats it', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const env = { ...all.settings, PORT: String(port), EVENTS_SECRET };
    await spawnForTest('examples/order-service/order-service.ts', { env, readyWhen: /is listening/ });
    const orderId = anOrderId();
    temporal.kill('SIGSTOP');
    try {
      const body = JSON.stringify(withEmail('pass@example.com'));
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${url}/checkout/${orderId}`, { method: 'POST', headers, body });
      expect(await answer.json()).toMatchObject({ action: 'hold', payment: 'authorized' });
    } finally {
      temporal.kill('SIGCONT');
    }
    const paid = async () => (await fetch(`${url}/orders/${orderId}`)).json();
    await eventually(async () => expect(await paid()).toMatchObject({ calls: ['captured'] }), {
      timeoutMs: AFTER_MS,
    });
    expect(all.sandbox.control.transactions(orderId)).toHaveLength(1);
  });
});
