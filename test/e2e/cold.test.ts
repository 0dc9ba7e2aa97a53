/**
 * After a restart of the workers every order is new to the worker that gets its next task. After two tasks in a row without
 * a consequence Temporal's SDK then gives it at once what the replay gives in two pieces, when a message came last. Whether
 * each of these orders still replays is checked at the end of the file.
 */
import { describe, expect, it } from 'vitest';
import {
  cancelUpdate,
  hintUpdate,
  recordGatewayResultUpdate,
  retryUpdate,
} from '../../src/orders/messages.ts';
import { answered, aPolicy, type StartedOrder, type World, withOrders } from '../workflows/support.ts';

const { order } = withOrders({ cold: true });

const REVIEW = { kind: 'read', decision: 'review' } as const;
const HINT = { source: 'webhook', receivedAt: '2026-03-02T10:00:00.000Z' };

/** An answer that waits until the test lets it go. */
function held<Answer>(): { promise: Promise<Answer>; resolve: (answer: Answer) => void } {
  let resolve: (answer: Answer) => void = () => undefined;
  const promise = new Promise<Answer>((go) => {
    resolve = go;
  });
  return { promise, resolve };
}

/** Whose job and whose events are over: two tasks without a consequence, one after the other. */
async function quietOrder(
  decision: 'review' | 'fail',
  { later = REVIEW, last = 'events' }: { later?: World['status']; last?: 'events' | 'job' } = {},
): Promise<StartedOrder> {
  const lastOfAll = held<void>();
  const started = await order(
    (world) => {
      world.policy = aPolicy({ workflow: 'pre-gateway' });
      world.status = later;
      world.screenings = [answered(decision), answered('pass')];
      if (last === 'events') world.deliver = () => lastOfAll.promise;
      else world.forget = () => lastOfAll.promise;
    },
    (integration) => ({ cardRef: integration }),
  );
  const jobDone = () => started.until(({ attempts }) => attempts[0]?.cardForgotten === true);
  await (last === 'events' ? jobDone() : quiet(started));
  lastOfAll.resolve();
  await (last === 'events' ? quiet(started) : jobDone());
  return started;
}

/** All events have left. */
async function quiet({ until }: StartedOrder): Promise<void> {
  await until(({ events }) => events.sequence > 0 && events.waiting === 0);
}

describe('an order that no worker knows', () => {
  it('takes a gateway result that means an event and a call', async () => {
    const started = await quietOrder('review');
    for (const result of ['error', 'pass'] as const) {
      await started.handle.executeUpdate(recordGatewayResultUpdate, { args: [{ attempt: 1, result }] });
      await started.until(({ attempts }) => attempts[0]?.gateway?.sent !== undefined);
      await quiet(started);
    }
    expect(started.world.gatewayCalls.map(({ result }) => result)).toEqual(['error', 'pass']);
  });

  it('takes a cancel', async () => {
    const started = await quietOrder('review');
    await started.handle.executeUpdate(cancelUpdate, { args: [{}] });
    await quiet(started);
    expect(started.world.eventTypes()).toContain('order.canceled');
  });

  it('takes another attempt', async () => {
    const started = await quietOrder('fail');
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

  it('takes a hint', async () => {
    const started = await quietOrder('review', { later: { kind: 'read', decision: 'pass' }, last: 'job' });
    await started.handle.executeUpdate(hintUpdate, { args: [HINT] });
    await started.until(({ decision }) => decision === 'pass');
    await quiet(started);
    expect(started.world.forgotten).toHaveLength(1);
  });
});
