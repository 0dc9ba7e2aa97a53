import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CLOSED_TRANSACTION } from '../../fixtures/orders.ts';
import {
  aClient as aClientOf,
  attributes,
  gone,
  listing,
  queryAsked,
  unavailable,
} from '../fake-temporal.ts';

const order = { orderId: 'order-1' };
const hint = { orderId: '#order-1', transactionId: CLOSED_TRANSACTION, source: 'webhook' };

/** An order in a list, with its invoice numbers. */
function anOwner(workflowId: string, ...InvoiceNumber: string[]) {
  return { execution: { workflowId }, ...attributes({ InvoiceNumber }) };
}

/** A client whose orders are open; `signals` are the signals that they got. */
function aClient() {
  const client = aClientOf();
  client.temporal.signal.mockResolvedValue(undefined);
  const signals = () =>
    client.temporal.signal.mock.calls.map((call) => {
      const [{ name }, content] = call as unknown as [{ name: string }, object | undefined];
      return { name, ...content };
    });
  const lists = client.temporal.listWorkflowExecutions;
  return { ...client, signals, lists };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a hint', () => {
  const [event, first, second] = [0, 1, 2].map((digit) => `${digit}1111111-2222-4333-8444-555555555555`);

  it('is the signal reviewHint to the order of its invoice number', async () => {
    const { orderScreening, temporal, handles, signals } = aClient();
    expect(await orderScreening.hint({ ...hint, decision: 'fail' })).toEqual({ outcome: 'accepted' });
    expect(handles).toEqual(['order:default:order-1']);
    const { transactionId, source } = hint;
    const receivedAt = expect.any(String);
    expect(signals()).toEqual([{ name: 'reviewHint', source, transactionId, decision: 'fail', receivedAt }]);
    expect(temporal.executeUpdate).not.toHaveBeenCalled();
  });

  it('keeps nothing of it that is card data, and is not refused for that', async () => {
    const { orderScreening, temporal } = aClient();
    const disguised = { transactionId: '4111 1111 1111 1111', decision: '5555 5555 5555 4444' };
    expect(await orderScreening.hint({ ...hint, ...disguised })).toEqual({ outcome: 'accepted' });
    expect(JSON.stringify(temporal.signal.mock.calls)).not.toMatch(/4111|5555/);
  });

  it('goes to the order that owns its transaction, in whatever case, though another order has the invoice number as its id', async () => {
    const { orderScreening, temporal, handles, lists } = aClient();
    lists.mockResolvedValue(listing(anOwner('order:default:other', 'order-1')));
    const inCapitals = { ...hint, transactionId: CLOSED_TRANSACTION.toUpperCase() };
    expect(await orderScreening.hint(inCapitals)).toEqual({ outcome: 'accepted' });
    expect(handles).toEqual(['order:default:other']);
    expect(queryAsked(temporal)).toContain(`TransactionId = '${CLOSED_TRANSACTION}'`);
    // A transaction of an order that has ended is read, too.
    expect(queryAsked(temporal)).toContain("ExecutionStatus IN ('Running', 'Completed')");
    await orderScreening.hint(inCapitals);
    expect(lists).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(5_000);
    await orderScreening.hint(inCapitals);
    expect(lists).toHaveBeenCalledTimes(2);
  });

  it('goes to the order with that invoice number before the one with that id', async () => {
    const { orderScreening, temporal, handles, lists } = aClient();
    temporal.signal.mockRejectedValueOnce(gone);
    lists.mockResolvedValue(listing('order:default:other'));
    const { transactionId: _none, ...named } = hint;
    expect(await orderScreening.hint(named)).toEqual({ outcome: 'accepted' });
    expect([...new Set(handles)]).toEqual(['order:default:other', 'order:default:order-1']);
    expect(queryAsked(temporal)).toContain("ScreeningIntegration = 'default' AND InvoiceNumber = 'order-1'");
  });

  it('reaches an order of a different integration only by its transaction, if it may, and only if no own order has it', async () => {
    const { orderScreening, handles, lists } = aClient();
    const own = anOwner('order:default:own');
    const others = [anOwner('order:phone:1'), anOwner('order:post:2')];
    const named = { source: 'webhook', transactionId: `${event}` };
    const sentTo = async (rows: object[], reaches?: (integration: string) => boolean) => {
      handles.length = 0;
      lists.mockResolvedValue(listing(...rows));
      const sending = orderScreening.hint({ ...named, ...(reaches && { reaches }) });
      await vi.advanceTimersByTimeAsync(6_000);
      return [(await sending).outcome, ...new Set(handles)];
    };
    expect(await sentTo(others)).toEqual(['unknown']);
    expect(await sentTo(others, (integration) => integration === 'post')).toEqual([
      'accepted',
      'order:post:2',
    ]);
    expect(await sentTo([...others, own], () => true)).toEqual(['accepted', 'order:default:own']);
  });

  it('arrives by the order’s id when the list of orders cannot be asked', async () => {
    const { orderScreening, handles, lists } = aClient();
    lists.mockRejectedValue(unavailable);
    expect(await orderScreening.hint(hint)).toEqual({ outcome: 'accepted' });
    expect(handles).toEqual(['order:default:order-1']);
  });

  it('that only an invoice number names is temporal-unavailable while the list of orders cannot be asked', async () => {
    const { orderScreening, temporal, lists } = aClient();
    lists.mockRejectedValue(unavailable);
    temporal.signal.mockRejectedValue(gone);
    const sending = orderScreening.hint({ orderId: 'INV-7', source: 'webhook' });
    await expect(sending).rejects.toMatchObject({ code: 'temporal-unavailable' });
  });

  it('is looked for again after 3 s before it is called unknown', async () => {
    const { orderScreening, temporal, lists } = aClient();
    temporal.signal.mockRejectedValue(gone);
    const sending = orderScreening.hint(hint);
    await vi.advanceTimersByTimeAsync(2_999);
    expect(lists).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(await sending).toEqual({ outcome: 'unknown' });
    expect(lists).toHaveBeenCalledTimes(3);
  });

  const [one, two] = ['order:default:one', 'order:default:two'];
  it.each([
    [['3'], [first, second]],
    [
      ['one~2', '#3'],
      [first, second],
    ],
    [
      ['R-2', '3', 'two'],
      [first, second],
    ],
    [
      ['one', 'two', '#3'],
      [first, second, CLOSED_TRANSACTION, event],
    ],
  ])('for a batch is one for each order, by its transactions or by a number: %j', async (orderId, ids) => {
    const { orderScreening, handles, lists, signals } = aClient();
    lists.mockImplementation((async ({ query }: { query: string }) => {
      if (query.includes(`${first}`)) return listing(anOwner(one, 'one', 'one~2'));
      const ofTwo = [second, CLOSED_TRANSACTION].some((id) => query.includes(`${id}`));
      return ofTwo ? listing(anOwner(two, 'R-2')) : listing();
    }) as never);
    const transactionId = ids.map(String);
    expect(await orderScreening.hint({ source: 'webhook', transactionId, orderId })).toEqual({
      outcome: 'accepted',
    });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(handles.toSorted()).toEqual(['order:default:3', one, two]);
    expect(signals()).toHaveLength(3);
  });

  it('for a batch looks again for a transaction that isn’t listed yet, or whose lookup failed, and is temporal-unavailable if that fails, too', async () => {
    const { orderScreening, handles, lists } = aClient();
    const batch = { source: 'webhook', transactionId: [`${first}`, `${second}`] };
    const answers = (other: () => unknown) =>
      lists.mockImplementation((async ({ query }: { query: string }) =>
        query.includes(`${first}`) ? listing(one) : other()) as never);
    const fails = () => Promise.reject(unavailable);
    answers(fails);
    const failing = expect(orderScreening.hint(batch)).rejects.toMatchObject({
      code: 'temporal-unavailable',
    });
    await vi.advanceTimersByTimeAsync(3_000);
    await failing;
    for (const other of [fails, () => listing()]) {
      handles.length = 0;
      answers(other);
      const found = orderScreening.hint(batch);
      await vi.advanceTimersByTimeAsync(2_999);
      answers(() => listing(two));
      await vi.advanceTimersByTimeAsync(1);
      expect(await found).toEqual({ outcome: 'accepted' });
      expect(new Set(handles)).toEqual(new Set([one, two]));
      await vi.advanceTimersByTimeAsync(10_000);
    }
  });

  it('is temporal-unavailable when the signal fails, and is signaled the next time', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.signal.mockRejectedValueOnce(unavailable);
    await expect(orderScreening.hint(hint)).rejects.toMatchObject({ code: 'temporal-unavailable' });
    expect(await orderScreening.hint(hint)).toEqual({ outcome: 'accepted' });
    expect(temporal.signal).toHaveBeenCalledTimes(2);
  });

  it('that names nothing is unknown at once', async () => {
    const { orderScreening, lists } = aClient();
    expect(await orderScreening.hint({ source: 'webhook' })).toEqual({ outcome: 'unknown' });
    expect(lists).not.toHaveBeenCalled();
  });
});

