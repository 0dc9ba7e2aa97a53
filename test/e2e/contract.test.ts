/** Every answer that the OpenAPI document names is provoked from real processes, and compared with the document. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_CARD, withEmail } from '../fixtures/transactions.ts';
import { eventually, freePort, type SpawnedProcess, withTestServer } from '../support/index.ts';
import type { Contract, OpenApi } from '../support/openapi-contract.ts';
import * as actions from './contract-actions.ts';
import {
  ACTIONS,
  addresses,
  anotherApi,
  answersOf,
  BODIES,
  CALLERS,
  exampleOf,
  INTEGRATIONS,
  isAnsweredAlways,
  KEYS,
  of,
  type Sending,
  said,
  sendTo,
  UNSCREENED_BODY,
  type Unchanging,
} from './contract-requests.ts';
import { adoptable } from './plugin.ts';
import { anOrderId, contractOf, type Deployment, deploy } from './support.ts';

const server = withTestServer();
let all: Deployment;
let contract: Contract;
let document: OpenApi;
/** Without Temporal, Redis and a key of the screening service; letting each key ask once a second. */
let cutOff: { url: string; process: SpawnedProcess };
let strict: { url: string; process: SpawnedProcess };
const seen = new Set<string>();

beforeAll(async () => {
  all = await deploy(server.address, INTEGRATIONS, { keys: CALLERS, apiKey: KEYS.shop });
  contract = await contractOf(all.apiUrl);
  document = (await (await fetch(`${all.apiUrl}/openapi.json`)).json()) as OpenApi;
  const nobody = `127.0.0.1:${await freePort()}`;
  [cutOff, strict] = await Promise.all([
    anotherApi(all, {
      TEMPORAL_ADDRESS: nobody,
      SCREENING_API_KEY: '',
      CARD_STASH_URL: `redis://${nobody}`,
      CARD_STASH_KEYS: `one:${Buffer.alloc(32, 7).toString('base64')}`,
    }),
    anotherApi(all, { API_MAX_RPS: '1' }),
  ]);
});
afterAll(async () => {
  await Promise.all([all?.stop(), cutOff?.process.stop(), strict?.process.stop()]);
});

const send = (url: string, sending: Sending = {}) =>
  sendTo({ deployment: all, contract, seen }, url, sending);

