/** Pre-gateway orders over HTTP. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aPreGatewayTransaction, withEmail } from '../../fixtures/transactions.ts';
import { withTestServer } from '../../support/index.ts';
import { needRedis, type RedisServer, startRedis } from '../../support/servers/redis-server.ts';
import { untilEnded } from '../operator.ts';
import { anOrderId, type Deployment, deploy } from '../support.ts';

const server = withTestServer();
let redis: RedisServer;
let all: Deployment;

beforeAll(async () => {
  await needRedis();
  redis = await startRedis();
  const CARD_STASH_KEYS = `e2e:${randomBytes(32).toString('base64')}`;
  all = await deploy(
    server.address,
    { default: { workflow: 'pre-gateway' } },
    { env: { CARD_STASH_URL: redis.url, CARD_STASH_KEYS } },
  );
}, 120_000);
afterAll(async () => {
  await all?.stop();
  await redis?.stop();
});

const report = (orderId: string, result: string) =>
  all.call('POST', `/v1/orders/${orderId}/gateway-result`, { attempt: 1, result });

it('a gateway result that contradicts the first one is a 409 that says what to do, and attention; the first one stays, also after the end', async () => {
  const orderId = anOrderId();
  const transaction = withEmail('pass@example.com', aPreGatewayTransaction());
  const { body: answer } = await all.screen(orderId, '', { transaction });
  expect(answer).toMatchObject({ action: 'proceed', phase: 'awaiting-gateway' });
  const first = await report(orderId, 'fail');
  expect(first).toMatchObject({ status: 200, body: { result: 'fail', phase: 'declined' } });

  const contradiction = await report(orderId, 'pass');
  const detail = expect.stringContaining('refund it');
  const mismatch = { status: 409, body: { type: '/problems/gateway-result-mismatch', detail } };
  expect(contradiction).toMatchObject(mismatch);
  const shown = {
    phase: 'declined',
    attention: [{ code: 'gateway-contradiction', words: expect.stringMatching(/\bfail\b.*\bpass\b/) }],
    attempts: [{ gateway: { result: 'fail', contradictions: [{ result: 'pass' }] } }],
  };
  expect(await all.read(orderId)).toMatchObject(shown);
  const isRepeated = async (now: object) => {
    expect(await report(orderId, 'fail')).toMatchObject({ status: 200, body: { ...first.body, ...now } });
    expect(await report(orderId, 'pass')).toMatchObject(mismatch);
  };
  await isRepeated({});

  await all.call('POST', `/v1/orders/${orderId}/cancel`, {});
  await untilEnded(server.client, `order:default:${orderId}`);
  await isRepeated({ action: 'cancel', phase: 'canceled' });
  const closed = { type: '/problems/order-closed', detail };
  expect(await report(orderId, 'error')).toMatchObject({ status: 409, body: closed });
  expect(await all.read(orderId)).toMatchObject({ ...shown, phase: 'canceled' });
  expect(all.eventsOf(orderId).filter(({ type }) => type === 'order.attention')).toHaveLength(1);
  expect(all.requests('gateway-response', orderId)).toHaveLength(1);
});
