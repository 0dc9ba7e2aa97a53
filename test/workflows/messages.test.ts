import { WithStartWorkflowOperation, type WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { describe, expect, it, onTestFinished } from 'vitest';
import { updateOf } from '../../src/client/messages/send-update.ts';
import {
  acknowledgeUpdate,
  cancelUpdate,
  decisionUpdate,
  overrideUpdate,
  recheckSignal,
  reportFraudUpdate,
  retryUpdate,
  submitChargebackUpdate,
  UPDATES,
} from '../../src/contract/messages.ts';
import type { OrderState } from '../../src/contract/order/state.ts';
import { KEY_MISSING } from '../../src/contract/words.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { eventually } from '../support/index.ts';
import { replay } from '../support/replays.ts';
import { aPolicy, DAY, decided, HOUR, withOrders } from './support.ts';
import { again } from './world.ts';

const { environment, order, mattersCounted } = withOrders();

/** Returns the number of updates that are in an order's history. */
async function acceptedUpdates(handle: Pick<WorkflowHandle, 'fetchHistory'>): Promise<number> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length;
}

async function* one(workflowId: string, history: Awaited<ReturnType<WorkflowHandle['fetchHistory']>>) {
  yield { workflowId, history };
}

describe('a request to cancel the workflow', () => {
  it('raises attention and changes nothing else: callers are still answered, and the order lives to its end', async () => {
    const { answer, handle, world, until, update } = await order(decided('pass', aPolicy({ events: 'all' })));
    await handle.cancel();
    await until((state) => state.attention.some((one) => one.code === 'cancellation-requested'));
    expect(await update(decisionUpdate, { attempt: 1 })).toEqual(answer);
    expect(await update(reportFraudUpdate, {})).toMatchObject({
      status: 'done',
    });
    expect(await handle.result()).toMatchObject({ phase: 'closed', decision: 'pass' });
    expect(world.portalCalls).toMatchObject([{ fields: { kind: 'report-fraud' } }]);
    expect(world.eventTypes()).toEqual(['order.decided', 'order.attention', 'order.closed']);
  });

  it('doesn’t disturb a caller who waits', async () => {
    let answer: () => void = () => undefined;
    // Also for a try that is repeated, since the server's time jumps.
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    // The server lets no time pass while a portal action is under way: the tests after this one would wait, too.
    onTestFinished(() => answer());
    const { handle, world, until, update } = await order();
    world.portal = async () => {
      await answered;
      return { kind: 'done', code: '200' };
    };
    const asked = update(cancelUpdate, {});
    await until(() => world.portalCalls.length > 0);
    await handle.cancel();
    await until((state) => state.attention.some((one) => one.code === 'cancellation-requested'));
    answer();
    expect(await asked).toMatchObject({ status: 'done', phase: 'canceled' });
  });
});

