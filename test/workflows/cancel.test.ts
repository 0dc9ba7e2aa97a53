import { describe, expect, it } from 'vitest';
import type { ScreeningOutcome } from '../../src/orders/activity-contract.ts';
import { cancelUpdate } from '../../src/orders/messages.ts';
import { aPolicy, decided, withOrders } from './support.ts';

const { order } = withOrders();
const unanswered: ScreeningOutcome = { kind: 'unanswered', reason: 'timeout', maybeSent: true };

describe('a cancel', () => {
  it('is made with the service, and ends the order', async () => {
    const { answer, handle, world } = await order(decided('review'));
    const done = await handle.executeUpdate(cancelUpdate, { args: [{ reason: 'customer asked' }] });
    expect(done).toMatchObject({
      kind: 'cancel',
      status: 'done',
      phase: 'canceled',
      action: 'cancel',
      code: '200',
    });
    expect(world.portalCalls).toMatchObject([
      { transactionId: answer.transactionId, fields: { kind: 'cancel' } },
    ]);
    const ended = await handle.result();
    expect(ended).toMatchObject({
      phase: 'canceled',
      actions: [{ by: 'caller', because: 'customer asked' }],
    });
    expect(world.eventTypes().slice(-2)).toEqual(['order.canceled', 'order.closed']);
  });

  it('while the order is screened waits, looks for what may exist, and cancels it with the service', async () => {
    const { handle, world, until } = await order((world) => {
      world.screenings = [unanswered];
      world.lookUp = async () => ({ kind: 'found', transactionId: 'found', decision: 'pass' });
    });
    expect(await handle.executeUpdate(cancelUpdate, { args: [{}] })).toMatchObject({
      status: 'done',
      transactionId: 'found',
    });
    await until((state) => state.phase === 'canceled');
    expect(world.portalCalls).toMatchObject([{ transactionId: 'found', notAfter: expect.any(String) }]);
    await handle.result();
    expect(world.screened.length).toBeLessThanOrEqual(2);
  });

  it('that is refused leaves the order decided, with attention, and may be asked again', async () => {
    const { handle, world, state } = await order(decided('pass'));
    world.portal = async () => ({ kind: 'refused', code: '403', message: 'already shipped' });
    await expect(handle.executeUpdate(cancelUpdate, { args: [{}] })).rejects.toMatchObject({
      cause: {
        type: 'refused-by-screening-service',
        details: [{ serviceCode: '403', serviceMessage: 'already shipped' }],
      },
    });
    expect(await state()).toMatchObject({
      phase: 'decided',
      action: 'cancel',
      attention: [{ code: 'cancel-refused' }],
    });
    world.portal = async () => ({ kind: 'done', code: '200' });
    expect(await handle.executeUpdate(cancelUpdate, { args: [{}] })).toMatchObject({ status: 'done' });
    expect(await handle.result()).toMatchObject({ phase: 'canceled', attention: [] });
    expect(world.eventTypes()).toEqual([
      'order.decided',
      'order.attention',
      'order.canceled',
      'order.closed',
    ]);
  });

  it('that can’t be sent before the window closes raises attention and is never sent late', async () => {
    const { handle, world } = await order((world) => {
      decided('fail', aPolicy({ workflow: 'post-acceptance' }))(world);
      world.portal = async () => ({ kind: 'too-late' });
    });
    const ended = await handle.result();
    expect(ended).toMatchObject({
      phase: 'closed',
      action: 'cancel',
      actions: [{ kind: 'cancel', status: 'too-late', by: 'policy' }],
    });
    expect(ended.attention.map((one) => one.code)).toContain('cancel-too-late');
    expect(world.portalCalls).toHaveLength(1);
  });

  it('that nobody makes is reminded of half a day before the window closes', async () => {
    const { handle, world } = await order(
      decided('fail', aPolicy({ workflow: 'post-acceptance', autoCancel: false })),
    );
    const ended = await handle.result();
    expect(ended.attention.map((one) => one.code)).toEqual(['cancel-due']);
    expect(world.portalCalls).toEqual([]);
  });
});
