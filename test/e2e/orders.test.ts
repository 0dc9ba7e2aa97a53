/** The life of an order over HTTP, each part a process of its own. The last tests kill workers. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listQuery } from '../../src/api/request-schemas.ts';
import { findTemporalBinary } from '../../src/dev/temporal-binary.ts';
import { aPreGatewayTransaction, TEST_CARD, withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { anOrderId, type Deployment, deploy, WEBHOOK_SECRET } from './support.ts';

const server = withTestServer();
let all: Deployment;

beforeAll(async () => {
  // The sandbox sends its webhooks for the integration `default` only.
  all = await deploy(server.address, {
    default: { poll: { first: '30s', factor: 1, max: '30s' } },
    polled: { poll: { first: '200ms', factor: 1, max: '200ms' } },
    short: { cancelWindow: '4s', recheckLeadTime: '400ms', reviewLeadTime: '400ms', events: 'all' },
    impatient: { checkoutBudget: '500ms', whenUnavailable: 'proceed' },
  });
});
afterAll(() => all?.stop());

const screen = (orderId: string, email: string, more: object = {}) =>
  all.call('POST', `/v1/orders/${orderId}/screening`, { transaction: withEmail(email), ...more });

const ledger = (operation: 'create-transaction' | 'cancel-transaction' | 'report-fraud', invoice: string) =>
  all.sandbox.control.ledger({ operation, invoice });

describe('a checkout', () => {
  it('is answered with a decision, by one workflow and one transaction', async () => {
    const orderId = anOrderId();
    const { status, body } = await screen(orderId, 'pass@example.com');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      orderId,
      attempt: 1,
      decision: 'pass',
      action: 'proceed',
      phase: 'decided',
    });
    expect(all.sandbox.control.transactions(orderId)).toMatchObject([{ id: body.transactionId }]);
    const description = await server.client.workflow.getHandle(`order:default:${orderId}`).describe();
    expect([description.type, description.status.name]).toEqual(['screenOrder', 'RUNNING']);
  });

  it('gets the same answer again, is refused with another content, and has one transaction', async () => {
    const orderId = anOrderId();
    const first = await screen(orderId, 'fail@example.com');
    expect(await screen(orderId, 'fail@example.com')).toMatchObject({ status: 200, body: first.body });
    const { status, body } = await screen(orderId, 'pass@example.com');
    expect([status, body.type]).toEqual([409, '/problems/attempt-mismatch']);
    expect(ledger('create-transaction', orderId)).toHaveLength(1);
  });

  it('started by the Temporal CLI is screened as one that came by the API', async () => {
    const orderId = anOrderId();
    const path = await findTemporalBinary();
    const input = JSON.stringify({ orderId, transaction: withEmail('review@example.com') });
    const type = ['--type', 'screenOrder', '--task-queue', 'order-screening'];
    const id = ['--workflow-id', `order:default:${orderId}`, '--address', server.address];
    await promisify(execFile)(path, ['workflow', 'start', ...type, ...id, '--input', input]);
    const order = await all.until(orderId, ({ phase }) => phase === 'review');
    expect(order).toMatchObject({ decision: 'review', action: 'hold' });
    expect(ledger('create-transaction', orderId)).toHaveLength(1);
  });
});

describe('a review', () => {
  it('is resolved within two seconds of the webhook, and the event follows', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'review@example.com');
    const decidedAt = Date.now();
    all.sandbox.control.decide(orderId, 'pass');
    const order = await all.until(orderId, ({ phase }) => phase === 'decided');
    expect(Date.now() - decidedAt).toBeLessThan(2_000);
    expect(order).toMatchObject({ decision: 'pass', action: 'proceed', lastRead: { source: 'webhook' } });
    await eventually(() => {
      const types = all.events.filter((event) => event.orderId === orderId).map((event) => event.type);
      expect(types).toEqual(['order.review_resolved']);
    });
  });

  it('that fails is canceled with the service, once', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'review@example.com');
    all.sandbox.control.decide(orderId, 'fraudulent');
    const order = await all.until(orderId, ({ phase }) => phase === 'canceled');
    expect(order).toMatchObject({ decision: 'fraudulent', action: 'cancel' });
    expect(ledger('cancel-transaction', orderId)).toHaveLength(1);
    await eventually(() => {
      const sequences = all.events.filter((event) => event.orderId === orderId);
      expect(sequences.map((event) => event.sequence)).toEqual([1, 2, 3]);
      expect(sequences.at(-1)?.type).toBe('order.closed');
    });
  });

  it('is resolved by polling without webhooks', async () => {
    const [orderId, integration] = [anOrderId(), 'polled'];
    await screen(orderId, 'review@example.com', { integration });
    all.sandbox.control.decide(orderId, 'pass');
    const order = await all.until(orderId, ({ phase }) => phase === 'decided', integration);
    expect(order).toMatchObject({ decision: 'pass', action: 'proceed', lastRead: { source: 'poll' } });
  });
});

it('a webhook with a forged decision is a hint to read it, and is not believed', async () => {
  const orderId = anOrderId();
  const { body } = await screen(orderId, 'pass@example.com');
  const forged = new URLSearchParams({ id: body.transactionId, decision: 'fraudulent' });
  await fetch(`${all.apiUrl}/v1/webhooks/default/${WEBHOOK_SECRET}?${forged}&invoiceNumber=%23${orderId}`);
  const order = await all.until(orderId, ({ lastRead }) => lastRead?.source === 'webhook');
  expect(order).toMatchObject({ decision: 'pass', action: 'proceed', phase: 'decided' });
});

it('a list has an order by each filter, and not by one that it misses', async () => {
  const orderId = anOrderId();
  const { body: order } = await screen(orderId, 'review@example.com');
  const hours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString();
  const found = async (filters: Record<string, string>) => {
    const { status, body } = await all.call('GET', `/v1/orders?${new URLSearchParams(filters)}`);
    return { status, ids: body.orders.map((one: { orderId: string }) => one.orderId) };
  };
  await eventually(async () =>
    expect(await found({ find: order.transactionId })).toEqual({ status: 200, ids: [orderId] }),
  );
  const filters: Record<string, [meets: string, misses: string]> = {
    integration: ['default', 'polled'],
    phase: ['review', 'decided'],
    decision: ['review', 'pass'],
    attention: ['false', 'true'],
    open: ['true', 'false'],
    dueBefore: [hours(24 * 30), hours(0)],
    amountFrom: ['125.5', '125.51'],
    amountTo: ['125.51', '125.5'],
    startedFrom: [hours(-1), hours(1)],
    startedTo: [hours(1), hours(-1)],
  };
  for (const [name, [meets, misses]] of Object.entries(filters)) {
    expect((await found({ find: orderId, [name]: meets })).ids, name).toEqual([orderId]);
    expect((await found({ find: orderId, [name]: misses })).ids, name).toEqual([]);
  }
  expect(Object.keys({ ...filters, find: '', limit: '', cursor: '' }).sort()).toEqual(
    Object.keys(listQuery.shape).sort(),
  );
});

describe('an order that has ended', () => {
  it('takes portal actions, each a workflow of its own', async () => {
    const orderId = anOrderId();
    const { body } = await screen(orderId, 'pass@example.com');
    await all.call('POST', `/v1/orders/${orderId}/cancel`, {});
    await eventually(async () => {
      const handle = server.client.workflow.getHandle(`order:default:${orderId}`);
      expect((await handle.describe()).status.name).toBe('COMPLETED');
    });
    const report = await all.call('POST', `/v1/orders/${orderId}/report-fraud`, {});
    expect(report).toMatchObject({
      status: 200,
      body: { status: 'done', transactionId: body.transactionId },
    });
    const again = await all.call('POST', `/v1/orders/${orderId}/cancel`, {});
    expect(again).toMatchObject({ status: 200, body: { status: 'done' } });
    expect(ledger('cancel-transaction', orderId)).toHaveLength(1);
  });

  it('takes them, too, while its events can’t be delivered; those arrive in order later', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com', { integration: 'short' });
    await all.until(orderId, ({ events }) => events.delivered === 1, 'short');
    all.refuseEvents(true);
    try {
      await all.until(orderId, ({ phase }) => phase === 'closed', 'short');
      for (let time = 0; time < 2; time += 1) {
        const reply = await all.call('POST', `/v1/orders/${orderId}/report-fraud?integration=short`, {});
        expect(reply).toMatchObject({ status: 200, body: { status: 'done' } });
      }
      expect(ledger('report-fraud', orderId)).toHaveLength(1);
      const late = await all.call('POST', `/v1/orders/${orderId}/cancel?integration=short`, {});
      expect(late).toMatchObject({ status: 409, body: { cancelBy: expect.any(String) } });
      expect(ledger('cancel-transaction', orderId)).toEqual([]);
    } finally {
      all.refuseEvents(false);
    }
    await eventually(() => {
      const types = all.events.filter((event) => event.orderId === orderId).map(({ type }) => type);
      expect(types).toEqual(['order.decided', 'order.closed']);
    });
  });
});

describe('a pre-gateway order', () => {
  it('without a card in reach gets a clear outcome, and no card number is in the history', async () => {
    const orderId = anOrderId();
    const reply = await all.call('POST', `/v1/orders/${orderId}/screening`, {
      workflow: 'pre-gateway',
      transaction: aPreGatewayTransaction(),
    });
    expect(reply.body).toMatchObject({ decision: 'error', reason: 'card-data-expired', action: 'hold' });
    const history = await server.client.workflow.getHandle(`order:default:${orderId}`).fetchHistory();
    expect(JSON.stringify(history)).not.toContain(TEST_CARD.cardNumber);
    expect(
      Buffer.from(JSON.stringify(history)).includes(Buffer.from(TEST_CARD.cardNumber).toString('base64')),
    ).toBe(false);
  });
});

describe('when no answer comes in time', () => {
  it('the service hangs: the checkout gets the fallback within the budget, and the decision follows as an event', async () => {
    const orderId = anOrderId();
    const match = { invoice: orderId };
    all.sandbox.control.setFaults({
      faults: [
        { operation: 'create-transaction', kind: 'hang-after-commit', times: 1, match },
        // What was committed is found before the caller is answered, where that takes long.
        { operation: 'status-by-invoice', kind: '5xx-before-commit', match },
      ],
    });
    const begin = Date.now();
    const reply = await screen(orderId, 'pass@example.com', { integration: 'impatient' });
    expect(Date.now() - begin).toBeLessThan(2_500);
    expect(reply).toMatchObject({ status: 202, body: { decision: 'pending', action: 'proceed' } });
    all.sandbox.control.clearFaults();
    const order = await all.until(orderId, ({ phase }) => phase === 'decided', 'impatient');
    expect(order).toMatchObject({ decision: 'pass', action: 'proceed' });
    expect(all.sandbox.control.transactions(orderId)).toHaveLength(1);
    await eventually(() => {
      expect(all.events.filter((event) => event.orderId === orderId).map((event) => event.type)).toContain(
        'order.decided',
      );
    });
  });

  it('no worker is there: the API answers pending by policy, and the next worker takes that as given', async () => {
    const orderId = anOrderId();
    all.worker().kill('SIGKILL');
    await all.worker().ended;
    // A server that is too busy to take the start in time is a 503, which says to send the same again.
    await eventually(async () => {
      const reply = await screen(orderId, 'pass@example.com', { integration: 'impatient' });
      expect(reply).toMatchObject({ status: 202, body: { decision: 'pending', action: 'proceed' } });
    });
    expect(ledger('create-transaction', orderId)).toHaveLength(0);
    const other = await screen(orderId, 'review@example.com', { integration: 'impatient' });
    expect(other).toMatchObject({ status: 409, body: { type: '/problems/attempt-mismatch' } });
    await all.startWorker();
    const order = await all.until(orderId, ({ phase }) => phase === 'decided', 'impatient');
    expect(order).toMatchObject({
      decision: 'pass',
      attempts: [{ answer: { decision: 'pending', action: 'proceed' } }],
    });
    expect(all.sandbox.control.transactions(orderId)).toHaveLength(1);
  });
});

describe('a worker that is killed', () => {
  it('has the next one go on with a review; meanwhile its transaction can be read', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'review@example.com');
    all.worker().kill('SIGKILL');
    await all.worker().ended;
    all.sandbox.control.decide(orderId, 'pass');
    const now = { decision: 'pass', order: { integration: 'default', orderId } };
    await eventually(async () =>
      expect((await all.call('GET', `/v1/transactions/${orderId}`)).body).toMatchObject(now),
    );
    await all.startWorker();
    const order = await all.until(orderId, ({ phase }) => phase === 'decided');
    expect(order).toMatchObject({ decision: 'pass', action: 'proceed' });
    expect(ledger('create-transaction', orderId)).toHaveLength(1);
  });

  it('has the portal action that it was at taken up within seconds', { timeout: 60_000 }, async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    const calls = () => ledger('cancel-transaction', orderId);
    all.sandbox.control.setFaults({
      faults: [
        {
          operation: 'cancel-transaction',
          kind: 'hang-before-commit',
          times: 1,
          match: { invoice: orderId },
        },
      ],
    });
    const canceled = all.call('POST', `/v1/orders/${orderId}/cancel`, {});
    await eventually(() => expect(calls()).toHaveLength(1));
    all.worker().kill('SIGKILL');
    const killedAt = Date.now();
    await all.startWorker();
    await canceled;
    await eventually(() => expect(calls()).toHaveLength(2), { timeoutMs: 40_000 });
    // Without heartbeats the server would wait for the call's 45 s.
    expect(Date.now() - killedAt).toBeLessThan(30_000);
    await all.until(orderId, ({ phase }) => phase === 'canceled');
  });
});
