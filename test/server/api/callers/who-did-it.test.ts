/** Who asks: what an order is told of it, and what the audit log says. */
import { randomBytes } from 'node:crypto';
import proto from '@temporalio/proto';
import { describe, expect, it } from 'vitest';
import { createPayloadCodec } from '../../../../src/codec/index.ts';
import { hashedKey } from '../../../../src/config/index.ts';
import { OrderScreeningError } from '../../../../src/starter.ts';
import { TEST_CARD } from '../../../fixtures/transactions.ts';
import { sendForm } from '../../dashboard/support.ts';
import { anApi, type TestedApi } from '../fake-order-screening.ts';

const { Payload } = proto.temporal.api.common.v1;
const KEY = 'the-key-of-ops-with-all-scopes';
const READER = 'the-key-of-who-may-only-read';
const apiKeys = [
  hashedKey('ops', KEY, { scopes: ['screen', 'read', 'act', 'ops'] }),
  hashedKey('reader', READER, { scopes: ['read'] }),
];

async function anAuditedApi(options: TestedApi = {}) {
  const api = await anApi({ apiKeys, ...options });
  const send = (name: string, body: object = {}, headers: Record<string, string> = {}) =>
    api.app.inject({
      method: 'POST',
      url: `/v1/orders/order-1/${name}?integration=shop`,
      headers: { authorization: `Bearer ${KEY}`, 'x-actor': 'ada@example.com', ...headers },
      payload: body,
    });
  return { ...api, send };
}

describe('the name of who asks', () => {
  it.each([
    ['too long', 'x'.repeat(101)],
    ['of two lines', 'ada%0Abo'],
    ['a card number', '4111 1111 1111 1111'],
    ['half encoded', '100%'],
    ['not ASCII', 'Zo\u00eb'],
    ['empty', ''],
  ])('is refused when it is %s, and no answer and no log shows it', async (_what, actor) => {
    const { orderScreening, send, logged } = await anAuditedApi();
    for (const name of ['report-fraud', 'recheck']) {
      const response = await send(name, {}, { 'x-actor': actor });
      expect(response.json()).toMatchObject({ status: 422, errors: [{ path: 'X-Actor' }] });
      if (actor !== '') expect(response.body + logged()).not.toContain(actor);
    }
    for (const asked of Object.values(orderScreening)) expect(asked).not.toHaveBeenCalled();
    expect(logged()).not.toMatch(/4111 1111|ada/);
  });

  it('is the user name on the pages, and none for none', async () => {
    const { app, orderScreening, audit } = await anAuditedApi();
    const cancelBy = (user: string) =>
      sendForm(app, '/orders/order-1/cancel', 'reason=she+called', {
        authorization: `Basic ${Buffer.from(`${user}:${KEY}`).toString('base64')}`,
        'sec-fetch-site': 'same-origin',
      });
    await cancelBy('Zoë');
    await cancelBy('');
    expect((await cancelBy('x'.repeat(101))).body).toContain('user name must have at most 100 characters');
    expect(orderScreening.cancel.mock.calls.map(([, , how]) => how)).toEqual([
      { by: { key: 'ops', actor: 'Zoë' } },
      { by: { key: 'ops' } },
    ]);
    expect(audit()).toMatchObject([
      { key: 'ops', actor: 'Zoë', route: '/orders/:orderId/cancel', because: 'she called', status: 303 },
      { key: 'ops', status: 303 },
      { key: 'ops', status: 422 },
    ]);
  });
});

