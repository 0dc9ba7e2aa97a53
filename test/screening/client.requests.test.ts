import { describe, expect, it } from 'vitest';
import { createScreeningClient } from '../../src/screening/index.ts';
import { TEST_CARD } from '../fixtures/transactions.ts';
import { CREATE, client, failureOf, ID, KEY, PORTAL, service, withService } from './client-harness.ts';

withService();

describe('what is sent', () => {
  it('creates a transaction at /transaction in the definition dialect', async () => {
    service.answerJson(200, { id: ID, decision: 'pass' });
    expect(await client().createTransaction(CREATE)).toEqual({ id: ID, decision: 'pass' });
    const [request] = service.seen;
    expect(request).toMatchObject({ method: 'POST', url: '/test/transaction' });
    expect(request?.headers['content-type']).toBe('application/json');
    expect(JSON.parse(request?.body ?? '')).toMatchObject({
      'nf-token': KEY,
      enrich: true,
      order: { invoiceNumber: '1001' },
      payment: { creditCard: TEST_CARD },
    });
  });

  it('creates a transaction at the root in the sample dialect', async () => {
    service.answerJson(200, { id: ID, decision: 'review' });
    await client('sample').createTransaction(CREATE);
    expect(service.seen[0]?.url).toBe('/test/');
    expect(JSON.parse(service.seen[0]?.body ?? '')).toMatchObject({ nfToken: KEY, currencyCode: 'USD' });
  });

  it("sends the gateway's result", async () => {
    service.answerJson(200, { Status: 'OK' });
    const result = {
      transactionId: ID,
      result: 'fail',
      authcode: 'A1',
      gatewayTransactionId: 'g-1',
    } as const;
    await client().gatewayResponse(result);
    expect(service.seen[0]?.url).toBe('/test/gateway_response');
    expect(JSON.parse(service.seen[0]?.body ?? '')).toEqual({
      'nf-token': KEY,
      'nf-id': ID,
      'gateway-response': { result: 'fail', authcode: 'A1', 'transaction-id': 'g-1' },
    });
  });

  it('has the key in the header x-api-key only where that is set, status calls included', async () => {
    service.answerJson(200, { id: ID, decision: 'pass' });
    const settings = {
      baseUrl: `${service.url}/test`,
      portalBaseUrl: `${service.url}/portal/api/v1/transaction-update`,
      apiKey: KEY,
      dialect: 'definition',
    } as const;
    for (const apiKeyHeader of [true, false]) {
      const one = createScreeningClient({ ...settings, apiKeyHeader });
      await one.createTransaction(CREATE);
      await one.statusById(ID);
    }
    expect(service.seen.map(({ headers }) => headers['x-api-key'])).toEqual([KEY, KEY, undefined, undefined]);
  });

  it('encodes every part of a status address and removes a leading #', async () => {
    service.answerJson(200, { id: ID, decision: 'pass' });
    const key = 'sk%2Fcanary%20key%2B0123456789';
    await client().status(`#a/b?c`);
    await client().statusById(ID);
    await client().statusByInvoice('#10#01/ü');
    expect(service.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `GET /test/status/${key}/a%2Fb%3Fc`,
      `GET /test/status_by_url/${key}/${ID}`,
      `GET /test/status_by_invoice/${key}/10%2301%2F%C3%BC`,
    ]);
  });

  it.each(['', '#', '.', '..', '\ud800'])(
    'never asks for "%s", which would be another address',
    async (invoice) => {
      const error = await failureOf(client().statusByInvoice(invoice));
      expect(error).toMatchObject({
        outcome: 'refused',
        reason: 'bad-request',
        operation: 'status-by-invoice',
      });
      expect(service.seen).toEqual([]);
    },
  );

  it('sends the four portal actions', async () => {
    service.answerJson(200, { code: 200, message: 'done' });
    for (const [, call] of PORTAL) await call(client());
    const path = '/portal/api/v1/transaction-update';
    expect(service.seen.map(({ url, body }) => [url, JSON.parse(body)])).toEqual([
      [`${path}/customer-code`, { nf_token: KEY, customer_code: 'c', email: 'pass@example.com' }],
      [`${path}/report-fraud`, { nf_token: KEY, transaction_id: ID }],
      [`${path}/cancel-transaction`, { nf_token: KEY, transaction_id: ID }],
      [
        `${path}/submit-chargeback`,
        { nf_token: KEY, transaction_id: ID, reason_code: '4837', due_date: '2026-07-01' },
      ],
    ]);
  });

  it('uses one connection for calls one after another, of any client', async () => {
    service.answerJson(200, { id: ID, decision: 'pass' });
    await client().statusById(ID);
    const before = service.connections();
    for (let call = 0; call < 5; call += 1) await client().statusById(ID);
    expect(service.connections()).toBe(before);
  });

  it.each(['ftp://host', 'host', '', 'http://user:canary@host'])(
    'refuses the address "%s" at once, unshown',
    (baseUrl) => {
      const make = () =>
        createScreeningClient({ baseUrl, portalBaseUrl: service.url, apiKey: KEY, dialect: 'sample' });
      expect(make).toThrow('baseUrl must be an http or https address without a user name');
    },
  );
});
