import { expect, it } from 'vitest';
import { hashedKey } from '../../../src/config/index.ts';
import { OrderScreeningError } from '../../../src/contract/errors.ts';
import { createRefusedCheckouts } from '../../../src/server/api/refused-checkouts.ts';
import { textOf } from '../dashboard/support.ts';
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
  expect(refused.of(['default'])).toHaveLength(50);
  expect(refused.of(['shop'])).toHaveLength(1);
});

it('notes and counts none for an integration that the key may not use, or that does not exist', async () => {
  const key = 'the-key-of-shop-a-alone';
  const { app, orderScreening } = await anApi({
    apiKeys: [hashedKey('a', key, { integrations: ['a'] }), hashedKey('all', `${key}-not`)],
    integrations: ['default', 'a', 'b'],
  });
  const send = async (bearer: string, query: string, integration?: string, note = '4111111111111111') => {
    const url = `/v1/orders/order-9/screening${query}`;
    const headers = { authorization: `Bearer ${bearer}` };
    const body = { integration, transaction: { note } };
    expect((await app.inject({ method: 'POST', url, headers, body })).statusCode).toBe(422);
  };
  await send(key, '', 'b');
  await send(key, '?integration=a', 'b');
  await send(key, '?integration=b');
  await send(key, '');
  await send(key, '?no-such=field', 'b', 'x');
  await send(`${key}-not`, '', 'none');
  const counted = async () =>
    (await app.inject('/metrics')).body.match(/(?<=refused_checkouts_total\{integration=)"\w+"/g);
  expect(await counted()).toBeNull();
  await send(key, '', 'a');
  await send(`${key}-not`, '', 'b');
  expect(await counted()).toEqual(['"a"', '"b"']);
  expect(orderScreening.screen).not.toHaveBeenCalled();
});

it('lists and counts them by field, without what callers wrote, also those that the card scan refuses', async () => {
  const { app, orderScreening } = await anApi();
  expect((await app.inject('/')).body).not.toContain('Refused checkouts');
  const send = async (transaction: object, ...paths: string[]) => {
    orderScreening.screen.mockRejectedValue(refusedFor(...paths));
    const body = { transaction, integration: 'shop' };
    const url = '/v1/orders/order-9/screening';
    expect((await app.inject({ method: 'POST', url, body })).statusCode).toBe(422);
    return (await app.inject('/metrics')).body;
  };
  await send({}, 'transaction.lineItems[0].price', 'transaction.lineItems[1].price');
  await send({}, 'transaction.lineItems[17].price');
  await send({}, 'transaction.4111111111111111 "é');
  const counts = await send({ shipTo: { address: '4111111111111111' } });
  const counted = (field: string, count: number) =>
    `refused_checkouts_total{integration="shop",field="${field}"} ${count}\n`;
  expect(counts).toContain(counted('transaction.lineItems[].price', 2));
  expect(counts).toContain(counted('transaction.', 1));
  expect(counts).toContain(counted('transaction.shipTo.address', 1));
  const { body } = await app.inject('/');
  expect(textOf(body)).toContain('Refused checkouts : no order was started for the last 4.');
  const listed = textOf((await app.inject('/refused')).body);
  expect(listed).toMatch(/order-9 shop transaction\.lineItems\[\]\.price/);
  expect(listed).not.toContain('4111');
  const name = (number: number) =>
    `${number}`.replaceAll(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '');
  const many = await send({}, ...Array.from({ length: 600 }, (_, number) => name(number)));
  expect(many.match(/refused_checkouts_total\{/g)).toHaveLength(501);
});
