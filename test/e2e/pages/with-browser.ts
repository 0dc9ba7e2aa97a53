import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { BROWSER_WITHIN_MS, startBrowser } from '../../support/browser.ts';

/**
 * Starts a browser for a test file.
 * @returns what opens a page of a deployment in a new window, which is closed when the test is over
 */
export function withBrowser(all: { readonly apiUrl: string }, usual: BrowserContextOptions = {}) {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await startBrowser();
  }, BROWSER_WITHIN_MS);
  afterAll(() => browser?.close());

  return async (path: string, options: BrowserContextOptions = {}): Promise<Page> => {
    if (browser === undefined) throw new Error('pages can be opened from beforeAll on');
    const context = await browser.newContext({ baseURL: all.apiUrl, ...usual, ...options });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(path);
    return page;
  };
}
