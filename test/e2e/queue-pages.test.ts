/** The pages for ops in a real browser, over a real deployment. The tests follow one another: orders move on. */
import { randomUUID } from 'node:crypto';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { withEmail } from '../fixtures/transactions.ts';
import { accessFaults, BROWSER_WITHIN_MS, overflow, picture, startBrowser } from '../support/browser.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { anOrderId, type Deployment, deploy } from './support.ts';

const KEY = 'a-key-of-the-operators';
const INTEGRATION = `queue-${randomUUID().slice(0, 8)}`;
const UI = 'https://temporal.example:8443';
const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 900 };

const server = withTestServer();
let all: Deployment;
let browser: Browser;
const inReview = anOrderId();
const needsAttention = anOrderId();
const passed = anOrderId();

beforeAll(async () => {
  browser = await startBrowser();
  all = await deploy(
    server.address,
    { [INTEGRATION]: { poll: { first: '1s', factor: 1, max: '1s' }, events: 'all' } },
    {
      webhooks: false,
      apiKey: KEY,
      keys: [{ name: 'ops', key: KEY }],
      env: { TEMPORAL_UI_URL: UI },
    },
  );
  await screen(inReview, 'review@example.com');
  await screen(passed, 'pass@example.com');
  await screen(needsAttention, 'review@example.com');
  await server.client.workflow.getHandle(`order:${INTEGRATION}:${needsAttention}`).cancel();
  await all.until(needsAttention, ({ attention }) => attention.length > 0, INTEGRATION);
}, BROWSER_WITHIN_MS);
afterAll(async () => {
  await browser?.close();
  await all?.stop();
});

async function screen(orderId: string, email: string): Promise<void> {
  const path = `/v1/orders/${orderId}/screening?integration=${INTEGRATION}`;
  const { status } = await all.call('POST', path, { transaction: withEmail(email) });
  expect(status).toBe(200);
}

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

/** The page of an order's transaction, by the invoice number, which is the order's id. */
const transactionOf = (orderId: string) => `/transactions/${orderId}?integration=${INTEGRATION}`;

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
  'a transaction': transactionOf(inReview),
  'an unknown transaction': transactionOf('no-such-order'),
};

const rowOf = (page: Page, orderId: string) => page.getByRole('row').filter({ hasText: orderId });

describe('the queue', () => {
  it('is shown to who has a key, and to nobody else', async () => {
    // A browser that knows no key shows what came with the question for it.
    const stranger = await open(QUEUE, {
      httpCredentials: { username: 'ops', password: 'a-wrong-key-of-mine' },
    });
    expect(await stranger.getByRole('heading', { level: 1 }).textContent()).toBe('Sign in with an API key');
    const page = await open(QUEUE);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Order queue');
  });

  it('has the orders in review and those that need attention, and why', async () => {
    await eventually(async () => {
      const page = await open(QUEUE);
      expect(await rowOf(page, passed).count()).toBe(0);
      const review = await rowOf(page, inReview).textContent();
      expect(review).toMatch(/125\.50.*review hold.*in 4 d 23 h.*\d+ s.*review.*no/s);
      const attention = await rowOf(page, needsAttention).textContent();
      expect(attention).toMatch(/125\.50.*cancel/s);
    });
  });

  it('leads to an order and to the Temporal UI', async () => {
    const page = await open(QUEUE);
    await page.getByRole('link', { name: inReview, exact: true }).click();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(`Order ${inReview}`);
    const link = page.getByRole('link', { name: 'Temporal UI' });
    expect(await link.getAttribute('href')).toMatch(
      `${UI}/namespaces/default/workflows/${encodeURIComponent(`order:${INTEGRATION}:${inReview}`)}/`,
    );
  });

  it('leads to the transaction of an order, and back', async () => {
    const page = await open(of(inReview));
    await page.getByRole('link', { name: 'Read it from the screening service' }).click();
    expect(await page.getByRole('main').textContent()).toMatch(/Decision\s*review/);
    await page.getByRole('link', { name: inReview, exact: true }).click();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(`Order ${inReview}`);
  });

  it('finds an order by its id, its invoice number and its transaction, also one that is closed', async () => {
    const { transactions } = await all.until(passed, ({ phase }) => phase === 'decided', INTEGRATION);
    for (const words of [passed, transactions[0]?.id ?? '']) {
      const page = await open(QUEUE);
      await page.getByLabel('Order, invoice or transaction').fill(words);
      await page.getByRole('button', { name: 'Show' }).click();
      expect(await page.getByRole('link', { name: passed, exact: true }).count()).toBe(1);
      expect(await rowOf(page, inReview).count()).toBe(0);
    }
  });

  it('has a review decided and journaled in under a minute', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'review@example.com');
    const began = Date.now();
    const page = await open(QUEUE);
    await page.getByLabel('Order, invoice or transaction').fill(orderId);
    await page.getByRole('button', { name: 'Show' }).click();
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

  it('has one line a row on a desk, also for a long id, and nothing beside the window', async () => {
    const long = `${randomUUID()}-of-the-shop-in-the-old-town`;
    await screen(long, 'review@example.com');
    await eventually(async () => {
      const page = await open(QUEUE);
      expect(await rowOf(page, long).count()).toBe(1);
      const heights = await page.evaluate(
        '[...document.querySelectorAll("tbody tr")].map((row) => row.offsetHeight / parseFloat(getComputedStyle(row).lineHeight))',
      );
      // With its padding.
      expect(
        z
          .array(z.number())
          .parse(heights)
          .every((lines) => lines > 1 && lines < 2),
      ).toBe(true);
      expect(await overflow(page)).toBe(0);
    });
  });

  it('has a small picture of the last days, which leads to them', async () => {
    const page = await open(QUEUE);
    const width = () => page.evaluate('document.querySelector(".counts img").naturalWidth');
    await eventually(async () => expect(await width()).toBe(640));
    await page.getByRole('link', { name: 'orders per day' }).click();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Last days');
  });

  it('shows one kind of order when asked to', async () => {
    const page = await open(QUEUE);
    await page.getByLabel('Show').selectOption({ label: 'needing attention' });
    await page.getByRole('button', { name: 'Show' }).click();
    expect(await rowOf(page, needsAttention).count()).toBe(1);
    expect(await rowOf(page, inReview).count()).toBe(0);
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
  it('is rechecked after a confirmation', async () => {
    const page = await open(of(inReview));
    await page.getByRole('link', { name: 'Recheck' }).click();
    await page.getByRole('button', { name: 'Recheck now' }).click();
    expect(await page.getByRole('status').textContent()).toContain('Recheck requested');
    await all.until(inReview, ({ lastRead }) => lastRead?.source === 'operator', INTEGRATION);
    await page.goto(of(inReview));
    expect(await page.getByRole('main').textContent()).toContain('(operator)');
  });

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
  const orderId = anOrderId();
  await screen(orderId, 'review@example.com');
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

function cancelsOf(orderId: string) {
  return all.sandbox.control.ledger({ invoice: orderId, operation: 'cancel-transaction' });
}

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
