import { describe, expect, it } from 'vitest';
import { attachCustomerCodeUpdate, withdrawUpdate } from '../../src/contract/messages.ts';
import { again, decided, MINUTE, withOrders } from './support.ts';

const { order } = withOrders();

describe('a portal action', () => {
  it('is taken back while it waits, and stopped when it was begun', async () => {
    const { world, until, update } = await order(decided('pass'));
    world.portal = async () => {
      throw again(MINUTE);
    };
    await Promise.all(
      ['4711', '4712'].map((customerCode) => update(attachCustomerCodeUpdate, { customerCode })),
    );
    const withdraw = (number: number) => update(withdrawUpdate, { number });
    expect(await withdraw(2)).toMatchObject({ status: 'withdrawn' });
    await expect(withdraw(1)).rejects.toMatchObject({ cause: { type: 'outcome-unknown' } });
    const { actions } = await until((state) => state.actions[0]?.status === 'unconfirmed');
    expect(actions[1]?.status).toBe('withdrawn');
    await expect(withdraw(1)).rejects.toMatchObject({ cause: { type: 'action-ended' } });
  });
});
