import { describe, expect, it } from 'vitest';
import { recordGatewayResultUpdate } from '../../src/contract/messages.ts';
import type { GatewayResult } from '../../src/contract/words.ts';
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
});
