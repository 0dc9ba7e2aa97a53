/** Every answer that the OpenAPI document names is provoked from real processes, and compared with the document. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_CARD, withEmail } from '../fixtures/transactions.ts';
import { eventually, freePort, type SpawnedProcess, withTestServer } from '../support/index.ts';
import type { Contract, OpenApi } from '../support/openapi-contract.ts';
import { giveUp, heldUp, underWay } from './contract-actions.ts';
import {
  ACTIONS,
  addresses,
  anotherApi,
  answersOf,
  BODIES,
  INTEGRATIONS,
  KEYS,
  KEYS_FILE,
  of,
  type Sending,
  sendTo,
  UNSCREENED_BODY,
} from './contract-requests.ts';
import { adoptable } from './plugin.ts';
import { anOrderId, contractOf, type Deployment, deploy } from './support.ts';

const server = withTestServer();
let all: Deployment;
let contract: Contract;
let document: OpenApi;
/** Without Temporal and Redis; letting each key ask once a second. */
let cutOff: { url: string; process: SpawnedProcess };
let strict: { url: string; process: SpawnedProcess };
const seen = new Set<string>();

beforeAll(async () => {
  const more = { env: { API_KEYS_FILE: KEYS_FILE }, apiKey: KEYS.shop };
  all = await deploy(server.address, INTEGRATIONS, more);
  contract = await contractOf(all.apiUrl);
  document = (await (await fetch(`${all.apiUrl}/openapi.json`)).json()) as OpenApi;
  cutOff = await anotherApi(all, {
    TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}`,
    CARD_STASH_URL: `redis://127.0.0.1:${await freePort()}`,
    CARD_STASH_KEYS: `one:${Buffer.alloc(32, 7).toString('base64')}`,
  });
  strict = await anotherApi(all, { API_KEYS_FILE: KEYS_FILE, API_MAX_RPS: '1' });
});
afterAll(async () => {
  await Promise.all([all?.stop(), cutOff?.process.stop(), strict?.process.stop()]);
});

const send = (url: string, { at = all.apiUrl, ...sending }: Sending & { at?: string } = {}) =>
  sendTo({ at, key: KEYS.shop, contract, seen }, url, sending);

async function screened(email: string, more: object = {}, integration = 'default'): Promise<string> {
  const orderId = anOrderId();
  const { status } = await send(of(orderId, 'screening', integration), {
    body: { transaction: withEmail(email), ...more },
  });
  expect(status).toBe(200);
  return orderId;
}

/** @returns a pre-gateway order that waits for nobody but the gateway */
async function preGateway(): Promise<string> {
  const orderId = anOrderId();
  const answer = await send(of(orderId, 'screening'), { body: UNSCREENED_BODY });
  expect(answer).toMatchObject({ status: 200, body: { decision: 'skipped', action: 'proceed' } });
  return orderId;
}

describe('answers that are the same for every operation', () => {
  it.each([
    [400, 'an address that cannot be read', { url: '/v1/orders/%zz' }],
    [401, 'no key', { headers: { authorization: 'Bearer wrong' } }],
    [403, 'a key without the scope', { headers: { authorization: `Bearer ${KEYS.codec}` } }],
    [503, 'Temporal away, and Redis', { at: 'cutOff' }],
    [429, 'too many requests', { at: 'strict', headers: { authorization: `Bearer ${KEYS.other}` } }],
  ] as const)('%i: %s', async (status, _case, how) => {
    const at = 'at' in how ? { cutOff, strict }[how.at].url : all.apiUrl;
    const asked = addresses(anOrderId()).filter(
      ({ method, url }) => status !== 400 || (method === 'GET' && url.includes('/orders/')),
    );
    await Promise.all(
      asked.map(async ({ method, url, body }) => {
        const ask = () =>
          send('url' in how ? how.url : url, {
            method,
            at,
            ...(body && { body }),
            ...('headers' in how && { headers: how.headers }),
          });
        let answer = await ask();
        // Where calls are slow, some get through before one comes too soon.
        for (let more = 9; status === 429 && answer.status !== 429 && more > 0; more -= 1)
          answer = await ask();
        expect(answer.status, `${method} ${url}`).toBe(status);
      }),
    );
  });

  it.each([
    [400, { text: '{' }],
    [413, { text: JSON.stringify({ reason: 'x'.repeat(1024 * 1024) }) }],
    [415, { text: 'a=b', headers: { 'content-type': 'text/plain' } }],
    [422, { body: { nope: 1 } }],
  ])('%i, to a body', async (status, sending) => {
    for (const { method, url } of addresses(anOrderId())) {
      // A body that is not needed can't break a rule.
      if (method === 'GET' || (method === 'DELETE' && status === 422)) continue;
      expect((await send(url, { method, ...sending })).status, url).toBe(status);
    }
  });

  it('422, to a filter, to the name of an order and to the number of an action', async () => {
    expect((await send(of(anOrderId(), 'actions/0'), { method: 'DELETE' })).status).toBe(422);
    expect((await send('/v1/orders?limit=0', { method: 'GET' })).status).toBe(422);
    expect((await send('/v1/orders/%23', { method: 'GET' })).status).toBe(422);
  });

  it('404, for an order or an integration that is not there', async () => {
    for (const { method, url, body } of addresses(anOrderId())) {
      if (url === '/v1/orders') continue;
      const asked = `${url.replace(/\?.*/, '')}?integration=nowhere`;
      const sending = { method, ...(body && { body }) };
      expect((await send(asked, sending)).status, `${method} ${asked}`).toBe(404);
      if (!url.includes('screening') && url !== '/v1/card-refs')
        expect((await send(url, sending)).status, `${method} ${url}`).toBe(404);
    }
  });
});

