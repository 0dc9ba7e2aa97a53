/** Answers of real processes that every operation may give, compared with the OpenAPI document. The others are in `test/server/api/`. */
import { beforeAll, expect, it } from 'vitest';
import { POSTS } from '../server/api/operations.ts';
import { freePort, withTestServer } from '../support/index.ts';
import type { Contract } from '../support/openapi-contract.ts';
import { type Api, anOrderId, contractOf, withDeployment } from './support.ts';

const KEYS = {
  shop: 'key-of-the-contract-test',
  /** It may only decrypt payloads. */
  codec: 'key-of-who-only-opens-payloads',
  other: 'key-of-an-impatient-caller',
};

const server = withTestServer();
const all = withDeployment(
  server,
  { default: {} },
  {
    apiKey: KEYS.shop,
    keys: [
      { name: 'shop', key: KEYS.shop },
      { name: 'ui', key: KEYS.codec, scopes: ['codec'] },
      { name: 'other', key: KEYS.other },
    ],
  },
);
let contract: Contract;
/** Without Temporal, Redis and a key of the screening service. */
let cutOff: Api;
/** Lets each key ask once a second. */
let strict: Api;

beforeAll(async () => {
  contract = await contractOf(all.apiUrl);
  const nobody = `127.0.0.1:${await freePort()}`;
  const away = {
    TEMPORAL_ADDRESS: nobody,
    SCREENING_API_KEY: '',
    CARD_STASH_URL: `redis://${nobody}`,
    CARD_STASH_KEYS: `one:${Buffer.alloc(32, 7).toString('base64')}`,
  };
  [cutOff, strict] = await Promise.all([all.startApi(away), all.startApi({ API_MAX_RPS: '1' })]);
});

interface Sending {
  /** The address of a different API process. */
  at?: string;
  key?: string;
  method?: string;
  body?: unknown;
  /** In place of a body in JSON. */
  text?: string;
  headers?: Record<string, string>;
}

/** Sends a request, and compares the answer with the document. @returns its status */
async function send(url: string, { at = all.apiUrl, key = KEYS.shop, method = 'POST', ...sending }: Sending) {
  const { body, text = body === undefined ? undefined : JSON.stringify(body) } = sending;
  const type = text !== undefined && { 'content-type': 'application/json' };
  const headers = { authorization: `Bearer ${key}`, ...type, ...sending.headers };
  const response = await fetch(at + url, { method, headers, ...(text !== undefined && { body: text }) });
  const answer = { status: response.status, body: await response.text() };
  contract.check({ method, url, headers: Object.fromEntries(response.headers), ...answer });
  return response.status;
}

/** These would name a transaction or a customer, which needs no order. */
const OF_AN_ORDER: Record<string, object> = { cancel: {}, attachCustomerCode: { customerCode: 'c' } };

/** A request of each operation, for an order. */
function operationsOf(orderId: string): { method: string; url: string; body?: object }[] {
  const posts = POSTS.map(({ path, body, calls }) => {
    const given = 'orderId' in body ? { ...body, orderId } : body;
    return { method: 'POST', url: path.replace('order-1', orderId), body: OF_AN_ORDER[calls] ?? given };
  });
  return [
    { method: 'GET', url: `/v1/orders/${orderId}` },
    { method: 'GET', url: '/v1/orders' },
    { method: 'GET', url: `/v1/transactions/${orderId}` },
    { method: 'DELETE', url: `/v1/orders/${orderId}/actions/1` },
    ...posts,
  ];
}

/** Every operation is answered with that status. @param wrong in place of the last part of an address */
async function isAlways(status: number, { wrong, ...how }: Sending & { wrong?: string }): Promise<void> {
  await Promise.all(
    operationsOf(anOrderId()).map(async ({ method, url, body }) => {
      if (status === 400 && (method !== 'GET' || url === '/v1/orders')) return;
      const address = wrong === undefined ? url : url.replace(/[^/]*$/, wrong);
      const ask = () => send(address, { method, ...(body && { body }), ...how });
      let answer = await ask();
      // Where calls are slow, some get through before one comes too soon.
      for (let more = 9; status === 429 && answer !== 429 && more > 0; more -= 1) answer = await ask();
      expect(answer, `${method} ${url}`).toBe(status);
    }),
  );
}

it.each([
  [400, 'an address that cannot be read', () => ({ wrong: '%zz' })],
  [401, 'a wrong key', () => ({ key: 'wrong' })],
  [403, 'a key without the scope', () => ({ key: KEYS.codec })],
  [429, 'too many requests', () => ({ at: strict.url, key: KEYS.other })],
  [503, 'Temporal and Redis away', () => ({ at: cutOff.url })],
])('%i, to every operation: %s', (status, _case, how) => isAlways(status, how()));

it.each([
  [400, { text: '{' }],
  [413, { text: JSON.stringify({ reason: 'x'.repeat(1024 * 1024) }) }],
  [415, { text: 'a=b', headers: { 'content-type': 'text/plain' } }],
  [422, { body: { nope: 1 } }],
])('%i, to a body', async (status, sending) => {
  for (const { method, url } of operationsOf(anOrderId())) {
    // A body that is not needed can't break a rule.
    if (method === 'GET' || (method === 'DELETE' && status === 422)) continue;
    expect(await send(url, { method, ...sending }), url).toBe(status);
  }
});

it('404, for an order or an integration that is not there', async () => {
  for (const { method, url, body } of operationsOf(anOrderId())) {
    if (url === '/v1/orders') continue;
    const asked = `${url}?integration=nowhere`;
    const sending = { method, ...(body && { body }) };
    expect(await send(asked, sending), `${method} ${asked}`).toBe(404);
    if (!url.includes('screening') && url !== '/v1/card-refs')
      expect(await send(url, sending), `${method} ${url}`).toBe(404);
  }
});
