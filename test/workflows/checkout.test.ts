import type { WorkflowHandle } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { orderWorkflowId } from '../../src/contract/ids.ts';
import { decisionUpdate, recheckSignal } from '../../src/contract/messages.ts';
import { numberBeforeEvents } from '../../src/order/record.ts';
import { eventually } from '../support/index.ts';
import { aPolicy, decided, withOrders } from './support.ts';

const { environment, order } = withOrders();
const STACK_FRAME = /^\s*at /m;

describe('a checkout', () => {
  it.each([
    ['pass', 'pre-acceptance', 'proceed', 'decided', ['order.decided', 'order.closed'], 0],
    ['fail', 'post-acceptance', 'cancel', 'decided', ['order.decided', 'order.canceled', 'order.closed'], 1],
    [
      'pass',
      'pre-gateway',
      'proceed',
      'awaiting-gateway',
      ['order.decided', 'order.attention', 'order.closed'],
      0,
    ],
  ] as const)(
    'that reads %s in %s is answered %s, phase %s, and lives to its end',
    async (decision, workflow, action, phase, events, cancels) => {
      const started = await order(decided(decision, aPolicy({ workflow, events: 'all' })), (integration) => ({
        cardRef: integration,
      }));
      const { answer, handle, integration, world } = started;
      expect(answer).toMatchObject({ attempt: 1, decision, action, phase });
      const state = await handle.result();
      expect(state).toMatchObject({ decision, endedAt: expect.any(String) });
      expect(world.eventTypes()).toEqual(events);
      const before = numberBeforeEvents(state);
      expect(world.events.map(({ sequence }) => sequence - before)).toEqual(
        events.map((_, index) => index + 1),
      );
      expect(world.screened).toHaveLength(1);
      expect(world.portalCalls).toHaveLength(cancels);
      expect(world.forgotten).toEqual([integration]);
    },
  );

  it('whose screening broke down is pending by policy, and screened later', async () => {
    const { answer, handle } = await order((world) => {
      world.screenAtCheckout = async () => {
        throw new Error('out of memory');
      };
    });
    expect(answer).toMatchObject({ decision: 'pending', action: 'hold', reason: 'screening-broke-down' });
    expect(await handle.result()).toMatchObject({ decision: 'pass' });
  });

  it('answers its caller before it acts on a signal that arrived meanwhile', async () => {
    const { handle, world } = await order(
      (one) => {
        one.screenAtCheckout = async ({ integration, orderId }) => {
          const started = environment().client.workflow.getHandle(orderWorkflowId(integration, orderId));
          await started.signal(recheckSignal);
          // The worker asks for another task before the first one times out: the signal comes with it.
          await eventually(async () => expect(await eventsOf(started)).toContain('workflowTaskCompleted'));
          return one.nextScreening();
        };
      },
      undefined,
      { workflowTaskTimeout: '2s' },
    );
    await eventually(() => expect(world.reads).toBe(1));
    const events = await eventsOf(handle);
    const after = events.indexOf('markerRecorded') + 1;
    expect(events.slice(after, after + 6)).toEqual([
      ...['activityTaskScheduled', 'timerStarted'],
      ...['upsertWorkflowSearchAttributes', 'workflowPropertiesModified'],
      'workflowExecutionUpdateCompleted',
      'activityTaskScheduled',
    ]);
  });

  it('gives the same answer again, also to another update id', async () => {
    const { answer, handle, world, update } = await order();
    expect(await update(decisionUpdate, { attempt: 1 })).toEqual(answer);
    expect(world.screened).toHaveLength(1);
    await expect(update(decisionUpdate, { attempt: 2 })).rejects.toMatchObject({
      cause: { type: 'unknown-attempt' },
    });
    // An order keeps no stacks of what it waits for.
    expect(await handle.query('__stack_trace')).not.toMatch(STACK_FRAME);
  });
});

describe('a start', () => {
  it.each<[string, Record<string, unknown>, string]>([
    [
      'with card data',
      { transaction: { payment: { creditCard: { cardNumber: '4111111111111111' } } } },
      'card-data-in-request',
    ],
    ['under another order’s id', { orderId: 'another' }, 'invalid-request'],
    ['that pretends to continue', { resume: {} }, 'invalid-request'],
  ])('%s fails at once, without a value and a stack, and nothing is screened', async (_case, input, type) => {
    const { handle, world } = await order.startOnly(input);
    await expect(handle.result()).rejects.toMatchObject({
      cause: {
        type,
        message: expect.not.stringContaining('4111'),
        failure: expect.not.objectContaining({ stackTrace: expect.stringMatching(STACK_FRAME) }),
      },
    });
    expect(world.screened).toEqual([]);
  });
});

async function eventsOf(handle: Pick<WorkflowHandle, 'fetchHistory'>): Promise<string[]> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap((event) =>
    Object.keys(event).flatMap((name) => /^(.*)EventAttributes$/.exec(name)?.[1] ?? []),
  );
}