describe('answers of each operation', () => {
  it('screening: 200, 202 and 409', async () => {
    const orderId = await screened('review@example.com');
    const again = await send(of(orderId, 'screening'), {
      body: { transaction: withEmail('pass@example.com') },
    });
    expect(again).toMatchObject({ status: 409, body: { type: '/problems/attempt-mismatch' } });
    all.sandbox.control.setFaults({
      faults: [{ operation: 'create-transaction', kind: 'hang-before-commit', times: 1 }],
    });
    const pending = await send(of(anOrderId(), 'screening', 'impatient'), { body: BODIES.screening });
    expect(pending).toMatchObject({ status: 202, body: { decision: 'pending' } });
  });

  it('adopt: 200 and 409', async () => {
    const address = of(anOrderId(), 'adopt');
    expect((await send(address, { body: await adoptable(all) })).status).toBe(200);
    const other = await send(address, { body: await adoptable(all) });
    expect(other).toMatchObject({ status: 409, body: { type: '/problems/order-exists' } });
  });

  it('gateway-result: 200 and 409', async () => {
    const address = of(await preGateway(), 'gateway-result');
    expect((await send(address, { body: { result: 'pass' } })).status).toBe(200);
    const other = await send(address, { body: { result: 'fail' } });
    expect(other).toMatchObject({ status: 409, body: { type: '/problems/gateway-result-mismatch' } });
  });

  it('reading: 200 of one and of many, and 409 for an order that somebody terminated', async () => {
    const orderId = await screened('review@example.com');
    expect((await send(`/v1/orders/${orderId}`, { method: 'GET' })).status).toBe(200);
    await eventually(async () => {
      const { status, body } = await send('/v1/orders?phase=review&limit=1', { method: 'GET' });
      expect(status).toBe(200);
      expect(body.orders).toHaveLength(1);
    });
    await server.client.workflow.getHandle(`order:default:${orderId}`).terminate();
    expect((await send(`/v1/orders/${orderId}`, { method: 'GET' })).status).toBe(409);
    for (const name of ['override', 'recheck', 'acknowledge', 'events/1/redeliver']) {
      expect((await send(of(orderId, name), { body: BODIES[name] })).status).toBe(409);
    }
  });

  it('the portal actions: 200, 409 and 502', async () => {
    for (const [name, operation] of ACTIONS) {
      const body = BODIES[name];
      expect((await send(of(await screened('pass@example.com'), name), { body })).status, name).toBe(200);

      const watched = await screened('pass@example.com', {}, 'watching');
      expect((await send(of(watched, name, 'watching'), { body })).status, name).toBe(409);

      const orderId = await screened('pass@example.com');
      all.sandbox.control.setFaults({ faults: [{ operation, kind: 'refused-in-body', times: 1 }] });
      expect((await send(of(orderId, name), { body })).status, name).toBe(502);
    }
  });

  it('the portal actions: 202 when the service takes longer than 10 s', async () => {
    const orders = await Promise.all(ACTIONS.map(() => screened('pass@example.com')));
    const delay = { kind: 'delay', delayMs: 11_000, times: 1 } as const;
    all.sandbox.control.setFaults({ faults: ACTIONS.map(([, operation]) => ({ operation, ...delay })) });
    const answers = await Promise.all(
      ACTIONS.map(([name], index) => send(of(orders[index] ?? '', name), { body: BODIES[name] })),
    );
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
  });

  it('the portal actions: 504 on a closed order, when an operator gives up what was not sent', async () => {
    const declined = ACTIONS.map(() => screened('fail@example.com', { workflow: 'pre-acceptance' }, 'brief'));
    const orders = await Promise.all(declined);
    for (const orderId of orders) {
      await eventually(async () => {
        const { body } = await send(`/v1/orders/${orderId}?integration=brief`, { method: 'GET' });
        expect(body.phase).toBe('closed');
      });
    }
    const bodies: typeof BODIES = {
      ...BODIES,
      'customer-code': { customerCode: '4711', email: 'fail@example.com' },
    };
    const faults = ACTIONS.map(([, operation]) => ({ operation, kind: '429', delayMs: 7_000 }) as const);
    const asked = await heldUp(all.sandbox, faults, () =>
      ACTIONS.map(([name], index) => send(of(orders[index] ?? '', name, 'brief'), { body: bodies[name] })),
    );
    await giveUp(server.client, 'brief', ACTIONS.length);
    const answers = await Promise.all(asked);
    expect(answers.map(({ status }) => status)).toEqual([504, 504, 504, 504]);
  });

  it('withdrawing: 200, 202, 404, 409 and 502', async () => {
    const orders = await Promise.all([1, 2, 3].map(() => screened('pass@example.com')));
    const withdraw = (orderId = '', number = 1) =>
      send(of(orderId, `actions/${number}`), { method: 'DELETE' });
    const about = (index: number) => ({
      operation: 'report-fraud' as const,
      match: { invoice: orders[index] },
    });
    const faults = [
      { ...about(0), kind: '429', delayMs: 7_000 } as const,
      { ...about(1), kind: 'delay', delayMs: 20_000 } as const,
      { ...about(2), kind: 'refused-in-body', delayMs: 3_000 } as const,
    ];
    const asked = await heldUp(all.sandbox, faults, () =>
      orders.map((orderId) => send(of(orderId, 'report-fraud'), { body: {} })),
    );
    const answers = await Promise.all(orders.map((orderId) => withdraw(orderId)));
    expect(answers).toMatchObject([
      { status: 200, body: { status: 'withdrawn' } },
      { status: 202, body: { status: 'requested' } },
      { status: 502, body: { type: '/problems/refused-by-screening-service' } },
    ]);
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([409, 202, 502]);
    const [, , ended] = orders;
    expect((await withdraw(ended)).body).toMatchObject({ status: 409, type: '/problems/action-ended' });
    expect((await withdraw(ended, 2)).body).toMatchObject({ status: 404, type: '/problems/unknown-action' });
  });

  it('redeliver: 202 and 502', async () => {
    const address = of(await screened('pass@example.com'), 'events/1/redeliver');
    all.refuseEvents(true);
    expect((await send(address)).status).toBe(502);
    all.refuseEvents('late');
    expect((await send(address)).status).toBe(202);
    all.refuseEvents(false);
  });

  it('override and acknowledge: 200, recheck: 202, card-refs: 201', async () => {
    const orderId = await screened('pass@example.com');
    for (const [name, status] of Object.entries({ override: 200, acknowledge: 200, recheck: 202 }))
      expect((await send(of(orderId, name), { body: BODIES[name] })).status, name).toBe(status);
    expect((await send('/v1/card-refs', { body: { orderId, ...TEST_CARD } })).status).toBe(201);
  });
});

