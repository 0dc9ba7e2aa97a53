/** The order service of `examples/` as a process of its own, against a whole deployment. */
import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Decision } from '../../../src/sandbox/model.ts';
import { withEmail } from '../../fixtures/transactions.ts';
import {
  eventually,
  freePort,
  type SpawnedProcess,
  spawnProcess,
  withTestServer,
} from '../../support/index.ts';
import { anOrderId, type Deployment, deploy } from '../support.ts';

const SECRET = `whsec_${Buffer.from('a secret of the order service').toString('base64')}`;

const server = withTestServer();
let all: Deployment;
let service: SpawnedProcess;
let url: string;

beforeAll(async () => {
  const PORT = String(await freePort());
  url = `http://127.0.0.1:${PORT}`;
  const env = { EVENTS_URL: `${url}/events`, EVENTS_SECRETS: SECRET, EVENTS_SECRET: SECRET };
  all = await deploy(server.address, { default: {} }, { env });
  service = await spawnProcess('examples/order-service/order-service.ts', {
    env: { ...all.settings, PORT },
    readyWhen: /is listening/,
  });
});
afterAll(async () => {
  await service?.stop();
  await all?.stop();
});

async function ask(path: string, body?: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}${path}`, {
    ...(body !== undefined && { method: 'POST', body }),
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests read every part of the service's replies
  return { status: response.status, body: (await response.json()) as any };
}

/** @returns the body of the reply */
const checkout = async (orderId: string, decision: string, attempt = 1) =>
  (await ask(`/checkout/${orderId}?attempt=${attempt}`, JSON.stringify(withEmail(`${decision}@example.com`))))
    .body;
const paid = async (orderId: string) => (await ask(`/orders/${orderId}`)).body;
/** Waits until the payment gateway has got these calls for an order. */
const isPaid = (orderId: string, ...calls: string[]) =>
  eventually(async () => expect(await paid(orderId)).toMatchObject({ payment: calls.at(-1), calls }));

/** An event as order-screening sends it. */
function event(
  orderId: string,
  action: string,
  { secret = SECRET, at = new Date(), integration = 'default', sequence = 1 } = {},
) {
  const id = randomUUID();
  const data = { action, attempt: 1 };
  const body = JSON.stringify({ type: 'order.review_resolved', orderId, integration, sequence, data });
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
  return { body, headers, send: () => ask('/events', body, headers) };
}

it.each<[string, Decision | undefined, string[]]>([
  ['pass', undefined, ['captured']],
  ['fail', undefined, ['voided']],
  ['review', 'pass', ['captured']],
  ['review', 'fail', ['voided']],
  ['pass', 'fraudulent', ['captured', 'refunded']],
])(
  'the payment of an order that gets %s and later %s is %j, by one transaction',
  async (first, later, calls) => {
    const orderId = anOrderId();
    // Events name the order without its `#`.
    const answer = await checkout(`%23${orderId}`, first);
    if (first === 'review') expect(answer).toMatchObject({ action: 'hold', payment: 'authorized' });
    if (first === 'fail') expect(answer).toMatchObject({ action: 'decline', message: expect.any(String) });
    // The same checkout sent again has the same answer.
    expect(await checkout(orderId, first)).toEqual(answer);
    if (later !== undefined) all.sandbox.control.decide(orderId, later);
    await isPaid(orderId, ...calls);
    expect(all.sandbox.control.transactions(orderId)).toHaveLength(1);
  },
);

it('takes the next attempt of a customer who was declined, with a payment of its own', async () => {
  const orderId = anOrderId();
  await checkout(orderId, 'fail');
  expect(await checkout(orderId, 'pass', 2)).toMatchObject({ action: 'proceed', payment: 'captured' });
  expect(await paid(orderId)).toEqual({ attempt: 2, payment: 'captured', calls: ['voided', 'captured'] });
});

