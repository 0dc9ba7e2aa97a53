import { describe, expect, it } from 'vitest';
import {
  attachCustomerCodeUpdate,
  cancelUpdate,
  reportFraudUpdate,
  submitChargebackUpdate,
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
    const { handle, world, pass, attention } = await order(decided('pass'));
    world.portal = async ({ forbiddenKnown }) => {
      if (!wrong) return { kind: 'done', code: '200' };
      if (forbiddenKnown) throw again(MINUTE);
      return { kind: 'forbidden' };
    };
    const asked = await handle.startUpdate(reportFraudUpdate, { args: [{}], waitForStage: 'ACCEPTED' });
    await pass(HOUR);
    expect(await attention()).toEqual(['wrong-key']);
    wrong = false;
    await pass(2 * MINUTE);
    expect(await asked.result()).toMatchObject({ status: 'done' });
    expect(await attention()).toEqual([]);
  });

  it('whose activity fails for good is unconfirmed, and the order lives on', async () => {
    const { handle, world } = await order(decided('pass'));
    world.portal = async () => {
      const { ApplicationFailure } = await import('@temporalio/common');
      throw ApplicationFailure.nonRetryable('too large');
    };
    await expect(handle.executeUpdate(reportFraudUpdate, { args: [{}] })).rejects.toMatchObject({
      cause: { type: 'outcome-unknown' },
    });
    expect(await handle.result()).toMatchObject({ phase: 'closed' });
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
