import { describe, expect, it } from 'vitest';
import { gatewayUpdateId } from '../../src/orders/ids.ts';
import { cancelUpdate, recordGatewayResultUpdate } from '../../src/orders/messages.ts';
import type { GatewayResult } from '../../src/orders/words.ts';
import {
  again,
  answered,
  aPolicy,
  HOUR,
  MINUTE,
  type StartedOrder,
  type World,
  withOrders,
} from './support.ts';

const { order } = withOrders();

function preGateway(decision: 'pass' | 'review'): (world: World) => void {
  return (world) => {
    world.policy = aPolicy({ workflow: 'pre-gateway' });
    world.screenings = [answered(decision)];
    world.status = { kind: 'read', decision };
  };
}

function report({ handle }: StartedOrder, result: GatewayResult) {
  return handle.executeUpdate(recordGatewayResultUpdate, {
    args: [{ result }],
    updateId: gatewayUpdateId(1),
  });
}

describe('before the gateway', () => {
  it.each([
    ['pass', 'pass', 'proceed', 'decided', 'closed'],
    ['review', 'fail', 'decline', 'declined', 'closed'],
  ] as const)(
    'a %s whose gateway says %s is %s, phase %s, and the service is told',
    async (decision, result, action, phase, last) => {
      const started = await order(preGateway(decision));
      expect(started.answer).toMatchObject({ decision, action: 'proceed', phase: 'awaiting-gateway' });
      expect(await report(started, result)).toMatchObject({ result, action, phase });
      await started.until((state) => state.attempts[0]?.gateway?.sent !== undefined);
      expect(started.world.gatewayCalls).toEqual([{ transactionId: started.answer.transactionId, result }]);
      expect(await started.handle.result()).toMatchObject({ phase: last, decision });
      expect(started.world.gatewayCalls).toHaveLength(1);
      expect(started.world.portalCalls).toEqual([]);
    },
  );

  it('the same result again gets the same answer, another is refused', async () => {
    const started = await order(preGateway('pass'));
    const first = await report(started, 'pass');
    expect(await report(started, 'pass')).toEqual(first);
    await expect(
      started.handle.executeUpdate(recordGatewayResultUpdate, { args: [{ result: 'fail' }] }),
    ).rejects.toMatchObject({ cause: { type: 'gateway-result-mismatch' } });
  });

  it('a result that the service doesn’t take for hours is sent until it does, or the one that replaced it is', async () => {
    let down = true;
    const started = await order((world) => {
      preGateway('pass')(world);
      world.gateway = async () => {
        if (down) throw again(MINUTE);
        return { kind: 'sent' };
      };
    });
    await report(started, 'error');
    expect(await started.attention()).toEqual(['gateway-error']);
    await started.handle.executeUpdate(recordGatewayResultUpdate, { args: [{ result: 'pass' }] });
    await started.pass(HOUR);
    down = false;
    await started.pass(5 * MINUTE);
    const sent = await started.until((state) => state.attempts[0]?.gateway?.sent !== undefined);
    expect(sent).toMatchObject({ phase: 'decided', action: 'proceed', attention: [] });
    const results = started.world.gatewayCalls.map((call) => call.result);
    expect(results.at(0)).toBe('error');
    expect(results.slice(results.indexOf('pass'))).not.toContain('error');
  });

  it('a review that fails first is canceled; a later approval is sent on and changes nothing', async () => {
    const started = await order(preGateway('review'));
    started.world.status = { kind: 'read', decision: 'fail' };
    await started.pass(HOUR);
    await started.until((state) => state.phase === 'canceled');
    expect(await report(started, 'pass')).toMatchObject({ action: 'cancel', phase: 'canceled' });
    expect(await started.handle.result()).toMatchObject({ phase: 'canceled', action: 'cancel' });
    expect(started.world.gatewayCalls).toMatchObject([{ result: 'pass' }]);
  });

  it('a result while there is no transaction is kept until there is one', async () => {
    const started = await order((world) => {
      world.policy = aPolicy({ workflow: 'pre-gateway', whenUnavailable: 'proceed' });
      world.screenings = [{ kind: 'unanswered', reason: 'timeout', maybeSent: true }];
    });
    expect(await report(started, 'pass')).toMatchObject({ action: 'proceed', phase: 'screening' });
    expect(started.world.gatewayCalls).toEqual([]);
    started.world.screenings = [answered('review')];
    await started.pass(MINUTE);
    await started.until((state) => state.attempts[0]?.gateway?.sent !== undefined);
    expect(await started.state()).toMatchObject({ phase: 'review', action: 'hold' });
  });

  it('a canceled order still takes the result, and then ends', async () => {
    const started = await order(preGateway('pass'));
    expect(await started.handle.executeUpdate(cancelUpdate, { args: [{}] })).toMatchObject({
      status: 'done',
    });
    expect(await started.state()).toMatchObject({ phase: 'canceled' });
    await report(started, 'fail');
    expect(await started.handle.result()).toMatchObject({ phase: 'canceled', action: 'cancel' });
    expect(started.world.gatewayCalls).toHaveLength(1);
  });
});
