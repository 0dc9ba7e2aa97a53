import { expect, it } from 'vitest';
import type { CheckoutAnswer } from '../../../src/contract/answers.ts';
import { aCheckoutAnswer, anApi } from './fake-order-screening.ts';

it('answers what is under way when it stops, and does not wait for the connection to be given up', async () => {
  const { app, orderScreening } = await anApi();
  let answer: (screened: CheckoutAnswer) => void = () => {};
  orderScreening.screen.mockReturnValue(
    new Promise((resolve) => {
      answer = resolve;
    }),
  );
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const response = fetch(`${url}/v1/orders/order-1/screening`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ transaction: {} }),
  });
  await expect.poll(() => orderScreening.screen.mock.calls.length).toBe(1);
  const closed = app.close();
  // Once a new connection is refused, closing has begun.
  await expect.poll(() => fetch(`${url}/healthz`).catch(() => 'refused')).toBe('refused');
  answer(aCheckoutAnswer());
  const { status, headers } = await response;
  expect(status).toBe(200);
  expect(headers.get('connection')).toBe('close');
  await closed;
});

it('sends kept hints when it stops, and logs how many could not be sent', async () => {
  const { app, orderScreening, logged } = await anApi();
  orderScreening.close.mockResolvedValueOnce({ unsent: 3 });
  await app.close();
  expect(orderScreening.close).toHaveBeenCalledOnce();
  expect(logged()).toContain('"unsent":3');
});
