import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findTemporalBinary } from '../../src/dev/temporal-binary.ts';
import { aTransaction, withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { anOrderId, type Deployment, deploy } from './support.ts';

const server = withTestServer();
let all: Deployment;

beforeAll(async () => {
  all = await deploy(server.address, {
    default: { poll: { first: '30s', factor: 1, max: '30s' } },
    short: { cancelWindow: '4s', autoCancel: false, reviewLeadTime: '400ms', recheckLeadTime: '400ms' },
    quiet: { passive: true },
    'after-sale': { workflow: 'post-acceptance' },
  });
});
afterAll(() => all?.stop());

const screen = (orderId: string, email: string, more: object = {}) =>
  all.call('POST', `/v1/orders/${orderId}/screening`, { transaction: withEmail(email), ...more });

const creates = (orderId: string) =>
  all.sandbox.control.ledger({ invoice: orderId, operation: 'create-transaction' });

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
    expect(creates(orderId)).toHaveLength(1);
    expect(all.sandbox.control.transactions(orderId)[0]?.id).toBe(body.transactionId);
    const description = await server.client.workflow.getHandle(`order:default:${orderId}`).describe();
    expect(description.type).toBe('screenOrder');
    expect(description.status.name).toBe('RUNNING');
  });

  it('gets the same answer again, and no second transaction', async () => {
    const orderId = anOrderId();
    const first = await screen(orderId, 'fail@example.com');
    const second = await screen(orderId, 'fail@example.com');
    expect(second).toMatchObject({ status: 200, body: first.body });
    expect(creates(orderId)).toHaveLength(1);
  });

  it('is refused with another content for the same attempt', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    const { status, body } = await screen(orderId, 'fail@example.com');
    expect(status).toBe(409);
    expect(body.type).toContain('attempt-mismatch');
    expect(creates(orderId)).toHaveLength(1);
  });

  it.each([
    ['pass', 'default', 'proceed', 'decided', 200],
    ['review', 'default', 'hold', 'review', 200],
    ['fail', 'default', 'decline', 'declined', 200],
    ['fraudulent', 'default', 'decline', 'declined', 200],
    ['error', 'default', 'hold', 'screening', 200],
    ['pass', 'after-sale', 'proceed', 'decided', 200],
    ['review', 'after-sale', 'hold', 'review', 200],
    ['fail', 'after-sale', 'cancel', 'decided', 200],
    ['fraudulent', 'quiet', 'proceed', 'decided', 200],
  ])('with decision %s in %s means %s', async (decision, integration, action, phase, status) => {
    const reply = await screen(anOrderId(), `${decision}@example.com`, { integration });
    expect(reply).toMatchObject({ status, body: { decision, action, phase } });
  });

  it('lists every fault at once with its path, echoes nothing and starts nothing', async () => {
    const orderId = anOrderId();
    const { body, status } = await all.call('POST', `/v1/orders/${orderId}/screening`, {
      transaction: {
        ...aTransaction(),
        amount: 'a-lot-of-money',
        customerIP: 'nowhere',
        cvvResultCode: 'secret-code',
        customer: { email: 'not-an-address' },
        curency_code: 'USD',
      },
    });
    expect(status).toBe(422);
    const paths = body.errors.map((fault: { path: string }) => fault.path);
    expect(paths).toEqual(
      expect.arrayContaining([
        'transaction.amount',
        'transaction.customerIP',
        'transaction.cvvResultCode',
        'transaction.customer.email',
        'transaction.curency_code',
      ]),
    );
    expect(JSON.stringify(body)).not.toMatch(/a-lot-of-money|nowhere|secret-code|not-an-address/);
    await expect(server.client.workflow.getHandle(`order:default:${orderId}`).describe()).rejects.toThrow();
    expect(creates(orderId)).toHaveLength(0);
  });
});

describe('an order started by the Temporal CLI', () => {
  it('is screened as one that came by the API', async () => {
    const orderId = anOrderId();
    const { path } = await findTemporalBinary();
    const input = JSON.stringify({ orderId, transaction: withEmail('review@example.com') });
    const type = ['--type', 'screenOrder', '--task-queue', 'order-screening'];
    const id = ['--workflow-id', `order:default:${orderId}`, '--address', server.address];
    await promisify(execFile)(path, ['workflow', 'start', ...type, ...id, '--input', input]);
    const order = await all.until(orderId, ({ phase }) => phase === 'review');
    expect(order).toMatchObject({ decision: 'review', action: 'hold' });
    expect(creates(orderId)).toHaveLength(1);
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
      expect(types).toEqual(['order.decided', 'order.review_resolved']);
    });
  });

  it('that fails is canceled with the service, once', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'review@example.com');
    all.sandbox.control.decide(orderId, 'fraudulent');
    const order = await all.until(orderId, ({ phase }) => phase === 'canceled');
    expect(order).toMatchObject({ decision: 'fraudulent', action: 'cancel' });
    expect(all.sandbox.control.ledger({ operation: 'cancel-transaction', invoice: orderId })).toHaveLength(1);
    await eventually(() => {
      const sequences = all.events.filter((event) => event.orderId === orderId);
      expect(sequences.map((event) => event.sequence)).toEqual([1, 2, 3, 4]);
      expect(sequences.at(-1)?.type).toBe('order.closed');
    });
  });

  it('goes on with the next worker after the worker is killed', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'review@example.com');
    all.worker().kill('SIGKILL');
    await all.worker().ended;
    all.sandbox.control.decide(orderId, 'pass');
    await all.startWorker();
    const order = await all.until(orderId, ({ phase }) => phase === 'decided');
    expect(order).toMatchObject({ decision: 'pass', action: 'proceed' });
    expect(creates(orderId)).toHaveLength(1);
  });
});

describe('a portal action', () => {
  it('is taken up within seconds when the worker that was at it is killed', { timeout: 60_000 }, async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    const calls = () => all.sandbox.control.ledger({ operation: 'cancel-transaction', invoice: orderId });
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

describe('the cancel window', () => {
  it('takes a cancel while it is open, and gives the same answer again', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    const first = await all.call('POST', `/v1/orders/${orderId}/cancel`, { reason: 'asked by the customer' });
    expect(first).toMatchObject({ status: 200, body: { status: 'done', phase: 'canceled' } });
    const second = await all.call('POST', `/v1/orders/${orderId}/cancel`, {});
    expect(second).toMatchObject({ status: 200, body: { status: 'done' } });
    expect(all.sandbox.control.ledger({ operation: 'cancel-transaction', invoice: orderId })).toHaveLength(1);
  });

  it('refuses a cancel after it has closed, without a call to the service', async () => {
    const orderId = anOrderId();
    const { body } = await screen(orderId, 'pass@example.com', { integration: 'short' });
    await all.until(orderId, ({ phase }) => phase === 'closed', 'short');
    const late = await all.call('POST', `/v1/orders/${orderId}/cancel?integration=short`, {});
    expect(late.status).toBe(409);
    expect(late.body).toMatchObject({ cancelBy: body.cancelBy });
    expect(late.body.type).toContain('cancel-window-closed');
    expect(all.sandbox.control.ledger({ operation: 'cancel-transaction', invoice: orderId })).toHaveLength(0);
  });
});
