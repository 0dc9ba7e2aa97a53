/** Pre-gateway orders over HTTP: a payment gateway that contradicts itself, and a second attempt that isn't screened. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aPreGatewayTransaction, withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { type Api, anOrderId, type Deployment, deploy } from './support.ts';

const server = withTestServer();
let all: Deployment;
/** API and worker in one process, so that they share the card stash. */
let serve: Api;

beforeAll(async () => {
  all = await deploy(
    server.address,
    { default: { workflow: 'pre-gateway', skip: [{ paymentMethod: ['gift card'] }] } },
    { worker: false },
  );
  serve = await all.startServe();
});
afterAll(() => all?.stop());

const byCard = (email: string) => withEmail(email, aPreGatewayTransaction());
const screen = (orderId: string, transaction: object, attempt = 1) =>
  serve.call('POST', `/v1/orders/${orderId}/screening`, { attempt, transaction });
const report = (orderId: string, result: string, attempt = 1) =>
  serve.call('POST', `/v1/orders/${orderId}/gateway-result`, { attempt, result });
const read = async (orderId: string) => (await serve.call('GET', `/v1/orders/${orderId}`)).body;
const eventTypes = (orderId: string) =>
  all.events.filter((event) => event.orderId === orderId).map(({ type }) => type);

it('a gateway result that contradicts the first one is a 409 that says what to do, and attention; the first one stays, also after the end', async () => {
  const orderId = anOrderId();
  const { body: answer } = await screen(orderId, byCard('pass@example.com'));
  expect(answer).toMatchObject({ action: 'proceed', phase: 'awaiting-gateway' });
  const first = await report(orderId, 'fail');
  expect(first).toMatchObject({ status: 200, body: { result: 'fail', phase: 'declined' } });

  const contradiction = await report(orderId, 'pass');
  const mismatch = {
    type: '/problems/gateway-result-mismatch',
    detail: expect.stringContaining('refund it'),
  };
  expect(contradiction).toMatchObject({ status: 409, body: mismatch });
  const shown = {
    phase: 'declined',
    attention: [{ code: 'gateway-contradiction', words: expect.stringMatching(/\bfail\b.*\bpass\b/) }],
    attempts: [{ gateway: { result: 'fail', contradictions: [{ result: 'pass' }] } }],
  };
  expect(await read(orderId)).toMatchObject(shown);
  const isRepeated = async (now: object) => {
    expect(await report(orderId, 'fail')).toMatchObject({ status: 200, body: { ...first.body, ...now } });
    expect(await report(orderId, 'pass')).toMatchObject({ status: 409, body: mismatch });
  };
  await isRepeated({});

  await serve.call('POST', `/v1/orders/${orderId}/cancel`, {});
  await eventually(async () => {
    const { status } = await server.client.workflow.getHandle(`order:default:${orderId}`).describe();
    expect(status.name).toBe('COMPLETED');
  });
  await isRepeated({ action: 'cancel', phase: 'canceled' });
  expect(await report(orderId, 'error')).toMatchObject({
    status: 409,
    body: { type: '/problems/order-closed', detail: expect.stringContaining('refund it') },
  });
  expect(await read(orderId)).toMatchObject({ ...shown, phase: 'canceled' });
  expect(eventTypes(orderId).filter((type) => type === 'order.attention')).toHaveLength(1);
  const responses = all.sandbox.control.ledger({ operation: 'gateway-response', invoice: orderId });
  expect(responses).toHaveLength(1);
});

it('a second attempt that a skip rule matches proceeds without being screened, and is no error', async () => {
  const orderId = anOrderId();
  expect((await screen(orderId, byCard('fail@example.com'))).body).toMatchObject({ action: 'decline' });
  const giftCard = { ...byCard('pass@example.com'), payment: { method: 'gift card' } };
  const second = await screen(orderId, giftCard, 2);
  expect(second).toMatchObject({
    status: 200,
    body: { attempt: 2, decision: 'skipped', action: 'proceed' },
  });
  expect(await report(orderId, 'pass', 2)).toMatchObject({ status: 200, body: { action: 'proceed' } });
  expect(await read(orderId)).toMatchObject({
    decision: 'skipped',
    action: 'proceed',
    attention: [],
    transactions: [{ attempt: 1, decision: 'fail' }],
  });
  const requests = all.sandbox.control.ledger({ operation: 'create-transaction' });
  expect(requests.filter(({ invoiceNumber }) => invoiceNumber?.startsWith(orderId))).toHaveLength(1);
});