async function screened(email: string, more: object = {}, integration = 'default', orderId = anOrderId()) {
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

const isAlways = (status: number, how: Unchanging) => isAnsweredAlways(send, status, how);

describe('answers that are the same for every operation', () => {
  it.each([
    [400, 'an address that cannot be read', { url: '%zz' }],
    [401, 'a wrong key', { key: 'wrong' }],
    [403, 'a key without the scope', { key: KEYS.codec }],
  ])('%i: %s', (status, _case, how) => isAlways(status, how));

  it('429: too many requests', () => isAlways(429, { at: strict.url, key: KEYS.other }));

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

  it('422, to a filter, to the name of an order or a transaction and to the number of an action', async () => {
    expect((await send(of(anOrderId(), 'actions/0'), { method: 'DELETE' })).status).toBe(422);
    expect((await send('/v1/orders?limit=0', { method: 'GET' })).status).toBe(422);
    expect((await send('/v1/orders/%23', { method: 'GET' })).status).toBe(422);
    expect((await send('/v1/transactions/%23', { method: 'GET' })).status).toBe(422);
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
    const again = await send(of(orderId, 'screening'), { body: BODIES.screening });
    expect(said(again)).toBe('409 attempt-mismatch');
    all.sandbox.control.setFaults({
      faults: [{ operation: 'create-transaction', kind: 'hang-before-commit', times: 1 }],
    });
    const pending = await send(of(anOrderId(), 'screening', 'impatient'), { body: BODIES.screening });
    expect(pending).toMatchObject({ status: 202, body: { decision: 'pending' } });
  });

  it('adopt: 200 and 409', async () => {
    const address = of(anOrderId(), 'adopt');
    expect((await send(address, { body: await adoptable(all) })).status).toBe(200);
    expect(said(await send(address, { body: await adoptable(all) }))).toBe('409 order-exists');
  });

  it('gateway-result: 200 and 409', async () => {
    const address = of(await preGateway(), 'gateway-result');
    expect((await send(address, { body: { result: 'pass' } })).status).toBe(200);
    // Nothing was left to wait for, so the order has ended.
    expect(said(await send(address, { body: { result: 'fail' } }))).toBe('409 order-closed');
  });

  it('reading: 200 of one and of many, also of one that somebody terminated, and 409 for one without a record', async () => {
    const orderId = await screened('review@example.com');
    expect((await send(`/v1/orders/${orderId}`, { method: 'GET' })).status).toBe(200);
    const list = '/v1/orders?phase=review&limit=1';
    await eventually(async () => expect((await send(list, { method: 'GET' })).body.orders).toHaveLength(1));
    await server.client.workflow.getHandle(`order:default:${orderId}`).terminate();
    expect((await send(`/v1/orders/${orderId}`, { method: 'GET' })).status).toBe(200);
    const unrecorded = await actions.terminatedUnrecorded(server.client);
    expect((await send(`/v1/orders/${unrecorded}`, { method: 'GET' })).status).toBe(409);
    for (const name of ['override', 'recheck', 'acknowledge']) {
      expect((await send(of(orderId, name), { body: BODIES[name] })).status).toBe(409);
    }
  });

  it('transactions: 200 with the owning order, 409 for an unknown decision and 503 for a wrong key', async () => {
    const orderId = await screened('review@example.com');
    const read = () => send(`/v1/transactions/${orderId}`, { method: 'GET' });
    const owned = { decision: 'review', order: { integration: 'default', orderId } };
    await eventually(async () => expect(await read()).toMatchObject({ status: 200, body: owned }));
    actions.spoilStatus(all.sandbox, orderId, 'unknown-decision');
    expect(said(await read())).toBe('409 transaction-without-decision');
    actions.spoilStatus(all.sandbox, orderId, '403');
    expect(said(await read())).toBe('503 screening-service-unavailable');
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

  it('the portal actions: 504 on a closed order, when an operator gives up what was not sent', async () => {
    const givenUp = ACTIONS.map(actions.anAction);
    await Promise.all(
      givenUp.map(async ({ orderId }) => {
        await screened('fail@example.com', { workflow: 'pre-acceptance' }, 'brief', orderId);
        await all.until(orderId, ({ phase }) => phase === 'closed', 'brief');
      }),
    );
    all.sandbox.control.setFaults({ faults: actions.holdingUp(givenUp, '429', 7_000) });
    const asked = await actions.heldUp(all.sandbox, givenUp, ({ name, orderId }) =>
      // A closed order doesn't know its customer any more.
      send(of(orderId, name, 'brief'), {
        body: { ...BODIES[name], ...(name === 'customer-code' && { email: 'fail@example.com' }) },
      }),
    );
    await actions.giveUp(server.client, 'brief', ACTIONS.length);
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([504, 504, 504, 504]);
  });

  it('override and acknowledge: 200, recheck: 202, card-refs: 201', async () => {
    const orderId = await screened('pass@example.com');
    for (const [name, status] of Object.entries({ override: 200, acknowledge: 200, recheck: 202 }))
      expect((await send(of(orderId, name), { body: BODIES[name] })).status, name).toBe(status);
    expect((await send('/v1/card-refs', { body: { orderId, ...TEST_CARD } })).status).toBe(201);
  });
});

/** All at once, since each takes about ten seconds. */
describe.concurrent('answers that come late', () => {
  const slow = ACTIONS.map(actions.anAction);
  const reports = [
    actions.anAction(ACTIONS[1]),
    actions.anAction(ACTIONS[1]),
    actions.anAction(ACTIONS[1]),
  ] as const;

  beforeAll(() => {
    const [stopped, sent, refused] = reports;
    all.sandbox.control.setFaults({
      faults: [
        ...actions.holdingUp(slow, 'delay', 11_000),
        ...actions.holdingUp([stopped], '429', 7_000),
        ...actions.holdingUp([sent], 'delay', 20_000),
        ...actions.holdingUp([refused], 'refused-in-body', 3_000),
      ],
    });
  });
  afterAll(() => void all.sandbox.control.clearFaults());

  it('503: Temporal away, and Redis', () => isAlways(503, { at: cutOff.url }));

  it('the portal actions: 202 when the service takes longer than 10 s', async () => {
    const answers = await Promise.all(
      slow.map(async ({ name, orderId }) => {
        await screened('pass@example.com', {}, 'default', orderId);
        return send(of(orderId, name), { body: BODIES[name] });
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
  });

  it('withdrawing: 200, 202, 404, 409 and 502', async () => {
    const withdraw = (orderId: string, number = 1) =>
      send(of(orderId, `actions/${number}`), { method: 'DELETE' });
    await Promise.all(reports.map(({ orderId }) => screened('pass@example.com', {}, 'default', orderId)));
    const asked = await actions.heldUp(all.sandbox, reports, ({ name, orderId }) =>
      send(of(orderId, name), { body: {} }),
    );
    const answers = await Promise.all(reports.map(({ orderId }) => withdraw(orderId)));
    expect(answers).toMatchObject([
      { status: 200, body: { status: 'withdrawn' } },
      { status: 202, body: { status: 'requested' } },
      { status: 502, body: { type: '/problems/refused-by-screening-service' } },
    ]);
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([409, 202, 502]);
    expect(said(await withdraw(reports[2].orderId))).toBe('409 action-ended');
    expect(said(await withdraw(reports[2].orderId, 2))).toBe('404 unknown-action');
  });

  it('redeliver: 202 and 502', async () => {
    const address = of(await screened('pass@example.com'), 'events/1/redeliver');
    all.refuseEvents(true);
    expect((await send(address)).status).toBe(502);
    all.refuseEvents('late');
    expect((await send(address)).status).toBe(202);
    all.refuseEvents(false);
  });
});

it('every example of the document works when it is sent', async () => {
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { parameters = [], requestBody }] of Object.entries(methods)) {
      const orderId = /(?:screening|adopt)$/.test(path)
        ? anOrderId()
        : await (path.endsWith('gateway-result') ? preGateway() : screened('pass@example.com'));
      const withdrawn = path.endsWith('{number}')
        ? await actions.underWay(all.sandbox, orderId, () => send(of(orderId, 'report-fraud'), { body: {} }))
        : [];
      const { url, headers } = exampleOf(path, parameters, orderId);
      const { status, body } = await send(url, {
        method: method.toUpperCase(),
        // What the example adopts is of another day.
        body: path.endsWith('adopt')
          ? await adoptable(all)
          : requestBody?.content['application/json']?.example,
        headers,
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
