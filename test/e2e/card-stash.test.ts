import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { aPreGatewayTransaction, TEST_CARD, withEmail } from '../fixtures/transactions.ts';
import { eventually, freePort, withTestServer } from '../support/index.ts';
import { needRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { anOrderId, type Deployment, deploy } from './support.ts';

const server = withTestServer();
const password = 'password-of-the-redis';
let redis: RedisServer;
let all: Deployment;
/** Of the worker. */
let metricsPort: number;

beforeAll(async () => {
  await needRedis();
  redis = await startRedis({ password });
  metricsPort = await freePort();
  const keys = `e2e:${randomBytes(32).toString('base64')}`;
  const short = { checkoutBudget: '3s', whenUnavailable: 'hold' };
  all = await deploy(
    server.address,
    { default: short, hasty: { ...short, screeningDeadline: '5s' } },
    {
      webhooks: false,
      env: { CARD_STASH_URL: redis.url, CARD_STASH_KEYS: keys, METRICS_PORT: String(metricsPort) },
    },
  );
}, 120_000);
afterEach(async () => {
  redis.thaw();
  if (!redis.running()) await redis.start();
});
afterAll(async () => {
  await all?.stop();
  await redis?.stop();
});

/** Longer than the API may take to say anything: a checkout's budget and 2 s, on a machine that does other things. */
const SOON_MS = 7_000;

async function soon<T>(answer: Promise<T>): Promise<T> {
  const begin = Date.now();
  const given = await answer;
  expect(Date.now() - begin).toBeLessThan(SOON_MS);
  return given;
}

const preGateway = (orderId: string, email = 'pass@example.com') =>
  soon(
    all.call('POST', `/v1/orders/${orderId}/screening`, {
      workflow: 'pre-gateway',
      transaction: withEmail(email, aPreGatewayTransaction()),
    }),
  );
const withoutCard = (orderId: string) =>
  soon(all.call('POST', `/v1/orders/${orderId}/screening`, { transaction: withEmail('pass@example.com') }));
const creates = (invoice: string) => all.sandbox.control.ledger({ operation: 'create-transaction', invoice });

/** Starts an order with its card in the stash, as a caller does who uses Temporal, after something happened to Redis. */
async function startWithCardRef(orderId: string, integration: string, meanwhile: () => void | Promise<void>) {
  const { cardRef } = (await all.call('POST', '/v1/card-refs', { integration, orderId, ...TEST_CARD })).body;
  await meanwhile();
  const { payment: _payment, ...order } = aPreGatewayTransaction();
  const transaction = { ...order, payment: { creditCard: { cardType: 'Visa', last4: '1111' } } };
  await server.client.workflow.start('screenOrder', {
    taskQueue: 'order-screening',
    workflowId: `order:${integration}:${orderId}`,
    args: [{ orderId, integration, workflow: 'pre-gateway', transaction, cardRef }],
  });
}

describe('a pre-gateway order, with Redis, API and worker each a process of its own', () => {
  it('goes from its checkout to the gateway result, and leaves no card behind', async () => {
    const orderId = anOrderId();
    const reply = await preGateway(orderId);
    expect(reply).toMatchObject({ status: 200, body: { decision: 'pass', action: 'proceed' } });
    expect(creates(orderId)).toHaveLength(1);
    const [transaction] = all.sandbox.control.transactions(orderId);
    expect(transaction).toMatchObject({ id: reply.body.transactionId });
    const result = await all.call('POST', `/v1/orders/${orderId}/gateway-result`, {
      result: 'pass',
      authcode: 'A1B2C3',
    });
    expect(result).toMatchObject({ status: 200, body: { action: 'proceed' } });
    await all.until(orderId, ({ phase }) => phase === 'decided');
    await redis.until(async (client) => expect(await client.keys('card:*')).toEqual([]));
    for (let repeat = 0; repeat < 5; repeat += 1) {
      expect((await preGateway(orderId)).body.transactionId).toBe(reply.body.transactionId);
    }
    await redis.until(async (client) => expect(await client.keys('card:*')).toEqual([]));
    const handle = server.client.workflow.getHandle(`order:default:${orderId}`);
    const { searchAttributes, memo, raw } = await handle.describe();
    const shown = JSON.stringify([searchAttributes, memo, raw.executionConfig?.userMetadata]);
    expectNothingPersonal(shown);
    for (const url of [`${all.apiUrl}/metrics`, `http://127.0.0.1:${metricsPort}/metrics`]) {
      const metrics = await (await fetch(url)).text();
      expect(metrics).toContain('_count');
      expect(metrics).not.toContain(orderId);
      expectNothingPersonal(metrics);
    }
    const history = await handle.fetchHistory();
    expectNoCard(JSON.stringify(history));
    expectNoCard(all.output());
  });
});

describe('while Redis is down', () => {
  it('an order without card data goes on as always', async () => {
    await redis.stop();
    const orderId = anOrderId();
    expect(await withoutCard(orderId)).toMatchObject({ status: 200, body: { decision: 'pass' } });
  });

  it.each([
    ['refuses', () => redis.stop()],
    ['is silent', async () => redis.freeze()],
  ])(
    'a pre-gateway order is told so at once when it %s, starts nothing, and can be sent again',
    async (_case, fail) => {
      await fail();
      const orderId = anOrderId();
      const refused = await preGateway(orderId);
      expect(refused).toMatchObject({ status: 503, body: { type: '/problems/card-stash-unavailable' } });
      expect(refused.headers.get('retry-after')).toBe('2');
      expect((await all.call('GET', `/v1/orders/${orderId}`)).status).toBe(404);
      expect(creates(orderId)).toEqual([]);
      redis.thaw();
      if (!redis.running()) await redis.start();
      expect(await preGateway(orderId)).toMatchObject({ status: 200, body: { decision: 'pass' } });
      expect(creates(orderId)).toHaveLength(1);
    },
  );

  it('an order whose card is out of reach is screened when Redis answers again', async () => {
    const orderId = anOrderId();
    await startWithCardRef(orderId, 'default', () => redis.freeze());
    const waiting = await all.until(orderId, ({ attempts }) => attempts[0]?.answer?.decision === 'pending');
    expect(waiting).toMatchObject({ phase: 'screening', action: 'hold', reason: 'card-stash' });
    await eventually(() => expect(all.output()).toContain('"reason":"unreachable"'));
    redis.thaw();
    const order = await all.until(orderId, ({ decision }) => decision !== 'pending');
    expect(order).toMatchObject({ decision: 'pass', action: 'proceed' });
    expect(creates(orderId)).toHaveLength(1);
  });

  it('an order whose card was lost with a restart ends with a clear reason', async () => {
    const orderId = anOrderId();
    await startWithCardRef(orderId, 'default', async () => {
      await redis.stop();
      await redis.start();
    });
    const order = await all.until(orderId, ({ decision }) => decision === 'error');
    expect(order).toMatchObject({ phase: 'decided', action: 'hold', reason: 'card-data-expired' });
    expect(creates(orderId)).toEqual([]);
  });

  it('an order whose card stays out of reach ends at its screening deadline', async () => {
    const orderId = anOrderId();
    await startWithCardRef(orderId, 'hasty', () => redis.stop());
    const order = await all.until(orderId, ({ phase }) => phase === 'decided', 'hasty');
    expect(order).toMatchObject({ decision: 'error', action: 'hold' });
    expect(order.attention).not.toEqual([]);
    expect(creates(orderId)).toEqual([]);
  });
});

it('every line that worker and API wrote is one of the log, without card, password or address of a person', () => {
  const lines = all
    .output()
    .split('\n')
    .filter((line) => line !== '');
  expect(lines.length).toBeGreaterThan(10);
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ msg: expect.any(String) });
  expectNoCard(all.output());
  expectNothingPersonal(all.output());
  expect(all.output()).not.toMatch(/password-of-the-redis|redis:\/\//);
});

/** What the fixtures say of a customer. */
const PERSONAL = ['@example.com', '203.0.113.7', '555 0100', 'Main Street', 'Walking boots'];

function expectNothingPersonal(text: string): void {
  for (const value of [...PERSONAL, TEST_CARD.cardNumber]) expect(text).not.toContain(value);
}

function expectNoCard(text: string): void {
  expect(text).not.toContain(TEST_CARD.cardNumber);
  // History holds payloads in base64, at any of its three places.
  for (const shift of [0, 1, 2]) {
    const encoded = Buffer.from(`${' '.repeat(shift)}${TEST_CARD.cardNumber}`).toString('base64');
    expect(text).not.toContain(encoded.slice(shift === 0 ? 0 : shift + 1, -4));
  }
}
