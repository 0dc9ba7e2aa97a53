import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../../src/config/index.ts';
import type { ActionRecord, OrderState } from '../../../src/contract/state.ts';
import { type InspectedOrder, OrderScreeningError } from '../../../src/starter.ts';
import { anIntegration, finding } from '../../fixtures/integrations.ts';
import { anOrder, DAY, HOUR, sinceStart } from '../../fixtures/orders.ts';
import {
  anApi,
  anInspectedOrder,
  anOrderSummary,
  RUN_ID,
  type TestedApi,
  TRANSACTION_ID,
} from '../fake-order-screening.ts';
import { HOSTILE, SHOWN, textOf } from './support.ts';

const inHours = (hours: number) => new Date(Date.now() + hours * HOUR).toISOString();
const asked: ActionRecord = {
  number: 1,
  kind: 'chargeback',
  subject: 'x',
  status: 'queued',
  by: 'caller',
  requestedAt: sinceStart(DAY),
};

/** The page of an order. */
async function pageOf(order: Partial<InspectedOrder>, options: TestedApi = {}) {
  const { app, orderScreening } = await anApi(options);
  const inspected = { summary: anOrderSummary(), runId: RUN_ID, ...order };
  orderScreening.inspect.mockResolvedValue(inspected);
  const { statusCode, body } = await app.inject('/orders/order-1');
  return { statusCode, body, text: textOf(body) };
}

/** In review, its cancel window open. */
function inReview() {
  const state = anOrder('review', { reviewLimitMs: 10_000 * DAY });
  for (const transaction of state.transactions) transaction.cancelBy = inHours(30);
  return state;
}

