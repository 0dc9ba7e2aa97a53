import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { retryUpdate } from '../../src/orders/messages.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { answered, MINUTE, withOrders } from './support.ts';

const { order } = withOrders({
  workflowModules: [fileURLToPath(import.meta.resolve('./reset-run.ts'))],
});
const transaction = { ...aTransaction() };

/** An order to which the third attempt comes, of which it no longer knows the second. */
async function withThirdAttempt() {
  const all = await order((world) => {
    world.screenings = [answered('fail')];
  });
  const third = await all.handle.startUpdate(retryUpdate, {
    args: [{ attempt: 3, transaction }],
    waitForStage: 'ACCEPTED',
  });
  return { ...all, third };
}

describe('an order that an operator reset', () => {
  it('gives a retry that comes again too early its turn', async () => {
    const { handle, world, third } = await withThirdAttempt();
    await handle.executeUpdate(retryUpdate, { args: [{ attempt: 2, transaction }] });
    expect(await third.result()).toMatchObject({ attempt: 3, action: 'decline' });
    expect(world.screened).toHaveLength(3);
  });

  it('ends although a retry came again whose turn does not come this time', async () => {
    const { handle, pass, third } = await withThirdAttempt();
    await pass(61 * MINUTE);
    expect(await handle.result()).toMatchObject({ phase: 'closed' });
    await expect(third.result()).rejects.toMatchObject({ cause: { type: 'late' } });
  });
});
