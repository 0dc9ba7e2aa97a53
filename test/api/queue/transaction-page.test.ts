import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../../src/config/index.ts';
import { OrderScreeningError } from '../../../src/starter.ts';
import { anApi, aTransactionStatus, TRANSACTION_ID } from '../fake-order-screening.ts';
import { HOSTILE, SHOWN, textOf } from './support.ts';

const KEY = 'the-key-of-the-shop-alone';

describe('the page of a transaction', () => {
  it('shows what the screening service says now, and links to the order that owns it', async () => {
    const { app, orderScreening } = await anApi();
    const order = { integration: 'shop', orderId: 'a/b' };
    orderScreening.getTransaction.mockResolvedValue(
      aTransactionStatus({ decision: 'fail', message: HOSTILE, order }),
    );
    const { statusCode, body } = await app.inject(`/transactions/${TRANSACTION_ID}?integration=shop`);
    expect(statusCode).toBe(200);
    expect(textOf(body)).toContain(`Transaction ${TRANSACTION_ID} Now Decision fail Message to the customer`);
    expect(body).toContain(SHOWN);
    expect(body).toContain('<a href="/orders/a%2Fb?integration=shop">a/b</a>');
    expect(orderScreening.getTransaction).toHaveBeenCalledExactlyOnceWith({
      idOrInvoice: TRANSACTION_ID,
      integration: 'shop',
    });
  });

  it('says when no order owns it', async () => {
    const { app, orderScreening } = await anApi();
    orderScreening.getTransaction.mockResolvedValue({ id: TRANSACTION_ID, decision: 'pass' });
    const { body } = await app.inject('/transactions/1001');
    expect(textOf(body)).toContain('Decision pass Order None found.');
    expect(body).not.toContain('Message to the customer');
  });

  it.each([
    ['unknown-transaction', 404, 'Transaction not found'],
    ['transaction-without-decision', 409, 'The transaction has no usable decision'],
    ['screening-service-unavailable', 503, 'The screening service returned no status. Retrying is safe'],
    ['temporal-unavailable', 503, 'Temporal can’t be reached'],
  ] as const)('is a clear page when it can’t be read: %s', async (code, status, title) => {
    const { app, orderScreening } = await anApi();
    orderScreening.getTransaction.mockRejectedValue(new OrderScreeningError(code, 'In words.'));
    const { statusCode, body } = await app.inject('/transactions/1001');
    expect(statusCode).toBe(status);
    expect(textOf(body)).toContain(title);
    expect(body.includes('In words.')).toBe(code !== 'temporal-unavailable');
    expect(body).not.toContain('send the same request again');
  });

  it.each(['%23', 'x'.repeat(65), 'a%0a'])('is not asked for by a name that is none: %s', async (name) => {
    const { app, orderScreening } = await anApi();
    expect((await app.inject(`/transactions/${name}`)).statusCode).toBe(422);
    expect(orderScreening.getTransaction).not.toHaveBeenCalled();
  });

  it('is refused to a key of one integration when an order of another owns the transaction', async () => {
    const { app, orderScreening } = await anApi({
      apiKeys: [hashedKey('shop', KEY, { scopes: ['read'], integrations: ['shop'] })],
    });
    const headers = { authorization: `Bearer ${KEY}` };
    const read = async (url: string) => (await app.inject({ url, headers })).statusCode;
    expect(await read('/transactions/1001?integration=shop')).toBe(200);
    orderScreening.getTransaction.mockResolvedValue(aTransactionStatus());
    expect(await read('/transactions/1001?integration=shop')).toBe(403);
    expect(await read('/transactions/1001')).toBe(403);
    expect(orderScreening.getTransaction).toHaveBeenCalledTimes(2);
  });
});

describe('the way to a transaction', () => {
  it('is a link on the page of its order', async () => {
    const { app } = await anApi();
    const { body } = await app.inject('/orders/order-1');
    expect(body).toMatch(/<a href="\/transactions\/[\w-]{36}\?integration=default">Read it from/);
  });

  it('is a link for each integration when the queue finds no order', async () => {
    const { app } = await anApi({ integrations: ['default', 'shop'] });
    const links = async (query: string) =>
      [...(await app.inject(`/?${query}`)).body.matchAll(/href="(\/transactions[^"]*)"/g)].map(
        ([, link]) => link,
      );
    expect(await links('q=a%2F1')).toEqual([
      '/transactions/a%2F1?integration=default',
      '/transactions/a%2F1?integration=shop',
    ]);
    expect(await links('q=1001&integration=shop')).toEqual(['/transactions/1001?integration=shop']);
    expect(await links('')).toEqual([]);
  });
});
