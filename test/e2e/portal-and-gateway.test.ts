import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aPreGatewayTransaction, TEST_CARD, withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { anOrderId, type Deployment, deploy, WEBHOOK_SECRET } from './support.ts';

const server = withTestServer();
let all: Deployment;

beforeAll(async () => {
  all = await deploy(
    server.address,
    {
      default: { poll: { first: '200ms', factor: 1, max: '200ms' } },
      short: { cancelWindow: '2s', recheckLeadTime: '0s', reviewLeadTime: '1s' },
      impatient: { checkoutBudget: '500ms', whenUnavailable: 'proceed' },
    },
    { webhooks: false },
  );
});
afterAll(() => all?.stop());

const screen = (orderId: string, email: string, more: object = {}) =>
  all.call('POST', `/v1/orders/${orderId}/screening`, { transaction: withEmail(email), ...more });
const ledger = (
  operation: 'cancel-transaction' | 'report-fraud' | 'submit-chargeback' | 'create-transaction',
  invoice: string,
) => all.sandbox.control.ledger({ operation, invoice });

describe('without webhooks', () => {
  it('a review is resolved by polling', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'review@example.com');
    all.sandbox.control.decide(orderId, 'pass');
    const order = await all.until(orderId, ({ phase }) => phase === 'decided');
    expect(order).toMatchObject({ decision: 'pass', action: 'proceed', lastRead: { source: 'poll' } });
  });

  it('an order reported as fraud is polled until the analysts decide', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    const reply = await all.call('POST', `/v1/orders/${orderId}/report-fraud`, {
      reason: 'called by the bank',
    });
    expect(reply).toMatchObject({ status: 200, body: { status: 'done', action: 'proceed' } });
    all.sandbox.control.decide(orderId, 'fraudulent');
    const order = await all.until(orderId, ({ phase }) => phase === 'canceled');
    expect(order).toMatchObject({ decision: 'fraudulent', action: 'cancel' });
    expect(ledger('report-fraud', orderId)).toHaveLength(1);
  });
});

describe('the portal actions', () => {
  it('submit a chargeback once, whatever spelling it comes in', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    const first = await all.call('POST', `/v1/orders/${orderId}/chargebacks`, {
      reason_code: '10.4',
      due_date: '2030-01-31',
    });
    expect(first).toMatchObject({ status: 200, body: { status: 'done', code: '200' } });
    await all.call('POST', `/v1/orders/${orderId}/chargebacks`, {
      reasonCode: '10.4',
      dueDate: '2030-01-31',
    });
    expect(ledger('submit-chargeback', orderId)).toHaveLength(1);
  });

  it('tell a refusal in the service’s own words', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'fail@example.com');
    const refused = await all.call('POST', `/v1/orders/${orderId}/chargebacks`, {
      reason_code: '10.4',
      due_date: '2030-01-31',
    });
    expect(refused.status).toBe(502);
    expect(refused.body.type).toContain('refused-by-screening-service');
    expect(refused.body.detail).toMatch(/pass or fraudulent|status/i);
  });

  it('attach a customer code with the order’s e-mail', async () => {
    const orderId = anOrderId();
    await screen(orderId, `pass+${orderId}@example.com`);
    const reply = await all.call('POST', `/v1/orders/${orderId}/customer-code`, { customerCode: 'C-77' });
    expect(reply).toMatchObject({ status: 200, body: { status: 'done' } });
    const codes = all.sandbox.control.customerCodes();
    expect(codes).toContainEqual(expect.objectContaining({ email: `pass+${orderId}@example.com` }));
  });

  it('work on a closed order by a workflow of their own', async () => {
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
});

describe('an order that has ended while its events can’t be delivered', () => {
  it('takes portal actions all the same, once each, and its events arrive in order later', async () => {
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
    } finally {
      all.refuseEvents(false);
    }
    await eventually(() => {
      const types = all.events.filter((event) => event.orderId === orderId).map(({ type }) => type);
      expect(types).toEqual(['order.decided', 'order.closed']);
    });
  });
});

describe('a declined customer', () => {
  it('may try again with another card, as the next attempt', async () => {
    const orderId = anOrderId();
    const first = await screen(orderId, 'fail@example.com');
    expect(first.body).toMatchObject({ decision: 'fail', action: 'decline', message: expect.any(String) });
    const outOfTurn = await screen(orderId, 'pass@example.com', { attempt: 3 });
    expect(outOfTurn.status).toBe(409);
    const second = await screen(orderId, 'pass@example.com', { attempt: 2 });
    expect(second).toMatchObject({ status: 200, body: { attempt: 2, decision: 'pass', action: 'proceed' } });
    expect(second.body.transactionId).not.toBe(first.body.transactionId);
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
    all.sandbox.control.setFaults({
      faults: [
        { operation: 'create-transaction', kind: 'hang-after-commit', times: 1, match: { invoice: orderId } },
      ],
    });
    const begin = Date.now();
    const reply = await screen(orderId, 'pass@example.com', { integration: 'impatient' });
    expect(Date.now() - begin).toBeLessThan(2_500);
    expect(reply).toMatchObject({ status: 202, body: { decision: 'pending', action: 'proceed' } });
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
    const reply = await screen(orderId, 'pass@example.com', { integration: 'impatient' });
    expect(reply).toMatchObject({ status: 202, body: { decision: 'pending', action: 'proceed' } });
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

describe('the webhook receiver', () => {
  const hook = (secret: string, query: string) =>
    fetch(`${all.apiUrl}/v1/webhooks/default/${secret}?${query}`);

  it('refuses a wrong secret and takes a hint for an order that nobody knows', async () => {
    expect((await hook('wrong', 'invoiceNumber=1')).status).toBe(401);
    expect((await hook(WEBHOOK_SECRET, 'invoiceNumber=nobody-knows-it')).status).toBe(202);
  });

  it('does not believe a forged decision', async () => {
    const orderId = anOrderId();
    const { body } = await screen(orderId, 'pass@example.com');
    await hook(WEBHOOK_SECRET, `id=${body.transactionId}&decision=fraudulent&invoiceNumber=%23${orderId}`);
    const order = await all.until(orderId, ({ lastRead }) => lastRead.source === 'webhook');
    expect(order).toMatchObject({ decision: 'pass', action: 'proceed', phase: 'decided' });
  });
});

describe('the list of orders', () => {
  it('finds them by phase and decision', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'review@example.com');
    await eventually(async () => {
      const { body } = await all.call('GET', '/v1/orders?phase=review&decision=review&limit=100');
      expect(body.orders.map((order: { orderId: string }) => order.orderId)).toContain(orderId);
    });
  });
});
