/** The pages for ops in a real browser, over a real deployment. The tests follow one another: orders move on. */
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { accessFaults, focused, overflow, picture, tabTo } from '../../support/browser.ts';
import { eventually, withTestServer } from '../../support/index.ts';
import { anOrderId, withDeployment } from '../support.ts';
import { withBrowser } from './with-browser.ts';

const KEY = 'a-key-of-the-operators';
const INTEGRATION = 'shop';
const UI = 'https://temporal.example:8443';
const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 900 };

const server = withTestServer();
const all = withDeployment(
  server,
  { [INTEGRATION]: { poll: { first: '1s', factor: 1, max: '1s' }, events: 'all' } },
  { webhooks: false, apiKey: KEY, keys: [{ name: 'ops', key: KEY }], env: { TEMPORAL_UI_URL: UI } },
);
const open = withBrowser(all, {
  viewport: DESK,
  httpCredentials: { username: 'ops', password: KEY },
});
const inReview = `${randomUUID()}-of-the-shop-in-the-old-town`;
const needsAttention = anOrderId();

beforeAll(async () => {
  for (const orderId of [inReview, needsAttention])
    await all.screen(orderId, 'review', { integration: INTEGRATION });
  await server.client.workflow.getHandle(`order:${INTEGRATION}:${needsAttention}`).cancel();
  await all.until(needsAttention, ({ attention }) => attention.length > 0, INTEGRATION);
});

const QUEUE = `/?integration=${INTEGRATION}`;
const of = (orderId: string, action = '') => `/orders/${orderId}${action}?integration=${INTEGRATION}`;

/** Every page that a person sees, by its name. */
const PAGES = {
  'the queue': QUEUE,
  'an order in review': of(inReview),
  'an order that needs attention': of(needsAttention),
  'the last days': `/days?integration=${INTEGRATION}`,
  'a wall': `${QUEUE}&wall=1`,
  'an empty list': `/?list=held&integration=${INTEGRATION}`,
  'every order': `/?list=every&integration=${INTEGRATION}`,
  'selected orders': `${QUEUE}&select=all`,
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
    expect(await heading(await open(QUEUE))).toBe('Queue');
  });

  it('has the orders in review and those that need attention, 34 px a row on a desk, also for a long id', async () => {
    await eventually(async () => {
      const page = await open(QUEUE);
      const review = await rowOf(page, inReview).textContent();
      expect(review).toMatch(/125\.50.*USD.*The IP address is far.*4 d 23 h.*\d+ s.*review.*→ hold/s);
      expect(await rowOf(page, needsAttention).textContent()).toMatch(/125\.50.*Attention.*cancel/s);
      const heights = await page.evaluate(
        '[...document.querySelectorAll("tbody tr:not(.band)")].map((row) => row.offsetHeight)',
      );
      for (const height of z.array(z.number()).parse(heights)) expect(Math.abs(height - 34)).toBeLessThan(2);
      expect(await page.locator('.health .bad').allTextContents()).toEqual([]);
    });
  });

  it('leads to an order and the Temporal UI, and back to the same list', async () => {
    const list = `/?list=soon&integration=${INTEGRATION}`;
    const page = await open(list);
    await page.getByRole('navigation', { name: 'Lists' }).getByText('All').click();
    await page.getByRole('link', { name: inReview, exact: true }).click();
    expect(await heading(page)).toBe(inReview);
    const workflowId = encodeURIComponent(`order:${INTEGRATION}:${inReview}`);
    const link = await page.getByRole('link', { name: 'Order in the Temporal UI' }).getAttribute('href');
    expect(link).toContain(`${UI}/namespaces/default/workflows/${workflowId}/`);
    await page.locator('.steps a').first().click();
    expect(new URL(page.url()).search).toBe(`?integration=${INTEGRATION}`);
  });

  it('keys move, select, open and go back, and do nothing while somebody types', async () => {
    const page = await open(QUEUE);
    await page.keyboard.press('j');
    const first = await page.locator('tr.here .id a').textContent();
    await page.keyboard.press('x');
    expect(await page.locator('td :checked').count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Approve…' }).isVisible()).toBe(true);
    await page.keyboard.press('?');
    expect(await page.getByRole('dialog', { name: 'Keys' }).textContent()).toContain('search');
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.keyboard.type('jx');
    expect(await page.getByRole('searchbox').inputValue()).toBe('jx');
    expect(await page.locator('td :checked').count()).toBe(1);
    await page.locator('main').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: String(first) }).waitFor();
    // The script that takes the keys runs when the page has been read.
    await page.waitForLoadState('load');
    await page.keyboard.press('a');
    await page.getByLabel('Reason').first().waitFor();
    await page.keyboard.type('u');
    expect(await heading(page)).toBe(first);
    await page.locator('main').focus();
    await page.keyboard.press('u');
    await page.getByRole('navigation', { name: 'Lists' }).waitFor();
    expect(await page.locator('tr.here .id a').textContent()).toBe(first);
  });

  it('announces changes without moving a row', async () => {
    const page = await open(QUEUE);
    await page.clock.install();
    await page.reload();
    const rows = () => page.locator('.orders tbody .id a').allTextContents();
    const before = await rows();
    await all.inReview(INTEGRATION);
    await eventually(async () => {
      await page.clock.runFor(15_000);
      expect(await page.locator('#news').textContent()).toBe('1 changed, show');
    });
    expect(await rows()).toEqual(before);
    await page.getByRole('link', { name: '1 changed, show' }).click();
    await page.waitForLoadState();
    expect(await rows()).toHaveLength(before.length + 1);
  });

  it('has a review found, decided and journaled in under a minute', async () => {
    const orderId = await all.inReview(INTEGRATION);
    const began = Date.now();
    const page = await open(QUEUE);
    await page.getByRole('searchbox').fill(orderId);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: orderId, exact: true }).waitFor();
    expect(await rowOf(page, inReview).count()).toBe(0);
    await page.getByRole('link', { name: orderId, exact: true }).click();
    await page.getByText('Approve…').click();
    await page.getByLabel('Reason').first().fill('the customer showed the card');
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    expect(await page.getByRole('status').first().textContent()).toContain('You approved the order');
    expect(await page.getByRole('main').textContent()).toMatch(
      /Approved: proceed ops \(as claimed\), key ops\s*the customer showed the card/,
    );
    expect(Date.now() - began).toBeLessThan(60_000);
    await eventually(async () => {
      expect(await rowOf(await open(QUEUE), orderId).count()).toBe(0);
    });
  });
});

