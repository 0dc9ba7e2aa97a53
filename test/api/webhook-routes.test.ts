import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../src/config/index.ts';
import { OrderScreeningError } from '../../src/starter.ts';
import { anApi, TRANSACTION_ID } from './fake-order-screening.ts';

const url = '/v1/webhooks/default';
const headers = { 'x-webhook-secret': 'webhook-secret-2' };
const hint = { integration: 'default', source: 'webhook', transactionId: TRANSACTION_ID, orderId: '1001' };

describe('a webhook', () => {
  it.each(['POST', 'PUT', 'PATCH'] as const)('is taken as JSON by %s', async (method) => {
    const { app, orderScreening } = await anApi();
    const body = { id: TRANSACTION_ID, decision: 'fail', invoiceNumber: '#1001' };
    const response = await app.inject({ method, url, headers, body });
    expect(response.statusCode).toBe(202);
    expect(response.json()).toEqual({ status: 'accepted' });
    expect(orderScreening.hint).toHaveBeenCalledWith({ ...hint, decision: 'fail' });
  });

  it.each([
    ['a form', 'application/x-www-form-urlencoded', `id=${TRANSACTION_ID}&invoiceNumber=%231001`],
    [
      'near-JSON',
      'application/json',
      `{"id":https://x.example/${TRANSACTION_ID},"decision":,"invoiceNumber":#1001}`,
    ],
    ['near-JSON without a content type', undefined, `{"id":${TRANSACTION_ID},"invoiceNumber":1001}`],
    ['a content type that is none', '%content_type%', `{"id":"${TRANSACTION_ID}","invoiceNumber":"1001"}`],
  ])('is taken as %s', async (_form, contentType, payload) => {
    const { app, orderScreening } = await anApi();
    const sent = contentType === undefined ? headers : { ...headers, 'content-type': contentType };
    const response = await app.inject({ method: 'POST', url, headers: sent, payload });
    expect(response.statusCode).toBe(202);
    expect(orderScreening.hint).toHaveBeenCalledWith(hint);
  });

  it('is taken from the query of a GET, with the secret in the path, and its address is not logged', async () => {
    const { app, orderScreening, logged } = await anApi();
    const address = `${url}/webhook-secret-1?id=${TRANSACTION_ID}&invoiceNumber=1001`;
    const response = await app.inject({ method: 'GET', url: address });
    expect(response.statusCode).toBe(202);
    expect(orderScreening.hint).toHaveBeenCalledWith(hint);
    expect(logged()).toContain('/v1/webhooks/:integration/:secret');
    expect(logged()).not.toContain('webhook-secret-1');
  });

  it.each([
    ['none', url, {}],
    ['a wrong one in the header', url, { 'x-webhook-secret': 'webhook-secret' }],
    ['a wrong one in the path', `${url}/webhook-secret-11`, {}],
    [
      'a wrong one in the header and a right one in the path',
      `${url}/webhook-secret-1`,
      { 'x-webhook-secret': 'no' },
    ],
    ['one in the query', `${url}?secret=webhook-secret-1`, {}],
  ])('is answered 401 with %s as its secret', async (_case, address, sent) => {
    const { app, orderScreening } = await anApi();
    const response = await app.inject({
      method: 'POST',
      url: address,
      headers: sent,
      body: { id: TRANSACTION_ID },
    });
    expect(response.statusCode).toBe(401);
    expect(response.json()).toMatchObject({ type: '/problems/bad-webhook-secret' });
    expect(orderScreening.hint).not.toHaveBeenCalled();
  });

  it('is refused whatever it sends while no secret is configured', async () => {
    const { app } = await anApi({ webhookSecrets: [] });
    for (const sent of [{}, { 'x-webhook-secret': '' }]) {
      expect((await app.inject({ method: 'POST', url, headers: sent })).statusCode).toBe(401);
    }
  });

  it('is answered 202 for an order that nobody knows', async () => {
    const { app, orderScreening } = await anApi();
    orderScreening.hint.mockResolvedValue({ outcome: 'unknown' });
    const response = await app.inject({ method: 'POST', url, headers, body: {} });
    expect(response.statusCode).toBe(202);
    expect(response.json()).toEqual({ status: 'unknown' });
  });

  it('is answered 503 while Temporal is away, so that the sender tries again', async () => {
    const { app, orderScreening } = await anApi();
    orderScreening.hint.mockRejectedValue(new OrderScreeningError('temporal-unavailable', 'Later.'));
    const response = await app.inject({ method: 'POST', url, headers, body: { id: TRANSACTION_ID } });
    expect(response.statusCode).toBe(503);
    expect(response.headers['retry-after']).toBe('2');
  });

  it('is answered 413 above 64 KiB', async () => {
    const { app } = await anApi();
    const send = (bytes: number) => app.inject({ method: 'POST', url, headers, payload: 'x'.repeat(bytes) });
    expect((await send(64 * 1024)).statusCode).toBe(202);
    expect((await send(64 * 1024 + 1)).statusCode).toBe(413);
  });

  it('needs no API key beside its secret', async () => {
    const { app } = await anApi({ apiKeys: [hashedKey('shop', 'key')] });
    expect((await app.inject({ method: 'POST', url, headers, body: {} })).statusCode).toBe(202);
  });
});
