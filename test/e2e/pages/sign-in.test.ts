/** People sign in to the pages at an OpenID Connect provider, which is a process of its own, in a real browser. */
import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort, type SpawnedProcess, spawnProcess, withTestServer } from '../../support/index.ts';
import { type Deployment, deploy } from '../support.ts';
import { withBrowser } from './with-browser.ts';

const KEY = 'a-key-of-an-order-service';

const server = withTestServer();
let all: Deployment;
let provider: SpawnedProcess;

beforeAll(async () => {
  const PORT = String(await freePort());
  const env = (url: string) => ({
    OIDC_ISSUER: `http://127.0.0.1:${PORT}`,
    OIDC_CLIENT_ID: 'pages',
    OIDC_CLIENT_SECRET: 'a-secret-of-the-pages',
    OIDC_ROLES: JSON.stringify({ analyst: { scopes: ['read', 'act'], integrations: ['default'] } }),
    PAGES_URL: url,
    SESSION_KEYS: `one:${randomBytes(32).toString('base64')}`,
  });
  all = await deploy(
    server.address,
    { default: {}, other: {} },
    { env, apiKey: KEY, keys: [{ name: 'shop', key: KEY }] },
  );
  const CALLBACK = `${all.apiUrl}/sign-in/callback`;
  const script = 'test/e2e/pages/oidc-provider.mjs';
  provider = await spawnProcess(script, { env: { PORT, CALLBACK }, readyWhen: /is listening/ });
});
afterAll(async () => {
  await provider?.stop();
  await all?.stop();
});
const open = withBrowser({
  get apiUrl() {
    return all.apiUrl;
  },
});

/** Opens a page in a new window, and signs in at the provider. */
async function signIn(name: string, path: string): Promise<Page> {
  const page = await open(path);
  await signInAt(page, name);
  return page;
}

/** Signs in at the provider, and waits for the way back. */
async function signInAt(page: Page, name = 'ada'): Promise<void> {
  await page.fill('[name=login]', name);
  await page.fill('[name=password]', 'any');
  await page.click('[type=submit]');
  await page.click('[type=submit]');
  await page.waitForURL(`${all.apiUrl}/**`);
}

const cookiesOf = async (page: Page) =>
  (await page.context().cookies(all.apiUrl)).filter(({ name }) => name.startsWith('order-screening'));

it('a person signs in, comes back to the page, acts by their role, and the journal has the proved name', async () => {
  const orderId = await all.inReview();
  const page = await signIn('ada', `/orders/${orderId}?integration=default`);
  expect(new URL(page.url()).pathname).toBe(`/orders/${orderId}`);
  const [session, ...others] = await cookiesOf(page);
  expect(others).toEqual([]);
  expect(session).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' });
  expect(Buffer.from(session?.value ?? '', 'base64url').toString()).not.toContain('ada');
  await page.click('#cancel summary');
  await page.fill('#cancel [name=reason]', 'the customer asked');
  await page.click('#cancel form button');
  const order = await all.until(orderId, ({ journal = [] }) => journal.length > 0);
  expect(order.journal).toMatchObject([{ by: { key: 'sign-in', actor: 'ada@example.com' } }]);

  expect(await page.textContent('header')).toMatch(/ada@example\.com\s*Sign out/);
  const status = async (path: string) => (await page.goto(path))?.status();
  expect(await status('/?integration=other')).toBe(403);
  expect(await status('/several?action=cancel')).toBe(403);
  // The cookie is for the pages only.
  expect(await status('/v1/orders')).toBe(401);
});

it('whoever has no role is told so, and gets no session', async () => {
  const page = await signIn('eve', '/');
  expect(await page.textContent('h1')).toBe('You have no role here');
  expect((await cookiesOf(page)).map(({ name }) => name)).not.toContain('order-screening-session');
});

it('a session is none once people sign in at a different provider', async () => {
  const [session] = await cookiesOf(await signIn('ada', '/'));
  const elsewhere = await all.startApi({ OIDC_ISSUER: 'https://elsewhere.example' });
  const headers = { cookie: `${session?.name}=${session?.value}` };
  const { status } = await fetch(`${elsewhere.url}/`, { headers, redirect: 'manual' });
  expect(status).toBe(303);
});