describe('within a spacing', () => {
  it('hints that name different things make one that names none of them', async () => {
    const { orderScreening, signals } = aClient();
    const other = '11111111-2222-4333-8444-555555555555';
    for (const one of [hint, hint, { ...hint, transactionId: other, decision: 'fail' }, hint]) {
      await orderScreening.hint({ decision: 'pass', ...one });
    }
    await vi.advanceTimersByTimeAsync(2_000);
    expect(signals()[1]).toEqual({ name: 'reviewHint', source: 'webhook', receivedAt: expect.any(String) });
  });

  it('hints are sent when the client closes; it tells how many could not be', async () => {
    const { orderScreening, temporal, signals } = aClient();
    for (const orderId of ['1', '1', '2', '2']) await orderScreening.hint({ orderId, source: 'webhook' });
    expect(signals()).toHaveLength(2);
    temporal.signal.mockRejectedValueOnce(unavailable);
    expect(await orderScreening.close()).toEqual({ unsent: 1 });
    expect(signals()).toHaveLength(4);
  });

  it('rechecks wait for each other, and for no hint', async () => {
    const { orderScreening, signals } = aClient();
    await orderScreening.hint({ ...order, source: 'webhook' });
    for (const _time of [1, 2, 3]) {
      expect(await orderScreening.recheck(order)).toEqual({ status: 'requested' });
    }
    expect(signals().map(({ name }) => name)).toEqual(['reviewHint', 'recheck']);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(signals().map(({ name }) => name)).toEqual(['reviewHint', 'recheck', 'recheck']);
  });
});
