import { describe, expect, it } from 'vitest';
import { updateOf } from '../../src/client/messages/send-update.ts';
import {
  attachCustomerCodeUpdate,
  cancelUpdate,
  reportFraudUpdate,
  withdrawUpdate,
} from '../../src/contract/messages.ts';
import { again, aPolicy, decided, MINUTE, withOrders } from './support.ts';

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

  it('can’t be another one than its message says', async () => {
    const { handle, world } = await order(decided('pass'));
    await handle.executeUpdate('reportFraud', updateOf(reportFraudUpdate, { kind: 'cancel' }));
    expect(world.portalCalls).toMatchObject([{ fields: { kind: 'report-fraud' } }]);
  });
});

describe('a cancel', () => {
  it('that is refused leaves the order decided, with attention, and may be asked again', async () => {
    const { handle, world, state, update } = await order(decided('pass', aPolicy({ events: 'all' })));
    world.portal = async () => ({ kind: 'refused', code: '403', message: 'already shipped' });
    const cancel = () => update(cancelUpdate, {});
    const details = [{ serviceCode: '403', serviceMessage: 'already shipped' }];
    await expect(cancel()).rejects.toMatchObject({
      cause: { type: 'refused-by-screening-service', details },
    });
    const attention = [{ code: 'cancel-refused' }];
    expect(await state()).toMatchObject({ phase: 'decided', action: 'cancel', attention });
    world.portal = async () => ({ kind: 'done', code: '200' });
    expect(await cancel()).toMatchObject({ status: 'done' });
    expect(await handle.result()).toMatchObject({ phase: 'canceled', attention: [] });
    const events = ['order.decided', 'order.attention', 'order.canceled', 'order.closed'];
    expect(world.eventTypes()).toEqual(events);
  });
});