describe('the audit log', () => {
  it('has a line for each caller who was refused, decoded payload, card reference and file', async () => {
    const codec = createPayloadCodec([{ id: 'a', key: randomBytes(32) }]);
    const { app, audit } = await anAuditedApi({
      ...{ codec: { codec, origins: [], token: 'a-token' }, webhookSecrets: ['a-secret'] },
    });
    const open = await anAuditedApi({ apiKeys: [] });
    const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
    const basic = (key: string) => ({ authorization: `Basic ${btoa(`ada:${key}`)}` });
    const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    const form = { ...foreign, ...basic(KEY), 'content-type': 'application/x-www-form-urlencoded' };
    const orderId = 'order-1';
    const ofShop = { orderId, integration: 'shop' };
    const byAda = { key: 'ops', actor: 'ada' };
    const card = { ...ofShop, ...TEST_CARD };
    const send = (to: typeof app, request: string, headers: object, payload?: object | string) => {
      const [method, url] = request.split(' ') as ['GET' | 'POST', string];
      const body = payload === undefined ? {} : { payload };
      return to.inject({ method, url, headers: { ...headers }, remoteAddress: '192.0.2.7', ...body });
    };
    await send(app, 'GET /v1/orders/order-1?integration=shop', bearer('wrong'));
    await send(app, 'GET /v1/orders', {});
    await send(app, 'POST /v1/orders/order-1/screening', bearer(READER), {});
    await send(app, 'POST /v1/webhooks/shop/wrong', {}, {});
    await send(app, 'POST /codec/decode', bearer(KEY), {});
    await send(app, 'POST /codec/wrong-token/decode', {}, { payloads: [] });
    await send(app, 'GET /orders/order-1?integration=shop', basic('wrong'));
    await send(app, 'POST /orders/order-1/cancel?integration=shop', form, 'reason=x');
    await send(app, 'POST /v1/card-refs', { ...bearer(KEY), 'x-actor': 'ada' }, card);
    await send(app, 'GET /queue.csv?integration=shop', basic(KEY));
    await send(open.app, 'POST /v1/orders/order-1/recheck?integration=shop', foreign, {});
    const lines = [...audit(), ...open.audit()];
    expect(lines).toMatchObject([
      { status: 401, route: '/v1/orders/:orderId', ...ofShop },
      { status: 401, route: '/v1/orders' },
      { status: 403, route: '/v1/orders/:orderId/screening', key: 'reader', orderId },
      { status: 401, route: '/v1/webhooks/:integration/:secret', integration: 'shop' },
      { status: 403, route: '/codec/decode', key: 'ops' },
      { status: 401, route: '/codec/:token/decode' },
      { status: 401, code: 'unauthorized', route: '/orders/:orderId', ...ofShop },
      { status: 403, code: 'foreign-form', route: '/orders/:orderId/cancel', ...byAda, ...ofShop },
      { status: 201, method: 'POST', route: '/v1/card-refs', ...byAda, ...ofShop },
      { status: 200, route: '/queue.csv', ...byAda, integration: 'shop' },
      { status: 401, code: 'foreign-page', route: '/v1/orders/:orderId/recheck', ...ofShop },
    ]);
    for (const line of lines) expect(line).toMatchObject({ peer: '192.0.2.7' });
    expect(JSON.stringify(lines)).not.toMatch(new RegExp(`wrong|a-secret|evil|${TEST_CARD.cardNumber}`));
  });

  it('has no key and no secret that was sent in the place of a name', async () => {
    const secret = 'a-secret-of-the-webhooks';
    const options = { webhookSecrets: [secret], integrations: ['shop'] };
    const { app, audit, logged } = await anAuditedApi(options);
    const asUser = (password: string) => ({ authorization: `Basic ${btoa(`${KEY}:${password}`)}` });
    await app.inject({ method: 'POST', url: `/v1/webhooks/${secret}`, payload: {} });
    await app.inject({ method: 'POST', url: `/v1/webhooks/${secret}/shop`, payload: {} });
    await app.inject({ url: '/', headers: asUser('') });
    const named = await app.inject({ url: '/queue.csv', headers: asUser(KEY) });
    expect(named.statusCode).toBe(200);
    expect(audit().map(({ status }) => status)).toEqual([401, 401, 401, 200]);
    expect(logged()).not.toMatch(new RegExp(`${KEY}|${secret}`));
  });

  it('names the workflows whose payloads were decoded, and the orders of an action on several', async () => {
    const codec = createPayloadCodec([{ id: 'a', key: randomBytes(32) }]);
    const apiKeys = [
      hashedKey('codec', KEY, { scopes: ['codec'] }),
      hashedKey('shop', READER, { scopes: ['ops'], integrations: ['shop'] }),
    ];
    const token = 'the-token-of-the-codec';
    const { app, audit } = await anAuditedApi({ apiKeys, codec: { codec, origins: [], token } });
    const sealed = async (workflowId: string) => {
      const plain = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{}') };
      const context = { type: 'workflow', namespace: 'default', workflowId } as const;
      const [payload = plain] = await codec.encode([plain], context);
      return Payload.toObject(Payload.create(payload), { bytes: String });
    };
    const workflowIds = ['order:shop:1', 'portal:shop:cancel:2'];
    const payloads = await Promise.all([...workflowIds, 'order:shop:1'].map(sealed));
    const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
    const decode = (url: string, headers = {}) =>
      app.inject({ method: 'POST', url, payload: { payloads }, headers });
    expect((await decode('/codec/decode', bearer(KEY))).statusCode).toBe(200);
    expect((await decode(`/codec/${token}/decode`)).statusCode).toBe(200);
    const form = 'do=recheck&order=shop%2F1&order=other%2F2';
    const headers = { ...bearer(READER), 'sec-fetch-site': 'same-origin' };
    expect((await sendForm(app, '/several', form, headers)).statusCode).toBe(403);
    const [byKey, byToken, several] = audit();
    expect(byKey).toMatchObject({ status: 200, route: '/codec/decode', key: 'codec', workflowIds });
    expect(byToken).toMatchObject({ status: 200, route: '/codec/:token/decode', workflowIds });
    for (const line of [byKey, byToken]) expect(line).not.toHaveProperty('integration');
    expect(several).toMatchObject({ status: 403, workflowIds: ['order:shop:1', 'order:other:2'] });
  });

  it('says who did what to which order, why, from where, and how it ended', async () => {
    const { audit, send, orderScreening } = await anAuditedApi();
    const actor = 'Zoë Łukasz';
    const body = { action: 'proceed', reason: 'showed the card' };
    await send('override', body, { 'x-actor': encodeURIComponent(actor) });
    expect(orderScreening.override.mock.calls[0]?.[2]).toMatchObject({ by: { key: 'ops', actor } });
    expect(audit()).toEqual([
      expect.objectContaining({
        audit: true,
        method: 'POST',
        route: '/v1/orders/:orderId/override',
        status: 200,
        key: 'ops',
        actor,
        peer: '127.0.0.1',
        orderId: 'order-1',
        integration: 'shop',
        action: 'proceed',
        because: 'showed the card',
      }),
    ]);
  });

  it('has what was refused, by us or by the order', async () => {
    const { orderScreening, audit, send } = await anAuditedApi();
    await send('override', { action: 'cancel', reason: 'x' }, { authorization: `Bearer ${READER}` });
    await send('override', {}, { authorization: 'Bearer wrong' });
    orderScreening.cancel.mockRejectedValue(new OrderScreeningError('order-closed', 'Closed.'));
    await send('cancel', { reason: '4111 1111 1111 1111' });
    await send('cancel');
    expect(audit()).toMatchObject([
      { status: 403, code: 'missing-scope', key: 'reader', actor: 'ada@example.com' },
      { status: 401, code: 'unauthorized' },
      { status: 422, code: 'card-data-in-request' },
      { status: 409, code: 'order-closed' },
    ]);
    expect(JSON.stringify(audit())).not.toMatch(/4111 1111|wrong/);
  });

  it('says of a repeat that it is one, done or refused', async () => {
    const { send, audit, orderScreening } = await anAuditedApi();
    const key = { 'idempotency-key': 'k' };
    await send('report-fraud', {}, key);
    const answer = { integration: 'shop', kind: 'report-fraud', status: 'done', repeated: true } as const;
    orderScreening.reportFraud.mockResolvedValueOnce(answer);
    expect((await send('report-fraud', {}, key)).json()).toMatchObject({ repeated: true });
    orderScreening.acknowledge.mockResolvedValueOnce({ cleared: 1, repeated: true });
    await send('acknowledge', { reason: 'x' }, key);
    const refused = new OrderScreeningError('outcome-unknown', 'In words.', { repeated: true });
    orderScreening.cancel.mockRejectedValueOnce(refused);
    expect((await send('cancel', {}, key)).json()).toMatchObject({ status: 502, repeated: true });
    expect(audit().map(({ repeated }) => repeated)).toEqual([undefined, true, true, true]);
  });

  it('has nothing of checkouts, readings and looks at pages', async () => {
    const { app, audit } = await anAuditedApi();
    const headers = { authorization: `Bearer ${KEY}` };
    for (const url of ['/v1/orders', '/v1/orders/order-1', '/', '/orders/order-1', '/orders/order-1/running'])
      expect((await app.inject({ url, headers })).statusCode).toBe(200);
    expect(audit()).toEqual([]);
  });

  it.each<[proxies: string[], forwarded: string, peer: string | undefined]>([
    [[], '198.51.100.7, 203.0.113.9', '127.0.0.1'],
    [['10.0.0.0/8'], '198.51.100.7, 203.0.113.9', '127.0.0.1'],
    [['127.0.0.1'], '198.51.100.7, 203.0.113.9', '203.0.113.9'],
    [['127.0.0.1', '203.0.113.0/24'], '198.51.100.7, 203.0.113.9', '198.51.100.7'],
    [['127.0.0.1'], '4111111111111111', undefined],
    [['127.0.0.1'], '198.51.100.7, 203.0.113.9:50001', '203.0.113.9'],
    [['127.0.0.1'], '198.51.100.7,[2001:db8::9]:50001', '2001:db8::9'],
    [['127.0.0.1', '203.0.113.0/24'], '198.51.100.7:1, 203.0.113.9:50001', '198.51.100.7'],
  ])(
    'believes a forwarded address only from the proxies that are named: %j, %s',
    async (trustProxy, forwarded, peer) => {
      const { send, audit } = await anAuditedApi({ trustProxy });
      await send('report-fraud', {}, { 'x-forwarded-for': forwarded });
      expect(audit().map((line) => line.peer)).toEqual([peer]);
    },
  );
});