describe('the page of an order', () => {
  it('has what happened, the oldest first, and what comes next', async () => {
    const state = anOrder('review');
    const chargeback = { reason_code: '10.4' };
    const done = { finishedAt: sinceStart(DAY + 2_000), code: '200', chargeback };
    state.actions.push({ ...asked, ...done, status: 'done', because: HOSTILE });
    for (const attempt of state.attempts)
      attempt.gateway = { result: 'pass', at: sinceStart(HOUR), sent: 'given-up' };
    const poll = { lastAt: sinceStart(2 * DAY), answered: false, nextAt: inHours(1) };
    const { body, text } = await pageOf({ state, poll });
    const lists = [...body.matchAll(/<ol class="timeline">(.*?)<\/ol>/gs)];
    const [next, timeline] = lists.map(([, list = '']) =>
      [...list.matchAll(/<li>(.*?)<\/li>/g)].map(([, item = '']) => item.replaceAll(/<[^>]*>/g, '')),
    );
    expect(next?.map((one) => one.replace(/.*UTC: /, ''))).toEqual(['The decision is polled']);
    expect(timeline).toEqual([
      '2026-03-02 10:00:00 UTC: Order received',
      '2026-03-02 10:00:00 UTC: Decision review (checkout)',
      '2026-03-02 10:00:00 UTC: Phase review, action hold',
      '2026-03-02 11:00:00 UTC: Payment gateway result pass, not sent to the screening service',
      `2026-03-03 10:00:00 UTC: Requested by a caller: chargeback (${SHOWN})`,
      '2026-03-03 10:00:02 UTC: chargeback: done (200, reason_code 10.4)',
      '2026-03-04 10:00:00 UTC: Polled: the screening service did not answer',
    ]);
    expect(text).toMatch(/Last check [^,]*, 2026-03-04 10:00:00 UTC , poll \(no answer\)/);
  });

  it('has who did what, which of it was only claimed, and the insights, the weightiest first', async () => {
    const state = anOrder('review');
    state.journal = [
      { at: sinceStart(HOUR), what: 'cancel', number: 1, by: { key: 'ops', actor: HOSTILE } },
      { at: sinceStart(2 * HOUR), what: 'override', action: 'proceed', because: 'card shown' },
    ];
    const risk = {
      '1': { description: 'A new address', impact: 'low' },
      '2': { description: HOSTILE, impact: 'high' },
    } as const;
    for (const reading of state.attempts[0]?.readings ?? []) reading.insights = { risk };
    const { body, text } = await pageOf({ state });
    expect(body).not.toContain('<img');
    expect(body).toContain(`cancel 1, by ${SHOWN} (as claimed), key ops`);
    expect(text).toContain('override proceed, by an unnamed caller: card shown');
    expect(text).toMatch(/Insights Risk &lt;img.* high A new address low/);
  });

  const closed = { ...anOrder('pass'), phase: 'closed' as const };
  const running = [
    { ...asked, status: 'done' as const },
    { ...asked, number: 2 },
  ];
  it.each<[what: string, state: OrderState, buttons: string[]]>([
    ['recheck and cancel', inReview(), ['recheck', 'proceed', 'cancel']],
    ['recheck of a closed order', closed, ['recheck']],
    ['none of one without a transaction', { ...closed, transactions: [] }, []],
    ['withdraw', { ...inReview(), actions: running }, ['recheck', 'proceed', 'cancel', 'actions/2/withdraw']],
  ])('has the buttons of what the order takes: %s', async (_what, state, buttons) => {
    const summary = anOrderSummary(state.phase === 'closed' ? { closedAt: inHours(-1) } : {});
    const { body } = await pageOf({ state, summary });
    const links = [...body.matchAll(/class="button" href="\/orders\/order-1\/(.*?)\?integration=default"/g)];
    expect(links.map(([, action]) => action)).toEqual(buttons);
  });

  it('has the buttons that the scopes of the key allow', async () => {
    const scopes = { read: ['read'], act: ['read', 'act'], ops: ['read', 'act', 'ops'] } as const;
    const seen = async (name: keyof typeof scopes) => {
      const apiKeys = [hashedKey(name, 'a-key-of-mine', { scopes: [...scopes[name]] })];
      const { app, orderScreening } = await anApi({ apiKeys });
      orderScreening.inspect.mockResolvedValue(anInspectedOrder({ state: inReview() }));
      const headers = { authorization: 'Bearer a-key-of-mine' };
      return textOf((await app.inject({ url: '/orders/order-1', headers })).body).match(/\w+ …/g);
    };
    expect(await seen('read')).toBeNull();
    expect(await seen('act')).toEqual(['Recheck …', 'Cancel …']);
    expect(await seen('ops')).toEqual(['Recheck …', 'Approve …', 'Cancel …']);
  });

  it.each<[words: string, order: Partial<InspectedOrder>]>([
    ['It can’t be canceled: the cancel window is closed.', { state: anOrder('pass') }],
    ['the integration is passive', { state: anOrder('pass', { passive: true }) }],
    ['The API’s PAYLOAD_KEYS can’t decrypt', { missing: 'undecryptable' }],
    ['it was terminated or failed', { missing: 'no-record' }],
  ])('says why it offers or shows less: %s', async (words, order) => {
    const { statusCode, text } = await pageOf(order);
    expect(statusCode).toBe(200);
    expect(text).toContain(words);
    expect(text).toContain('Amount 125.50');
  });

  it('takes no words for its notice from the address', async () => {
    const { app } = await anApi();
    const shown = async (notice: string) => (await app.inject(`/orders/order-1?notice=${notice}`)).body;
    expect(await shown('canceled')).toContain('The transaction is canceled');
    expect(await shown('Pay%20here')).not.toContain('Pay here');
    expect(await shown('toString')).not.toContain('class="notice"');
  });

  it.each([
    ['unknown-order', 404, 'Order not found'],
    ['temporal-unavailable', 503, 'Temporal can’t be reached'],
  ] as const)('is a clear page when the order can’t be read: %s', async (code, status, title) => {
    const { app, orderScreening } = await anApi();
    orderScreening.inspect.mockRejectedValue(new OrderScreeningError(code, 'For programs.'));
    const { statusCode, headers, body } = await app.inject('/orders/order-1');
    expect(statusCode).toBe(status);
    expect(headers['content-type']).toContain('text/html');
    expect(body).toContain(`<h1>${title}</h1>`);
  });

  it('links to its transaction, to its run in the Temporal UI and to the portal', async () => {
    const portalLink = 'https://portal.example.com/?of={transactionId}&again={transactionId}';
    const temporalUi = { url: 'http://127.0.0.1:8233/', namespace: 'orders' };
    const state = anOrder('review');
    for (const transaction of state.transactions) transaction.id = 'a/b c';
    const summary = anOrderSummary({ orderId: 'a/b c#é', integration: 'shop' });
    const findIntegration = finding(anIntegration({ portalLink }));
    const { body } = await pageOf({ state, summary }, { temporalUi, findIntegration });
    expect(body).toContain('href="/transactions/a%2Fb%20c?integration=shop"');
    const run = `order%3Ashop%3Aa%2Fb%20c%23%C3%A9/${RUN_ID}/history`;
    expect(body).toContain(`href="http://127.0.0.1:8233/namespaces/orders/workflows/${run}"`);
    const of = await pageOf({ state }, { findIntegration });
    expect(of.body).toContain('href="https://portal.example.com/?of=a%2Fb%20c&amp;again=a%2Fb%20c"');
    expect(of.body).not.toContain('/namespaces/');
  });
});

it('the page of a transaction has what the screening service says now, and a link to its order', async () => {
  const { app, orderScreening } = await anApi();
  const order = { integration: 'shop', orderId: 'a/b' };
  const found = { id: TRANSACTION_ID, decision: 'fail', message: HOSTILE, order } as const;
  orderScreening.getTransaction.mockResolvedValue(found);
  const { body } = await app.inject('/transactions/1001?integration=shop');
  expect(textOf(body)).toContain(`Transaction ${TRANSACTION_ID} Now Decision fail Message to the customer`);
  expect(body).toContain(SHOWN);
  expect(body).toContain('<a href="/orders/a%2Fb?integration=shop">a/b</a>');
  const named = { idOrInvoice: '1001', integration: 'shop' };
  expect(orderScreening.getTransaction).toHaveBeenCalledExactlyOnceWith(named);
});