describe('an update', () => {
  it.each([
    ['no transaction', { transaction: undefined }, ['transaction']],
    ['fields of a wrong type', { transaction: 'none', fingerprint: 7 }, ['transaction', 'fingerprint']],
  ])(
    'to an order whose start has %s is refused with a code and paths, whatever it is',
    async (_what, more, paths) => {
      const errors = paths.map((path) => expect.objectContaining({ path }));
      const refusal = { type: 'invalid-request', details: [{ errors: expect.arrayContaining(errors) }] };
      for (const update of Object.values(UPDATES)) {
        const { options, input } = order.prepare();
        const startWorkflowOperation = new WithStartWorkflowOperation('screenOrder', {
          ...options,
          workflowIdConflictPolicy: 'USE_EXISTING',
          args: [{ ...input, ...more }],
        });
        const { workflow } = environment().client;
        const updated = workflow.executeUpdateWithStart(update.name, { args: [{}], startWorkflowOperation });
        await expect(updated, update.name).rejects.toMatchObject({
          name: 'WorkflowUpdateFailedError',
          cause: refusal,
        });
        const handle = await startWorkflowOperation.workflowHandle();
        await expect(handle.result()).rejects.toMatchObject({ cause: refusal });
      }
    },
  );

  const refused = { cause: { type: 'invalid-request' } };
  /** What no message without an envelope may change. */
  const standing = ({ decision, action, phase, policy, actions, journal, attempts }: OrderState) => {
    const made = attempts.map(({ number, override }) => ({ number, override }));
    return { decision, action, phase, policy, actions, journal, made };
  };

  it('without input, or with an empty one, is refused and leaves no trace, whatever it is', async () => {
    const { handle, state } = await order();
    const before = standing(await state());
    const trace = await acceptedUpdates(handle);
    for (const { name } of Object.values(UPDATES)) {
      await expect(handle.executeUpdate(name), name).rejects.toMatchObject(refused);
      for (const input of [null, {}, '', [], { reason: 'plain' }, { type: name, body: {} }])
        await expect(handle.executeUpdate(name, { args: [input] }), name).rejects.toMatchObject(refused);
    }
    expect(await acceptedUpdates(handle)).toBe(trace);
    expect(standing(await state())).toEqual(before);
  });

  it('acts only as the one that it was made for: a stored one is worth nothing', async () => {
    const { handle, state, world } = await order(decided('review'));
    const stored = updateOf(overrideUpdate, { action: 'proceed', reason: 'seen' });
    const { args, updateId } = stored;
    await handle.executeUpdate(overrideUpdate, stored);
    const before = standing(await state());
    for (const { name } of Object.values(UPDATES))
      await expect(handle.executeUpdate(name, { args }), name).rejects.toMatchObject(refused);
    await expect(handle.executeUpdate('cancel', { args, updateId: 'x' })).rejects.toMatchObject(refused);
    // Temporal answers it, since it knows the id.
    await handle.executeUpdate('override', { args, updateId });
    const body = updateOf(reportFraudUpdate, {}).args;
    await expect(handle.executeUpdate('reportFraud', { args: body })).rejects.toMatchObject(refused);
    expect(standing(await state())).toEqual(before);
    expect(world.portalCalls).toEqual([]);
  });

  it('with a used idempotency key is repeated; who asks stands in the journal, and goes to nobody else', async () => {
    const { world, state, update } = await order();
    // No random id has this name in it.
    const by = { key: 'ops', actor: 'olga' };
    const report = () => update(reportFraudUpdate, { by }, { idempotencyKey: 'k' });
    const first = await report();
    expect(await report()).toEqual({ ...first, repeated: true });
    expect((await state()).journal).toMatchObject([{ what: 'report-fraud', by, number: 1 }]);
    expect(world.portalCalls).toHaveLength(1);
    expect(JSON.stringify([world.portalCalls, world.events])).not.toContain('olga');
  });
});

it('an update that a worker with its key accepted replays on no worker without the key', async () => {
  const { handle, update } = await order(decided('review'));
  await update(acknowledgeUpdate, { reason: 'seen' });
  const history = await handle.fetchHistory();
  const unread = defaultPayloadConverter.toPayload(`${KEY_MISSING}A payload was encrypted with the key "k2"`);
  for (const { workflowExecutionUpdateAcceptedEventAttributes: accepted } of history.events ?? [])
    if (accepted?.acceptedRequest?.input?.args) accepted.acceptedRequest.input.args.payloads = [unread];
  const { faults } = await replay(one(handle.workflowId, history));
  expect(faults.get(handle.workflowId)).toContain('A payload was encrypted with the key');
});

it.each(['reviewHint', 'recheck'])(
  'a %s that a worker without its key took is only a read, and replays on one with the key',
  async (signal) => {
    const { handle, until, attention } = await order(decided('review'));
    await handle.signal(signal, `${KEY_MISSING}A payload was encrypted with the key "k2"`);
    const { lastRead } = await until((state) => state.lastRead?.source === 'webhook');
    expect(await attention()).toEqual([]);
    const history = await handle.fetchHistory();
    const signaled = history.events?.map((event) => event.workflowExecutionSignaledEventAttributes);
    const readable = defaultPayloadConverter.toPayload({ source: 'webhook', sentAt: lastRead?.at });
    for (const one of signaled ?? []) if (one?.input) one.input.payloads = [readable];
    expect(await replay(one(handle.workflowId, history))).toMatchObject({ faults: new Map(), whole: 1 });
  },
);

