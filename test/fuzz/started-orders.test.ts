/** The API over the real client library and a fake Temporal: what gets through is what may be recorded for years. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cardDataIn } from '../../src/card-data/card-data.ts';
import { createCardStash } from '../../src/card-stash/index.ts';
import type { ScreenOrderInput } from '../../src/contract/messages.ts';
import type { Integration } from '../../src/contract/policy.ts';
import { transactionSchema } from '../../src/screening-service/index.ts';
import { aClient } from '../client/fake-temporal.ts';
import { aPreGatewayTransaction, aTransaction, TEST_CARD } from '../fixtures/transactions.ts';
import { aCheckoutAnswer, aPortalAnswer, TRANSACTION_ID } from '../server/api/fake-order-screening.ts';
import { POSTS } from '../server/api/operations.ts';
import { aFuzzedApi, ask } from './expect-harmless.ts';
import { hostileText, mutated, PATIENCE_MS, runs } from './hostile.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
/** By a transaction, or by an invoice number that can't leave its quotes. */
const SEARCH = /(?:TransactionId = '[0-9a-f-]{36}'|InvoiceNumber = '(?:[^'\\]|\\['\\])*')$/u;
const ORDER_ID = /^order:default:[^\p{Cc}\p{Cs}]{1,64}$/u;

async function anApiOverTemporal(settings: Partial<Integration> = {}) {
  const { temporal, handles, ...made } = aClient(settings, createCardStash('memory:'));
  const answer = aCheckoutAnswer();
  const { orderId, integration, attempt, decision, action, phase } = answer;
  const gatewayAnswer = { orderId, integration, attempt, decision, action, phase };
  temporal.executeUpdateWithStart.mockResolvedValue(answer);
  temporal.startUpdate.mockResolvedValue({ result: async () => aPortalAnswer() });
  const answers: Record<string, unknown> = { acknowledge: { cleared: 1 }, override: gatewayAnswer };
  for (const name of ['note', 'assign', 'snooze']) answers[name] = { orderId, integration };
  temporal.executeUpdate.mockImplementation(
    async ({ name }) => answers[name] ?? { ...gatewayAnswer, result: 'pass' },
  );
  temporal.signal.mockResolvedValue(undefined);
  temporal.listWorkflowExecutions.mockResolvedValue({
    executions: [{ execution: { workflowId: 'order:default:found' } }],
    nextPageToken: new Uint8Array(),
  });
  const { app, lines } = await aFuzzedApi({ orderScreening: made.orderScreening });
  const { executeUpdateWithStart, start, startUpdate, executeUpdate, signal } = temporal;
  const writes = [executeUpdateWithStart, start, startUpdate, executeUpdate, signal];
  const reset = () => {
    for (const write of writes) write.mockClear();
    handles.length = 0;
  };
  return { app, lines, temporal, handles, reset, written: () => writes.flatMap(({ mock }) => mock.calls) };
}

type Started = { options: { workflowId: string; args: [ScreenOrderInput]; staticSummary: string } };

function startOf(
  temporal: Awaited<ReturnType<typeof anApiOverTemporal>>['temporal'],
): Started['options'] | undefined {
  const [call] = temporal.executeUpdateWithStart.mock.calls as unknown as [
    [unknown, { startWorkflowOperation: Started }]?,
  ];
  return call?.[1].startWorkflowOperation.options;
}

function expectGoodStart({ workflowId, args: [input], staticSummary }: Started['options']): void {
  expect(workflowId).toMatch(ORDER_ID);
  expect(workflowId).toBe(`order:default:${input.orderId}`);
  expect(cardDataIn(input)).toEqual([]);
  expect(Buffer.byteLength(staticSummary)).toBeLessThanOrEqual(200);
  expect(staticSummary).not.toMatch(/[\p{Cc}\p{Cs}]|, NaN/u);
  expect(JSON.stringify(input)).not.toContain(TEST_CARD.cardNumber);
  expect(input.fingerprint).toMatch(/^[0-9a-f]{64}$/);
  // Sent in an address, and kept as a search attribute.
  expect(JSON.stringify(input.transaction.order ?? '')).not.toMatch(/"invoiceNumber":"[^"]*[\p{Cc}\p{Cs}]/u);
}

