/** An outage of the screening service, and an operator's reset of the workflow. */
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually, withTestServer } from '../../support/index.ts';
import { anOrderId, type OrderReply, withDeployment } from '../support.ts';

const server = withTestServer();
const all = withDeployment(server, {
  default: { poll: { first: '30s', factor: 1, max: '30s' } },
  // Has a circuit breaker of its own.
  'out-of-order': {},
});
afterEach(() => void all.sandbox.control.clearFaults());

const anyNumber = (count: number) => Array.from({ length: count }, anOrderId);

describe('an outage of the screening service', () => {
  const integration = 'out-of-order';
  const BUDGET_MS = 7_000;
  /** The circuit breaker opens after so many failures in a row. */
  const FAILURES = 5;

  /** How long the checkout of a new order took, and what it was answered. */
  const timed = async (orderId: string) => {
    const begin = Date.now();
    const { status, body } = await all.screen(orderId, 'pass', { integration });
    return { orderId, status, body, tookMs: Date.now() - begin };
  };

  it('costs checkouts next to nothing, and all that waited is screened once when it is over', async () => {
    const { control } = all.sandbox;
    control.setFaults({
      faults: [
        { operation: 'create-transaction', kind: 'hang-before-commit', times: FAILURES },
        { operation: 'create-transaction', kind: '5xx-before-commit' },
        { operation: 'status-by-invoice', kind: '5xx-before-commit' },
      ],
    });
    const first = await Promise.all(anyNumber(FAILURES).map(timed));
    const waits = { status: 202, body: { decision: 'pending', action: 'hold' } };
    // A machine that is slow on top of it leaves the outcome open, until the same request is sent again.
    const answeredIn = (orders: typeof first) => orders.filter(({ status }) => status !== 503);
    for (const one of answeredIn(first)) expect(one).toMatchObject(waits);
    for (const { tookMs } of first) expect(tookMs).toBeGreaterThan(BUDGET_MS / 2);

    const spared: typeof first = [];
    for (let batch = 0; batch < 8; batch += 1) spared.push(...(await Promise.all(anyNumber(5).map(timed))));
    for (const one of answeredIn(spared)) expect(one).toMatchObject(waits);
    // Now and then one is let through to see.
    expect(spared.filter(({ body }) => body.reason === 'service-down').length).toBeGreaterThan(30);
    expect(Math.min(...spared.map(({ tookMs }) => tookMs))).toBeLessThan(BUDGET_MS / 3);
    const asked = ({ orderId }: { orderId: string }) =>
      [...all.requests('create-transaction', orderId), ...all.requests('status-by-invoice', orderId)].length;
    await eventually(() => answeredIn(spared).every((order) => asked(order) > 0), { timeoutMs: 60_000 });

    control.clearFaults();
    await eventually(async () => expect((await timed(anOrderId())).status).toBe(200), {
      timeoutMs: 30_000,
      intervalMs: 500,
    });
    const waited = answeredIn([...first, ...spared]).map(({ orderId }) => orderId);
    await eventually(() => waited.every((orderId) => control.transactions(orderId).length > 0), {
      timeoutMs: 90_000,
      intervalMs: 250,
    });
    for (const orderId of waited) {
      await all.until(orderId, ({ action }) => action === 'proceed', integration);
      expect(control.transactions(orderId)).toHaveLength(1);
    }
    for (const order of [...first, ...spared]) {
      expect(control.transactions(order.orderId).length).toBeLessThanOrEqual(1);
      // Their tries are apart by pauses that double: none asks all the time.
      expect(asked(order)).toBeLessThanOrEqual(12);
    }
  }, 240_000);
});

describe('an operator’s reset', () => {
  /** Resets the order's workflow to the end of one of its tasks. */
  async function reset(orderId: string, which: 'first' | 'second' | 'last') {
    const handle = server.client.workflow.getHandle(`order:default:${orderId}`);
    const { runId } = await handle.describe();
    const completed = ((await handle.fetchHistory()).events ?? []).filter(
      ({ workflowTaskCompletedEventAttributes: attributes }) => attributes != null,
    );
    const event = completed.at({ first: 0, second: 1, last: -1 }[which]);
    await server.client.workflowService.resetWorkflowExecution({
      namespace: server.namespace,
      workflowExecution: { workflowId: handle.workflowId, runId },
      reason: 'reset by the test',
      requestId: randomUUID(),
      workflowTaskFinishEventId: event?.eventId ?? null,
    });
  }

  const creates = (orderId: string) =>
    all.requests('create-transaction', orderId).filter(({ committed }) => committed);
  const settled = (orderId: string, wanted: OrderReply) =>
    all.until(orderId, (order) => Object.entries(wanted).every(([key, value]) => order[key] === value));

  it.each(['first', 'last'] as const)(
    'to the %s task leaves a review that is resolved afterwards, and sends no second cancel',
    async (which) => {
      const orderId = await all.inReview();
      await reset(orderId, which);
      await settled(orderId, { phase: 'review', action: 'hold' });
      all.sandbox.control.decide(orderId, 'fraudulent');
      const canceled = { phase: 'canceled', decision: 'fraudulent', action: 'cancel' };
      await settled(orderId, canceled);
      await reset(orderId, 'last');
      await settled(orderId, canceled);
      expect(creates(orderId)).toHaveLength(1);
      expect(all.requests('cancel-transaction', orderId)).toHaveLength(1);
    },
  );

  it('to the second task sends no second chargeback, and a person is told', async () => {
    const orderId = anOrderId();
    await all.screen(orderId);
    const chargeback = { reason_code: '10.4', due_date: '2030-01-31' };
    const { body } = await all.call('POST', `/v1/orders/${orderId}/chargebacks`, chargeback);
    expect(body.status).toBe('done');
    await reset(orderId, 'second');
    await all.until(orderId, ({ attention }) => attention.length > 0);
    expect(all.requests('submit-chargeback', orderId)).toHaveLength(1);
  });
});
