/**
 * After a restart of the workers every order is new to the worker that gets its next task. After two tasks in a row without
 * a consequence Temporal's SDK then gives it at once what the replay gives in two pieces, when a message came last. Whether
 * each of these orders still replays is checked at the end of the file.
 */

import { describe, expect, it } from 'vitest';
import { updateOf } from '../../../src/client/messages/send-update.ts';
import { recordGatewayResultUpdate, reviewHintSignal } from '../../../src/contract/messages.ts';
import { eventually } from '../../support/index.ts';
import {
  answered,
  aPolicy,
  type OrderStarter,
  type StartedOrder,
  type World,
  withOrders,
} from '../../workflows/support.ts';

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
  order: OrderStarter,
  { later = REVIEW, last = 'events' }: { later?: World['status']; last?: 'events' | 'job' } = {},
): Promise<StartedOrder> {
  const lastOfAll = held<void>();
  const started = await order(
    (world) => {
      world.policy = aPolicy({ workflow: 'pre-gateway' });
      world.status = later;
      world.screenings = [answered('review')];
      if (last === 'events') world.deliver = () => lastOfAll.promise;
      else world.forget = () => lastOfAll.promise;
    },
    (integration) => ({ cardRef: integration }),
  );
  const jobDone = () => eventually(() => cardForgotten(started));
  await (last === 'events' ? jobDone() : quiet(started));
  lastOfAll.resolve();
  await (last === 'events' ? quiet(started) : jobDone());
  return started;
}

/** The card is deleted, and the order has taken that in. */
async function cardForgotten({ handle }: StartedOrder): Promise<boolean> {
  const events = (await handle.fetchHistory()).events ?? [];
  const begun = events.find(
    (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'forgetCard',
  );
  const ended = events.findIndex(
    ({ activityTaskCompletedEventAttributes: end }) =>
      end !== null && end !== undefined && String(end.scheduledEventId) === String(begun?.eventId),
  );
  return ended >= 0 && events.slice(ended).some((event) => event.workflowTaskCompletedEventAttributes);
}

/** All events have left. */
async function quiet({ until }: StartedOrder): Promise<void> {
  await until(({ events }) => events.sequence > 0 && events.waiting === 0);
}

/** The gateway's result has been sent. */
const sent = ({ until }: StartedOrder, result: string) =>
  until(({ attempts: [first] }) => first?.gateway?.result === result && first.gateway.sent !== undefined);

describe('an order that no worker knows', () => {
  const { order } = withOrders({ known: 0 });

  it('takes a gateway result that means an event and a call', async () => {
    const started = await quietOrder(order);
    for (const result of ['error', 'pass'] as const) {
      await started.handle.executeUpdate(
        recordGatewayResultUpdate,
        updateOf(recordGatewayResultUpdate, { attempt: 1, result }),
      );
      await sent(started, result);
      await quiet(started);
    }
    expect(started.world.gatewayCalls.map(({ result }) => result)).toEqual(['error', 'pass']);
  });

  it('takes a hint', async () => {
    const passes = { kind: 'read', decision: 'pass' } as const;
    const started = await quietOrder(order, { later: passes, last: 'job' });
    await started.handle.signal(reviewHintSignal, HINT);
    await started.until(({ decision }) => decision === 'pass');
    await quiet(started);
    expect(started.world.forgotten).toHaveLength(1);
  });
});
