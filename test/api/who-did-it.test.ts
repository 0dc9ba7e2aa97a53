/** Who asks: what an order is told of it, and what the audit log says. */
import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../src/config/index.ts';
import { OrderScreeningError } from '../../src/starter.ts';
import { anApi, type TestedApi } from './fake-order-screening.ts';

const KEY = 'the-key-of-ops-with-all-scopes';
const READER = 'the-key-of-who-may-only-read';
const apiKeys = [
  hashedKey('ops', KEY, { scopes: ['screen', 'read', 'act', 'ops'] }),
  hashedKey('reader', READER, { scopes: ['read'] }),
];

async function anAuditedApi(options: TestedApi = {}) {
  const api = await anApi({ apiKeys, ...options });
  const audit = () =>
    api
      .logged()
      .split('\n')
      .filter((line) => line.includes('"audit":true'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const send = (name: string, body: object = {}, headers: Record<string, string> = {}) =>
    api.app.inject({
      method: 'POST',
      url: `/v1/orders/order-1/${name}?integration=shop`,
      headers: { authorization: `Bearer ${KEY}`, 'x-actor': 'ada@example.com', ...headers },
      payload: body,
    });
  return { ...api, audit, send };
}

describe('an action over HTTP', () => {
  it('takes a name in any script, percent-encoded', async () => {
    const { orderScreening, send } = await anAuditedApi();
    await send('report-fraud', {}, { 'x-actor': encodeURIComponent('Zoë Łukasz') });
    expect(orderScreening.reportFraud).toHaveBeenCalledWith(
      expect.anything(),
      expect.anything(),
      expect.objectContaining({ by: { key: 'ops', actor: 'Zoë Łukasz' } }),
    );
  });

  it.each([
    ['too long', 'x'.repeat(101)],
    ['of two lines', 'ada%0Abo'],
    ['a card number', '4111 1111 1111 1111'],
    ['half encoded', '100%'],
    ['not ASCII', 'Zo\u00eb'],
    ['empty', ''],
  ])('is refused with a name that is %s, which no answer and no log shows', async (_what, actor) => {
    const { orderScreening, send, logged } = await anAuditedApi();
    const response = await send('report-fraud', {}, { 'x-actor': actor });
    expect(response.statusCode).toBe(422);
    expect(response.json().errors).toMatchObject([{ path: 'X-Actor' }]);
    expect(orderScreening.reportFraud).not.toHaveBeenCalled();
    if (actor !== '') expect(response.body + logged()).not.toContain(actor);
    expect(logged()).not.toMatch(/4111 1111|ada/);
    const rechecked = await send('recheck', {}, { 'x-actor': actor });
    expect(rechecked.json().errors).toMatchObject([{ path: 'X-Actor' }]);
    expect(orderScreening.recheck).not.toHaveBeenCalled();
  });
});

describe('the page', () => {
  const form = (authorization: string) => ({
    method: 'POST' as const,
    url: '/orders/order-1/cancel',
    headers: {
      authorization,
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
    },
    payload: 'reason=she+called',
  });
  const basic = (user: string) => `Basic ${Buffer.from(`${user}:${KEY}`).toString('base64')}`;

  it('takes the user name as the person, and none for none', async () => {
    const { app, orderScreening, audit } = await anAuditedApi();
    await app.inject(form(basic('Zoë')));
    await app.inject(form(basic('')));
    expect(orderScreening.cancel.mock.calls.map(([, , how]) => how)).toEqual([
      { by: { key: 'ops', actor: 'Zoë' } },
      { by: { key: 'ops' } },
    ]);
    expect(audit()).toMatchObject([
      { key: 'ops', actor: 'Zoë', route: '/orders/:orderId/cancel', because: 'she called', status: 303 },
      { key: 'ops' },
    ]);
  });

  it('refuses a name that isn’t one, by a page', async () => {
    const { app, orderScreening } = await anAuditedApi();
    const response = await app.inject(form(basic('x'.repeat(101))));
    expect(response.statusCode).toBe(422);
    expect(response.body).toContain('user name must have at most 100 characters');
    expect(orderScreening.cancel).not.toHaveBeenCalled();
  });
});

describe('the audit log', () => {
  it('says who did what to which order, why, from where, and how it ended', async () => {
    const { audit, send } = await anAuditedApi();
    await send('override', { action: 'proceed', reason: 'showed the card' });
    expect(audit()).toEqual([
      expect.objectContaining({
        audit: true,
        method: 'POST',
        route: '/v1/orders/:orderId/override',
        status: 200,
        key: 'ops',
        actor: 'ada@example.com',
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

  it('has nothing of checkouts, readings and looks at pages', async () => {
    const { app, audit } = await anAuditedApi();
    const headers = { authorization: `Bearer ${KEY}` };
    for (const url of ['/v1/orders', '/v1/orders/order-1', '/', '/orders/order-1', '/orders/order-1/cancel'])
      expect((await app.inject({ url, headers })).statusCode).toBe(200);
    expect(audit()).toEqual([]);
  });

  it('believes a forwarded address only from the proxies that are named', async () => {
    const forwarded = { 'x-forwarded-for': '198.51.100.7, 203.0.113.9' };
    const peers = async (options: TestedApi) => {
      const { send, audit } = await anAuditedApi(options);
      await send('report-fraud', {}, forwarded);
      return audit().map(({ peer }) => peer);
    };
    expect(await peers({})).toEqual(['127.0.0.1']);
    expect(await peers({ trustProxy: ['10.0.0.0/8'] })).toEqual(['127.0.0.1']);
    expect(await peers({ trustProxy: ['127.0.0.1'] })).toEqual(['203.0.113.9']);
    expect(await peers({ trustProxy: ['127.0.0.1', '203.0.113.0/24'] })).toEqual(['198.51.100.7']);
  });

  it('shows no address that is none', async () => {
    const { send, audit } = await anAuditedApi({ trustProxy: ['127.0.0.1'] });
    await send('report-fraud', {}, { 'x-forwarded-for': '4111111111111111' });
    expect(audit()).toHaveLength(1);
    expect(audit()[0]).not.toHaveProperty('peer');
  });
});