it('takes no second payment beside one that is captured, which a later fail refunds', async () => {
  const orderId = anOrderId();
  await checkout(orderId, 'pass');
  expect(await checkout(orderId, 'pass', 2)).toEqual({ payment: 'captured' });
  all.sandbox.control.decide(orderId, 'fraudulent');
  await isPaid(orderId, 'captured', 'refunded');
});

it('voids the payment of a checkout that is refused, and takes the corrected one', async () => {
  const orderId = anOrderId();
  const refused = await ask(`/checkout/${orderId}`, '{"amount": "a lot"}');
  expect(refused).toMatchObject({ status: 422, body: { code: 'invalid-request' } });
  expect(await paid(orderId)).toMatchObject({ payment: 'voided', calls: ['voided'] });
  expect(await checkout(orderId, 'pass')).toMatchObject({ action: 'proceed', payment: 'captured' });
  expect(await paid(orderId)).toEqual({ attempt: 1, payment: 'captured', calls: ['voided', 'captured'] });
});

it('follows neither an event that is sent again after a newer one of the order nor an older answer', async () => {
  const orderId = anOrderId();
  await checkout(orderId, 'review');
  expect(await event(orderId, 'proceed', { sequence: 3 }).send()).toMatchObject({ status: 200 });
  expect(await event(orderId, 'cancel', { sequence: 2 }).send()).toMatchObject({ status: 200 });
  expect(await checkout(orderId, 'review')).toMatchObject({ action: 'proceed', payment: 'captured' });
  expect(await paid(orderId)).toMatchObject({ payment: 'captured', calls: ['captured'] });
});

it('leaves the next attempt’s payment alone when an event of the attempt before comes late', async () => {
  const orderId = anOrderId();
  await checkout(orderId, 'fail');
  await checkout(orderId, 'review', 2);
  expect((await event(orderId, 'decline').send()).body).toEqual({ event: 'taken' });
  expect(await paid(orderId)).toMatchObject({ attempt: 2, payment: 'authorized', calls: ['voided'] });
});

it('cancels when a person says so, with the service, and gives the money back', async () => {
  const orderId = anOrderId();
  await checkout(orderId, 'pass');
  const canceled = await ask(`/orders/${orderId}/cancel`, JSON.stringify({ reason: 'the customer asked' }));
  expect(canceled.body).toEqual({ status: 'done', payment: 'refunded' });
  expect(all.sandbox.control.transactions(orderId)).toMatchObject([{ canceledAt: expect.any(String) }]);
});

it('refuses an event that is forged, changed or old, and does nothing', async () => {
  const orderId = anOrderId();
  await checkout(orderId, 'review');
  const other = `whsec_${Buffer.from('a secret of somebody else').toString('base64')}`;
  const changed = event(orderId, 'hold');
  const refused = [
    await event(orderId, 'proceed', { secret: other }).send(),
    await event(orderId, 'proceed', { at: new Date(Date.now() - 3_600_000) }).send(),
    await ask('/events', changed.body.replace('hold', 'proceed'), changed.headers),
    await ask('/events', changed.body),
  ];
  expect(refused.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
  expect(await paid(orderId)).toMatchObject({ payment: 'authorized', calls: [] });
});

it('does nothing for an event of the same order id in another integration', async () => {
  const orderId = anOrderId();
  await checkout(orderId, 'review');
  expect((await event(orderId, 'proceed', { integration: 'phone' }).send()).body).toEqual({ event: 'taken' });
  expect(await paid(orderId)).toMatchObject({ payment: 'authorized', calls: [] });
});

it('does nothing for an event that came before, or is of an unknown order', async () => {
  const orderId = anOrderId();
  await checkout(orderId, 'review');
  const cancel = event(orderId, 'cancel');
  expect((await cancel.send()).body).toEqual({ event: 'taken' });
  expect((await cancel.send()).body).toEqual({ event: 'repeated' });
  expect(await paid(orderId)).toMatchObject({ payment: 'voided', calls: ['voided'] });
  expect((await event(anOrderId(), 'proceed').send()).body).toEqual({ event: 'taken' });
});
