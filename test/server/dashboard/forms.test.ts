import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../../src/config/index.ts';
import { anApi } from '../api/fake-order-screening.ts';
import { sendForm } from './support.ts';

const KEY = 'the-key-of-ops';
const apiKeys = [hashedKey('shop', 'the-key-of-the-shop'), hashedKey('ops', KEY)];
const basic = (key: string, user = 'ada') => `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`;
const PAGES = [
  '/',
  '/orders/order-1',
  '/orders/order-1/running',
  '/days',
  '/news',
  '/refused',
  '/transactions/1',
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

  it.each(['', basic('wrong-key'), basic(''), `Basic ${KEY}`, `Basic ${btoa(KEY)}`, 'Digest x'])(
    'keeps out who sends "%s", by a page that makes the browser ask',
    async (authorization) => {
      const { app, orderScreening } = await anApi({ apiKeys });
      for (const url of PAGES) {
        const response = await app.inject({ url, headers: { authorization } });
        expect(response.statusCode, url).toBe(401);
        expect(response.headers['www-authenticate']).toBe('Basic realm="order-screening", charset="UTF-8"');
        expect(response.body).toContain('Sign in with an API key');
      }
      for (const asked of Object.values(orderScreening)) expect(asked).not.toHaveBeenCalled();
    },
  );
});

describe('a form', () => {
  it.each([
    [403, 'from another site', { 'sec-fetch-site': 'cross-site', origin: 'http://localhost:8080' }],
    [403, 'from another port of this machine', { 'sec-fetch-site': 'same-site' }],
    [403, 'typed into the address', { 'sec-fetch-site': 'none' }],
    [403, 'of an old browser from another site', { origin: 'http://evil.example' }],
    [403, 'of an old browser from another port', { origin: 'http://localhost:8233' }],
    [403, 'without an origin', {}],
    [403, 'of a hidden origin', { origin: 'null' }],
    [303, 'of an old browser from these pages', { origin: 'http://localhost:8080' }],
  ])('is answered %i: %s', async (status, _from, headers) => {
    const { app, orderScreening } = await anApi();
    for (const action of ['cancel', 'recheck'] as const) {
      const sent = { host: 'localhost:8080', ...headers };
      const response = await sendForm(app, `/orders/order-1/${action}`, '', sent);
      expect(response.statusCode).toBe(status);
      if (status === 403) expect(response.body).toContain('The form is not from these pages');
      expect(orderScreening[action]).toHaveBeenCalledTimes(status === 303 ? 1 : 0);
    }
  });

  it.each([
    ['application/json', '{}', 415],
    ['application/x-www-form-urlencoded', `reason=${'x'.repeat(20_000)}`, 413],
  ])('of type %s that isn’t one of these pages’ is refused', async (type, payload, status) => {
    const { app, orderScreening } = await anApi();
    const headers = { 'sec-fetch-site': 'same-origin', 'content-type': type };
    expect((await sendForm(app, '/orders/order-1/cancel', payload, headers)).statusCode).toBe(status);
    expect(orderScreening.cancel).not.toHaveBeenCalled();
  });

  it('of a person who may no longer send it is refused, and leads to the order', async () => {
    const { app } = await anApi({ apiKeys: [hashedKey('ops', KEY, { scopes: ['read'] })] });
    const headers = { authorization: basic(KEY), 'sec-fetch-site': 'same-origin' };
    const url = '/orders/order-1/note?integration=shop';
    const { statusCode, body } = await sendForm(app, url, 'reason=called', headers);
    expect(statusCode).toBe(403);
    expect(body).toContain('It lacks the scope “act”.');
    expect(body).toContain('<a href="">Go to the order</a>');
    const { headers: answered } = await app.inject({ url, headers });
    expect(answered.location).toBe('/orders/order-1?integration=shop');
  });

  it.each([
    ['/orders/order-1/note?integration=shop', '', 'Go to the order'],
    ['/several', '/', 'Go to the queue'],
  ])(
    'with card data, sent to %s, is refused without its words, and leads to “%s”',
    async (url, to, words) => {
      const { app, orderScreening } = await anApi();
      const { statusCode, body } = await sendForm(
        app,
        url,
        'reason=4111+1111+1111+1111&do=note&order=shop/order-1',
      );
      expect(statusCode).toBe(422);
      expect(body).toContain(`<a href="${to}">${words}</a>`);
      expect(body).not.toContain('4111');
      expect(orderScreening.note).not.toHaveBeenCalled();
      // An empty address is that of the form, which leads to its order.
      if (to === '')
        expect((await app.inject(url)).headers.location).toBe('/orders/order-1?integration=shop');
    },
  );
});
