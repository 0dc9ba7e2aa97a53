import { once } from 'node:events';
import { request } from 'node:http';
import { expect, it } from 'vitest';
import { aTransaction } from '../fixtures/transactions.ts';
import { eventually } from '../support/eventually.ts';
import { aCheckoutAnswer, anApi } from './fake-order-screening.ts';

it('an order is told when its caller was gone before the answer came, and when it wasn’t it is told nothing', async () => {
  const { app, orderScreening } = await anApi();
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  // A connection of its own for each, which ends with its answer.
  const call = (orderId: string) =>
    request(`${url}/v1/orders/${orderId}/screening`, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json' },
    }).end(JSON.stringify({ transaction: aTransaction() }));
  const [heard] = await once(call('heard'), 'response');
  expect(heard.statusCode).toBe(200);
  heard.resume();

  let answer = (): void => undefined;
  orderScreening.screen.mockImplementation(
    () => new Promise((resolve) => (answer = () => resolve(aCheckoutAnswer({ orderId: 'gone' })))),
  );
  const gone = call('gone').on('error', () => undefined);
  await eventually(() => expect(orderScreening.screen).toHaveBeenCalledTimes(2));
  gone.destroy();
  await eventually(async () => {
    const connections = await new Promise<number>((resolve) =>
      app.server.getConnections((_error, count) => resolve(count)),
    );
    expect(connections).toBe(0);
  });
  answer();
  await eventually(() => expect(orderScreening.unheard).toHaveBeenCalled());
  expect(orderScreening.unheard.mock.calls).toEqual([
    [{ orderId: 'gone', integration: 'default' }, { attempt: 1 }],
  ]);
});

it('an order is told when its caller goes while the answer is sent', async () => {
  const { app, orderScreening } = await anApi();
  app.addHook('onSend', async (_request, reply) => {
    reply.raw.destroy();
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const call = request(`${url}/v1/orders/order-1/screening`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json' },
  }).end(JSON.stringify({ transaction: aTransaction() }));
  const [error] = await once(call, 'error');
  expect(error).toMatchObject({ code: 'ECONNRESET' });
  await eventually(() => expect(orderScreening.unheard).toHaveBeenCalledOnce());
});
