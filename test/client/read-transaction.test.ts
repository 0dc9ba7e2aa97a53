/** Reading a transaction through the client library: from the screening service and from Temporal. */
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { FaultPlanInput } from '../../src/sandbox/fault-plan.ts';
import { OrderScreeningError } from '../../src/starter.ts';
import { CARD_LIKE_ID } from '../attacks/card-disguises.ts';
import { CLOSED_TRANSACTION } from '../fixtures/orders.ts';
import { created, decidedAs, LIVE_KEY, send, startSandbox, TEST_KEY } from '../sandbox/support.ts';
import { aClient } from './fake-temporal.ts';

const unavailable = new OrderScreeningError('temporal-unavailable', 'Not now.');

/** The client library with its integration at a sandbox. */
async function atASandbox(settings: Parameters<typeof aClient>[0] = {}) {
  const sandbox = await startSandbox();
  const baseUrl = sandbox.testBaseUrl;
  return { sandbox, ...aClient({ baseUrl, apiKey: () => TEST_KEY, ...settings }) };
}

/** What Temporal lists: these workflows, newest first. */
function listing(...workflowIds: string[]) {
  const executions = workflowIds.map((workflowId) => ({ execution: { workflowId } }));
  return async () => ({ executions, nextPageToken: new Uint8Array() });
}

describe('a transaction', () => {
  it('is read by its id and by its invoice number, with or without a #', async () => {
    const { sandbox, orderScreening } = await atASandbox();
    const id = await created(sandbox, decidedAs('review'));
    for (const idOrInvoice of [id, id.toUpperCase(), 'A-1', '#A-1']) {
      expect(await orderScreening.getTransaction({ idOrInvoice })).toEqual({ id, decision: 'review' });
    }
  });

  it('has the current decision, with the message of a fail, and takes one listing of Temporal', async () => {
    const { sandbox, orderScreening, temporal } = await atASandbox();
    const failed = await send('POST', sandbox.testBaseUrl, decidedAs('fail'));
    expect(await orderScreening.getTransaction({ idOrInvoice: 'A-1' })).toEqual(failed.body);
    sandbox.control.decide(failed.body.id, 'fraudulent');
    expect(await orderScreening.getTransaction({ idOrInvoice: 'A-1' })).toMatchObject({
      decision: 'fraudulent',
    });
    expect(sandbox.control.ledger({ operation: 'status' })).toHaveLength(2);
    const asked = Object.entries(temporal).filter(([, call]) => call.mock.calls.length > 0);
    expect(asked.map(([name]) => name)).toEqual(['listWorkflowExecutions']);
  });

  it('names the order that owns it, in any integration, found by the returned id', async () => {
    const { sandbox, orderScreening, temporal } = await atASandbox();
    const id = await created(sandbox);
    temporal.listWorkflowExecutions.mockImplementation(listing('a-foreign-id', 'order:shop:1001'));
    const order = { integration: 'shop', orderId: '1001' };
    expect(await orderScreening.getTransaction({ idOrInvoice: 'A-1' })).toMatchObject({ order });
    const query = JSON.stringify(temporal.listWorkflowExecutions.mock.calls);
    expect(query).toContain(`TransactionId = '${id}'`);
    expect(query).not.toContain('ScreeningIntegration');
  });
});