it('messages with card data are refused, in the update’s id too, and leave no trace; an id that is vouched for is taken', async () => {
  const id = '4111111111111111';
  const { handle, world, update } = await order();
  const before = await acceptedUpdates(handle);
  const refused = { cause: { type: 'card-data-in-request' } };
  const acknowledge = (reason: string, updateId?: string) =>
    update(acknowledgeUpdate, { reason }, {}, updateId);
  await expect(acknowledge('paid by ４１１１-1111 1111 1111')).rejects.toMatchObject(refused);
  await expect(acknowledge('seen', `acknowledge:${id}`)).rejects.toMatchObject(refused);
  const chargeback = { reason_code: '10.4', due_date: '2030-01-31', carrier_tracking_number: id };
  const submit = (more: { notCards?: string[] }) =>
    update(submitChargebackUpdate, { ...chargeback, ...more });
  await expect(submit({})).rejects.toMatchObject(refused);
  expect(await acceptedUpdates(handle)).toBe(before);
  expect(await submit({ notCards: ['carrier_tracking_number'] })).toMatchObject({ status: 'done' });
  expect(world.portalCalls).toHaveLength(1);
});

it('events that nobody takes for three days are given up, with attention until one arrives again', async () => {
  let deaf = true;
  const { handle, pass, attention, until, integration } = await order((world) => {
    world.policy = aPolicy({ events: 'all' });
    world.status = { kind: 'read', decision: 'review' };
    world.deliver = () => {
      if (deaf) throw again(6 * HOUR);
    };
  });
  await pass(3 * DAY + HOUR);
  await until((state) => state.attention.length > 0);
  expect(await attention()).toEqual(['events-undelivered']);
  const { searchAttributes } = await handle.describe();
  expect(searchAttributes).toMatchObject({ NeedsAttention: [true] });
  expect(await mattersCounted(integration)).toEqual(['events-undelivered']);
  deaf = false;
  await handle.signal(recheckSignal);
  const now = await until((state) => state.attention.length === 0);
  expect(now).toMatchObject({ phase: 'review', events: { delivered: 1, waiting: 0 } });
});

describe('the end of an order', () => {
  it('has attention when nobody takes its last events for three days', async () => {
    const { handle, pass, integration } = await order((one) => {
      decided('fail')(one);
      one.deliver = () => {
        throw again(6 * HOUR);
      };
    });
    await pass(7 * DAY);
    expect(await handle.result()).toMatchObject({ attention: [{ code: 'events-undelivered' }] });
    const { searchAttributes } = await handle.describe();
    expect(searchAttributes).toMatchObject({ NeedsAttention: [true] });
    expect(await mattersCounted(integration)).toContain('events-undelivered');
  });

  it('is the end for messages but an acknowledgement, even while its last events wait for their receiver', async () => {
    const { handle, world, pass, until, update } = await order((one) => {
      decided('fail')(one);
      one.deliver = () => {
        throw again(6 * HOUR);
      };
    });
    await pass(2 * HOUR);
    const before = await until((state) => state.phase === 'closed');
    const closed = { cause: { type: 'order-closed' } };
    const retry = { attempt: 2, transaction: { ...aTransaction() } };
    await expect(update(reportFraudUpdate, {})).rejects.toMatchObject(closed);
    await expect(update(retryUpdate, retry)).rejects.toMatchObject(closed);
    const seen = await update(acknowledgeUpdate, { reason: 'seen' });
    expect(seen).toEqual({ cleared: 0 });
    await handle.signal('reviewHint', { source: 'webhook', receivedAt: before.startedAt });
    await handle.signal('recheck');
    world.deliver = () => undefined;
    const { attention, events, ...after } = await handle.result();
    expect(after).toMatchObject({ phase: 'closed', decision: 'fail', action: 'decline' });
    // The workflow `readAfterEnd` makes one read for both signals.
    await eventually(() => expect(world.reads).toBe(1));
    expect(world.eventTypes()).toEqual(['order.decided', 'order.closed']);
  });
});
