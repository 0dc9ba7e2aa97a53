/** Orders that are adopted over HTTP, each from a transaction that somebody else has screened. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { ago, screenedByPlugin } from './plugin.ts';
import { anOrderId, type Deployment, deploy } from './support.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const server = withTestServer();
let all: Deployment;

beforeAll(async () => {
  all = await deploy(server.address, {
    // The sandbox sends its webhooks for this one only.
    default: { poll: { first: '30s', factor: 1, max: '30s' } },
    polled: { poll: { first: '200ms', factor: 1, max: '200ms' }, onUnresolvedReview: 'cancel' },
  });
});
afterAll(() => all?.stop());

const adopt = (orderId: string, transactionId: string, more: object = {}) =>
  all.call('POST', `/v1/orders/${orderId}/adopt`, { transactionId, screenedAt: ago(HOUR), ...more });
const creates = (invoice: string) => all.sandbox.control.ledger({ operation: 'create-transaction', invoice });
const cancels = (invoice: string) => all.sandbox.control.ledger({ operation: 'cancel-transaction', invoice });
const said = ({ status, body }: Awaited<ReturnType<typeof adopt>>) => `${status} ${body.type ?? 'fine'}`;

describe('a review that is adopted', () => {
  it('is resolved by its webhook', async () => {
    const orderId = anOrderId();
    const transactionId = await screenedByPlugin(all, orderId);
    const screenedAt = ago(DAY);
    const adopted = await adopt(orderId, transactionId, { screenedAt, amount: '12.50' });
    expect(adopted).toMatchObject({
      status: 200,
      body: { orderId, transactionId, decision: 'review', action: 'hold', phase: 'review' },
    });
    expect(Date.parse(adopted.body.cancelBy) - Date.parse(screenedAt)).toBe(5 * DAY);
    all.sandbox.control.decide(orderId, 'pass');
    const order = await all.until(orderId, ({ phase }) => phase === 'decided');
    expect(order).toMatchObject({ decision: 'pass', action: 'proceed', lastRead: { source: 'webhook' } });
    // One by the plugin, none by us.
    expect(creates(orderId)).toHaveLength(1);
    await eventually(() => {
      const types = all.events.filter((event) => event.orderId === orderId).map(({ type }) => type);
      expect(types).toEqual(['order.decided', 'order.review_resolved']);
    });
  });

  it('is resolved by the poll, and canceled when it fails', async () => {
    const [orderId, integration] = [anOrderId(), 'polled'];
    const transactionId = await screenedByPlugin(all, orderId);
    expect((await adopt(orderId, transactionId, { integration })).status).toBe(200);
    all.sandbox.control.decide(orderId, 'fail');
    const order = await all.until(orderId, ({ phase }) => phase === 'canceled', integration);
    expect(order).toMatchObject({ decision: 'fail', action: 'cancel' });
    expect(cancels(orderId)).toHaveLength(1);
  });

  it('gets the same answer again, also when it is over', async () => {
    const orderId = anOrderId();
    const transactionId = await screenedByPlugin(all, orderId);
    const first = await adopt(orderId, transactionId);
    expect(await adopt(orderId, transactionId.toUpperCase())).toMatchObject({
      status: 200,
      body: first.body,
    });
    await all.call('POST', `/v1/orders/${orderId}/cancel`, {});
    await server.client.workflow.getHandle(`order:default:${orderId}`).result();
    expect(await adopt(orderId, transactionId)).toMatchObject({ status: 200, body: first.body });
    const other = await screenedByPlugin(all, anOrderId());
    expect(said(await adopt(orderId, other))).toBe('409 /problems/order-exists');
  });
});

it('what had failed, and a review that was due, are left to a person', async () => {
  const [failed, due, integration] = [anOrderId(), anOrderId(), 'polled'];
  const body = { integration, screenedAt: ago(5 * DAY - HOUR) };
  const answer = await adopt(failed, await screenedByPlugin(all, failed, 'fail'), body);
  expect(answer.body).toMatchObject({ decision: 'fail', action: 'hold', phase: 'decided' });
  await adopt(due, await screenedByPlugin(all, due), body);
  const attention = async (orderId: string, code: string) => {
    const order = await all.until(orderId, (one) => one.attention.length > 0, integration);
    expect(order).toMatchObject({ attention: [{ code }], action: 'hold', actions: [] });
  };
  await attention(failed, 'failed-at-adoption');
  await attention(due, 'review-unresolved');
  expect([...cancels(failed), ...cancels(due)]).toEqual([]);
});

it('a pre-gateway order is adopted with its gateway’s result, which is not sent again', async () => {
  const orderId = anOrderId();
  const transactionId = await screenedByPlugin(all, orderId);
  const body = { workflow: 'pre-gateway' };
  expect(await adopt(orderId, transactionId, body)).toMatchObject({
    status: 422,
    body: { errors: [{ path: 'gatewayResult' }] },
  });
  const { body: answer } = await adopt(orderId, transactionId, { ...body, gatewayResult: 'pass' });
  expect(answer).toMatchObject({ decision: 'review', action: 'hold', phase: 'review' });
  expect(all.sandbox.control.ledger({ operation: 'gateway-response', invoice: orderId })).toEqual([]);
});

describe('nothing is started', () => {
  it('by a transaction that the service does not know, and the right one may follow', async () => {
    const orderId = anOrderId();
    expect(said(await adopt(orderId, randomUUID()))).toBe('404 /problems/unknown-transaction');
    expect(said(await all.call('GET', `/v1/orders/${orderId}`))).toBe('404 /problems/unknown-order');
    expect(said(await all.call('POST', `/v1/orders/${orderId}/cancel`, {}))).toBe(
      '404 /problems/unknown-order',
    );
    const transactionId = await screenedByPlugin(all, orderId);
    expect(said(await adopt(orderId, transactionId))).toBe('200 fine');
  });

  it('by one that it does not know, and the order may be screened', async () => {
    const orderId = anOrderId();
    await adopt(orderId, randomUUID());
    const body = { transaction: withEmail('pass@example.com') };
    const screened = await all.call('POST', `/v1/orders/${orderId}/screening`, body);
    expect(screened).toMatchObject({ status: 200, body: { decision: 'pass' } });
    expect(creates(orderId)).toHaveLength(1);
  });

  it('by one whose decision is error', async () => {
    const orderId = anOrderId();
    const transactionId = await screenedByPlugin(all, orderId, 'error');
    expect(said(await adopt(orderId, transactionId))).toBe('409 /problems/transaction-without-decision');
  });

  it('while the service doesn’t answer', async () => {
    const orderId = anOrderId();
    const transactionId = await screenedByPlugin(all, orderId);
    all.sandbox.control.setFaults({
      faults: [
        { operation: 'status-by-url', kind: '5xx-before-commit', times: 1, match: { invoice: orderId } },
      ],
    });
    expect(said(await adopt(orderId, transactionId))).toBe('503 /problems/screening-service-unavailable');
    expect(said(await adopt(orderId, transactionId))).toBe('200 fine');
  });

  it('by another order’s transaction', async () => {
    const [orderId, other] = [anOrderId(), anOrderId()];
    const transactionId = await screenedByPlugin(all, orderId);
    await adopt(orderId, transactionId);
    await eventually(async () => {
      // The first tries may find nothing yet, and are refused by the invoice number.
      const answer = await adopt(other, transactionId);
      expect(said(answer)).toBe('409 /problems/transaction-taken');
      expect(answer.body.detail).toContain(orderId);
    });
  });

  it('for an order that has another transaction', async () => {
    const orderId = anOrderId();
    await all.call('POST', `/v1/orders/${orderId}/screening`, { transaction: withEmail('pass@example.com') });
    const other = await screenedByPlugin(all, anOrderId());
    expect(said(await adopt(orderId, other))).toBe('409 /problems/order-exists');
  });

  it('where the invoice number leads to another transaction, without force', async () => {
    const orderId = anOrderId();
    await screenedByPlugin(all, orderId, 'pass');
    const second = await screenedByPlugin(all, orderId);
    expect(said(await adopt(orderId, second))).toBe('409 /problems/invoice-mismatch');
    expect(await adopt(orderId, second, { force: true })).toMatchObject({
      status: 200,
      body: { transactionId: second, decision: 'review' },
    });
  });

  it.each([
    ['screenedAt', { screenedAt: '2030-01-31T12:00:00' }],
    ['screenedAt', { screenedAt: ago(-HOUR) }],
    ['screenedAt', { screenedAt: ago(31 * DAY) }],
    ['transactionId', { transactionId: '4711' }],
    ['gatewayResult', { gatewayResult: 'pass' }],
    ['amount', { amount: '1e3' }],
    ['orderId', { orderId: 'another' }],
  ])('by a fault in %s: %j', async (path, body) => {
    const answer = await adopt(anOrderId(), randomUUID(), body);
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ path }] } });
  });
});
