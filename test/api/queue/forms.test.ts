import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../../src/config/index.ts';
import { OrderScreeningError } from '../../../src/starter.ts';
import { anApi, aPortalAnswer } from '../fake-order-screening.ts';

const KEY = 'the-key-of-ops';
const apiKeys = [hashedKey('shop', 'the-key-of-the-shop'), hashedKey('ops', KEY)];
const basic = (key: string, user = 'ada') => `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`;
const PAGES = [
  '/',
  '/orders/order-1',
  '/orders/order-1/cancel',
  '/orders/order-1/recheck',
  '/orders/order-1/actions/1/withdraw',
];

describe('signing in', () => {
  it.each([basic(KEY), basic(KEY, ''), basic(KEY).replace('Basic', 'basic'), `Bearer ${KEY}`])(
    'lets in who sends a key: %s',
    async (authorization) => {
      const { app, logged } = await anApi({ apiKeys });
      for (const url of PAGES) {
        expect((await app.inject({ url, headers: { authorization } })).statusCode, url).toBe(200);
      }
      expect(logged()).toContain('"key":"ops"');
      expect(logged()).not.toContain(KEY);
    },
  );

  it.each([
    undefined,
    basic('wrong-key'),
    basic(''),
    `Basic ${KEY}`,
    'Basic !',
    `Basic ${btoa(KEY)}`,
    'Digest x',
  ])('keeps out who sends %s, by a page that makes the browser ask', async (authorization) => {
    const { app, orderScreening } = await anApi({ apiKeys });
    for (const url of PAGES) {
      const headers = authorization === undefined ? {} : { authorization };
      const response = await app.inject({ url, headers });
      expect(response.statusCode, url).toBe(401);
      expect(response.headers['www-authenticate']).toBe('Basic realm="order-screening", charset="UTF-8"');
      expect(response.body).toContain('Sign in with an API key');
    }
    expect(orderScreening.list).not.toHaveBeenCalled();
    expect(orderScreening.inspect).not.toHaveBeenCalled();
  });

  it('holds for the pages only: the API takes no password', async () => {
    const { app } = await anApi({ apiKeys });
    const headers = { authorization: basic(KEY) };
    expect((await app.inject({ url: '/v1/orders', headers })).statusCode).toBe(401);
  });

  it('isn’t asked for without keys, as nowhere in the API', async () => {
    const { app } = await anApi();
    for (const url of PAGES) expect((await app.inject(url)).statusCode, url).toBe(200);
  });
});

const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };

describe('a form', () => {
  const send = (
    app: Awaited<ReturnType<typeof anApi>>['app'],
    action: string,
    payload = '',
    headers: Record<string, string> = SAME_ORIGIN,
  ) =>
    app.inject({
      method: 'POST',
      url: `/orders/order-1/${action}?integration=shop`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      payload,
    });

  it('cancels with the reason, and goes on to the order', async () => {
    const { app, orderScreening } = await anApi();
    const response = await send(app, 'cancel', 'reason=+the+customer+asked%0D%0Atwice+');
    expect(response.statusCode).toBe(303);
    expect(response.headers.location).toBe('/orders/order-1?integration=shop&notice=canceled');
    expect(orderScreening.cancel).toHaveBeenCalledExactlyOnceWith(
      { orderId: 'order-1', integration: 'shop' },
      { reason: 'the customer asked\ntwice' },
      {},
    );
  });

  it('cancels without a reason, and says that it goes on when it takes long', async () => {
    const { app, orderScreening } = await anApi();
    orderScreening.cancel.mockResolvedValue(aPortalAnswer({ status: 'requested' }));
    const response = await send(app, 'cancel', 'reason=');
    expect(response.headers.location).toContain('notice=cancel-requested');
    expect(orderScreening.cancel).toHaveBeenCalledExactlyOnceWith(expect.anything(), {}, {});
  });

  it('rechecks', async () => {
    const { app, orderScreening } = await anApi();
    expect((await send(app, 'recheck')).headers.location).toContain('notice=recheck');
    expect(orderScreening.recheck).toHaveBeenCalledExactlyOnceWith({
      orderId: 'order-1',
      integration: 'shop',
    });
  });

  it('is shown again with its fault when the reason is too long', async () => {
    const { app, orderScreening } = await anApi();
    const response = await send(app, 'cancel', `reason=${'x'.repeat(501)}`);
    expect(response.statusCode).toBe(422);
    expect(response.body).toContain('reason must have at most 500 characters');
    expect(response.body).not.toContain('xxx');
    expect(orderScreening.cancel).not.toHaveBeenCalled();
  });

  it.each([
    ['from another site', { 'sec-fetch-site': 'cross-site', origin: 'http://localhost:80' }],
    ['from another port of this machine', { 'sec-fetch-site': 'same-site' }],
    ['typed into the address', { 'sec-fetch-site': 'none' }],
    ['of an old browser from another site', { origin: 'http://evil.example' }],
    ['of an old browser from another port', { origin: 'http://localhost:8233' }],
    ['without an origin', {}],
    ['of a hidden origin', { origin: 'null' }],
  ])('%s does nothing', async (_from, headers) => {
    const { app, orderScreening } = await anApi();
    for (const action of ['cancel', 'recheck']) {
      const response = await send(app, action, '', { host: 'localhost:80', ...headers });
      expect(response.statusCode).toBe(403);
      expect(response.body).toContain('The form is not from these pages');
    }
    expect(orderScreening.cancel).not.toHaveBeenCalled();
    expect(orderScreening.recheck).not.toHaveBeenCalled();
  });

  it('of an old browser from these pages is taken', async () => {
    const { app } = await anApi();
    const headers = { host: 'localhost:8080', origin: 'http://localhost:8080' };
    expect((await send(app, 'recheck', '', headers)).statusCode).toBe(303);
  });

  it.each([
    ['cancel-window-closed', 409, 'The cancel window is closed'],
    ['refused-by-screening-service', 502, 'The screening service refused the action'],
    ['temporal-unavailable', 503, 'No answer yet. Retrying is safe'],
    ['order-closed', 409, 'The order is closed'],
  ] as const)('that fails is answered by a page that leads back: %s', async (code, status, title) => {
    const { app, orderScreening } = await anApi();
    const failure = new OrderScreeningError(code, 'In words.', { serviceMessage: '<b>No</b>' });
    orderScreening.cancel.mockRejectedValue(failure);
    const response = await send(app, 'cancel');
    expect(response.statusCode).toBe(status);
    expect(response.body).toContain(title);
    expect(response.body).toContain('&lt;b&gt;No&lt;/b&gt;');
    expect(response.body).toContain('href="/orders/order-1?integration=shop"');
  });

  it.each([
    ['application/json', '{}', 415],
    ['application/x-www-form-urlencoded', `reason=${'x'.repeat(20_000)}`, 413],
  ])('of type %s that isn’t one of these pages’ is refused', async (type, payload, status) => {
    const { app, orderScreening } = await anApi();
    const response = await send(app, 'cancel', payload, { ...SAME_ORIGIN, 'content-type': type });
    expect(response.statusCode).toBe(status);
    expect(orderScreening.cancel).not.toHaveBeenCalled();
  });

  it('is what a person confirms: looking at it does nothing', async () => {
    const { app, orderScreening } = await anApi();
    const { body } = await app.inject('/orders/order-1/cancel?integration=shop');
    expect(body).toMatch(/<form method="post" action="\/orders\/order-1\/cancel\?integration=default">/);
    expect(body).toContain('Cancel order order-1?');
    expect(orderScreening.cancel).not.toHaveBeenCalled();
  });
});
