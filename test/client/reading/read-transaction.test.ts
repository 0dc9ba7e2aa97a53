/** Reading a transaction through the client library: from the screening service and from Temporal. */
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { CARD_LIKE_ID } from '../../attacks/card-disguises.ts';
import { CLOSED_TRANSACTION } from '../../fixtures/orders.ts';
import { created, decidedAs, LIVE_KEY, send, startSandbox, TEST_KEY } from '../../sandbox/support.ts';
import { aClient, listing, queryAsked, unavailable } from '../fake-temporal.ts';

type Settings = Parameters<typeof aClient>[0];

/** The client library with its integration at a sandbox. */
async function atASandbox(settings: Settings = {}) {
  const sandbox = await startSandbox();
  const { orderScreening, temporal } = aClient({
    baseUrl: sandbox.testBaseUrl,
    apiKey: () => TEST_KEY,
    ...settings,
  });
  const read = (idOrInvoice: string, integration = 'default') =>
    orderScreening.getTransaction({ idOrInvoice, integration });
  return { sandbox, temporal, read };
}

describe('a transaction', () => {
  it('is read by its id and by its invoice number, with or without a #', async () => {
    const { sandbox, read } = await atASandbox();
    const id = await created(sandbox, decidedAs('review'));
    for (const idOrInvoice of [id, id.toUpperCase(), 'A-1', '#A-1']) {
      expect(await read(idOrInvoice)).toEqual({ id, decision: 'review' });
    }
  });

  it('has the current decision, with the message of a fail, and takes one listing of Temporal', async () => {
    const { sandbox, read, temporal } = await atASandbox();
    const { body } = await send('POST', sandbox.testBaseUrl, decidedAs('fail'));
    expect(await read('A-1')).toEqual(body);
    const asked = Object.entries(temporal).filter(([, call]) => call.mock.calls.length > 0);
    expect(asked.map(([name]) => name)).toEqual(['listWorkflowExecutions']);
    sandbox.control.decide(body.id, 'fraudulent');
    expect(await read('A-1')).toMatchObject({ decision: 'fraudulent' });
  });

  it('names the order that owns it, in any integration, found by the returned id', async () => {
    const { sandbox, read, temporal } = await atASandbox();
    const id = await created(sandbox);
    temporal.listWorkflowExecutions.mockResolvedValue(listing('a-foreign-id', 'order:shop:1001'));
    expect(await read('A-1')).toMatchObject({ order: { integration: 'shop', orderId: '1001' } });
    expect(queryAsked(temporal)).toContain(`TransactionId = '${id}'`);
    expect(queryAsked(temporal)).not.toContain('ScreeningIntegration');
  });
});

const NO_STATUS = 'screening-service-unavailable';

// What the screening service answers otherwise: test/server/api/order-routes.test.ts.
describe('a read fails', () => {
  it.each<[string, Settings, string, string, RegExp]>([
    ['nobody listens', { baseUrl: 'http://127.0.0.1:1/test' }, 'A-1', NO_STATUS, /\(connection-refused\)/],
    ['the API key is wrong', { apiKey: () => 'x' }, 'A-1', NO_STATUS, /does not accept the API key/],
    ['the API key has a different mode', { apiKey: () => LIVE_KEY }, 'A-1', NO_STATUS, /API key/],
    ['this process has no API key', { apiKey: () => undefined }, 'A-1', NO_STATUS, /apiKeyEnv/],
    ['it has no such id', {}, CLOSED_TRANSACTION, 'unknown-transaction', /no/],
    ['it has no such invoice number', {}, 'none', 'unknown-transaction', /no/],
    ['it looks like a card number', {}, CARD_LIKE_ID, 'card-data-in-request', /Card data/],
    ['… unless the policy vouches', { notCards: ['idOrInvoice'] }, CARD_LIKE_ID, 'unknown-transaction', /no/],
  ])('when %s', async (_what, settings, idOrInvoice, code, words) => {
    const { read, temporal } = await atASandbox(settings);
    const error = await read(idOrInvoice).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code, message: expect.stringMatching(words) });
    expect(temporal.listWorkflowExecutions).not.toHaveBeenCalled();
    expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(/sandbox-(test|live)-key|\/status\//);
  });

  it('when Temporal does not answer, instead of naming no order; or the integration does not exist', async () => {
    const { sandbox, read, temporal } = await atASandbox();
    const id = await created(sandbox);
    temporal.listWorkflowExecutions.mockRejectedValue(unavailable);
    await expect(read(id)).rejects.toMatchObject({ code: 'temporal-unavailable' });
    await expect(read(id, 'elsewhere')).rejects.toMatchObject({ code: 'unknown-integration' });
  });

  it.each(['', '#', '##1', '  ', '..', 'a\nb', '\ud800', 'x'.repeat(65)])(
    'when the id or invoice number is %j, before any call',
    async (idOrInvoice) => {
      const { sandbox, read } = await atASandbox();
      await expect(read(idOrInvoice)).rejects.toMatchObject({
        code: 'invalid-request',
        details: { errors: [{ path: 'idOrInvoice', message: expect.stringMatching(/^must /) }] },
      });
      expect(sandbox.control.ledger()).toEqual([]);
    },
  );
});
