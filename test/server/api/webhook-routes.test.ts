import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../../src/config/index.ts';
import { OrderScreeningError } from '../../../src/starter.ts';
import { anApi, TRANSACTION_ID } from './fake-order-screening.ts';

const url = '/v1/webhooks/default';
const headers = { 'x-webhook-secret': 'webhook-secret-2' };
const hint = {
  integration: 'default',
  source: 'webhook',
  transactionId: [TRANSACTION_ID],
  orderId: ['1001'],
  reaches: expect.any(Function),
};
const JSON_BODY = `{"id":"${TRANSACTION_ID}","invoiceNumber":"#1001"}`;
const NEAR_JSON = `{"id":https://x.example/${TRANSACTION_ID},"decision":,"invoiceNumber":#1001}`;

describe('a webhook', () => {
  it.each([
    ['PUT', 'JSON', 'application/json', JSON_BODY],
    ['PATCH', 'a form', 'application/x-www-form-urlencoded', `id=${TRANSACTION_ID}&invoiceNumber=%231001`],
    ['POST', 'near-JSON', 'application/json', NEAR_JSON],
    ['POST', 'near-JSON without a content type', undefined, NEAR_JSON],
    ['POST', 'a content type that is none', '%content_type%', JSON_BODY],
    ['POST', 'UTF-16', 'application/json; charset=utf-16', Buffer.from(JSON_BODY, 'utf16le').swap16()],
  ] as const)('is taken by %s as %s, without an API key', async (method, _form, type, payload) => {
    const { app, orderScreening } = await anApi({ apiKeys: [hashedKey('shop', 'key')] });
    const sent = { ...headers, ...(type !== undefined && { 'content-type': type }) };
    const response = await app.inject({ method, url, headers: sent, payload });
    expect(response.statusCode).toBe(202);
    expect(response.json()).toEqual({ status: 'accepted' });
    expect(orderScreening.hint).toHaveBeenCalledWith(hint);
  });

  it('is taken from the query of a GET, with the secret in the path, and its address is not logged', async () => {
    const { app, orderScreening, logged } = await anApi();
    const address = `${url}/webhook-secret-1?id=${TRANSACTION_ID}&invoiceNumber=1001&decision=fail`;
    expect((await app.inject({ method: 'GET', url: address })).statusCode).toBe(202);
    expect(orderScreening.hint).toHaveBeenCalledWith(hint);
    expect(logged()).toContain('/v1/webhooks/:integration/:secret');
    expect(logged()).not.toContain('webhook-secret-1');
  });

  it('is answered 415 in an encoding that nobody reads', async () => {
    const { app, orderScreening } = await anApi();
    const encoded = { ...headers, 'content-encoding': 'zstd' };
    const response = await app.inject({ method: 'POST', url, headers: encoded, payload: JSON_BODY });
    expect(response.statusCode).toBe(415);
    const utf32 = Buffer.from(Uint32Array.from(Buffer.from(JSON_BODY)).buffer);
    expect((await app.inject({ method: 'POST', url, headers, payload: utf32 })).statusCode).toBe(415);
    expect(orderScreening.hint).not.toHaveBeenCalled();
  });

  const wrong = { 'x-webhook-secret': 'webhook-secret' };
  it.each([
    ['none', url, {}],
    ['a wrong one in the header', url, wrong],
    ['a wrong one in the path', `${url}/webhook-secret-11`, {}],
    ['a wrong one in the header and a right one in the path', `${url}/webhook-secret-1`, wrong],
    ['one in the query', `${url}?secret=webhook-secret-1`, {}],
    ['an empty one', url, { 'x-webhook-secret': '' }],
  ])('is answered 401 with %s as its secret', async (_case, address, sent) => {
    for (const options of [{}, { webhookSecrets: [] }]) {
      const { app, orderScreening } = await anApi(options);
      const response = await app.inject({ method: 'POST', url: address, headers: sent, body: {} });
      expect(response.statusCode).toBe(401);
      expect(response.json()).toMatchObject({ type: '/problems/bad-webhook-secret' });
      expect(orderScreening.hint).not.toHaveBeenCalled();
    }
  });

  it.each([
    ['phone', 'secret-of-phone', 202],
    ['phone', 'webhook-secret-1', 401],
    ['default', 'secret-of-phone', 401],
    ['default', 'webhook-secret-1', 202],
  ])('of the integration %s, which may have secrets of its own, with %s is answered %i', async (...row) => {
    const [integration, secret, status] = row;
    const { app } = await anApi({ ownWebhookSecrets: new Map([['phone', ['secret-of-phone']]]) });
    const address = `/v1/webhooks/${integration}`;
    const sent = { 'x-webhook-secret': secret };
    expect((await app.inject({ method: 'POST', url: address, headers: sent })).statusCode).toBe(status);
    const inPath = `${address}/${secret}`;
    expect((await app.inject({ method: 'POST', url: inPath })).statusCode).toBe(status);
  });

  it('reaches the orders of other integrations that have its secret', async () => {
    const { app, orderScreening } = await anApi({
      ownWebhookSecrets: new Map([['phone', ['secret-of-phone']]]),
    });
    await app.inject({ method: 'POST', url, headers, body: { id: TRANSACTION_ID } });
    const [{ reaches }] = orderScreening.hint.mock.calls[0] ?? [{ reaches: undefined }];
    expect(['web', 'phone'].map((integration) => reaches?.(integration))).toEqual([true, false]);
  });

  it('is answered 202 for an order that nobody knows, and 503 while Temporal is away, so that it is sent again', async () => {
    const { app, orderScreening } = await anApi();
    const send = () => app.inject({ method: 'POST', url, headers, body: { id: TRANSACTION_ID } });
    orderScreening.hint.mockResolvedValueOnce({ outcome: 'unknown' });
    const unknown = await send();
    expect([unknown.statusCode, unknown.json()]).toEqual([202, { status: 'unknown' }]);
    orderScreening.hint.mockRejectedValue(new OrderScreeningError('temporal-unavailable', 'Later.'));
    expect(await send()).toMatchObject({ statusCode: 503, headers: { 'retry-after': '2' } });
  });
});
