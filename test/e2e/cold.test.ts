/**
 * After a restart of the workers every order is new to the worker that gets its next task. Temporal then brings together
 * what came since the last task that had a consequence, also when the replay will show it apart. Whether each of these
 * orders still replays is checked at the end of the file.
 */
import { describe, expect, it } from 'vitest';
import {
  cancelUpdate,
  hintUpdate,
  recordGatewayResultUpdate,
  retryUpdate,
} from '../../src/orders/messages.ts';
import type { ScreeningOutcome } from '../../src/orders/screening-outcome.ts';
import { answered, aPolicy, type StartedOrder, withOrders } from '../workflows/support.ts';

const { order } = withOrders({ cold: true });

const HINT = { source: 'webhook', receivedAt: '2026-03-02T10:00:00.000Z' };

/** An answer that waits until the test lets it go. */
function held<Answer>(): { promise: Promise<Answer>; resolve: (answer: Answer) => void } {
  let resolve: (answer: Answer) => void = () => undefined;
  const promise = new Promise<Answer>((go) => {
    resolve = go;
  });
  return { promise, resolve };
}

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

  it('takes a gateway result together with the end of a pause between hints', async () => {
    const delivery = held<void>();
    const started = await order((world) => {
      world.policy = aPolicy({ workflow: 'pre-gateway' });
      world.status = { kind: 'read', decision: 'review' };
      world.screenings = [answered('review')];
      world.deliver = () => delivery.promise;
    });
    await started.handle.executeUpdate(hintUpdate, { args: [HINT] });
    await started.until(({ hints }) => !hints.unread);
    delivery.resolve();
    await quiet(started);
    const checkout = held<ScreeningOutcome>();
    const other = order((world) => {
      world.screenAtCheckout = () => checkout.promise;
    });
    await started.pass(3_000);
    const result = started.handle.executeUpdate(recordGatewayResultUpdate, {
      args: [{ attempt: 1, result: 'error' }],
    });
    checkout.resolve(answered('pass'));
    await other;
    await result;
    await started.until(({ attempts }) => attempts[0]?.gateway?.sent !== undefined);
  });

  it('takes a hint after a job has ended', async () => {
    const started = await order(
      (world) => {
        world.policy = aPolicy({ workflow: 'pre-gateway' });
        world.status = { kind: 'read', decision: 'pass' };
        world.screenings = [answered('review')];
      },
      (integration) => ({ cardRef: integration }),
    );
    await started.until(
      ({ attempts, events }) => attempts[0]?.cardForgotten === true && events.waiting === 0,
    );
    await started.handle.executeUpdate(hintUpdate, { args: [HINT] });
    await started.until(({ decision }) => decision === 'pass');
    await quiet(started);
    expect(started.world.forgotten).toHaveLength(1);
  });
});
