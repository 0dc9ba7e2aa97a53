/** The order service of `examples/` as a process of its own, against a whole deployment. */
import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually, freePort, type SpawnedProcess, spawnProcess, withTestServer } from '../support/index.ts';
import { ago, screenedByPlugin } from './plugin.ts';
import { runCli } from './run-cli.ts';
import { anOrderId, type Deployment, deploy } from './support.ts';

const SECRET = `whsec_${Buffer.from('a secret of the order service').toString('base64')}`;

const server = withTestServer();
let all: Deployment;
let service: SpawnedProcess;
let url: string;

beforeAll(async () => {
  const port = String(await freePort());
  url = `http://127.0.0.1:${port}`;
  all = await deploy(
    server.address,
    { default: {} },
    { env: { EVENTS_URL: `${url}/events`, EVENTS_SECRETS: SECRET, EVENTS_SECRET: SECRET } },
  );
  service = await spawnProcess('examples/order-service/order-service.ts', {
    env: { ...all.settings, PORT: port },
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
  // biome-ignore lint/suspicious/noExplicitAny: what the service answers is what the tests look into
  return { status: response.status, body: (await response.json()) as any };
}

const checkout = (orderId: string, email: string) =>
  ask(`/checkout/${orderId}`, JSON.stringify(withEmail(email)));

/** An event as order-screening sends it. */
function event(
  orderId: string,
  action: string,
  { id = randomUUID(), secret = SECRET, at = new Date(), attempt = 1 } = {},
) {
  const body = JSON.stringify({ type: 'order.review_resolved', orderId, data: { action, attempt } });
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
  return { body, headers, send: () => ask('/events', body, headers) };
}

const paid = async (orderId: string) => (await ask(`/orders/${orderId}`)).body;

it('captures at once what passes, and voids what is declined', async () => {
  const [good, bad] = [anOrderId(), anOrderId()];
  expect((await checkout(good, 'pass@example.com')).body).toMatchObject({ payment: 'captured' });
  const declined = await checkout(bad, 'fail@example.com');
  expect(declined.body).toMatchObject({ action: 'decline', message: expect.any(String), payment: 'voided' });
});

it('holds a review, and captures when it is resolved', async () => {
  const orderId = anOrderId();
  expect((await checkout(orderId, 'review@example.com')).body).toMatchObject({ payment: 'authorized' });
  all.sandbox.control.decide(orderId, 'pass');
  await eventually(async () => {
    expect(await paid(orderId)).toMatchObject({ payment: 'captured', calls: ['captured'] });
  });
});

it('voids a review that fails, and refunds an order that an analyst fails after it was captured', async () => {
  const [held, captured] = [anOrderId(), anOrderId()];
  await checkout(held, 'review@example.com');
  await checkout(captured, 'pass@example.com');
  all.sandbox.control.decide(held, 'fail');
  all.sandbox.control.decide(captured, 'fraudulent');
  await eventually(async () => {
    expect(await paid(held)).toMatchObject({ payment: 'voided', calls: ['voided'] });
    expect(await paid(captured)).toMatchObject({ payment: 'refunded', calls: ['captured', 'refunded'] });
  });
});

it('takes the next attempt of a customer who was declined, with a payment of its own', async () => {
  const orderId = anOrderId();
  await checkout(orderId, 'fail@example.com');
  const again = await ask(`/checkout/${orderId}?attempt=2`, JSON.stringify(withEmail('pass@example.com')));
  expect(again.body).toMatchObject({ action: 'proceed', payment: 'captured' });
  expect(await paid(orderId)).toEqual({ attempt: 2, payment: 'captured', calls: ['voided', 'captured'] });
});

it('leaves the next attempt’s payment alone when an event of the attempt before comes late', async () => {
  const orderId = anOrderId();
  await checkout(orderId, 'fail@example.com');
  await ask(`/checkout/${orderId}?attempt=2`, JSON.stringify(withEmail('review@example.com')));
  expect((await event(orderId, 'decline').send()).body).toEqual({ event: 'taken' });
  expect(await paid(orderId)).toMatchObject({ attempt: 2, payment: 'authorized', calls: ['voided'] });
});

it('cancels when a person says so, with the service, and gives the money back', async () => {
  const orderId = anOrderId();
  await checkout(orderId, 'pass@example.com');
  const canceled = await ask(`/orders/${orderId}/cancel`, JSON.stringify({ reason: 'the customer asked' }));
  expect(canceled.body).toEqual({ status: 'done', payment: 'refunded' });
  expect(all.sandbox.control.transactions(orderId)).toMatchObject([{ canceledAt: expect.any(String) }]);
});

it('adopts a review that another system screened, and captures when it passes', async () => {
  const orderId = anOrderId();
  const transactionId = await screenedByPlugin(all, orderId);
  const adopted = await ask(
    `/orders/${orderId}/adopt`,
    JSON.stringify({ transactionId, screenedAt: ago(1_000) }),
  );
  expect(adopted.body).toMatchObject({ action: 'hold', payment: 'authorized' });
  all.sandbox.control.decide(orderId, 'pass');
  await eventually(async () => expect(await paid(orderId)).toMatchObject({ payment: 'captured' }));
});

it('refuses an event that is forged, changed or old, and does nothing', async () => {
  const orderId = anOrderId();
  await checkout(orderId, 'review@example.com');
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

it('does nothing for an event that came before', async () => {
  const orderId = anOrderId();
  await checkout(orderId, 'review@example.com');
  const cancel = event(orderId, 'cancel');
  expect((await cancel.send()).body).toEqual({ event: 'taken' });
  expect((await cancel.send()).body).toEqual({ event: 'repeated' });
  expect(await paid(orderId)).toMatchObject({ payment: 'voided', calls: ['voided'] });
});

it('takes events of types and orders that it does not know', async () => {
  expect((await event(anOrderId(), 'proceed').send()).body).toEqual({ event: 'taken' });
  const run = await runCli(['doctor'], all.settings);
  const findings: { check: string; status: string }[] = run.json().findings;
  expect(findings).toContainEqual(expect.objectContaining({ check: 'events', status: 'ok' }));
});

it('tells the errors of a cart, and screens nothing', async () => {
  const orderId = anOrderId();
  const { status, body } = await ask(`/checkout/${orderId}`, '{"amount":"x"}');
  expect(status).toBe(422);
  expect(body).toMatchObject({ code: 'invalid-request' });
  expect(body.errors.map(({ path }: { path: string }) => path)).toContain('transaction.amount');
  expect(all.sandbox.control.transactions(orderId)).toEqual([]);
});

it('answers the same for the same checkout sent again, and makes one transaction', async () => {
  const orderId = anOrderId();
  const first = await checkout(orderId, 'pass@example.com');
  expect(await checkout(orderId, 'pass@example.com')).toEqual(first);
  expect(all.sandbox.control.transactions(orderId)).toHaveLength(1);
});
