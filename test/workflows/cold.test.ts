/**
 * After a restart of the workers every order is new to the worker that gets its next task. Temporal then brings together
 * what came since the last task that had a consequence, also when the replay will show it apart. Whether each of these
 * orders still replays is checked at the end of the file.
 */
import { describe, expect, it } from 'vitest';
import { cancelUpdate, recordGatewayResultUpdate, retryUpdate } from '../../src/orders/messages.ts';
import { answered, aPolicy, HOUR, type StartedOrder, withOrders } from './support.ts';

const { order } = withOrders({ cold: true });

/** Events that left are a task without a consequence. */
async function quiet({ until }: StartedOrder): Promise<void> {
  await until(({ events }) => events.sequence > 0 && events.waiting === 0);
}

const anOrder = (...decisions: ('pass' | 'review' | 'fail')[]) =>
  order((world) => {
    world.policy = aPolicy({ workflow: 'pre-gateway' });
    world.status = { kind: 'read', decision: 'review' };
    world.screenings = decisions.map((decision) => answered(decision));
  });

describe('an order that no worker knows', () => {
  it('takes a gateway result that means an event and a call', async () => {
    const started = await anOrder('review');
    await quiet(started);
    for (const result of ['error', 'pass'] as const) {
      await started.handle.executeUpdate(recordGatewayResultUpdate, { args: [{ attempt: 1, result }] });
      await started.until(
        ({ attempts, events }) => attempts[0]?.gateway?.sent !== undefined && events.waiting === 0,
      );
    }
    expect(started.world.gatewayCalls.map(({ result }) => result)).toEqual(['error', 'pass']);
  });

  it('takes a cancel', async () => {
    const started = await anOrder('review');
    await quiet(started);
    await started.handle.executeUpdate(cancelUpdate, { args: [{}] });
    await quiet(started);
    expect(started.world.eventTypes()).toContain('order.canceled');
  });

  it('takes another attempt', async () => {
    const started = await anOrder('fail', 'pass');
    await quiet(started);
    const request = { attempt: 2, transaction: {} };
    const { decision } = await started.handle.executeUpdate(retryUpdate, { args: [request] });
    expect(decision).toBe('pass');
    await quiet(started);
    await started.handle.executeUpdate(recordGatewayResultUpdate, {
      args: [{ attempt: 2, result: 'error' }],
    });
    await started.until(({ attempts }) => attempts[1]?.gateway?.sent !== undefined);
    await quiet(started);
  });

  it('passes a deadline', async () => {
    const started = await anOrder('pass');
    await quiet(started);
    await started.pass(49 * HOUR);
    await quiet(started);
    await started.handle.executeUpdate(cancelUpdate, { args: [{}] });
    await quiet(started);
  });
});
