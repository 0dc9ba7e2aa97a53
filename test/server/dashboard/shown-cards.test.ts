import { expect, it } from 'vitest';
import { anIntegration, finding } from '../../fixtures/integrations.ts';
import { anOrder } from '../../fixtures/orders.ts';
import { anApi, anInspectedOrder } from '../api/fake-order-screening.ts';
import { HOSTILE, SHOWN, textOf } from './support.ts';

const billTo = {
  firstName: 'Lena',
  lastName: 'Hartmann',
  address: 'Kastanienallee 12',
  zip: '10435',
  city: 'Berlin',
};

it('an order has the customer and the items that the policy shows, and a link to the shop', async () => {
  const shopLink = 'https://shop.example/orders/{orderId}';
  const { app, orderScreening } = await anApi({ findIntegration: finding(anIntegration({ shopLink })) });
  const shown = {
    ...{ attempt: 1, name: HOSTILE, email: 'lena@example.com', avs: 'Z', cvv: 'M' },
    ...{ billTo, shipTo: { ...billTo, zip: '80339' } },
    items: [{ name: 'Phone', sku: 'PH-1', price: 1099, quantity: 1 }],
  };
  const inspected = anInspectedOrder({ state: { ...anOrder('review'), shown, currency: 'EUR' } });
  orderScreening.inspect.mockResolvedValue(inspected);
  const { body } = await app.inject('/orders/order-1');
  expect(body).toContain('href="https://shop.example/orders/order-1"');
  expect(body).toContain(SHOWN);
  expect(body).not.toContain(HOSTILE);
  const text = textOf(body);
  expect(text).toMatch(/E-mail lena@example\.com .*10435 Berlin .*80339 Berlin differs/);
  expect(text).toContain('AVS Postcode matches, street does not (Z)');
  expect(text).toContain('CVV Matches (M)');
  expect(text).toMatch(/Items Item Quantity Price Phone PH-1 1 1,099\.00 EUR/);
});

it('without `shown` in the policy there are no such cards', async () => {
  const { app } = await anApi();
  expect(textOf((await app.inject('/orders/order-1')).body)).not.toMatch(/Customer|Items/);
});
