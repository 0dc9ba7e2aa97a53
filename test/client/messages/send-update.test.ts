import { ServiceError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { updateOf } from '../../../src/client/messages/send-update.ts';
import { REFUSED_PAYLOAD } from '../../../src/contract/words.ts';
import { aClosedOrder, CLOSED_TRANSACTION } from '../../fixtures/orders.ts';
import { aTransaction } from '../../fixtures/transactions.ts';
import { aCheckoutAnswer, aPortalAnswer } from '../../server/api/fake-order-screening.ts';
import { aClient, described, grpcError, refused, sent, startedActions, taken } from '../fake-temporal.ts';
import { unreadAsUpdate } from '../unread-request.ts';

type Screening = ReturnType<typeof aClient>['orderScreening'];
type Call = 'executeUpdateWithStart' | 'startUpdate' | 'executeUpdate';

const order = { orderId: 'order-1' };
const attempt = { ...order, transaction: aTransaction() };
const keyed = { idempotencyKey: 'k' };
const exhausted = new ServiceError('too many updates in flight', { cause: grpcError(8) });
const decided = aCheckoutAnswer();

/** The order took the update, and ended in the same task. */
const cutOff = new WorkflowUpdateFailedError(
  'Workflow Update failed',
  ApplicationFailure.create({ type: 'AcceptedUpdateCompletedWorkflow', message: 'x' }),
);

const later = { ...attempt, attempt: 2 };
const passed = { attempt: 1, result: 'pass' } as const;
/** Each update: by which call of Temporal's client it is sent, its id unless it is random, an answer, and how it is asked. */
const UPDATES: [string, Call, id: string | undefined, answer: object, ask: (to: Screening) => unknown][] = [
  ['a first attempt', 'executeUpdateWithStart', 'decision-1', decided, (orders) => orders.screen(attempt)],
  ['a later attempt', 'startUpdate', 'retry-2', decided, (orders) => orders.retry(later)],
  ['a gateway result', 'executeUpdate', undefined, passed, (to) => to.recordGatewayResult(order, passed)],
  ['a portal action', 'startUpdate', undefined, aPortalAnswer(), (to) => to.cancel(order, {}, keyed)],
];

/** A client of an order that takes each update, and ends it so: first, and from then on. */
function aClientWith(call: Call, ...ends: [first: unknown, later?: unknown]) {
  const client = aClient();
  const left = [...ends];
  client.temporal[call].mockImplementation(async () => {
    const update = taken(left.length > 1 ? left.shift() : left[0]);
    return call === 'startUpdate' ? update : update.result();
  });
  return client;
}

describe.each(UPDATES)('%s', (_what, call, id, answer, ask) => {
  it('that comes while the order is being screened is sent again under the same id', async () => {
    const { orderScreening, temporal } = aClientWith(call, refused('checkout-under-way'), answer);
    expect(await ask(orderScreening)).toEqual(answer);
    const [first, second] = sent(temporal[call]);
    expect(first?.updateId).toEqual(id ?? expect.stringMatching(/^[0-9a-f-]{36}$/));
    expect(second).toMatchObject({ updateId: first?.updateId, args: first?.args });
  });

  it('that the server takes no more of is busy, and not asked again here', async () => {
    const { orderScreening, temporal } = aClient();
    temporal[call].mockRejectedValue(exhausted);
    await expect(ask(orderScreening)).rejects.toMatchObject({ code: 'busy' });
    expect(temporal[call]).toHaveBeenCalledTimes(1);
  });

  it('that a worker without its payload key refuses is to be sent again: nothing is wrong with it', async () => {
    const { orderScreening } = aClientWith(call, unreadAsUpdate());
    await expect(ask(orderScreening)).rejects.toMatchObject({
      code: 'temporal-unavailable',
      message: expect.stringContaining('the key "k2". Retrying the same request is safe'),
    });
  });

  it('whose answer nobody can read is an error that says why, and not answered', async () => {
    const { orderScreening } = aClientWith(call, `${REFUSED_PAYLOAD}A payload is not valid JSON`);
    await expect(ask(orderScreening)).rejects.toMatchObject({
      code: 'temporal-unavailable',
      message: 'The order’s answer cannot be read: A payload is not valid JSON',
    });
  });
});

it('a portal action that is refused until the time is over was not accepted, so it is not running', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { orderScreening, temporal } = aClient();
  temporal.startUpdate.mockImplementation(async () => {
    await new Promise((resolve) => setTimeout(resolve, 7));
    return taken(refused('checkout-under-way'));
  });
  const asked = orderScreening.cancel(order).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(await asked).toMatchObject({ code: 'temporal-unavailable' });
});

