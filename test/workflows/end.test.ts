import { describe, expect, it } from 'vitest';
import { acknowledgeUpdate, hintUpdate, reportFraudUpdate, retryUpdate } from '../../src/orders/messages.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { again, answered, DAY, HOUR, withOrders } from './support.ts';

const { order } = withOrders();

describe('the end of an order', () => {
  it('is told at the moment at which its window closes', async () => {
    const { handle, world } = await order();
    const { startedAt, attempts } = await handle.result();
    expect(world.eventTypes()).toEqual(['order.decided', 'order.closed']);
    expect(world.events.at(-1)?.occurredAt).toBe(attempts[0]?.cancelBy);
    expect(Date.parse(attempts[0]?.cancelBy ?? '')).toBeGreaterThanOrEqual(Date.parse(startedAt) + 5 * DAY);
  });

  it('is told when the last portal action is over', async () => {
    let answers = false;
    const { handle, world, pass, until } = await order((world) => {
      world.portal = async () => {
        if (!answers) throw again(HOUR);
        return { kind: 'done', code: '200', message: 'done' };
      };
    });
    await pass(4.9 * DAY);
    await handle.startUpdate(reportFraudUpdate, { args: [{}], waitForStage: 'ACCEPTED' });
    await pass(0.2 * DAY);
    await until((state) => state.phase === 'closed');
    answers = true;
    expect(await handle.result()).toMatchObject({ actions: [{ status: 'done' }] });
    expect(world.eventTypes().at(-1)).toBe('order.closed');
  });

  it('is the end for messages too, even while its last events wait for their receiver', async () => {
    const { handle, world, pass, until } = await order((world) => {
      world.screenings = [answered('fail')];
      world.deliver = () => {
        throw new Error('the receiver is down');
      };
    });
    await pass(2 * HOUR);
    const before = await until((state) => state.phase === 'closed');
    const type = 'order-closed';
    await expect(handle.executeUpdate(reportFraudUpdate, { args: [{}] })).rejects.toMatchObject({
      cause: { type },
    });
    await expect(
      handle.executeUpdate(retryUpdate, { args: [{ attempt: 2, transaction: { ...aTransaction() } }] }),
    ).rejects.toMatchObject({ cause: { type } });
    await expect(
      handle.executeUpdate(acknowledgeUpdate, { args: [{ reason: 'seen' }] }),
    ).rejects.toMatchObject({ cause: { type } });
    await expect(
      handle.executeUpdate(hintUpdate, { args: [{ source: 'webhook', receivedAt: before.startedAt }] }),
    ).rejects.toMatchObject({ cause: { type: 'hint-not-needed' } });
    await handle.signal('recheck');
    world.deliver = () => undefined;
    const { attention, events, ...after } = await handle.result();
    expect(after).toMatchObject({ phase: 'closed', decision: 'fail', action: 'decline' });
    expect(world.eventTypes()).toEqual(['order.decided', 'order.closed']);
    expect(world.reads).toBe(0);
  });
});