it('the wall fits 1080p and 720p without scrolling, the queue 320 px, and the first order is above 400 px', async () => {
  const page = await open(`${QUEUE}&wall=1`);
  for (const [width, height] of [
    [1920, 1080],
    [1280, 720],
  ] as const) {
    await page.setViewportSize({ width, height });
    expect(await page.evaluate('document.documentElement.scrollHeight - innerHeight')).toBe(0);
    expect(await overflow(page)).toBe(0);
  }
  await page.setViewportSize({ width: 320, height: 640 });
  for (const path of [QUEUE, of(inReview), `/days?integration=${INTEGRATION}`]) {
    await page.goto(path);
    expect(await overflow(page), path).toBe(0);
  }
  expect(await page.getByRole('heading', { name: 'How they ended' }).count()).toBe(1);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(QUEUE);
  const top = await page.evaluate(
    'document.querySelector("tbody tr:not(.band)").getBoundingClientRect().top',
  );
  expect(Number(top)).toBeLessThan(400);
  expect(await page.evaluate('document.querySelector("tbody tr:not(.band)").offsetHeight')).toBe(72);
});

it.each(Object.entries(PAGES))(
  '%s fits a phone and a desk and is for everybody, in light and in dark',
  async (_name, path) => {
    const page = await open(path);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const viewport of [PHONE, DESK]) {
        await page.setViewportSize(viewport);
        // Closed, and with everything open that can be open at once.
        for (const open of [false, true]) {
          await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = ${open}`);
          const what = `${colorScheme} ${viewport.width} ${open ? 'open' : 'closed'}`;
          expect(await accessFaults(page, 'minor'), what).toEqual([]);
          expect(await overflow(page), what).toBe(0);
        }
      }
      await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = false");
      const seen = await picture(page);
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
  expect((await picture(page)).colours).toBeGreaterThan(20);
});

describe('an order', () => {
  it('is rejected in place, with a reason, without JavaScript', async () => {
    const page = await open(QUEUE, { javaScriptEnabled: false });
    await page.getByRole('link', { name: inReview, exact: true }).click();
    await page.getByText('Reject and cancel…').click();
    expect(cancelsOf(inReview)).toEqual([]);
    await page.getByLabel('Reason').nth(1).fill('<b>the customer asked</b>');
    await page.getByRole('button', { name: 'Reject and cancel', exact: true }).click();
    expect(await page.getByRole('status').first().textContent()).toContain('You rejected the order');
    expect(await page.getByRole('main').textContent()).toContain('<b>the customer asked</b>');
    await eventually(async () => expect(cancelsOf(inReview)).toHaveLength(1));
  });

  it('is found and canceled by keyboard alone, on a phone', async () => {
    const page = await open(QUEUE, { viewport: PHONE });
    await tabTo(page, needsAttention);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: needsAttention }).waitFor();
    await tabTo(page, 'Reject and cancel…');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.type('fraud');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Reject and cancel');
    await page.keyboard.press('Enter');
    await page.getByText('You rejected the order').waitFor();
    await eventually(async () => expect(cancelsOf(needsAttention)).toHaveLength(1));
  });
});

it('without a worker the pages show the same, say so, and keep what was typed', async () => {
  const orderId = await all.inReview(INTEGRATION);
  await all.worker().stop();
  await eventually(async () => {
    const page = await open(QUEUE);
    expect(await rowOf(page, orderId).textContent({ timeout: 1_000 })).toMatch(/125\.50.*review.*→ hold/s);
  });
  const page = await open(of(orderId));
  expect(await page.getByRole('status').count()).toBe(0);
  const shown = await page.getByRole('main').textContent();
  for (const words of ['125.50', 'pre-acceptance', 'Resend event…']) expect(shown).toContain(words);
  await page.getByText('Approve…').click();
  await page.getByLabel('Reason').first().fill('ID and name match');
  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  expect(await page.getByRole('alert').textContent()).not.toBe('');
  expect(await page.getByLabel('Reason').inputValue()).toBe('ID and name match');
});

const cancelsOf = (orderId: string) => all.requests('cancel-transaction', orderId);
