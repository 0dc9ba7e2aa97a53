import { describe, expect, it } from 'vitest';
import type { ScreeningOutcome } from '../../src/orders/activity-contract.ts';
import { cancelUpdate, retryUpdate } from '../../src/orders/messages.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { again, answered, aPolicy, DAY, decided, MINUTE, withOrders } from './support.ts';

const { order } = withOrders();
const unanswered: ScreeningOutcome = { kind: 'unanswered', reason: 'timeout', maybeSent: true };

describe('a cancel', () => {
  it.each([
    ['pass', 'decided'],
    ['review', 'review'],
    ['fail', 'declined'],
  ] as const)('of a %s, phase %s, is made with the service, and ends the order', async (decision, phase) => {
    const { answer, handle, world } = await order(decided(decision));
    expect(answer.phase).toBe(phase);
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

  it('that could not be aimed before the window closed, for want of the right key, is not sent: a person is told', async () => {
    const { handle, world, pass, attention, until } = await order((world) => {
      world.screenings = [unanswered];
      world.lookUp = async () => {
        if (world.lookUps > 1) throw again(DAY);
        return { kind: 'forbidden' };
      };
    });
    await handle.startUpdate(cancelUpdate, { args: [{}], waitForStage: 'ACCEPTED' });
    await until((state) => state.attention.some((one) => one.code === 'wrong-key'));
    await pass(5.1 * DAY);
    expect(await attention()).toContain('cancel-too-late');
    world.lookUp = async () => ({ kind: 'none' });
    expect(await handle.result()).toMatchObject({ action: 'cancel', actions: [{ status: 'too-late' }] });
    expect(world.portalCalls).toEqual([]);
  });

  it('while the order is screened and the service has nothing is done here', async () => {
    const { handle, world } = await order((world) => {
      world.screenings = [unanswered];
    });
    expect(await handle.executeUpdate(cancelUpdate, { args: [{}] })).toMatchObject({
      status: 'done',
      phase: 'canceled',
    });
    expect(world.lookUps).toBe(1);
    expect(world.portalCalls).toEqual([]);
    const screened = world.screened.length;
    await handle.result();
    expect(world.screened).toHaveLength(screened);
  });

  it('while the order is screened again cancels the newest transaction', async () => {
    const { handle, world, pass } = await order((world) => {
      world.screenings = [answered('error')];
      let calls = 0;
      world.catchUp = async () => {
        calls += 1;
        if (calls < 3) throw again(5 * MINUTE);
        return answered('pass', { transactionId: 'newest' });
      };
    });
    await pass(12 * MINUTE);
    expect(await handle.executeUpdate(cancelUpdate, { args: [{}] })).toMatchObject({
      transactionId: 'newest',
    });
    expect(world.portalCalls).toMatchObject([{ transactionId: 'newest' }]);
  });

  it('while the order is screened again looks for the transaction that this may have made', async () => {
    const { handle, world, pass, until } = await order((world) => {
      world.screenings = [answered('error')];
      world.catchUp = async () => {
        throw again(5 * MINUTE);
      };
      world.lookUp = async () => ({ kind: 'found', transactionId: 'second', decision: 'error' });
    });
    await pass(2 * MINUTE);
    await until((state) => state.attempts[0]?.createOpen === true);
    expect(await handle.executeUpdate(cancelUpdate, { args: [{}] })).toMatchObject({
      transactionId: 'second',
    });
    expect(world.portalCalls).toMatchObject([{ transactionId: 'second' }]);
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

  it('after the window is refused without a call', async () => {
    const { handle, world, pass } = await order(decided('review'));
    await pass(5 * DAY - 20_000);
    await expect(handle.executeUpdate(cancelUpdate, { args: [{}] })).rejects.toMatchObject({
      cause: { type: 'cancel-window-closed', details: [{ cancelBy: expect.any(String) }] },
    });
    expect(world.portalCalls).toEqual([]);
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

  it('asked twice at once is sent once, and both get the answer', async () => {
    const { handle, world } = await order(decided('pass'));
    const answers = await Promise.all([1, 2].map(() => handle.executeUpdate(cancelUpdate, { args: [{}] })));
    expect(answers[0]).toEqual(answers[1]);
    expect(world.portalCalls).toHaveLength(1);
  });

  it('joins the one that the policy asked for', async () => {
    let slow = true;
    const { handle, world, pass } = await order((world) => {
      decided('fail', aPolicy({ workflow: 'post-acceptance' }))(world);
      world.portal = async () => {
        if (slow) throw again(MINUTE);
        return { kind: 'done', code: '200' };
      };
    });
    const asked = await handle.startUpdate(cancelUpdate, { args: [{}], waitForStage: 'ACCEPTED' });
    slow = false;
    expect(await asked.result()).toMatchObject({ status: 'requested', number: 1 });
    await pass(2 * MINUTE);
    expect((await handle.result()).actions).toMatchObject([{ kind: 'cancel', status: 'done' }]);
    expect(world.eventTypes()).toEqual(['order.decided', 'order.canceled', 'order.closed']);
  });

  it('that nobody makes is reminded of half a day before the window closes', async () => {
    const { handle, world } = await order(
      decided('fail', aPolicy({ workflow: 'post-acceptance', autoCancel: false })),
    );
    const ended = await handle.result();
    expect(ended.attention.map((one) => one.code)).toEqual(['cancel-due']);
    expect(world.portalCalls).toEqual([]);
  });

  it('right behind a retry waits for the new attempt’s transaction', async () => {
    const { handle, world } = await order((world) => {
      world.screenings = [answered('fail')];
      world.screenRetry = async () => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        return answered('pass', { transactionId: 'second' });
      };
    });
    const transaction = { ...aTransaction() };
    const retry = await handle.startUpdate(retryUpdate, {
      args: [{ attempt: 2, transaction }],
      waitForStage: 'ACCEPTED',
    });
    const canceled = await handle.executeUpdate(cancelUpdate, { args: [{}] });
    const retried = await retry.result();
    expect(retried).toMatchObject({ attempt: 2, decision: 'pass' });
    expect(canceled).toMatchObject({ status: 'done', transactionId: 'second' });
    expect(world.portalCalls).toMatchObject([{ transactionId: 'second' }]);
  });
});
