/** The life of an order over HTTP, each part a process of its own. The last tests kill workers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { updateOf } from '../../../src/client/messages/send-update.ts';
import { overrideUpdate } from '../../../src/contract/messages.ts';
import type { OverrideAction } from '../../../src/contract/words.ts';
import { numberBeforeEvents } from '../../../src/order/record.ts';
import { listQuery } from '../../../src/server/api/request-schemas.ts';
import { eventually, withTestServer } from '../../support/index.ts';
import { anOrderId, WEBHOOK_SECRET, withDeployment } from '../support.ts';

const server = withTestServer();
// The sandbox sends its webhooks to the address of the integration `default` only.
const all = withDeployment(server, {
  default: { poll: { first: '30s', factor: 1, max: '30s' } },
  polled: { poll: { first: '200ms', factor: 1, max: '200ms' } },
  impatient: { checkoutBudget: '500ms', whenUnavailable: 'proceed' },
});

const eventTypes = (orderId: string) => all.eventsOf(orderId).map(({ type }) => type);

it('a checkout is answered by one workflow and one transaction, again for the same content, and refused with another', async () => {
  const orderId = anOrderId();
  const { status, body } = await all.screen(orderId);
  const decided = { orderId, attempt: 1, decision: 'pass', action: 'proceed', phase: 'decided' };
  expect([status, body]).toMatchObject([200, decided]);
  const description = await server.client.workflow.getHandle(`order:default:${orderId}`).describe();
  expect([description.type, description.status.name]).toEqual(['screenOrder', 'RUNNING']);
  expect(await all.screen(orderId)).toMatchObject({ status: 200, body });
  const mismatch = { status: 409, body: { type: '/problems/attempt-mismatch' } };
  expect(await all.screen(orderId, 'fail')).toMatchObject(mismatch);
  expect(all.sandbox.control.transactions(orderId)).toMatchObject([{ id: body.transactionId }]);
  expect(all.requests('create-transaction', orderId)).toHaveLength(1);
});

describe('a review', () => {
  it('is resolved within two seconds of the webhook, and the event follows', async () => {
    const orderId = await all.inReview();
    const decidedAt = Date.now();
    all.sandbox.control.decide(orderId, 'pass');
    const order = await all.until(orderId, ({ phase }) => phase === 'decided');
    expect(Date.now() - decidedAt).toBeLessThan(2_000);
    expect(order).toMatchObject({ decision: 'pass', action: 'proceed', lastRead: { source: 'webhook' } });
    await eventually(() => expect(eventTypes(orderId)).toEqual(['order.review_resolved']));
  });

  it('that fails is canceled with the service, once', async () => {
    const orderId = await all.inReview();
    all.sandbox.control.decide(orderId, 'fraudulent');
    const order = await all.until(orderId, ({ phase }) => phase === 'canceled');
    expect(order).toMatchObject({ decision: 'fraudulent', action: 'cancel' });
    expect(all.requests('cancel-transaction', orderId)).toHaveLength(1);
    await eventually(() => {
      const before = numberBeforeEvents(order);
      expect(all.eventsOf(orderId).map(({ sequence }) => sequence - before)).toEqual([1, 2, 3]);
      expect(eventTypes(orderId).at(-1)).toBe('order.closed');
    });
  });

  it('of a different integration is resolved by the webhook of its transaction', async () => {
    const orderId = await all.inReview('impatient');
    all.sandbox.control.decide(orderId, 'pass');
    const order = await all.until(orderId, ({ phase }) => phase === 'decided', 'impatient');
    expect(order).toMatchObject({ decision: 'pass', lastRead: { source: 'webhook' } });
  });

  it('is resolved by polling without webhooks', async () => {
    all.sandbox.control.setWebhooks({ enabled: false });
    onTestFinished(() => all.sandbox.control.setWebhooks({ enabled: true }));
    const integration = 'polled';
    const orderId = await all.inReview(integration);
    all.sandbox.control.decide(orderId, 'pass');
    const order = await all.until(orderId, ({ phase }) => phase === 'decided', integration);
    expect(order).toMatchObject({ decision: 'pass', action: 'proceed', lastRead: { source: 'poll' } });
  });
});

it('a webhook with a forged decision is a hint to read it, and is not believed', async () => {
  const orderId = anOrderId();
  const { body } = await all.screen(orderId);
  const forged = new URLSearchParams({ id: body.transactionId, decision: 'fraudulent' });
  await fetch(`${all.apiUrl}/v1/webhooks/default/${WEBHOOK_SECRET}?${forged}&invoiceNumber=%23${orderId}`);
  const order = await all.until(orderId, ({ lastRead }) => lastRead?.source === 'webhook');
  expect(order).toMatchObject({ decision: 'pass', action: 'proceed', phase: 'decided' });
});

it('a list has an order by each filter, and not by one that it misses', async () => {
  const orderId = anOrderId();
  const { body: order } = await all.screen(orderId, 'review');
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
    const reply = await all.screen(orderId, 'pass', { integration: 'impatient' });
    expect(Date.now() - begin).toBeLessThan(2_500);
    expect(reply).toMatchObject({ status: 202, body: { decision: 'pending', action: 'proceed' } });
    all.sandbox.control.clearFaults();
    const order = await all.until(orderId, ({ phase }) => phase === 'decided', 'impatient');
    expect(order).toMatchObject({ decision: 'pass', action: 'proceed' });
    expect(all.sandbox.control.transactions(orderId)).toHaveLength(1);
    await eventually(() => expect(eventTypes(orderId)).toContain('order.decided'));
  });

  it('no worker is there: the API answers pending by policy, and the next worker takes that as given', async () => {
    await all.killWorker();
    // The server may still hand an order to the poll of the killed worker. That order gets a 503 until it is taken again.
    const orderId = await eventually(async () => {
      const id = anOrderId();
      const reply = await all.screen(id, 'pass', { integration: 'impatient' });
      expect(reply).toMatchObject({ status: 202, body: { decision: 'pending', action: 'proceed' } });
      return id;
    });
    expect(all.requests('create-transaction', orderId)).toHaveLength(0);
    const other = await all.screen(orderId, 'review', { integration: 'impatient' });
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
    const orderId = await all.inReview();
    await all.killWorker();
    all.sandbox.control.decide(orderId, 'pass');
    const now = { decision: 'pass', order: { integration: 'default', orderId } };
    await eventually(async () =>
      expect((await all.call('GET', `/v1/transactions/${orderId}`)).body).toMatchObject(now),
    );
    await all.startWorker();
    const order = await all.until(orderId, ({ phase }) => phase === 'decided');
    expect(order).toMatchObject({ decision: 'pass', action: 'proceed' });
    expect(all.requests('create-transaction', orderId)).toHaveLength(1);
  });

  it('has two people who act meanwhile each told what their own action did', async () => {
    const orderId = await all.inReview();
    const order = server.client.workflow.getHandle(`order:default:${orderId}`);
    await all.killWorker();
    const act = (action: OverrideAction) =>
      order.executeUpdate(overrideUpdate, updateOf(overrideUpdate, { action, reason: 'seen' }));
    // The next worker gets both in one task.
    const approved = act('proceed');
    await sleep(500);
    const canceled = act('cancel');
    await sleep(500);
    await all.startWorker();
    const told = await Promise.all([approved, canceled]);
    expect(told).toMatchObject([{ action: 'proceed' }, { action: 'cancel' }]);
  });

  it('has the portal action that it was at taken up within seconds', { timeout: 60_000 }, async () => {
    const orderId = anOrderId();
    await all.screen(orderId);
    const calls = () => all.requests('cancel-transaction', orderId);
    const hangs = { operation: 'cancel-transaction', kind: 'hang-before-commit', times: 1 } as const;
    all.sandbox.control.setFaults({ faults: [{ ...hangs, match: { invoice: orderId } }] });
    const canceled = all.call('POST', `/v1/orders/${orderId}/cancel`, {});
    await eventually(() => expect(calls()).toHaveLength(1));
    await all.killWorker();
    const killedAt = Date.now();
    await all.startWorker();
    await canceled;
    await eventually(() => expect(calls()).toHaveLength(2), { timeoutMs: 40_000 });
    // Without heartbeats the server would wait for the call's 45 s.
    expect(Date.now() - killedAt).toBeLessThan(30_000);
    await all.until(orderId, ({ phase }) => phase === 'canceled');
  });
});
