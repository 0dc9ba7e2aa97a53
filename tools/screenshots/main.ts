// `npm run screenshots`: takes the pictures in docs/images/ from the real pages and from the real Temporal UI.
import { writeFile } from 'node:fs/promises';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { startBrowser } from '../../test/support/browser.ts';
import { startStack } from './stack.ts';

const IMAGES = new URL('../../docs/images/', import.meta.url);
const WITHIN_MS = 30_000;

const DESK = { viewport: { width: 1280, height: 800 } };
const HIGH_DESK = { viewport: { width: 1280, height: 1000 } };
const PHONE = { viewport: { width: 390, height: 780 }, colorScheme: 'dark' } as const;

const stack = await startStack();
const browser = await startBrowser();

const IN_REVIEW = `ScreeningPhase = 'review' AND ExecutionStatus = 'Running'`;
const workflows = `${stack.temporalUiUrl}/namespaces/default/workflows`;

const shownOrder = `${workflows}/${encodeURIComponent('order:outlet:1005')}`;

try {
  await take('queue.png', `${stack.apiUrl}/`, DESK, (page) =>
    page.getByText('1005', { exact: true }).waitFor(),
  );
  await take('queue-phone.png', `${stack.apiUrl}/`, PHONE);
  await take('queue-order.png', `${stack.apiUrl}/orders/1005?integration=outlet`, DESK);
  await take('temporal-ui-orders.png', `${workflows}?query=${encodeURIComponent(IN_REVIEW)}`, DESK, (page) =>
    page.getByText('order:outlet:1005').first().waitFor(),
  );
  await take('temporal-ui-order.png', shownOrder, HIGH_DESK, (page) =>
    page.getByText('Poll the review').first().waitFor(),
  );
  await take('temporal-ui-details.png', shownOrder, DESK, async (page) => {
    await page.getByText('User Metadata').first().click();
    // The UI shows Markdown in its own frame.
    await page.locator('iframe').last().contentFrame().getByText('In review at').first().waitFor();
  });
} finally {
  await browser.close();
  await stack.stop();
}

async function take(
  name: string,
  url: string,
  options: BrowserContextOptions,
  ready: (page: Page) => Promise<unknown> = async () => {},
): Promise<void> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(WITHIN_MS);
  const page = await context.newPage();
  await page.goto(url);
  await ready(page);
  await writeFile(new URL(name, IMAGES), await page.screenshot());
  await context.close();
}
