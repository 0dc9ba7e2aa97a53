import { expect, it } from 'vitest';
import { aTransaction } from '../fixtures/transactions.ts';
import { eventually } from '../support/eventually.ts';
import { aCheckoutAnswer, anApi } from './fake-order-screening.ts';

it('an order is told when its caller was gone before the answer came, and when it wasn’t it is told nothing', async () => {
  const { app, orderScreening } = await anApi();
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const body = JSON.stringify({ transaction: aTransaction() });
  const call = (orderId: string, signal?: AbortSignal) =>
    fetch(`${url}/v1/orders/${orderId}/screening`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body,
      ...(signal && { signal }),
    });
  try {
    expect((await call('heard')).status).toBe(200);

    let answer = (): void => undefined;
    orderScreening.screen.mockImplementation(
      () => new Promise((resolve) => (answer = () => resolve(aCheckoutAnswer({ orderId: 'gone' })))),
    );
    const caller = new AbortController();
    const gone = call('gone', caller.signal).catch(() => 'aborted');
    await eventually(() => expect(orderScreening.screen).toHaveBeenCalledTimes(2));
    caller.abort();
    expect(await gone).toBe('aborted');
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
  } finally {
    await app.close();
  }
});
