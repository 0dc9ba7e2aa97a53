/** How people find, note and snooze an order on the pages, in a real browser, over a real deployment. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { focused, overflow } from '../../support/browser.ts';
import { eventually, withTestServer } from '../../support/index.ts';
import { withDeployment } from '../support.ts';
import { withBrowser } from './with-browser.ts';

const server = withTestServer();
const all = withDeployment(server, { default: {} });
const open = withBrowser(all);

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
  await eventually(async () => expect(await idsOf('snoozed')).toEqual([orderId]));
  expect(await idsOf('all')).not.toContain(orderId);
  expect((await all.read(orderId)).journal).toMatchObject([{ what: 'note' }, { what: 'snooze' }]);
});

it('a rejection on a page that is out of date neither replaces a colleague’s approval nor cancels', async () => {
  const orderId = await all.inReview();
  const pages = await Promise.all([1, 2].map(() => open(`/orders/${orderId}?integration=default`)));
  const [ada, bo] = pages as [Page, Page];
  const decide = async (page: Page, form: string) => {
    await page.locator(`#${form} summary`).click();
    await page.locator(`#${form} [name=reason]`).fill('decided');
    await page.locator(`#${form} form button`).click();
  };
  await decide(ada, 'proceed');
  await ada.waitForURL(/notice=proceeds/);
  await decide(bo, 'decide-cancel');
  await bo.getByText('The order’s action is «proceed» now, not «hold»').waitFor();
  expect(await all.read(orderId)).toMatchObject({ action: 'proceed', actions: [] });
  // Bo has seen it now, and may decide so.
  await bo.getByRole('button', { name: 'Reject and cancel' }).click();
  await bo.waitForURL(/notice=/);
  expect(await all.read(orderId)).toMatchObject({ action: 'cancel' });
});

it('long words, such as an address in a note, widen no page', async () => {
  const orderId = await all.inReview();
  const page = await open(`/orders/${orderId}?integration=default`);
  for (const [id, field, words] of [
    ['note', 'reason', `https://carrier.example/${'track'.repeat(60)}`],
    ['assign', 'assignee', `${'ada'.repeat(20)}@example.com`],
  ] as const) {
    await page.locator(`#${id} summary`).click();
    await page.locator(`#${id} [name=${field}]`).fill(words);
    await page.locator(`#${id} form button`).click();
    await page.waitForURL(/notice=/);
    await page.getByText(words).first().waitFor();
  }
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await overflow(page), `${width}`).toBe(0);
  }
});

it('back in the queue the mark is on the order that was open last, also if it was opened by pointing', async () => {
  for (let count = 0; count < 2; count += 1) await all.inReview();
  await eventually(async () => expect((await idsIn(await open('/'))).length).toBeGreaterThan(1));
  const page = await open('/');
  await page.keyboard.press('j');
  const [, orderId = ''] = await idsIn(page);
  await page.getByRole('link', { name: orderId, exact: true }).click();
  await page.getByRole('heading', { name: orderId, level: 1 }).waitFor();
  await page.locator('.steps a').first().click();
  await page.getByRole('navigation', { name: 'Lists' }).waitFor();
  await eventually(async () => {
    expect(await page.locator('tr.here .id a').allTextContents()).toEqual([orderId]);
  });
});

it('news of a running action don’t take the focus away', async () => {
  const orderId = await all.inReview();
  const page = await open('/');
  const running = (words: string) =>
    `<div id="running" data-poll="/running" data-seconds="5"><button>${words}</button></div>`;
  let answers = Promise.resolve();
  await page.route('**/running', async (route) => {
    await answers;
    await route.fulfill({ body: running('Later') });
  });
  await page.route('**/orders/**', async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace('<aside', `${running('Withdraw')}<aside`);
    await route.fulfill({ response, body });
  });
  await page.clock.install();
  await page.goto(`/orders/${orderId}?integration=default`);
  await page.getByRole('button', { name: 'Withdraw' }).focus();
  await page.clock.runFor(20_000);
  await page.waitForTimeout(500);
  expect(await focused(page)).toBe('Withdraw');
  await page.locator('main').focus();

  // A press while the answer is on its way.
  let answer: () => void = () => undefined;
  answers = new Promise((resolve) => {
    answer = resolve;
  });
  const asked = page.waitForRequest('**/running');
  await page.clock.runFor(5_000);
  await asked;
  await page.getByRole('button', { name: 'Withdraw' }).hover();
  await page.mouse.down();
  const answered = page.waitForResponse('**/running');
  answer();
  await answered;
  await page.waitForTimeout(500);
  expect(await focused(page)).toBe('Withdraw');
  await page.mouse.up();
  await page.locator('main').focus();
  await eventually(async () => {
    await page.clock.runFor(5_000);
    expect(await page.locator('#running').textContent()).toBe('Later');
  });
});