describe('an update that the end of the order cut off', () => {
  /** A client of an order that ended in the task in which it took the update. */
  function ended(call: Call) {
    const client = aClientWith(call, cutOff);
    client.temporal.describe.mockResolvedValue(described('COMPLETED'));
    client.temporal.result.mockResolvedValueOnce(aClosedOrder()).mockResolvedValue(aPortalAnswer());
    return client;
  }

  it.each([
    ['a first attempt', 'executeUpdateWithStart', 1],
    ['a later attempt', 'startUpdate', 2],
  ] as const)('is answered from the record: %s', async (_what, call, number) => {
    const { orderScreening, temporal } = ended(call);
    const answer = aCheckoutAnswer({ attempt: number });
    temporal.result.mockReset().mockImplementation(async () => {
      const [{ fingerprint }] = (sent(temporal[call])[0]?.args ?? []) as [{ fingerprint: string }];
      return aClosedOrder({ number, fingerprint, answer: { ...answer, fingerprint } });
    });
    expect(await orderScreening.screen({ ...attempt, attempt: number })).toEqual(answer);
  });

  it.each([
    ['that cut it off', cutOff],
    ['whose last events are still being delivered', refused('order-closed')],
  ])('is done the way of closed orders when it is a portal action: %s', async (_what, error) => {
    const client = ended('startUpdate');
    client.temporal.startUpdate.mockResolvedValue(taken(error));
    expect(await client.orderScreening.reportFraud(order)).toEqual(aPortalAnswer());
    expect(startedActions(client)).toMatchObject([
      { type: 'portalAction', input: { transactionId: CLOSED_TRANSACTION } },
    ]);
  });

  it('is order-closed when it is an acknowledgement', async () => {
    const { orderScreening, temporal } = ended('executeUpdate');
    temporal.result.mockReset().mockResolvedValue(aClosedOrder());
    const asked = orderScreening.acknowledge(order, { reason: 'x' });
    await expect(asked).rejects.toMatchObject({ code: 'order-closed' });
  });
});

describe('the fingerprint of an idempotency key', () => {
  const keyOf = async (ask: (orders: Screening) => unknown) => {
    const { orderScreening, temporal } = aClient();
    temporal.startUpdate.mockResolvedValue(taken(aPortalAnswer()));
    temporal.executeUpdate.mockResolvedValue({ cleared: 1 });
    await ask(orderScreening);
    return [...sent(temporal.startUpdate), ...sent(temporal.executeUpdate)][0]?.key;
  };
  const report = (request: object, by?: object) =>
    keyOf((orders) => orders.reportFraud(order, request, { ...keyed, ...(by && { by }) }));

  it('is the same for the same request of the same caller, and no other', async () => {
    const first = await report({ reason: 'x', transactionId: CLOSED_TRANSACTION }, { key: 'shop' });
    expect(first).toEqual({ name: 'k', fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(await report({ transactionId: CLOSED_TRANSACTION, reason: 'x' }, { key: 'shop' })).toEqual(first);
    const others = [
      await report({ reason: 'y', transactionId: CLOSED_TRANSACTION }, { key: 'shop' }),
      await report({ reason: 'x' }, { key: 'shop' }),
      await report({ reason: 'x', transactionId: CLOSED_TRANSACTION }, { key: 'other' }),
      await report({ reason: 'x', transactionId: CLOSED_TRANSACTION }, { key: 'shop', actor: 'ada' }),
      await report({ reason: 'x', transactionId: CLOSED_TRANSACTION }),
      await keyOf((orders) => orders.acknowledge(order, { reason: 'x' }, keyed)),
      await keyOf((orders) => orders.cancel(order, { reason: 'x' }, keyed)),
    ];
    const fingerprints = [first, ...others].map((key) => key?.fingerprint);
    expect(new Set(fingerprints).size).toBe(fingerprints.length);
  });

  it('doesn’t depend on the ids that policy vouches for, which may change before the repeat', () => {
    const keyOfBody = (body: object) => updateOf({ name: 'cancel' }, body, keyed).args[0].key;
    expect(keyOfBody({ reason: 'x', notCards: ['transactionId'] })).toEqual(keyOfBody({ reason: 'x' }));
  });
});