it('a session ends on demand, and a changed one is none', async () => {
  const page = await signIn('ada', '/sign-in?to=//elsewhere.example/');
  expect(page.url()).toBe(`${all.apiUrl}/`);
  const [session] = await cookiesOf(page);
  const cookie = `${session?.name}=${session?.value}`;
  const ask = async (header: string, path = '/', method = 'GET') => {
    const headers = { cookie: header, 'sec-fetch-site': 'same-origin' };
    const { status, headers: answered } = await fetch(`${all.apiUrl}${path}`, {
      method,
      headers,
      redirect: 'manual',
    });
    return { status, location: answered.get('location'), set: answered.get('set-cookie') };
  };
  expect(await ask(cookie)).toMatchObject({ status: 200 });
  const toProvider = { status: 303, location: `/sign-in?to=${encodeURIComponent('/')}` };
  expect(await ask(`${cookie.slice(0, -3)}xyz`)).toMatchObject(toProvider);
  expect(await ask('')).toMatchObject(toProvider);
  // Of a session that has ended already.
  expect(await ask('', '/sign-out', 'POST')).toMatchObject({ status: 303, location: '/signed-out' });
  expect(await ask('', '/orders/order-1/recheck', 'POST')).toMatchObject({ status: 401 });
  expect(await ask(cookie, '/sign-out', 'POST')).toMatchObject({
    status: 303,
    location: '/signed-out',
    set: expect.stringMatching(/=; Max-Age=0/),
  });
  expect(await ask('', '/sign-in/callback?code=x&state=y')).toMatchObject({ status: 401 });
});

it('after the sign-in the browser stays on these pages, however the page to open is written', async () => {
  const page = await signIn('ada', '/sign-in?to=/.//elsewhere.example/');
  expect(new URL(page.url()).origin).toBe(all.apiUrl);
});

it('a note that was typed while the session ended is stored after signing in again', async () => {
  const orderId = await all.inReview();
  const page = await signIn('ada', `/orders/${orderId}?integration=default`);
  await page.context().clearCookies();
  await page.click('#note summary');
  await page.fill('#note [name=reason]', 'called the customer');
  await page.click('#note form button');
  expect(await page.textContent('h1')).toBe('Your session has ended');
  const [other] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('link', { name: 'Sign in again' }).click(),
  ]);
  await signInAt(other);
  await page.reload();
  expect(await page.textContent('main')).toContain('The note is in the timeline');
  expect((await all.read(orderId)).journal).toMatchObject([{ because: 'called the customer' }]);
});

it('of two windows that begin to sign in at once each comes back to its own page', async () => {
  const first = await open('/days');
  const second = await first.context().newPage();
  await second.goto('/?list=soon');
  await signInAt(first);
  expect(first.url()).toBe(`${all.apiUrl}/days`);
  await second.fill('[name=login]', 'ada');
  await second.fill('[name=password]', 'any');
  await second.click('[type=submit]');
  await second.waitForURL(`${all.apiUrl}/?list=soon`);
});

it('a list that is open when the session ends says so, and begins no sign-in by itself', async () => {
  const page = await signIn('ada', '/');
  await page.clock.install();
  await page.reload();
  await page.context().clearCookies();
  await page.clock.fastForward(15_000);
  const link = page.getByRole('link', { name: 'Session ended: sign in' });
  await link.waitFor();
  await page.clock.fastForward(60_000);
  expect(await page.context().cookies(`${all.apiUrl}/sign-in/callback`)).toEqual([]);
  await link.click();
  await page.waitForURL((url) => url.origin !== all.apiUrl);
});

it('a search after the end of the session leads to the sign-in, and then to what it found', async () => {
  const page = await signIn('ada', '/');
  await page.context().clearCookies();
  await page.fill('#q', 'order-1');
  await page.press('#q', 'Enter');
  await signInAt(page);
  expect(page.url()).toBe(`${all.apiUrl}/?q=order-1`);
});

it('an address that is too long for a cookie leads to the queue after the sign-in', async () => {
  const page = await signIn('ada', `/several?do=note${'&order=default%2Forder-1'.repeat(100)}`);
  expect(page.url()).toBe(`${all.apiUrl}/`);
});

it('API keys go on working, by HTTP Basic as well', async () => {
  const authorization = `Basic ${Buffer.from(`ada:${KEY}`).toString('base64')}`;
  expect((await fetch(`${all.apiUrl}/`, { headers: { authorization } })).status).toBe(200);
});
