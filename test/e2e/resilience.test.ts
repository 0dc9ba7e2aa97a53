/** An outage of the screening service, a worker that is killed, and an operator's reset of the workflow. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { LedgerOperation } from '../../src/sandbox/model.ts';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { anOrderId, type Deployment, deploy, type OrderReply } from './support.ts';

const server = withTestServer();
let all: Deployment;

beforeAll(async () => {
  all = await deploy(server.address, {
    default: { poll: { first: '30s', factor: 1, max: '30s' } },
    // Has a circuit breaker of its own.
    'out-of-order': {},
    'numbered-attempts': { invoicePerAttempt: true, poll: { first: '30s', factor: 1, max: '30s' } },
  });
});
afterEach(() => void all?.sandbox.control.clearFaults());
afterAll(() => all?.stop());

const screen = (orderId: string, email = 'pass@example.com', more: object = {}) =>
  all.call('POST', `/v1/orders/${orderId}/screening`, { transaction: withEmail(email), ...more });

const requests = (orderId: string, operation: LedgerOperation) =>
  all.sandbox.control.ledger({ operation, invoice: orderId });

const handleOf = (orderId: string, integration = 'default') =>
  server.client.workflow.getHandle(`order:${integration}:${orderId}`);

const anyNumber = (count: number) => Array.from({ length: count }, anOrderId);

describe('an outage of the screening service', () => {
  const integration = 'out-of-order';
  const BUDGET_MS = 7_000;
  /** The circuit breaker opens after so many failures in a row. */
  const FAILURES = 5;

  /** How long the checkout of a new order took, and what it was answered. */
  const timed = async (orderId: string) => {
    const begin = Date.now();
    const { status, body } = await screen(orderId, 'pass@example.com', { integration });
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
    for (const { status, body, tookMs } of first) {
      // A worker that is slow on top of it leaves the outcome open.
      if (status !== 503) expect([status, body.decision, body.action]).toEqual([202, 'pending', 'hold']);
      expect(tookMs).toBeGreaterThan(BUDGET_MS / 2);
    }

    const spared: Awaited<ReturnType<typeof timed>>[] = [];
    for (let batch = 0; batch < 8; batch += 1) spared.push(...(await Promise.all(anyNumber(5).map(timed))));
    for (const { status, body } of spared)
      expect([status, body.decision, body.action]).toEqual([202, 'pending', 'hold']);
    // Now and then one is let through to see.
    expect(spared.filter(({ body }) => body.reason === 'service-down').length).toBeGreaterThan(30);
    expect(Math.min(...spared.map(({ tookMs }) => tookMs))).toBeLessThan(BUDGET_MS / 3);
    const asked = ({ orderId }: { orderId: string }) =>
      [...requests(orderId, 'create-transaction'), ...requests(orderId, 'status-by-invoice')].length;
    await eventually(() => spared.every((order) => asked(order) > 0), { timeoutMs: 60_000 });

    control.clearFaults();
    await eventually(async () => expect((await timed(anOrderId())).status).toBe(200), {
      timeoutMs: 30_000,
      intervalMs: 500,
    });
    const waited = [...first, ...spared].map(({ orderId }) => orderId);
    await eventually(() => waited.every((orderId) => control.transactions(orderId).length > 0), {
      timeoutMs: 90_000,
      intervalMs: 250,
    });
    for (const orderId of waited) {
      await all.until(
        orderId,
        ({ decision, action }) => decision === 'pass' && action === 'proceed',
        integration,
      );
      expect(control.transactions(orderId)).toHaveLength(1);
    }
    // Their tries are apart by pauses that double: none asks all the time.
    for (const order of [...first, ...spared]) expect(asked(order)).toBeLessThanOrEqual(12);
  }, 240_000);
});