it('every example of the document works when it is sent', async () => {
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { parameters = [], requestBody }] of Object.entries(methods)) {
      const orderId = /(?:screening|adopt)$/.test(path)
        ? anOrderId()
        : await (path.endsWith('gateway-result') ? preGateway() : screened('pass@example.com'));
      const named = (place: string) =>
        parameters
          .filter((parameter) => parameter.in === place && parameter.example !== undefined)
          .map((parameter): [string, string] => [parameter.name, String(parameter.example)]);
      const address = [['orderId', orderId] as const, ...named('path')].reduce(
        (to, [name, value]) => to.replace(`{${name}}`, value),
        path,
      );
      const withdrawn = path.endsWith('{number}')
        ? await underWay(all.sandbox, () => send(of(orderId, 'report-fraud'), { body: {} }))
        : [];
      const { status, body } = await send(`${address}?${new URLSearchParams(named('query'))}`, {
        method: method.toUpperCase(),
        // What the example adopts is of another day.
        body: path.endsWith('adopt')
          ? await adoptable(all)
          : requestBody?.content['application/json']?.example,
        headers: Object.fromEntries(named('header')),
      });
      expect(status, `${method} ${path}: ${JSON.stringify(body)}`).toBeLessThan(300);
      await Promise.all(withdrawn);
    }
  }
});

it('every answer that the document names was seen', () => {
  // 500 is a fault of ours: test/api/order-routes.test.ts has one.
  const provokable = answersOf(document).filter((answer) => !answer.endsWith(' 500'));
  expect(provokable.length).toBeGreaterThan(80);
  expect(provokable.filter((answer) => !seen.has(answer))).toEqual([]);
});
