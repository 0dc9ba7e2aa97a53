import { describe, expect, it } from 'vitest';
import { retryUpdate } from '../../src/orders/messages.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { answered, DAY, HOUR, MINUTE, withOrders } from './support.ts';

const { order } = withOrders();
const transaction = { ...aTransaction() };

describe('another attempt', () => {
  it('of a declined order is screened, answered and decided like the first', async () => {
    const { handle, world, pass, state } = await order((world) => {
      world.screenings = [answered('fail'), answered('pass', { transactionId: 'second' })];
    });
    const first = await state();
    await pass(30 * MINUTE);
    const request = { attempt: 2, transaction, fingerprint: 'f-2' };
    const answer = await handle.executeUpdate(retryUpdate, { args: [request], updateId: 'retry-2' });
    expect(answer).toMatchObject({
      attempt: 2,
      decision: 'pass',
      action: 'proceed',
      phase: 'decided',
      transactionId: 'second',
    });
    expect(await handle.executeUpdate(retryUpdate, { args: [request] })).toEqual(answer);
    expect(world.screened.map((one) => one.knownTransactionIds)).toEqual([
      [],
      [first.attempts[0]?.transactionId],
    ]);
    const ended = await handle.result();
    expect(ended).toMatchObject({ phase: 'closed', decision: 'pass' });
    const [one, two] = ended.attempts;
    const apart = Date.parse(two?.cancelBy ?? '') - Date.parse(one?.cancelBy ?? '');
    expect(apart).toBeGreaterThanOrEqual(30 * MINUTE);
    expect(world.eventTypes()).toEqual(['order.decided', 'order.decided', 'order.closed']);
  });

  it('that never comes: closed after an hour, and nothing is canceled', async () => {
    const { handle, world, pass, until } = await order((world) => {
      world.screenings = [answered('fail')];
    });
    await pass(HOUR + MINUTE);
    await until((state) => state.phase === 'closed');
    await handle.result();
    await pass(DAY);
    expect(world.portalCalls).toEqual([]);
  });
});
