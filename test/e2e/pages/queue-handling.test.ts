/** How people find, note and snooze an order on the pages, in a real browser, over a real deployment. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { BROWSER_WITHIN_MS, startBrowser } from '../../support/browser.ts';
import { eventually, withTestServer } from '../../support/index.ts';
import { withDeployment } from '../support.ts';

const server = withTestServer();
const all = withDeployment(server, { default: {} });
let browser: Browser;

beforeAll(async () => {
  browser = await startBrowser();
}, BROWSER_WITHIN_MS);
afterAll(() => browser?.close());

async function open(path: string): Promise<Page> {
  const context = await browser.newContext({ baseURL: all.apiUrl });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(path);
  return page;
}

const idsIn = (page: Page) => page.locator('.orders .id a').allTextContents();

it('any part of an open order’s id finds it', async () => {
  const orderId = await all.inReview();
  await eventually(async () => {
    const page = await open(`/?q=${orderId.slice(4, -1).toUpperCase()}`);
    expect(await idsIn(page)).toEqual([orderId]);
  });
});

it('an order is noted and snoozed by keyboard, and leaves the list for its own', async () => {
  const orderId = await all.inReview();
  const page = await open(`/orders/${orderId}?integration=default`);
  for (const [key, id] of [
    ['n', 'note'],
    ['z', 'snooze'],
  ] as const) {
    await page.keyboard.press(key);
    await page.locator(`#${id} [name=reason]`).fill(`words of the ${id}`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(/notice=/);
    await page.getByText(`words of the ${id}`).waitFor();
  }
  const idsOf = async (list: string) => {
    await page.goto(`/?list=${list}`);
    return idsIn(page);
  };
  await eventually(async () => expect(await idsOf('snoozed')).toContain(orderId));
  expect(await idsOf('all')).not.toContain(orderId);
  expect((await all.read(orderId)).journal).toMatchObject([{ what: 'note' }, { what: 'snooze' }]);
});
