/** An hour of work on the pages: sixty orders, each action by keyboard alone, by mouse and on a phone, in a real browser. */
import { connect, createServer, type Socket } from 'node:net';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tabTo } from '../../support/browser.ts';
import { eventually, freePort, withTestServer } from '../../support/index.ts';
import { withDeployment } from '../support.ts';
import { withBrowser } from './with-browser.ts';

const server = withTestServer();
const all = withDeployment(server, { default: { poll: { first: '1h', factor: 1, max: '1h' } } });
const DESK = { viewport: { width: 1440, height: 900 } };
const PHONE = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true };

const open = withBrowser(all, DESK);

const pathOf = (orderId: string) => `/orders/${orderId}?integration=default`;
const journalOf = async (orderId: string) =>
  ((await all.read(orderId)).journal ?? []).map(({ what }: { what: string }) => what);

/** Each action: its form, its button, what is typed, and what the journal has of it. */
const ACTIONS = [
  { id: 'proceed', button: 'Approve', typed: 'reason', what: 'override' },
  { id: 'decide-cancel', button: 'Reject and cancel', typed: 'reason', what: 'override' },
  { id: 'snooze', button: 'Snooze', typed: 'reason', what: 'snooze' },
  { id: 'note', button: 'Add note', typed: 'reason', what: 'note' },
  { id: 'assign', button: 'Assign', typed: 'assignee', what: 'assign' },
] as const;
type Action = (typeof ACTIONS)[number];

/** Does an action as it is done by pointing. */
const pointing =
  (press: 'click' | 'tap', send: 'dblclick' | 'tap') =>
  async (page: Page, { id, button, typed }: Action): Promise<void> => {
    await page.getByText(`${button}…`, { exact: true })[press]();
    await page.locator(`#${id} [name=${typed}]`).fill(`the words of ${id}`);
    await page.locator(`#${id} button`)[send]();
  };

/** The three ways to do an action on an order's page. */
const WAYS: Record<
  string,
  { options: BrowserContextOptions; act: (page: Page, action: Action) => Promise<void> }
> = {
  'by keyboard alone': {
    options: DESK,
    act: async (page, { id, button, typed }) => {
      await tabTo(page, `${button}…`);
      await page.keyboard.press('Enter');
      const focused = () => page.evaluate('document.activeElement.name');
      for (let presses = 0; presses < 5 && (await focused()) !== typed; presses += 1)
        await page.keyboard.press('Tab');
      await page.keyboard.type(`the words of ${id}`);
      await tabTo(page, button);
      await page.keyboard.press('Enter');
    },
  },
  'by mouse, with a double click': { options: DESK, act: pointing('click', 'dblclick') },
  'on a phone': { options: PHONE, act: pointing('tap', 'tap') },
};

describe.each(Object.entries(WAYS))('%s', (_way, { options, act }) => {
  it.each(ACTIONS)(
    '$id is done once for each of four orders, also after Back',
    { timeout: 120_000 },
    async (action) => {
      for (let count = 0; count < 4; count += 1) {
        const orderId = await all.inReview();
        const page = await open(pathOf(orderId), options);
        await act(page, action);
        await page.waitForURL(/notice=/);
        await page.getByText(`the words of ${action.id}`).first().waitFor();
        await page.goBack();
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.reload();
        expect(await journalOf(orderId), action.id).toEqual([action.what]);
      }
    },
  );
});

/** A way to the Temporal server that can be closed. */
async function startGate(to: string) {
  const [host = '', port = ''] = to.split(':');
  const open = new Set<Socket>();
  const own = await freePort();
  const start = () =>
    createServer((socket) => {
      const beyond = connect(Number(port), host);
      for (const [one, other] of [
        [socket, beyond],
        [beyond, socket],
      ] as const) {
        open.add(one);
        one.on('error', () => undefined).on('close', () => other.destroy());
        one.pipe(other);
      }
    });
  const listen = async () => {
    gate = start();
    await new Promise<void>((resolve) => gate.listen(own, '127.0.0.1', resolve));
  };
  let gate = start();
  await listen();
  const close = () => {
    gate.close();
    for (const socket of open) socket.destroy();
    open.clear();
  };
  onTestFinished(close);
  return { address: `127.0.0.1:${own}`, open: listen, close };
}

it('a typed note survives while Temporal is away, and is stored when it is back', {
  timeout: 120_000,
}, async () => {
  const orderId = await all.inReview();
  const gate = await startGate(server.address);
  const api = await all.startApi({ TEMPORAL_ADDRESS: gate.address });
  const page = await open(`${api.url}${pathOf(orderId)}`);
  await page.keyboard.press('n');
  await page.keyboard.type('called the customer: a present');
  gate.close();
  await page.locator('#note button').click();
  await page.getByRole('alert').waitFor();
  expect(await page.locator('[name=reason]').inputValue()).toBe('called the customer: a present');
  await gate.open();
  await eventually(
    async () => {
      await page.getByRole('button', { name: 'Add note' }).click();
      await page.getByText('The note is in the timeline').waitFor({ timeout: 5_000 });
    },
    { timeoutMs: 60_000 },
  );
  expect(await journalOf(orderId)).toEqual(['note']);
});

it('a form whose sending was stopped in the browser can be sent again after 12 s, and not before', async () => {
  const page = await open('/');
  await page.clock.install();
  await page.goto(pathOf(await all.inReview()));
  await page.getByText('Add note…', { exact: true }).click();
  await page.locator('#note [name=reason]').fill('called the customer');
  // Notes whether the page lets the form be sent, and stops it.
  await page.evaluate(`sent = []; addEventListener('submit', (event) => {
    sent.push(!event.defaultPrevented);
    event.preventDefault();
  })`);
  for (const seconds of [0, 10, 3]) {
    await page.clock.fastForward(seconds * 1_000);
    await page.locator('#note button').click();
  }
  expect(await page.evaluate('sent')).toEqual([true, false, true]);
});

it('a form that the browser sends twice, as without scripts, is done once', async () => {
  const orderId = await all.inReview();
  const url = `${all.apiUrl}${pathOf(orderId)}`;
  const page = await (await fetch(url)).text();
  const once = /<details name="act" id="note">.*?name="once" value="([^"]+)"/s.exec(page)?.[1] ?? '';
  const send = () =>
    fetch(url.replace('?', '/note?'), {
      method: 'POST',
      headers: { 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ once, reason: 'called the customer' }),
    });
  for (const { status } of await Promise.all([send(), send()])) expect(status).toBe(200);
  expect((await send()).status).toBe(200);
  expect(await journalOf(orderId)).toEqual(['note']);
});
