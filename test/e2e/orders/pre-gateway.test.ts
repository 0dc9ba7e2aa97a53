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
  const policy = { workflow: 'pre-gateway', skip: [{ paymentMethod: ['gift card'] }] };
  const CARD_STASH_KEYS = `e2e:${randomBytes(32).toString('base64')}`;
  all = await deploy(
    server.address,
    { default: policy },
    { env: { CARD_STASH_URL: redis.url, CARD_STASH_KEYS } },
  );
}, 120_000);
afterAll(async () => {
  await all?.stop();
  await redis?.stop();
});

const byCard = (decision: string) => withEmail(`${decision}@example.com`, aPreGatewayTransaction());
const screen = (orderId: string, transaction: object, attempt = 1) =>
  all.screen(orderId, '', { attempt, transaction });
const report = (orderId: string, result: string, attempt = 1) =>
  all.call('POST', `/v1/orders/${orderId}/gateway-result`, { attempt, result });

it('a gateway result that contradicts the first one is a 409 that says what to do, and attention; the first one stays, also after the end', async () => {
  const orderId = anOrderId();
  const { body: answer } = await screen(orderId, byCard('pass'));
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

it('a second attempt that a skip rule matches proceeds without being screened, and is no error', async () => {
  const orderId = anOrderId();
  expect((await screen(orderId, byCard('fail'))).body).toMatchObject({ action: 'decline' });
  const giftCard = { ...byCard('pass'), payment: { method: 'gift card' } };
  const second = await screen(orderId, giftCard, 2);
  const skipped = { attempt: 2, decision: 'skipped', action: 'proceed' };
  expect(second).toMatchObject({ status: 200, body: skipped });
  expect(await report(orderId, 'pass', 2)).toMatchObject({ status: 200, body: { action: 'proceed' } });
  expect(await all.read(orderId)).toMatchObject({
    decision: 'skipped',
    action: 'proceed',
    attention: [],
    transactions: [{ attempt: 1, decision: 'fail' }],
  });
  const requests = all.sandbox.control.ledger({ operation: 'create-transaction' });
  expect(requests.filter(({ invoiceNumber }) => invoiceNumber?.startsWith(orderId))).toHaveLength(1);
});
