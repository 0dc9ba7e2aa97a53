/** The pages for ops in a real browser, over a real deployment. The tests follow one another: orders move on. */
import { randomUUID } from 'node:crypto';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { accessFaults, BROWSER_WITHIN_MS, overflow, picture, startBrowser } from '../support/browser.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { anOrderId, withDeployment } from './support.ts';

const KEY = 'a-key-of-the-operators';
const INTEGRATION = `queue-${randomUUID().slice(0, 8)}`;
const UI = 'https://temporal.example:8443';
const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 900 };

const server = withTestServer();
const all = withDeployment(
  server,
  { [INTEGRATION]: { poll: { first: '1s', factor: 1, max: '1s' }, events: 'all' } },
  { webhooks: false, apiKey: KEY, keys: [{ name: 'ops', key: KEY }], env: { TEMPORAL_UI_URL: UI } },
);
let browser: Browser;
const inReview = `${randomUUID()}-of-the-shop-in-the-old-town`;
const needsAttention = anOrderId();

beforeAll(async () => {
  browser = await startBrowser();
  for (const orderId of [inReview, needsAttention])
    await all.screen(orderId, 'review', { integration: INTEGRATION });
  await server.client.workflow.getHandle(`order:${INTEGRATION}:${needsAttention}`).cancel();
  await all.until(needsAttention, ({ attention }) => attention.length > 0, INTEGRATION);
}, BROWSER_WITHIN_MS);
afterAll(() => browser?.close());

/** A page of a new window, signed in, that is closed when the test is over. */
async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({
    baseURL: all.apiUrl,
    viewport: DESK,
    httpCredentials: { username: 'ops', password: KEY },
    ...options,
  });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(path);
  return page;
}

const QUEUE = `/?integration=${INTEGRATION}`;
const of = (orderId: string, action = '') => `/orders/${orderId}${action}?integration=${INTEGRATION}`;

/** Every page that a person sees, by its name. */
const PAGES = {
  'the queue': QUEUE,
  'an order in review': of(inReview),
  'an order that needs attention': of(needsAttention),
  'a recheck to confirm': of(inReview, '/recheck'),
  'a cancel to confirm': of(inReview, '/cancel'),
  'the last days': `/days?integration=${INTEGRATION}`,
  'a wall': `${QUEUE}&wall=1`,
  'several orders to confirm': `/several?do=proceed&order=${INTEGRATION}/${inReview}`,
  'an unknown order': of('no-such-order'),
  'a transaction': `/transactions/${inReview}?integration=${INTEGRATION}`,
  'an unknown transaction': `/transactions/no-such-order?integration=${INTEGRATION}`,
};

const rowOf = (page: Page, orderId: string) => page.getByRole('row').filter({ hasText: orderId });

const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent();

describe('the queue', () => {
  it('is shown to who has a key, and to nobody else', async () => {
    // A browser that knows no key shows what came with the question for it.
    const httpCredentials = { username: 'ops', password: 'a-wrong-key-of-mine' };
    expect(await heading(await open(QUEUE, { httpCredentials }))).toBe('Sign in with an API key');
    expect(await heading(await open(QUEUE))).toBe('Order queue');
  });

  it('has the orders in review and those that need attention, one line a row on a desk, also for a long id', async () => {
    await eventually(async () => {
      const page = await open(QUEUE);
      const review = await rowOf(page, inReview).textContent();
      expect(review).toMatch(/125\.50.*review hold.*in 4 d 23 h.*\d+ s.*review.*no/s);
      expect(await rowOf(page, needsAttention).textContent()).toMatch(/125\.50.*cancel/s);
      const lines = await page.evaluate(
        '[...document.querySelectorAll("tbody tr")].map((row) => row.offsetHeight / parseFloat(getComputedStyle(row).lineHeight))',
      );
      // With its padding.
      for (const count of z.array(z.number()).parse(lines)) expect(count > 1 && count < 2).toBe(true);
    });
  });

  it('leads to an order, the Temporal UI, and by a small picture to the last days', async () => {
    const page = await open(QUEUE);
    const width = () => page.evaluate('document.querySelector(".counts img").naturalWidth');
    await eventually(async () => expect(await width()).toBe(640));
    await page.getByRole('link', { name: inReview, exact: true }).click();
    expect(await heading(page)).toBe(`Order ${inReview}`);
    const workflowId = encodeURIComponent(`order:${INTEGRATION}:${inReview}`);
    const link = await page.getByRole('link', { name: 'Temporal UI' }).getAttribute('href');
    expect(link).toContain(`${UI}/namespaces/default/workflows/${workflowId}/`);
    await page.goto(QUEUE);
    await page.getByRole('link', { name: 'orders per day' }).click();
    expect(await heading(page)).toBe('Last days');
  });

  it('has a review found, decided and journaled in under a minute', async () => {
    const orderId = await all.inReview(INTEGRATION);
    const began = Date.now();
    const page = await open(QUEUE);
    await page.getByLabel('Order, invoice or transaction').fill(orderId);
    await page.getByRole('button', { name: 'Show' }).click();
    expect(await rowOf(page, inReview).count()).toBe(0);
    await page.getByRole('link', { name: orderId, exact: true }).click();
    await page.getByRole('link', { name: 'Approve' }).click();
    await page.getByLabel('Reason').fill('the customer showed the card');
    await page.getByRole('button', { name: 'Approve' }).click();
    expect(await page.getByRole('status').textContent()).toContain('You approved the order');
    expect(await page.getByRole('main').textContent()).toContain(
      'override proceed, by ops (as claimed), key ops: the customer showed the card',
    );
    expect(Date.now() - began).toBeLessThan(60_000);
  });
});