describe('a worker that is killed in a catch-up’s create', () => {
  const CANCEL_WINDOW_MS = 120 * 3_600_000;
  /** The create before it was sent ten seconds earlier at least. */
  const AT_MOST_EARLIER_MS = 5_000;

  it('leaves one transaction, whose cancel window counts from that create', async () => {
    const orderId = anOrderId();
    const { control } = all.sandbox;
    const create = { operation: 'create-transaction', times: 1, match: { invoice: orderId } } as const;
    control.setFaults({
      faults: [
        { ...create, kind: '5xx-before-commit' },
        { ...create, kind: 'hang-after-commit' },
      ],
    });
    expect((await screen(orderId)).body).toMatchObject({ decision: 'pending', action: 'hold' });
    await eventually(() => control.transactions(orderId).length === 1, { timeoutMs: 40_000 });
    all.worker().kill('SIGKILL');
    await all.worker().ended;
    await all.startWorker();

    const order = await eventually(
      async () => {
        const { body } = await all.call('GET', `/v1/orders/${orderId}`);
        expect(body).toMatchObject({ decision: 'pass', action: 'proceed' });
        return body;
      },
      { timeoutMs: 60_000 },
    );
    expect(requests(orderId, 'create-transaction')).toHaveLength(2);
    const made = control.transactions(orderId);
    expect(made).toHaveLength(1);
    expect(order.transactions).toMatchObject([{ id: made[0]?.id, found: 'lookup', decision: 'pass' }]);
    const begins = Date.parse(order.transactions[0].cancelBy) - CANCEL_WINDOW_MS;
    const earlierMs = Date.parse(made[0]?.createdAt ?? '') - begins;
    expect(earlierMs).toBeGreaterThanOrEqual(0);
    expect(earlierMs).toBeLessThan(AT_MOST_EARLIER_MS);
  }, 120_000);
});

describe('an operator’s reset', () => {
  /** Resets the order's workflow to the end of one of its tasks, and waits until the new run has caught up. */
  async function reset(
    orderId: string,
    which: 'first' | 'second' | 'last',
    integration = 'default',
  ): Promise<void> {
    const handle = handleOf(orderId, integration);
    const { runId } = await handle.describe();
    const completed = ((await handle.fetchHistory()).events ?? []).filter(
      ({ workflowTaskCompletedEventAttributes: attributes }) => attributes != null,
    );
    const event = completed.at({ first: 0, second: 1, last: -1 }[which]);
    const answer = await server.client.workflowService.resetWorkflowExecution({
      namespace: server.namespace,
      workflowExecution: { workflowId: handle.workflowId, runId },
      reason: 'reset by the test',
      requestId: randomUUID(),
      workflowTaskFinishEventId: event?.eventId ?? null,
    });
    expect(answer.runId).not.toBe(runId);
  }

  const creates = (orderId: string) =>
    requests(orderId, 'create-transaction').filter(({ committed }) => committed);
  const cancels = (orderId: string) => requests(orderId, 'cancel-transaction');
  const settled = (orderId: string, wanted: OrderReply, integration?: string) =>
    all.until(
      orderId,
      (order) => Object.entries(wanted).every(([key, value]) => order[key] === value),
      integration,
    );

  it.each(['first', 'last'] as const)(
    'to the %s task leaves a review that is resolved afterwards',
    async (which) => {
      const orderId = anOrderId();
      await screen(orderId, 'review@example.com');
      await settled(orderId, { phase: 'review' });
      await reset(orderId, which);
      await settled(orderId, { phase: 'review', action: 'hold' });
      all.sandbox.control.decide(orderId, 'fraudulent');
      await settled(orderId, { phase: 'canceled', decision: 'fraudulent', action: 'cancel' });
      expect(creates(orderId)).toHaveLength(1);
      expect(cancels(orderId)).toHaveLength(1);
    },
  );

  it.each(['first', 'second'] as const)(
    'to the %s task leaves an order that was declined and tried again',
    async (which) => {
      const orderId = anOrderId();
      const integration = 'numbered-attempts';
      expect((await screen(orderId, 'fail@example.com', { integration })).body.action).toBe('decline');
      const second = await screen(orderId, 'pass@example.com', { integration, attempt: 2 });
      expect(second.body).toMatchObject({ attempt: 2, decision: 'pass' });
      await reset(orderId, which, integration);
      await settled(orderId, { phase: 'decided', decision: 'pass', action: 'proceed' }, integration);
      expect(creates(orderId)).toHaveLength(1);
      expect(creates(`${orderId}~2`)).toHaveLength(1);
    },
  );

  it('to the second task sends no second chargeback, and a person is told', async () => {
    const orderId = anOrderId();
    await screen(orderId);
    const chargeback = { reason_code: '10.4', due_date: '2030-01-31' };
    const { body } = await all.call('POST', `/v1/orders/${orderId}/chargebacks`, chargeback);
    expect(body.status).toBe('done');
    await reset(orderId, 'second');
    await all.until(orderId, ({ attention }) => attention.length > 0);
    expect(requests(orderId, 'submit-chargeback')).toHaveLength(1);
  });

  it('to the last task sends no second cancel', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'review@example.com');
    all.sandbox.control.decide(orderId, 'fraudulent');
    await settled(orderId, { phase: 'canceled' });
    await reset(orderId, 'last');
    await settled(orderId, { phase: 'canceled', action: 'cancel' });
    expect(creates(orderId)).toHaveLength(1);
    expect(cancels(orderId)).toHaveLength(1);
  });
});
