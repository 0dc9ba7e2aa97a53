import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import {
  attachCustomerCodeUpdate,
  cancelUpdate,
  reportFraudUpdate,
  submitChargebackUpdate,
  withdrawUpdate,
} from '../../src/orders/messages.ts';
import { again, answered, aPolicy, decided, HOUR, MINUTE, withOrders } from './support.ts';

const { order } = withOrders();
const CHARGEBACK = { reason_code: '10.4', due_date: '2026-04-01' };

describe('a portal action', () => {
  it('behind another one that runs is requested, and made after it', async () => {
    let slow = true;
    const { handle, world, pass, until } = await order(decided('pass'));
    world.portal = async () => {
      if (slow) throw again(MINUTE);
      return { kind: 'done', code: '200' };
    };
    await handle.startUpdate(reportFraudUpdate, { args: [{}], waitForStage: 'ACCEPTED' });
    const second = await handle.executeUpdate(attachCustomerCodeUpdate, { args: [{ customerCode: 'c-1' }] });
    expect(second).toMatchObject({ kind: 'customer-code', status: 'requested' });
    slow = false;
    await pass(2 * MINUTE);
    const done = await until((state) => state.actions.every((one) => one.status === 'done'));
    expect(done.actions.map((one) => one.kind)).toEqual(['report-fraud', 'customer-code']);
    expect(world.portalCalls.at(-1)).toMatchObject({
      email: 'pass@example.com',
      fields: { customerCode: 'c-1' },
    });
  });

  it('done before gets its answer again, without a second call', async () => {
    const { handle, world } = await order(decided('pass'));
    const first = await handle.executeUpdate(submitChargebackUpdate, { args: [CHARGEBACK] });
    expect(await handle.executeUpdate(submitChargebackUpdate, { args: [CHARGEBACK] })).toEqual(first);
    expect(world.portalCalls).toHaveLength(1);
  });

  it('that may have been done: a chargeback is sent again only with force', async () => {
    const { handle, world, attention } = await order(decided('pass'));
    world.portal = async () => ({ kind: 'unconfirmed' });
    const send = (force?: boolean) =>
      handle.executeUpdate(submitChargebackUpdate, { args: [{ ...CHARGEBACK, ...(force && { force }) }] });
    await expect(send()).rejects.toMatchObject({ cause: { type: 'outcome-unknown' } });
    expect(await attention()).toEqual(['portal-unconfirmed']);
    await expect(send()).rejects.toMatchObject({ cause: { type: 'outcome-unknown-before' } });
    world.portal = async () => ({ kind: 'done', code: '200' });
    expect(await send(true)).toMatchObject({ status: 'done' });
    expect(await attention()).toEqual([]);
    expect(world.portalCalls).toHaveLength(2);
  });

  it('with a wrong key: attention once, then it goes on', async () => {
    let wrong = true;
    const { handle, world, pass, attention, until } = await order(decided('pass'));
    world.portal = async ({ forbiddenKnown }) => {
      if (!wrong) return { kind: 'done', code: '200' };
      if (forbiddenKnown) throw again(MINUTE);
      return { kind: 'forbidden' };
    };
    const asked = await handle.startUpdate(reportFraudUpdate, { args: [{}], waitForStage: 'ACCEPTED' });
    expect(await asked.result()).toMatchObject({ status: 'requested' });
    await pass(HOUR);
    expect(await attention()).toEqual(['wrong-key']);
    wrong = false;
    await pass(2 * MINUTE);
    await until(({ actions }) => actions[0]?.status === 'done');
    expect(await attention()).toEqual([]);
  });

  it('whose activity fails for good is tried again after five minutes, and knows that it may be done', async () => {
    const { handle, world, pass, until } = await order(decided('pass'));
    world.portal = async ({ maybeDone }) => {
      if (maybeDone) return { kind: 'done', code: '200' };
      throw ApplicationFailure.nonRetryable('too large');
    };
    const asked = await handle.startUpdate(reportFraudUpdate, { args: [{}], waitForStage: 'ACCEPTED' });
    expect(await asked.result()).toMatchObject({ status: 'requested' });
    expect(world.portalCalls).toHaveLength(1);
    await pass(6 * MINUTE);
    await until(({ actions }) => actions[0]?.status === 'done');
    expect(world.portalCalls).toHaveLength(2);
  });

  it('that is a chargeback whose activity fails for good is unconfirmed, since it must not be sent twice', async () => {
    const { handle, world } = await order(decided('pass'));
    world.portal = async () => {
      throw ApplicationFailure.nonRetryable('too large');
    };
    await expect(handle.executeUpdate(submitChargebackUpdate, { args: [CHARGEBACK] })).rejects.toMatchObject({
      cause: { type: 'outcome-unknown' },
    });
    expect(world.portalCalls).toHaveLength(1);
  });

  it('that is never answered keeps no cancel waiting', async () => {
    const { handle, world } = await order(decided('pass'));
    world.portal = async ({ fields }) => {
      if (fields.kind !== 'cancel') throw again(MINUTE);
      return { kind: 'done', code: '200' };
    };
    const code = await handle.startUpdate(attachCustomerCodeUpdate, {
      args: [{ customerCode: '4711' }],
      waitForStage: 'ACCEPTED',
    });
    expect(await handle.executeUpdate(cancelUpdate, { args: [{}] })).toMatchObject({
      status: 'done',
      phase: 'canceled',
    });
    expect(await code.result()).toMatchObject({ status: 'requested', number: 1 });
    expect(await handle.result()).toMatchObject({
      phase: 'canceled',
      actions: [{ status: 'unconfirmed' }, { status: 'done' }],
      attention: [{ code: 'portal-unconfirmed' }],
    });
  });

  it('behind another one is told so at once; what nobody answers is given up after a day', async () => {
    const { handle, world, pass, until } = await order(decided('pass'));
    world.portal = async () => {
      throw again(MINUTE);
    };
    const send = (customerCode: string) =>
      handle.executeUpdate(attachCustomerCodeUpdate, { args: [{ customerCode }] });
    const [first, second] = await Promise.all([send('4711'), send('4712')]);
    expect([first.status, second.status]).toEqual(['requested', 'requested']);
    await pass(25 * HOUR);
    const over = ['unconfirmed', 'not-sent'];
    const { actions } = await until((state) => state.actions.every(({ status }) => over.includes(status)));
    expect(actions[0]?.status).toBe('unconfirmed');
  });

  it('is taken back while it waits, and stopped when it was begun', async () => {
    const { handle, world, until } = await order(decided('pass'));
    world.portal = async () => {
      throw again(MINUTE);
    };
    await Promise.all(
      ['4711', '4712'].map((customerCode) =>
        handle.executeUpdate(attachCustomerCodeUpdate, { args: [{ customerCode }] }),
      ),
    );
    expect(await handle.executeUpdate(withdrawUpdate, { args: [{ number: 2 }] })).toMatchObject({
      status: 'withdrawn',
    });
    await expect(handle.executeUpdate(withdrawUpdate, { args: [{ number: 1 }] })).rejects.toMatchObject({
      cause: { type: 'outcome-unknown' },
    });
    const { actions } = await until((state) => state.actions[0]?.status === 'unconfirmed');
    expect(actions[1]?.status).toBe('withdrawn');
    await expect(handle.executeUpdate(withdrawUpdate, { args: [{ number: 1 }] })).rejects.toMatchObject({
      cause: { type: 'action-ended' },
    });
  });

  it('is refused in passive mode, also when the policy wasn’t known when it was asked', async () => {
    const { handle, world } = await order.startOnly({}, (world) => {
      world.policy = aPolicy({ passive: true });
      world.screenAtCheckout = async () => {
        await new Promise((resolve) => setTimeout(resolve, 500));
        return answered('pass');
      };
    });
    await expect(handle.executeUpdate(cancelUpdate, { args: [{}] })).rejects.toMatchObject({
      cause: { type: expect.stringMatching(/^(late|passive)$/) },
    });
    await expect(handle.executeUpdate(cancelUpdate, { args: [{}] })).rejects.toMatchObject({
      cause: { type: 'passive' },
    });
    expect(world.portalCalls).toEqual([]);
  });

  it('that needs a transaction is refused where there is none, or an unknown one is named', async () => {
    const { handle } = await order((world) => {
      world.screenings = [{ kind: 'refused', reason: 'refused' }];
    });
    await expect(handle.executeUpdate(reportFraudUpdate, { args: [{}] })).rejects.toMatchObject({
      cause: { type: 'no-transaction' },
    });
    await expect(
      handle.executeUpdate(cancelUpdate, { args: [{ transactionId: 'other' }] }),
    ).rejects.toMatchObject({
      cause: { type: 'unknown-transaction' },
    });
  });

  it('can’t be another one than its message says', async () => {
    const { handle, world } = await order(decided('pass'));
    await handle.executeUpdate('reportFraud', { args: [{ kind: 'cancel' }] });
    expect(world.portalCalls).toMatchObject([{ fields: { kind: 'report-fraud' } }]);
  });
});
