import { describe, expect, it } from 'vitest';
import { hashedKey, loadConfig } from '../../../src/config/index.ts';
import { createLog } from '../../../src/platform/log.ts';
import { SignIn } from '../../../src/server/api/oidc.ts';
import { OrderScreeningError } from '../../../src/starter.ts';
import { least } from '../../config/support.ts';
import { serve } from '../../support/index.ts';
import { anApi, anInspectedOrder } from '../api/fake-order-screening.ts';
import { sendForm, textOf } from './support.ts';

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

it('a form for several orders leaves out one that can’t be read, since nobody saw its action', async () => {
  const { app, orderScreening } = await anApi();
  const away = new OrderScreeningError('temporal-unavailable', 'No worker answers.');
  orderScreening.inspect.mockRejectedValueOnce(away).mockResolvedValueOnce(anInspectedOrder());
  const asked = '/several?do=proceed&order=shop%2Forder-1&order=shop%2Forder-2';
  const { body } = await app.inject(asked);
  expect(textOf(body)).toMatch(/Approve: 1 order\?.* order-1 shop – unknown none Nothing: it can’t be read/);
  expect(body.match(/name="order" value="[^"]*"/g)).toEqual([expect.stringContaining('shop/order-2')]);
  orderScreening.inspect.mockRejectedValue(away);
  const none = await app.inject(asked);
  expect(textOf(none.body)).toMatch(/Approve: 0 orders\?.*Back to the list/);
  expect(none.body).not.toContain('action="/several"');
});

/** The API whose people sign in at a provider. */
function anApiWithSignIn(issuer: string) {
  const { signIn } = loadConfig({
    ...least,
    API_KEYS: 'shop:a-key-that-is-long-enough',
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: 'pages',
    OIDC_ROLES: '{"analyst": {"scopes": ["read"]}}',
    PAGES_URL: 'https://screening.example.com/',
    SESSION_KEYS: `one:${Buffer.alloc(32, 7).toString('base64')}`,
  });
  return anApi(signIn && { signIn: new SignIn(signIn, createLog('test', 'silent')) });
}

// The browser sends no session with a form of another site.
it.each([
  ['same-origin', 303, expect.stringMatching(/^order-screening-session=; Max-Age=0;/)],
  ['cross-site', 403, undefined],
])('a form without a session signs out only from these pages: %s', async (site, status, cookie) => {
  const { app } = await anApiWithSignIn('https://login.example.com');
  const { statusCode, headers } = await sendForm(app, '/sign-out', '', { 'sec-fetch-site': site });
  expect([statusCode, headers['set-cookie']]).toEqual([status, cookie]);
});

it('a browser that signs in in thirty tabs keeps the cookies of the newest eight', async () => {
  const issuer = await serve((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ issuer, authorization_endpoint: `${issuer}/a`, token_endpoint: `${issuer}/t` }),
    );
  });
  const { app } = await anApiWithSignIn(issuer);
  const names: string[] = [];
  for (let tab = 0; tab < 30; tab += 1) {
    const { headers } = await app.inject('/sign-in?to=/orders/1001');
    names.push(String(headers['set-cookie']).split('=')[0] ?? '');
  }
  expect(new Set(names).size).toBe(8);
  expect(new Set(names.slice(-8)).size).toBe(8);
});

describe('a form', () => {
  it.each([
    ['lines', 'called\r\n\tno answer'],
    ['a mark of direction', 'called \u200fדנה'],
    ['markup', '</textarea>&amp;'],
  ])('that failed sends the same words again, and so is recognized: %s', async (_what, reason) => {
    const { app, orderScreening } = await anApi();
    const once = '9f1c8a52-6f0e-4b44-9a3e-2a5d3c1b7e10';
    const send = (words: string) =>
      sendForm(app, '/orders/order-1/note', `${new URLSearchParams({ once, reason: words })}`);
    orderScreening.note.mockRejectedValueOnce(new OrderScreeningError('temporal-unavailable', 'Try again.'));
    const { statusCode, body } = await send(reason);
    expect(statusCode).toBe(503);
    const [, shown = ''] = /<textarea[^>]*>(.*?)<\/textarea>/s.exec(body) ?? [];
    const entity = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };
    const typed = Object.entries(entity).reduce((text, [name, sign]) => text.replaceAll(name, sign), shown);
    // As a browser reads and sends it.
    await send(typed.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n'));
    const [first, second] = orderScreening.note.mock.calls;
    expect(second).toEqual(first);
  });

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

  const card = 'reason=4111+1111+1111+1111&do=note&order=shop/order-1';
  it.each([
    [
      'of who may no longer send it',
      ['read'],
      'note',
      'reason=called',
      403,
      '<a href="">Go to the order</a>',
    ],
    ['with card data', ['act'], 'note', card, 422, '<a href="">Go to the order</a>'],
    ['on several, with card data', ['ops'], '/several', card, 422, '<a href="/">Go to the queue</a>'],
  ] as const)(
    '%s is refused without its words, and leads back',
    async (_what, scopes, to, form, status, link) => {
      const keyed = [hashedKey('ops', KEY, { scopes: ['read', ...scopes] })];
      const { app, orderScreening } = await anApi({ apiKeys: keyed });
      const headers = { authorization: basic(KEY), 'sec-fetch-site': 'same-origin' };
      // An empty address is that of the form, which opened again leads to its order.
      const url = to === 'note' ? '/orders/order-1/note?integration=shop' : to;
      const { statusCode, body } = await sendForm(app, url, form, headers);
      expect(statusCode).toBe(status);
      expect(body).toContain(link);
      expect(body).not.toContain('4111');
      if (status === 403) expect(body).toContain('It lacks the scope “act”.');
      expect(orderScreening.note).not.toHaveBeenCalled();
    },
  );
});
