/**
 * After a restart of the workers every order is new to the worker that gets its next task. After two tasks in a row without
 * a consequence Temporal's SDK then gives it at once what the replay gives in two pieces, when a message came last. Whether
 * each of these orders still replays is checked at the end of the file.
 */
import type { Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { describe, expect, it } from 'vitest';
import {
  cancelUpdate,
  recordGatewayResultUpdate,
  retryUpdate,
  reviewHintSignal,
} from '../../src/contract/messages.ts';
import { eventually } from '../support/index.ts';
import {
  answered,
  aPolicy,
  type OrderStarter,
  type StartedOrder,
  type World,
  withOrders,
} from '../workflows/support.ts';

const REVIEW = { kind: 'read', decision: 'review' } as const;
/** Workflow tasks at a time of a worker that knows an order; `PENDING_WORKFLOW_TASK_STATE_STARTED` of Temporal's API. */
const SLOTS = 2;
const TASK_STARTED = 2;
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

/** Sends messages while the worker is busy with other orders, which it takes in for this one, so that it gets them in one task. */
async function together(order: OrderStarter, send: () => Promise<void>): Promise<void> {
  const busy = held<void>();
  for (let slot = 0; slot < SLOTS; slot += 1) {
    const { handle } = await order.startOnly({}, (world) => {
      world.screenAtCheckout = async () => {
        await busy.promise;
        return answered('pass');
      };
    });
    await eventually(async () => (await handle.describe()).raw.pendingWorkflowTask?.state === TASK_STARTED);
  }
  await send();
  busy.resolve();
}

/** Waits until the server has taken an update in. */
async function admitted(client: Client, workflowId: string, updateId: string): Promise<void> {
  await eventually(() =>
    client.workflowService.pollWorkflowExecutionUpdate({
      namespace: client.options.namespace,
      updateRef: { workflowExecution: { workflowId }, updateId },
      waitPolicy: {
        lifecycleStage:
          temporal.api.enums.v1.UpdateWorkflowExecutionLifecycleStage
            .UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ADMITTED,
      },
    }),
  );
}

describe('an order that no worker knows', () => {
  const { order } = withOrders({ known: 0 });

  it('takes a gateway result that means an event and a call', async () => {
    const started = await quietOrder(order, 'review');
    for (const result of ['error', 'pass'] as const) {
      await started.handle.executeUpdate(recordGatewayResultUpdate, { args: [{ attempt: 1, result }] });
      await started.until(({ attempts }) => attempts[0]?.gateway?.sent !== undefined);
      await quiet(started);
    }
    expect(started.world.gatewayCalls.map(({ result }) => result)).toEqual(['error', 'pass']);
  });

  it('takes a cancel', async () => {
    const started = await quietOrder(order, 'review');
    await started.handle.executeUpdate(cancelUpdate, { args: [{}] });
    await quiet(started);
    expect(started.world.eventTypes()).toContain('order.canceled');
  });

  it('takes another attempt', async () => {
    const started = await quietOrder(order, 'fail');
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
    const started = await quietOrder(order, 'review', {
      later: { kind: 'read', decision: 'pass' },
      last: 'job',
    });
    await started.handle.signal(reviewHintSignal, HINT);
    await started.until(({ decision }) => decision === 'pass');
    await quiet(started);
    expect(started.world.forgotten).toHaveLength(1);
  });
});

describe('an order that the worker had to forget for another', () => {
  const { order, environment } = withOrders({ known: 1 });

  it('takes a hint and another gateway result that come together', async () => {
    const lastOfAll = held<{ kind: 'sent' }>();
    const started = await quietOrder(order, 'review');
    const { handle, world } = started;
    const result = (what: 'error' | 'fail', updateId: string) =>
      handle.startUpdate(recordGatewayResultUpdate, {
        args: [{ attempt: 1, result: what }],
        updateId,
        waitForStage: 'ACCEPTED',
      });
    world.gateway = () => lastOfAll.promise;
    await result('error', 'first');
    await started.until(({ events }) => events.sequence === 2 && events.waiting === 0);
    lastOfAll.resolve({ kind: 'sent' });
    await started.until(({ attempts }) => attempts[0]?.gateway?.sent !== undefined);
    await together(order, async () => {
      void result('fail', 'second');
      await admitted(environment().client, handle.workflowId, 'second');
      await handle.signal(reviewHintSignal, HINT);
    });
    await started.until(
      ({ attempts }) => attempts[0]?.gateway?.result === 'fail' && attempts[0].gateway.sent !== undefined,
    );
    await quiet(started);
    expect(world.gatewayCalls.map((call) => call.result)).toEqual(['error', 'fail']);
  });
});
