import { describe, expect, it } from 'vitest';
import {
  acknowledgeUpdate,
  cancelUpdate,
  decisionUpdate,
  recheckSignal,
  reportFraudUpdate,
  retryUpdate,
  submitChargebackUpdate,
  UPDATES,
} from '../../src/contract/messages.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { eventually } from '../support/index.ts';
import { aPolicy, DAY, decided, HOUR, MINUTE, withOrders } from './support.ts';

const { order } = withOrders();

describe('a request to cancel the workflow', () => {
  it('raises attention and changes nothing else: callers are still answered, and the order lives to its end', async () => {
    const { answer, handle, world, until } = await order(decided('pass', aPolicy({ events: 'all' })));
    await handle.cancel();
    await until((state) => state.attention.some((one) => one.code === 'cancellation-requested'));
    expect(await handle.executeUpdate(decisionUpdate, { args: [{ attempt: 1 }] })).toEqual(answer);
    expect(await handle.executeUpdate(reportFraudUpdate, { args: [{}] })).toMatchObject({ status: 'done' });
    expect(await handle.result()).toMatchObject({ phase: 'closed', decision: 'pass' });
    expect(world.portalCalls).toMatchObject([{ fields: { kind: 'report-fraud' } }]);
    expect(world.eventTypes()).toEqual(['order.decided', 'order.attention', 'order.closed']);
  });

  it('doesn’t disturb a caller who waits', async () => {
    let answer: () => void = () => undefined;
    const { handle, world, until } = await order();
    world.portal = async () => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return { kind: 'done', code: '200' };
    };
    const asked = await handle.startUpdate(cancelUpdate, { args: [{}], waitForStage: 'ACCEPTED' });
    await until(() => world.portalCalls.length === 1);
    await handle.cancel();
    await until((state) => state.attention.some((one) => one.code === 'cancellation-requested'));
    answer();
    expect(await asked.result()).toMatchObject({ status: 'done', phase: 'canceled' });
  });
});

it('who asks stands in the journal, and goes to nobody else', async () => {
  const { handle, world, state } = await order();
  const by = { key: 'ops', actor: 'ada' };
  await handle.executeUpdate(acknowledgeUpdate, { args: [{ reason: 'seen', by }] });
  await handle.executeUpdate(reportFraudUpdate, { args: [{ by }] });
  expect((await state()).journal).toMatchObject([
    { what: 'acknowledge', by, because: 'seen' },
    { what: 'report-fraud', by, number: 1 },
  ]);
  expect(JSON.stringify([world.portalCalls, world.events])).not.toContain('ada');
});

it('messages that can’t be read do the order no harm', async () => {
  const { handle } = await order();
  for (const update of Object.keys(UPDATES)) {
    for (const nonsense of [null, 'text', { transactionId: 5, attempt: 'x', result: {} }])
      await handle.executeUpdate(update, { args: [nonsense] }).catch(() => undefined);
  }
  const answer = await handle.executeUpdate(decisionUpdate, { args: [{ attempt: 1 }] });
  expect(answer).toMatchObject({ decision: 'pass' });
});

it('messages with card data are refused, in the update’s id too, and leave no trace; an id that is vouched for is taken', async () => {
  const id = '4111111111111111';
  const { handle, world } = await order();
  const taken = async () => {
    const { events = [] } = await handle.fetchHistory();
    return events?.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length;
  };
  const before = await taken();
  const refused = { cause: { type: 'card-data-in-request' } };
  const acknowledge = (reason: string, updateId?: string) =>
    handle.executeUpdate(acknowledgeUpdate, { args: [{ reason }], ...(updateId && { updateId }) });
  await expect(acknowledge('paid by ４１１１-1111 1111 1111')).rejects.toMatchObject(refused);
  await expect(acknowledge('seen', `acknowledge:${id}`)).rejects.toMatchObject(refused);
  const chargeback = { reason_code: '10.4', due_date: '2030-01-31', carrier_tracking_number: id };
  const submit = (more: { notCards?: string[] }) =>
    handle.executeUpdate(submitChargebackUpdate, { args: [{ ...chargeback, ...more }] });
  await expect(submit({})).rejects.toMatchObject(refused);
  expect(await taken()).toBe(before);
  expect(await submit({ notCards: ['carrier_tracking_number'] })).toMatchObject({ status: 'done' });
  expect(world.portalCalls).toHaveLength(1);
});

it('events that nobody takes for three days are given up, with attention until one arrives again', async () => {
  let deaf = true;
  const { handle, pass, attention, until } = await order((world) => {
    world.policy = aPolicy({ events: 'all' });
    world.status = { kind: 'read', decision: 'review' };
    world.deliver = () => {
      if (deaf) throw new Error('the receiver is down');
    };
  });
  await pass(3 * DAY + HOUR);
  await until((state) => state.attention.length > 0);
  expect(await attention()).toEqual(['events-undelivered']);
  deaf = false;
  await handle.signal(recheckSignal);
  const now = await until((state) => state.attention.length === 0);
  expect(now).toMatchObject({ phase: 'review', events: { sequence: 2, delivered: 1, waiting: 0 } });
});

it('a recheck of what the service doesn’t tell goes on until it does', async () => {
  const { handle, world, pass, until } = await order((one) => {
    one.status = { kind: 'unanswered' };
  });
  await handle.signal(recheckSignal);
  await pass(10 * MINUTE);
  expect(world.reads).toBe(0);
  world.status = { kind: 'read', decision: 'review' };
  await pass(2 * MINUTE);
  const read = await until((state) => state.decision === 'review');
  expect(read.attempts[0]?.readings.at(-1)?.source).toBe('operator');
});

describe('the end of an order', () => {
  it('is the end for messages but an acknowledgement, even while its last events wait for their receiver', async () => {
    const { handle, world, pass, until } = await order((one) => {
      decided('fail')(one);
      one.deliver = () => {
        throw new Error('the receiver is down');
      };
    });
    await pass(2 * HOUR);
    const before = await until((state) => state.phase === 'closed');
    const closed = { cause: { type: 'order-closed' } };
    const retry = { attempt: 2, transaction: { ...aTransaction() } };
    await expect(handle.executeUpdate(reportFraudUpdate, { args: [{}] })).rejects.toMatchObject(closed);
    await expect(handle.executeUpdate(retryUpdate, { args: [retry] })).rejects.toMatchObject(closed);
    const seen = await handle.executeUpdate(acknowledgeUpdate, { args: [{ reason: 'seen' }] });
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