describe('a read fails', () => {
  it.each<[what: string, fault: Pick<FaultPlanInput['faults'][number], 'kind'>, code: string, words: RegExp]>(
    [
      [
        'the API key is wrong',
        { kind: '403' },
        'screening-service-unavailable',
        /does not accept the API key/,
      ],
      ['it limits the rate', { kind: '429' }, 'screening-service-unavailable', /\(rate-limited, HTTP 429\)/],
      [
        'it answers 5xx',
        { kind: '5xx-before-commit' },
        'screening-service-unavailable',
        /\(http-5xx, HTTP 503\)/,
      ],
      [
        'it resets the connection',
        { kind: 'reset-before-commit' },
        'screening-service-unavailable',
        /\(reset\)/,
      ],
      ['the answer is not JSON', { kind: 'malformed-body' }, 'screening-service-unavailable', /\(malformed/],
      ['the answer has no id', { kind: 'reply-without-id' }, 'screening-service-unavailable', /\(missing-id/],
      [
        'its decision is unknown',
        { kind: 'unknown-decision' },
        'transaction-without-decision',
        /unknown dec/,
      ],
    ],
  )('when %s', async (_what, fault, code, words) => {
    const { sandbox, orderScreening, temporal } = await atASandbox();
    const idOrInvoice = await created(sandbox);
    sandbox.control.setFaults({ faults: [{ operation: 'status', ...fault }] });
    const error = await failureOf(orderScreening.getTransaction({ idOrInvoice }));
    expect(error).toMatchObject({ code, message: expect.stringMatching(words) });
    expect(temporal.listWorkflowExecutions).not.toHaveBeenCalled();
  });

  it('when the screening service refuses the connection', async () => {
    const { orderScreening } = aClient({ apiKey: () => TEST_KEY });
    expect(await failureOf(orderScreening.getTransaction({ idOrInvoice: 'A-1' }))).toMatchObject({
      code: 'screening-service-unavailable',
      message: expect.stringContaining('(connection-refused)'),
    });
  });

  it('when the API key has a different mode, or this process has none', async () => {
    const wrong = await atASandbox({ apiKey: () => LIVE_KEY });
    expect(await failureOf(wrong.orderScreening.getTransaction({ idOrInvoice: 'A-1' }))).toMatchObject({
      code: 'screening-service-unavailable',
    });
    const without = await atASandbox({ apiKey: () => undefined });
    expect(await failureOf(without.orderScreening.getTransaction({ idOrInvoice: 'A-1' }))).toMatchObject({
      code: 'screening-service-unavailable',
      message: expect.stringContaining('apiKeyEnv'),
    });
    expect(without.sandbox.control.ledger()).toEqual([]);
  });

  it('when the transaction or the integration does not exist', async () => {
    const { orderScreening } = await atASandbox();
    for (const idOrInvoice of [CLOSED_TRANSACTION, 'no-such-invoice']) {
      expect(await failureOf(orderScreening.getTransaction({ idOrInvoice }))).toMatchObject({
        code: 'unknown-transaction',
      });
    }
    const elsewhere = { idOrInvoice: 'A-1', integration: 'elsewhere' };
    expect(await failureOf(orderScreening.getTransaction(elsewhere))).toMatchObject({
      code: 'unknown-integration',
    });
  });

  it('when Temporal does not answer, instead of naming no order', async () => {
    const { sandbox, orderScreening, temporal } = await atASandbox();
    const idOrInvoice = await created(sandbox);
    temporal.listWorkflowExecutions.mockRejectedValue(unavailable);
    expect(await failureOf(orderScreening.getTransaction({ idOrInvoice }))).toMatchObject({
      code: 'temporal-unavailable',
    });
  });
});

describe('the id or invoice number', () => {
  it.each(['', '#', '##1', '  ', '.', '..', 'a\nb', '\ud800', 'x'.repeat(65)])(
    'is rejected when it is %j, before any call',
    async (idOrInvoice) => {
      const { sandbox, orderScreening, temporal } = await atASandbox();
      expect(await failureOf(orderScreening.getTransaction({ idOrInvoice }))).toMatchObject({
        code: 'invalid-request',
        details: { errors: [{ path: 'idOrInvoice', message: expect.stringMatching(/^must /) }] },
      });
      expect(sandbox.control.ledger()).toEqual([]);
      expect(temporal.listWorkflowExecutions).not.toHaveBeenCalled();
    },
  );

  it('may look like a card number only when the policy vouches for it', async () => {
    const refusing = await atASandbox();
    const idOrInvoice = CARD_LIKE_ID;
    expect(await failureOf(refusing.orderScreening.getTransaction({ idOrInvoice }))).toMatchObject({
      code: 'card-data-in-request',
    });
    expect(refusing.sandbox.control.ledger()).toEqual([]);
    const vouching = await atASandbox({ notCards: ['idOrInvoice'] });
    expect(await failureOf(vouching.orderScreening.getTransaction({ idOrInvoice }))).toMatchObject({
      code: 'unknown-transaction',
    });
  });
});

/** The error of a call, after making sure that it shows neither the API key nor the address that holds it. */
async function failureOf(call: Promise<unknown>): Promise<OrderScreeningError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof OrderScreeningError))
    throw new Error(`not an OrderScreeningError: ${inspect(error)}`);
  expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(/sandbox-(test|live)-key|\/status\//);
  return error;
}
