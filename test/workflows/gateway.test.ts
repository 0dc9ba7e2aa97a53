import { describe, expect, it } from 'vitest';
import { updateOf } from '../../src/client/messages/send-update.ts';
import { recordGatewayResultUpdate } from '../../src/contract/messages.ts';
import type { GatewayResult } from '../../src/contract/words.ts';
import { again, aPolicy, decided, HOUR, MINUTE, type StartedOrder, withOrders } from './support.ts';

const { order } = withOrders();
const PRE_GATEWAY = aPolicy({ workflow: 'pre-gateway' });

const report = ({ handle }: StartedOrder, result: GatewayResult) =>
  handle.executeUpdate(recordGatewayResultUpdate, updateOf(recordGatewayResultUpdate, { result }));

describe('before the gateway', () => {
  it('a review whose gateway says fail is declined, and the service is told once', async () => {
    const started = await order(decided('review', PRE_GATEWAY));
    expect(started.answer).toMatchObject({ action: 'proceed', phase: 'awaiting-gateway' });
    const declined = { result: 'fail', action: 'decline', phase: 'declined' };
    expect(await report(started, 'fail')).toMatchObject(declined);
    expect(await started.handle.result()).toMatchObject({ phase: 'closed', decision: 'review' });
    const { transactionId } = started.answer;
    expect(started.world.gatewayCalls).toEqual([{ transactionId, result: 'fail' }]);
  });

  it('a result that the service doesn’t take for hours is sent until it does, or the one that replaced it is', async () => {
    let down = true;
    const started = await order((world) => {
      decided('pass', PRE_GATEWAY)(world);
      world.gateway = async () => {
        if (down) throw again(MINUTE);
        return { kind: 'sent' };
      };
    });
    await report(started, 'error');
    expect(await started.attention()).toEqual(['gateway-error']);
    await report(started, 'pass');
    await started.pass(HOUR);
    down = false;
    await started.pass(5 * MINUTE);
    const sent = await started.until((state) => state.attempts[0]?.gateway?.sent !== undefined);
    expect(sent).toMatchObject({ phase: 'decided', action: 'proceed', attention: [] });
    const results = started.world.gatewayCalls.map((call) => call.result);
    expect(results[0]).toBe('error');
    expect(results.slice(results.indexOf('pass'))).not.toContain('error');
  });
});
