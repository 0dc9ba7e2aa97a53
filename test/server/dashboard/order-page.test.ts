import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../../src/config/index.ts';
import type { ActionRecord, OrderState } from '../../../src/contract/order/state.ts';
import type { InspectedOrder } from '../../../src/starter.ts';
import { anIntegration, finding } from '../../fixtures/integrations.ts';
import { anOrder, DAY, HOUR, sinceStart } from '../../fixtures/orders.ts';
import {
  anApi,
  anInspectedOrder,
  anOrderSummary,
  RUN_ID,
  TRANSACTION_ID,
} from '../api/fake-order-screening.ts';
import { HOSTILE, inHours, pageOf, SHOWN, textOf } from './support.ts';

const asked: ActionRecord = {
  number: 1,
  kind: 'chargeback',
  subject: 'x',
  status: 'queued',
  by: 'caller',
  requestedAt: sinceStart(DAY),
};

/** In review, its cancel window open. */
function inReview() {
  const state = anOrder('review', { reviewLimitMs: 10_000 * DAY });
  for (const transaction of state.transactions) transaction.cancelBy = inHours(30);
  return state;
}

describe('the page of an order', () => {
  /** The facts of the timeline, newest first, each with its time. */
  const timelineOf = (body: string) =>
    [...body.matchAll(/<li class="(?:person|service|wrong|plain)">(.*?)<\/li>/gs)].map(([, item = '']) =>
      textOf(item).trim(),
    );

  it('the timeline has recorded facts only, the newest first, and nothing is invented', async () => {
    const state = anOrder('review');
    const chargeback = { reason_code: '10.4' };
    const done = { finishedAt: sinceStart(DAY + 2_000), code: '200', chargeback };
    state.actions.push({ ...asked, ...done, status: 'done', because: HOSTILE });
    // Not when its action became what it is: that isn't recorded.
    state.phaseSince = sinceStart(5 * HOUR);
    for (const attempt of state.attempts)
      attempt.gateway = { result: 'pass', at: sinceStart(HOUR), sent: 'not-sent' };
    const poll = { lastAt: sinceStart(2 * DAY), answered: false, nextAt: inHours(1) };
    const { body, text } = await pageOf({ state, poll });
    expect(timelineOf(body)).toEqual([
      '10:00 Polled: no decision could be read',
      '10:00 Chargeback done action 1 200, reason_code 10.4',
      `10:00 Chargeback requested a caller · action 1 ${SHOWN}`,
      '11:00 Payment gateway result pass, not sent to the screening service',
      '10:00 Decision review at checkout',
      '10:00 Order received',
    ]);
    expect(text).toMatch(/What happens next in 59 min The decision is polled/);
    expect(text).toMatch(/Last check Wed 4 Mar 10:00, by a poll, without a decision\./);
  });

  it('overrides, requests that joined a running action and notes are in the timeline, with who did it', async () => {
    const state = anOrder('review');
    const by = { key: 'ops', actor: HOSTILE };
    const signedIn = { key: 'sign-in', actor: 'ada@example.com' };
    const later = sinceStart(DAY + 2 * HOUR);
    state.actions.push({ ...asked, kind: 'cancel' });
    state.journal = [
      { at: sinceStart(HOUR), what: 'override', action: 'proceed', because: 'card shown' },
      { at: sinceStart(DAY), what: 'cancel', number: 1, by },
      { at: sinceStart(DAY + HOUR), what: 'cancel', number: 1, by: { key: 'shop' } },
      { at: later, what: 'note', by: signedIn, because: 'called' },
      { at: later, what: 'assign', by, assignee: 'ada@example.com' },
      { at: later, what: 'snooze', by: signedIn, until: sinceStart(2 * DAY), because: 'calls back' },
    ];
    const override = { action: 'proceed', reason: 'card shown', by: 'person', at: sinceStart(HOUR) } as const;
    for (const attempt of state.attempts) attempt.override = override;
    const { body } = await pageOf({ state });
    expect(body).not.toContain('<img');
    expect(timelineOf(body)).toEqual([
      '12:00 Snoozed until Wed 4 Mar 10:00 ada@example.com calls back',
      `12:00 Assigned to ada@example.com ${SHOWN} (as claimed), key ops`,
      '12:00 Note ada@example.com called',
      '11:00 Cancel requested again: joined action 1 key shop',
      `10:00 Cancel requested ${SHOWN} (as claimed), key ops · action 1`,
      '11:00 Approved: proceed an unnamed caller card shown',
      '10:00 Decision review at checkout',
      '10:00 Order received',
    ]);
    delete state.journal;
    expect(timelineOf((await pageOf({ state })).body)).toContain('11:00 Approved: proceed card shown');
  });

  it('insights have the date of the reading that had them first, for and against, the weightiest first', async () => {
    const state = anOrder('review');
    const old = { description: 'A new address', impact: 'low' } as const;
    const attempt = state.attempts[0];
    const [first] = attempt?.readings ?? [];
    if (first === undefined) throw new Error('no reading');
    first.insights = { risk: { '1': old }, trust: { '1': { description: 'CVV matches' } } };
    const risk = { '1': old, '2': { description: HOSTILE, impact: 'high' } } as const;
    const trust = first.insights.trust ?? {};
    attempt?.readings.push({
      ...{ decision: 'review', at: sinceStart(2 * DAY), source: 'webhook', insights: { risk, trust } },
    });
    const { body, text } = await pageOf({ state });
    expect(body).toContain(`<h2>${SHOWN}</h2>`);
    expect(text).toMatch(
      /Against the order high &lt;img.* New Wed 4 Mar 10:00 , after a webhook low A new address Mon 2 Mar 10:00 , at checkout For the order CVV matches Mon 2 Mar 10:00/,
    );
  });

  it.each([
    ['a review', inReview()],
    ['a review that waits for the gateway', { ...inReview(), phase: 'awaiting-gateway' as const }],
  ])(
    '%s says how long it can be canceled, and that the window closes before the order does',
    async (_what, state) => {
      const { text } = await pageOf({ state });
      expect(text).toMatch(/Can be canceled for 1 d 5 h until /);
      expect(text).toMatch(
        /An open review without an override needs attention; before policy cancels it, it is read in 1 d 5 h The cancel window closes in .* A review that is still open is closed/,
      );
    },
  );

  it('attention comes first, with what to do, since when, and a form to resolve it', async () => {
    const state = inReview();
    const matter = { words: 'The window closed: refund by hand.', since: sinceStart(DAY), cause: {} };
    state.attention = [{ code: 'cancel-too-late', ...matter }];
    const { body, text } = await pageOf({ state });
    expect(text).toMatch(/Attention: The window closed: refund by hand\. Since Tue 3 Mar 10:00 \. Resolve…/);
    expect(body.indexOf('id="attention"')).toBeLessThan(body.indexOf('<h2>In review at'));
    expect(body).toMatch(/<details name="act" id="acknowledge">.*action="\/orders\/order-1\/acknowledge\?/s);
    state.attention = [{ code: 'review-unresolved', ...matter }];
    expect((await pageOf({ state })).text).toContain('It can’t be resolved: the cause still exists.');
  });

  it('a portal action that runs is shown at once; one that runs for long is stuck', async () => {
    const fresh = { ...asked, requestedAt: new Date().toISOString() };
    const { app, orderScreening } = await anApi();
    const shown = async (action: ActionRecord) => {
      orderScreening.inspect.mockResolvedValue(
        anInspectedOrder({ state: { ...inReview(), actions: [action] } }),
      );
      return (await app.inject('/orders/order-1/running?integration=default')).body;
    };
    expect(textOf(await shown(fresh))).toMatch(/Chargeback waits for its turn Requested [\d:]+, \d s ago/);
    expect(await shown(fresh)).not.toContain('amber');
    const old = await shown({ ...fresh, status: 'running', requestedAt: inHours(-0.5) });
    expect(textOf(old)).toMatch(/Chargeback is stuck .* 30 min ago.* Withdraw action…/);
    expect(old).toContain('class="box amber"');
    expect(textOf(await shown({ ...fresh, status: 'done' }))).toContain('Finished Show the result');
  });

  it('a snooze has its day, if that isn’t today, and a running action the day of its request', async () => {
    const [snoozedUntil, state] = [inHours(50), { ...inReview(), actions: [asked] }];
    const { text } = await pageOf({ summary: anOrderSummary({ snoozedUntil }), state });
    const day = new Date(snoozedUntil).toLocaleDateString('en', { weekday: 'short', timeZone: 'UTC' });
    expect(text).toContain(`Snoozed until ${day} ${snoozedUntil.slice(11, 16)}`);
    expect(text).toMatch(/Requested Tue 3 Mar( 2026)? 10:00, /);
  });

  it('an adopted order has the age since it was screened', async () => {
    const state = anOrder('review');
    state.adopted = { transactionId: TRANSACTION_ID, screenedAt: inHours(-50) };
    state.startedAt = inHours(-0.1);
    const { text } = await pageOf({ state });
    expect(text).toMatch(/default · screened .*, 2 d 2 h ago/);
    expect(text).toMatch(/Order adopted .* Screened outside of order-screening/);
  });

  const closed = { ...anOrder('pass'), phase: 'closed' as const };
  const running = [
    { ...asked, status: 'done' as const },
    { ...asked, number: 2 },
  ];
  const ALSO = ['recheck', 'snooze', 'note', 'assign'];
  it.each<[what: string, state: OrderState, forms: string[]]>([
    ['approve, reject and the smaller ones', inReview(), ['proceed', 'decide-cancel', ...ALSO]],
    ['recheck of a closed order', closed, ['recheck']],
    ['none of one without a transaction', { ...closed, transactions: [] }, []],
    [
      'withdraw',
      { ...inReview(), actions: running },
      ['actions/2/withdraw', 'proceed', 'decide-cancel', ...ALSO],
    ],
    ['no approval of what proceeds', { ...inReview(), action: 'proceed' }, ['decide-cancel', ...ALSO]],
    ['the cancel of what is rejected', { ...inReview(), action: 'cancel' }, ['proceed', 'cancel', ...ALSO]],
  ])('has the forms of what the order takes, in place: %s', async (_what, state, forms) => {
    const summary = anOrderSummary(state.phase === 'closed' ? { closedAt: inHours(-1) } : {});
    const { body } = await pageOf({ state, summary });
    const found = [...body.matchAll(/method="post" action="\/orders\/order-1\/(.*?)\?integration=default"/g)];
    expect(found.map(([, action]) => action)).toEqual(forms);
  });

  it('has the buttons that the scopes of the key allow', async () => {
    const scopes = { read: ['read'], act: ['read', 'act'], ops: ['read', 'act', 'ops'] } as const;
    const seen = async (name: keyof typeof scopes) => {
      const apiKeys = [hashedKey(name, 'a-key-of-mine', { scopes: [...scopes[name]] })];
      const { body } = await pageOf({ state: inReview() }, { apiKeys });
      return [...body.matchAll(/<summary class="button[^>]*>([^<]*)|<button>([^<]*)/g)].map(
        ([, opens, sends]) => opens ?? sends,
      );
    };
    const also = ['Recheck', 'Snooze…', 'Add note…', 'Assign…'];
    expect(await seen('read')).toEqual([]);
    expect(await seen('act')).toEqual(['Cancel order…', ...also]);
    expect(await seen('ops')).toEqual(['Approve…', 'Reject and cancel…', ...also]);
  });

  const lost = { closedAt: inHours(-1) };
  const nothing = { decisions: [], actions: [], redeliveries: [] };
  it.each<[words: string, order: Partial<InspectedOrder>]>([
    ['It can’t be canceled: the cancel window is closed.', { state: anOrder('pass') }],
    ['the integration is passive', { state: anOrder('pass', { passive: true }) }],
    ['The API’s PAYLOAD_KEYS can’t decrypt', { missing: 'undecryptable' }],
    ['it was terminated or failed', { missing: 'no-record' }],
    [
      'What happens next None: the order’s workflow was terminated or failed',
      { state: { ...inReview(), ...lost }, summary: anOrderSummary(lost) },
    ],
    ['Not everything after the order’s end could be read', { afterEnd: { ...nothing, incomplete: true } }],
  ])('says why it offers or shows less: %s', async (words, order) => {
    const { statusCode, text } = await pageOf(order);
    expect(statusCode).toBe(200);
    expect(text).toContain(words);
    expect(text).toContain('Amount 125.50');
    expect((await pageOf({ state: inReview(), afterEnd: nothing })).text).not.toContain(words);
  });

  it('takes no words for its notice from the address', async () => {
    const { app } = await anApi();
    const shown = async (notice: string) => (await app.inject(`/orders/order-1?notice=${notice}`)).body;
    expect(await shown('canceled')).toContain('The transaction is canceled');
    expect(await shown('Pay%20here')).not.toContain('Pay here');
    expect(await shown('toString')).not.toContain('notice"');
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
  expect(textOf(body)).toContain(
    `Transaction ${TRANSACTION_ID} As the screening service has it now. Decision fail Message`,
  );
  expect(body).toContain(SHOWN);
  expect(body).toContain('<a href="/orders/a%2Fb?integration=shop">a/b</a>');
  const named = { idOrInvoice: '1001', integration: 'shop' };
  expect(orderScreening.getTransaction).toHaveBeenCalledExactlyOnceWith(named);
});

const billTo = {
  firstName: 'Lena',
  lastName: 'Hartmann',
  address: 'Kastanienallee 12',
  zip: '10435',
  city: 'Berlin',
};

it('an order has the customer and the items that the policy shows, and a link to the shop', async () => {
  const shopLink = 'https://shop.example/orders/{orderId}';
  const shown = {
    ...{ attempt: 1, name: HOSTILE, email: 'lena@example.com', avs: 'Z', cvv: 'M' },
    ...{ billTo, shipTo: { ...billTo, zip: '80339' } },
    items: [{ name: 'Phone', sku: 'PH-1', price: 1099, quantity: 1 }],
  };
  const state = { ...anOrder('review'), shown, currency: 'EUR' };
  const { body, text } = await pageOf({ state }, { findIntegration: finding(anIntegration({ shopLink })) });
  expect(body).toContain('href="https://shop.example/orders/order-1"');
  expect(body).toContain(SHOWN);
  expect(body).not.toContain(HOSTILE);
  expect(text).toMatch(/E-mail lena@example\.com .*10435 Berlin .*80339 Berlin differs/);
  expect(text).toContain('AVS Postcode matches, street does not (Z)');
  expect(text).toContain('CVV Matches (M)');
  expect(text).toMatch(/Items Item Quantity Price Phone PH-1 1 1,099\.00 EUR/);
});

it('without `shown` in the policy there are no such cards', async () => {
  expect((await pageOf({ state: anOrder('review') })).text).not.toMatch(/Customer|Items/);
});