it.each(Object.entries(PAGES))(
  '%s fits a phone and a desk and is for everybody, in light and in dark',
  async (_name, path) => {
    const page = await open(path);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(PHONE);
      expect(await accessFaults(page), colorScheme).toEqual([]);
      for (const viewport of [PHONE, DESK]) {
        await page.setViewportSize(viewport);
        expect(await overflow(page), `${viewport.width}`).toBe(0);
      }
      const seen = await picture(browser, page);
      expect(seen).toMatchObject(DESK);
      expect(seen.colours).toBeGreaterThan(20);
      if (colorScheme === 'light') expect(seen.lightness).toBeGreaterThan(0.7);
      else expect(seen.lightness).toBeLessThan(0.3);
    }
  },
);

it('the documentation of the API has no serious fault that axe finds', async () => {
  const page = await open('/docs/');
  await page.getByText('Screen an order').first().waitFor();
  expect(await accessFaults(page)).toEqual([]);
  expect((await picture(browser, page)).colours).toBeGreaterThan(20);
});

describe('an order', () => {
  it('is canceled after a confirmation, with a reason, without JavaScript', async () => {
    const page = await open(QUEUE, { javaScriptEnabled: false });
    await page.getByRole('link', { name: inReview, exact: true }).click();
    await page.getByRole('link', { name: 'Cancel' }).click();
    expect(cancelsOf(inReview)).toEqual([]);
    await page.getByLabel('Reason').fill('<b>the customer asked</b>');
    await page.getByRole('button', { name: 'Cancel order' }).click();
    expect(await page.getByRole('status').textContent()).toBe('The transaction is canceled.');
    expect(await page.getByRole('main').textContent()).toContain(
      'Requested by a caller: cancel (<b>the customer asked</b>)',
    );
    expect(cancelsOf(inReview)).toHaveLength(1);
  });

  it('is found and canceled by keyboard alone, on a phone', async () => {
    const page = await open(QUEUE, { viewport: PHONE });
    await focus(page, needsAttention);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `Order ${needsAttention}` }).waitFor();
    await focus(page, 'Cancel …');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `Cancel order ${needsAttention}` }).waitFor();
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to content');
    await page.keyboard.press('Enter');
    // The browser goes there once the stylesheet has come, which can be after the next key.
    await page.locator('main:focus').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type('fraud');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Cancel order');
    await page.keyboard.press('Enter');
    await page.getByRole('status').waitFor();
    expect(cancelsOf(needsAttention)).toHaveLength(1);
  });
});

it('without a worker the pages show the same', async () => {
  const orderId = await all.inReview(INTEGRATION);
  await all.worker().stop();
  await eventually(async () => {
    const page = await open(QUEUE);
    expect(await rowOf(page, orderId).textContent()).toMatch(/125\.50.*review hold/s);
  });
  const page = await open(of(orderId));
  expect(await page.getByRole('status').count()).toBe(0);
  const shown = await page.getByRole('main').textContent();
  for (const words of ['125.50', 'pre-acceptance', 'Resend …']) expect(shown).toContain(words);
});

const cancelsOf = (orderId: string) => all.requests('cancel-transaction', orderId);

/** Presses Tab until what has that text is focused, as a person does. */
async function focus(page: Page, text: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab');
    if ((await focused(page)) === text) return;
  }
  throw new Error(`"${text}" can't be reached by Tab`);
}

const focused = async (page: Page): Promise<string> =>
  String(await page.evaluate('document.activeElement.textContent.trim()'));
