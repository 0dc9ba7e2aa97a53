/** A real server lets ten updates of an order be in flight: those who wait for an end must leave room for the others. */

import { describe, expect, it } from 'vitest';
import { updateOf } from '../../../src/client/messages/send-update.ts';
import { acknowledgeUpdate, cancelUpdate } from '../../../src/contract/messages.ts';
import { eventually } from '../../support/index.ts';
import { again, decided, MINUTE, withOrders } from '../../workflows/support.ts';

const { order } = withOrders({ known: 10 });

describe('a cancel that is stuck', () => {
  it('leaves room for an acknowledgement beside twelve callers', async () => {
    const { handle, world } = await order(decided('pass'));
    world.portal = async () => {
      throw again(MINUTE);
    };
    let told = 0;
    const callers = Array.from({ length: 12 }, async () => {
      const answer = await handle.executeUpdate(cancelUpdate, updateOf(cancelUpdate, {}));
      told += 1;
      return answer;
    });
    // Two wait for the end, all others are told at once that it goes on.
    await eventually(() => expect(told).toBe(10));
    const asked = performance.now();
    await handle.executeUpdate(acknowledgeUpdate, updateOf(acknowledgeUpdate, { reason: 'seen' }));
    expect(performance.now() - asked).toBeLessThan(1_000);
    const answers = await Promise.all(callers);
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 'requested'));
  });
});
