import { describe, expect, it } from 'vitest';
import { TEST_CARD } from '../fixtures/transactions.ts';
import {
  CHARGEBACK,
  CREATE,
  client,
  failureOf,
  ID,
  KEY,
  PORTAL,
  service,
  withService,
} from './client-harness.ts';

withService();

/** What was sent, in order. */
const sent = () =>
  service.seen.map(({ method, url, body }) => [`${method} ${url}`, JSON.parse(body || 'null')]);

describe('what is sent', () => {
  it('is a transaction at /transaction in the definition dialect, and at the root in the sample dialect', async () => {
    service.answerJson(200, { id: ID, decision: 'pass' });
    expect(await client().createTransaction(CREATE)).toEqual({ id: ID, decision: 'pass' });
    await client('sample').createTransaction(CREATE);
    const payment = { creditCard: TEST_CARD };
    const body = { 'nf-token': KEY, enrich: true, order: { invoiceNumber: '1001' }, payment };
    expect(sent()).toMatchObject([
      ['POST /test/transaction', body],
      ['POST /test/', { nfToken: KEY, currencyCode: 'USD' }],
    ]);
    expect(service.seen[0]?.headers['content-type']).toBe('application/json');
  });

  it("is the gateway's result", async () => {
    service.answerJson(200, { Status: 'OK' });
    const result = { result: 'fail', authcode: 'A1' } as const;
    await client().gatewayResponse({ transactionId: ID, gatewayTransactionId: 'g-1', ...result });
    const body = { 'nf-token': KEY, 'nf-id': ID, 'gateway-response': { ...result, 'transaction-id': 'g-1' } };
    expect(sent()).toEqual([['POST /test/gateway_response', body]]);
  });

  it('has the key in the header x-api-key only where that is set, status calls included', async () => {
    service.answerJson(200, { id: ID, decision: 'pass' });
    for (const apiKeyHeader of [true, false]) {
      const one = client('definition', service.url, apiKeyHeader);
      await one.createTransaction(CREATE);
      await one.statusById(ID);
    }
    expect(service.seen.map(({ headers }) => headers['x-api-key'])).toEqual([KEY, KEY, undefined, undefined]);
  });

  it('encodes every part of a status address, without a leading #', async () => {
    service.answerJson(200, { id: ID, decision: 'pass' });
    const key = 'sk%2Fcanary%20key%2B0123456789';
    await client().status(`#a/b?c`);
    await client().statusById(ID);
    await client().statusByInvoice('#10#01/ü');
    expect(sent().map(([address]) => address)).toEqual([
      `GET /test/status/${key}/a%2Fb%3Fc`,
      `GET /test/status_by_url/${key}/${ID}`,
      `GET /test/status_by_invoice/${key}/10%2301%2F%C3%BC`,
    ]);
  });

  it('is nothing for an invoice number that would be another address', async () => {
    for (const invoice of ['', '#', '.', '..', '\ud800']) {
      const refused = { outcome: 'refused', reason: 'bad-request', operation: 'status-by-invoice' };
      expect(await failureOf(client().statusByInvoice(invoice))).toMatchObject(refused);
    }
    expect(service.seen).toEqual([]);
  });

  it('are the four portal actions', async () => {
    service.answerJson(200, { code: 200, message: 'done' });
    for (const [, call] of PORTAL) await call(client());
    const { transactionId: transaction_id, ...chargeback } = CHARGEBACK;
    const path = 'POST /portal/api/v1/transaction-update';
    expect(sent()).toEqual([
      [`${path}/customer-code`, { nf_token: KEY, customer_code: 'c', email: 'pass@example.com' }],
      [`${path}/report-fraud`, { nf_token: KEY, transaction_id }],
      [`${path}/cancel-transaction`, { nf_token: KEY, transaction_id }],
      [`${path}/submit-chargeback`, { nf_token: KEY, transaction_id, ...chargeback }],
    ]);
  });

  it('goes by one connection for calls one after another, of any client', async () => {
    service.answerJson(200, { id: ID, decision: 'pass' });
    await client().statusById(ID);
    const before = service.connections();
    for (let call = 0; call < 5; call += 1) await client().statusById(ID);
    expect(service.connections()).toBe(before);
  });
});
