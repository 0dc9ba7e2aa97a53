import { expect, it } from 'vitest';
import { OrderScreeningError } from '../../../src/contract/errors.ts';
import { createRefusedCheckouts } from '../../../src/server/api/refused-checkouts.ts';
import { anApi } from './fake-order-screening.ts';

const refusedFor = (...paths: string[]) =>
  new OrderScreeningError('invalid-request', 'No.', {
    errors: paths.map((path) => ({ path, message: 'is 4111111111111111' })),
  });

it('keeps the newest checkouts without what callers wrote, for the integrations asked about', () => {
  const counted: [string, readonly string[]][] = [];
  const refused = createRefusedCheckouts((...one) => void counted.push(one));
  refused.note(
    { orderId: '#1', integration: 'shop' },
    refusedFor('transaction.a[0].b', 'transaction.a[7].b'),
  );
  refused.note({ orderId: '4111111111111111' }, refusedFor('orderId'));
  refused.note({ orderId: ['x'], integration: 'no such name!' }, refusedFor('transaction.4111111111111111'));
  refused.note({ orderId: '2' }, new OrderScreeningError('temporal-unavailable', 'No.'));
  const at = expect.any(String);
  expect(refused.of()).toEqual([
    { at, integration: 'default', fields: ['transaction.'] },
    { at, integration: 'default', fields: ['orderId'] },
    { at, integration: 'shop', orderId: '1', fields: ['transaction.a[].b'] },
  ]);
  expect(refused.of(['shop'])).toHaveLength(1);
  expect(counted.map(([integration]) => integration)).toEqual(['shop', 'default', 'default']);
  for (let number = 0; number < 100; number += 1) refused.note({}, refusedFor('transaction.amount'));
  expect(refused.of()).toHaveLength(50);
});

it('counts those that the card scan refuses before they are read', async () => {
  const { app } = await anApi();
  const body = { transaction: { shipTo: { address: '4111111111111111' } } };
  const url = '/v1/orders/order-1/screening?integration=shop';
  expect((await app.inject({ method: 'POST', url, body })).statusCode).toBe(422);
  const { body: metrics } = await app.inject('/metrics');
  const field = 'transaction.shipTo.address';
  expect(metrics).toContain(`refused_checkouts_total{integration="shop",field="${field}"} 1`);
});