const fullOrder = aTransaction({
  merchant: { name: 'Shop', website: 'shop.example.com', email: 'shop@example.com', productType: 'Goods' },
  order: { invoiceNumber: '#7', order_type: 'one-time' },
  '3d_secure': { authenticated: true },
  userFields: { note: 'gift', nested: { list: [1, { a: 'b' }] } },
});
const requests = fc.oneof(
  mutated({ attempt: 1, workflow: 'post-acceptance', transaction: fullOrder }),
  mutated({ attempt: 1, workflow: 'pre-gateway', transaction: aPreGatewayTransaction() }),
);
const orderIds = fc.oneof(
  { weight: 3, arbitrary: fc.constant('order-1') },
  { weight: 1, arbitrary: hostileText.filter((text) => !/\p{Cs}/u.test(text) && text.length < 200) },
);

describe('a request to screen', () => {
  it.each<[what: string, settings: Partial<Integration>]>([
    ['fits the schemas', {}],
    ['has no card data where policy skips it', { skip: [{ customerId: ['customer-1'] }] }],
  ])('starts an order that %s, or nothing', { timeout: PATIENCE_MS }, async (_what, settings) => {
    const api = await anApiOverTemporal(settings);
    await fc.assert(
      fc.asyncProperty(orderIds, requests, async (orderId, body) => {
        api.reset();
        const url = `/v1/orders/${encodeURIComponent(orderId)}/screening`;
        const payload = JSON.stringify(body) ?? 'null';
        const response = await ask(api, { method: 'POST', url, headers: JSON_TYPE, payload });
        const start = startOf(api.temporal);
        if (response.statusCode >= 300) expect(api.written()).toEqual([]);
        else if (start === undefined) expect(api.temporal.startUpdate).toHaveBeenCalledOnce();
        else {
          expectGoodStart(start);
          if (settings.skip === undefined)
            expect(transactionSchema.safeParse(start.args[0].transaction).success).toBe(true);
        }
      }),
      runs(400),
    );
  });
});

describe('a message to an order', () => {
  const messages = POSTS.filter(({ calls }) => !['screen', 'putCard', 'redeliver'].includes(calls));

  it.each(messages)(
    'by $path is sent when it is right, and nothing is when not',
    { timeout: PATIENCE_MS },
    async ({ path, body }) => {
      const api = await anApiOverTemporal();
      await fc.assert(
        fc.asyncProperty(orderIds, mutated(body), async (orderId, changed) => {
          api.reset();
          const url = path.replace('order-1', encodeURIComponent(orderId));
          const payload = JSON.stringify(changed) ?? 'null';
          const response = await ask(api, { method: 'POST', url, headers: JSON_TYPE, payload });
          for (const id of api.handles) expect(id).toMatch(ORDER_ID);
          // A recheck of the same order a moment later is sent when its spacing is over.
          const isSpaced = path.endsWith('/recheck') && api.written().length === 0;
          if (response.statusCode < 300 && !isSpaced) expect(api.written()).toHaveLength(1);
          else if (response.statusCode >= 300 && response.statusCode !== 409)
            expect(api.written()).toEqual([]);
        }),
        runs(80),
      );
    },
  );

  it('by a webhook goes to the order that it names, or to the one found by its transaction', {
    timeout: PATIENCE_MS,
  }, async () => {
    const api = await anApiOverTemporal();
    const webhook = fc.oneof(
      mutated({ id: TRANSACTION_ID, decision: 'pass', invoiceNumber: '#1001' }).map((body) =>
        JSON.stringify(body),
      ),
      hostileText.map((text) => `{"id":${TRANSACTION_ID},"invoiceNumber":${text}}`),
    );
    await fc.assert(
      fc.asyncProperty(webhook, async (payload) => {
        api.reset();
        api.temporal.listWorkflowExecutions.mockClear();
        const url = '/v1/webhooks/default/webhook-secret-1';
        const response = await ask(api, { method: 'POST', url, headers: JSON_TYPE, payload });
        expect([202, 413]).toContain(response.statusCode);
        for (const id of api.handles) expect(id).toMatch(ORDER_ID);
        const searches = api.temporal.listWorkflowExecutions.mock.calls as unknown as [{ query: string }][];
        for (const [{ query }] of searches) expect(query).toMatch(SEARCH);
      }),
      runs(300),
    );
  });
});
