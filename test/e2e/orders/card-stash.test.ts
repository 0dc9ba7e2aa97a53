import { afterEach, describe, expect, it } from 'vitest';
import { aPreGatewayTransaction, TEST_CARD } from '../../fixtures/transactions.ts';
import { eventually, withTestServer } from '../../support/index.ts';
import { stashIn, withRedis } from '../../support/servers/redis-server.ts';
import { startRaw } from '../operator.ts';
import { anOrderId, withDeployment } from '../support.ts';

const server = withTestServer();
const password = 'password-of-the-redis';
const redis = withRedis({ password });
const all = withDeployment(
  server,
  { default: { checkoutBudget: '3s', whenUnavailable: 'hold' } },
  { webhooks: false, env: () => stashIn(redis) },
);
afterEach(async () => {
  redis.thaw();
  if (!redis.running()) await redis.start();
});

/** Longer than the API may take to say anything: a checkout's budget and 2 s, on a machine that does other things. */
const SOON_MS = 7_000;

async function soon<T>(answer: Promise<T>): Promise<T> {
  const begin = Date.now();
  const given = await answer;
  expect(Date.now() - begin).toBeLessThan(SOON_MS);
  return given;
}

const preGateway = (orderId: string) =>
  soon(all.screen(orderId, '', { workflow: 'pre-gateway', transaction: aPreGatewayTransaction() }));
const creates = (orderId: string) => all.requests('create-transaction', orderId);

describe('a pre-gateway order, with Redis, API and worker each a process of its own', () => {
  it('goes from its checkout to the gateway result, and leaves no card behind', async () => {
    const orderId = anOrderId();
    const reply = await preGateway(orderId);
    expect(reply).toMatchObject({ status: 200, body: { decision: 'pass', action: 'proceed' } });
    expect(creates(orderId)).toHaveLength(1);
    const result = { result: 'pass', authcode: 'A1B2C3' };
    const told = await all.call('POST', `/v1/orders/${orderId}/gateway-result`, result);
    expect(told).toMatchObject({ status: 200, body: { action: 'proceed' } });
    await all.until(orderId, ({ phase }) => phase === 'decided');
    const isEmpty = () => redis.until(async (client) => expect(await client.keys('card:*')).toEqual([]));
    await isEmpty();
    expect((await preGateway(orderId)).body.transactionId).toBe(reply.body.transactionId);
    await isEmpty();
  });
});

describe('while Redis is down', () => {
  it('an order without card data goes on as always', async () => {
    await redis.stop();
    expect(await soon(all.screen(anOrderId()))).toMatchObject({ status: 200, body: { decision: 'pass' } });
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
    const card = { orderId, workflow: 'pre-gateway', ...TEST_CARD };
    const { cardRef } = (await all.call('POST', '/v1/card-refs', card)).body;
    redis.freeze();
    // Over HTTP the caller would be told that the stash is away.
    const { payment: _payment, ...order } = aPreGatewayTransaction();
    const transaction = { ...order, payment: { creditCard: { cardType: 'Visa', last4: '1111' } } };
    await startRaw(server.client, orderId, { workflow: 'pre-gateway', transaction, cardRef });
    const waiting = await all.until(orderId, ({ attempts }) => attempts[0]?.answer?.decision === 'pending');
    expect(waiting).toMatchObject({ phase: 'screening', action: 'hold', reason: 'card-stash' });
    await eventually(() => expect(all.output()).toContain('"reason":"unreachable"'));
    redis.thaw();
    const later = await all.until(orderId, ({ decision }) => decision !== 'pending');
    expect(later).toMatchObject({ decision: 'pass', action: 'proceed' });
    expect(creates(orderId)).toHaveLength(1);
  });
});

it('every line that worker and API wrote is one of the log, without card, password or address of a person', () => {
  const lines = all.output().split('\n').filter(Boolean);
  expect(lines.length).toBeGreaterThan(10);
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ msg: expect.any(String) });
  const secrets = [TEST_CARD.cardNumber, password, 'redis://', '@example.com', '203.0.113.7', 'Main Street'];
  for (const secret of secrets) expect(all.output()).not.toContain(secret);
});
