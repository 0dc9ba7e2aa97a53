/** What an order service sends by HTTP, and what of it the service gets. */
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aPreGatewayTransaction, aTransaction, TEST_CARD, withEmail } from '../fixtures/transactions.ts';
import { eventually, freePort, withTestServer } from '../support/index.ts';
import { type Api, anOrderId, type Deployment, deploy } from './support.ts';

const server = withTestServer();
let all: Deployment;
/** API and worker in one process, so that they share the card stash. */
let serve: Api;
let before: Server;
/** The bodies of the creates, by invoice number. */
const got = new Map<string, Record<string, unknown>>();

beforeAll(async () => {
  const port = await freePort();
  all = await deploy(
    server.address,
    {
      default: { baseUrl: `http://127.0.0.1:${port}`, apiKeyHeader: true },
      'pre-gateway': { baseUrl: `http://127.0.0.1:${port}`, workflow: 'pre-gateway' },
    },
    { worker: false },
  );
  serve = await all.startServe();
  before = await listenBefore(port, all.sandbox.testBaseUrl);
});
afterAll(async () => {
  before?.close();
  await all?.stop();
});

/** So many gateway responses meet the page of a proxy. */
let pages = 0;

/** Stands before the sandbox, keeps what is sent, and passes it on. */
async function listenBefore(port: number, sandbox: string): Promise<Server> {
  const listening = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    if (request.url === '/transaction') {
      const sent = JSON.parse(body);
      got.set(sent.order.invoiceNumber, { ...sent, header: request.headers['x-api-key'] });
    }
    if (request.url === '/gateway_response' && pages > 0) {
      pages -= 1;
      response.writeHead(404, { 'content-type': 'text/html' }).end('<html>no backend</html>');
      return;
    }
    const answer = await fetch(`${sandbox}${request.url}`, {
      method: request.method ?? 'GET',
      headers: { 'content-type': 'application/json' },
      ...(body !== '' && { body }),
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  await new Promise<void>((resolve) => listening.listen(port, '127.0.0.1', resolve));
  return listening;
}

async function screened(transaction: unknown): Promise<Record<string, unknown>> {
  const orderId = anOrderId();
  const answer = await serve.call('POST', `/v1/orders/${orderId}/screening`, { transaction });
  expect(answer).toMatchObject({ status: 200, body: { decision: 'pass' } });
  return got.get(orderId) ?? {};
}

it.each(['jane&pass@example.com', 'pass/dept@example.com', 'pass=b@example.com', 'pass@shop.xn--p1ai'])(
  'the e-mail address %s arrives',
  async (email) => {
    expect(await screened(withEmail(email))).toMatchObject({ customer: { email } });
  },
);

it('an order that was paid with a wallet arrives without card and codes', async () => {
  const {
    avsResultCode: _avs,
    cvvResultCode: _cvv,
    ...order
  } = aTransaction({ payment: { method: 'Apple Pay' } });
  const sent = await screened(order);
  expect(sent).toMatchObject({ payment: { method: 'Apple Pay' } });
  expect(sent).not.toHaveProperty('payment.creditCard');
  expect(sent).not.toHaveProperty('avsResultCode');
});

it('before the gateway it is refused with the way to skip it, and a forgotten card stays a fault', async () => {
  const screen = (integration: string, payment: object) =>
    serve.call('POST', `/v1/orders/${anOrderId()}/screening?integration=${integration}`, {
      transaction: { ...aTransaction(), payment },
    });
  const refused = await screen('pre-gateway', { method: 'Apple Pay' });
  expect(refused).toMatchObject({
    status: 422,
    body: {
      errors: [{ path: 'transaction.payment.creditCard', message: expect.stringContaining('`skip`') }],
    },
  });
  expect(await screen('default', { method: 'Credit card' })).toMatchObject({
    status: 422,
    body: { errors: [{ path: 'transaction.payment.creditCard' }] },
  });
});

it('number and expiry arrive after an authorization, the card code does not', async () => {
  const sent = await screened({ ...aTransaction(), payment: { creditCard: TEST_CARD } });
  expect(sent).toMatchObject({
    payment: {
      creditCard: {
        cardNumber: TEST_CARD.cardNumber,
        expirationDate: TEST_CARD.expirationDate,
        last4: '1111',
      },
    },
  });
  expect(sent).not.toHaveProperty('payment.creditCard.cardCode');
});

it('countries arrive in capitals, free-form fields as they are', async () => {
  const { billTo, ...order } = aTransaction();
  const subscriptionDetails = { expirationDate: '01/31/2027', every: '1m' };
  expect(
    await screened({ ...order, billTo: { ...billTo, country: 'us' }, subscriptionDetails }),
  ).toMatchObject({
    billTo: { country: 'US' },
    subscriptionDetails,
  });
});

it('the key stands in the header, too, where that is set', async () => {
  expect(await screened(aTransaction())).toMatchObject({ header: 'sandbox-test-key' });
});

it('a gateway’s result arrives behind two pages of a proxy', async () => {
  const orderId = anOrderId();
  const transaction = aPreGatewayTransaction();
  const answer = await serve.call('POST', `/v1/orders/${orderId}/screening?integration=pre-gateway`, {
    transaction,
  });
  expect(answer).toMatchObject({ status: 200, body: { decision: 'pass' } });
  pages = 2;
  const result = { result: 'pass', authcode: 'A1' };
  await serve.call('POST', `/v1/orders/${orderId}/gateway-result?integration=pre-gateway`, result);
  await all.until(orderId, ({ phase }) => phase === 'decided', 'pre-gateway');
  await eventually(() => {
    const arrived = all.sandbox.control.ledger({ operation: 'gateway-response', invoice: orderId });
    expect(arrived).toHaveLength(1);
  });
  expect(pages).toBe(0);
}, 60_000);
