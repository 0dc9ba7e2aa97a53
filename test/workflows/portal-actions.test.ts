import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import {
  attachCustomerCodeUpdate,
  cancelUpdate,
  reportFraudUpdate,
  submitChargebackUpdate,
  withdrawUpdate,
} from '../../src/orders/messages.ts';
import { again, decided, MINUTE, withOrders } from './support.ts';

const { order } = withOrders();
const CHARGEBACK = { reason_code: '10.4', due_date: '2026-04-01' };

describe('a portal action', () => {
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

  it('can’t be another one than its message says', async () => {
    const { handle, world } = await order(decided('pass'));
    await handle.executeUpdate('reportFraud', { args: [{ kind: 'cancel' }] });
    expect(world.portalCalls).toMatchObject([{ fields: { kind: 'report-fraud' } }]);
  });
});
