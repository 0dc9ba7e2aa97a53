import { ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CLOSED_TRANSACTION } from '../fixtures/orders.ts';
import { aClient as aClientOf } from './fake-temporal.ts';

const gone = new WorkflowNotFoundError('completed', 'order', undefined);
const unavailable = new ServiceError('Failed', {
  cause: Object.assign(new Error('grpc'), { code: 14, details: 'grpc', metadata: {} }),
});
const hint = { orderId: '#order-1', transactionId: CLOSED_TRANSACTION, source: 'webhook' };
const page = {
  executions: [{ execution: { workflowId: 'order:default:other' } }],
  nextPageToken: new Uint8Array(),
};

/** A client whose orders are open; `signals` are the signals that they got. */
function aClient() {
  const client = aClientOf();
  client.temporal.signal.mockResolvedValue(undefined);
  const signals = () =>
    client.temporal.signal.mock.calls.map((call) => {
      const [{ name }, content] = call as unknown as [{ name: string }, object | undefined];
      return { name, ...content };
    });
  return { ...client, signals };
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('a hint', () => {
  it('is the signal reviewHint to the order of its invoice number', async () => {
    const { orderScreening, temporal, handles, signals } = aClient();
    expect(await orderScreening.hint({ ...hint, decision: 'fail' })).toEqual({ outcome: 'accepted' });
    expect(handles).toEqual(['order:default:order-1']);
    expect(signals()).toEqual([
      {
        name: 'reviewHint',
        source: 'webhook',
        transactionId: CLOSED_TRANSACTION,
        decision: 'fail',
        receivedAt: expect.any(String),
      },
    ]);
    expect(temporal.executeUpdate).not.toHaveBeenCalled();
  });

  it('keeps nothing of it that is card data, and is not refused for that', async () => {
    const { orderScreening, temporal } = aClient();
    const disguised = {
      transactionId: '4111 1111 1111 1111',
      decision: '5555 5555 5555 4444',
    };
    expect(await orderScreening.hint({ ...hint, ...disguised })).toEqual({ outcome: 'accepted' });
    expect(JSON.stringify(temporal.signal.mock.calls)).not.toMatch(/4111|5555/);
  });

  it('goes to the order that owns its transaction, in whatever case, though another order has the invoice number as its id', async () => {
    const { orderScreening, temporal, handles } = aClient();
    temporal.listWorkflowExecutions.mockResolvedValue(page);
    const inCapitals = { ...hint, transactionId: CLOSED_TRANSACTION.toUpperCase() };
    expect(await orderScreening.hint(inCapitals)).toEqual({ outcome: 'accepted' });
    expect(handles).toEqual(['order:default:other']);
    const [{ query }] = temporal.listWorkflowExecutions.mock.calls[0] as unknown as [{ query: string }];
    expect(query).toContain(`TransactionId = '${CLOSED_TRANSACTION}'`);
    expect(query).toContain("ScreeningIntegration = 'default'");
  });

  it('goes to the order with that invoice number before the one with that id', async () => {
    const { orderScreening, temporal, handles } = aClient();
    temporal.signal.mockRejectedValueOnce(gone);
    temporal.listWorkflowExecutions.mockResolvedValue(page);
    const { transactionId: _none, ...named } = hint;
    expect(await orderScreening.hint(named)).toEqual({ outcome: 'accepted' });
    expect([...new Set(handles)]).toEqual(['order:default:other', 'order:default:order-1']);
    const [{ query }] = temporal.listWorkflowExecutions.mock.calls[0] as unknown as [{ query: string }];
    expect(query).toContain("InvoiceNumber = 'order-1'");
  });

  it('arrives by the order’s id when the list of orders cannot be asked', async () => {
    const { orderScreening, temporal, handles } = aClient();
    temporal.listWorkflowExecutions.mockRejectedValue(unavailable);
    expect(await orderScreening.hint(hint)).toEqual({ outcome: 'accepted' });
    expect(handles).toEqual(['order:default:order-1']);
  });

  it('is looked for again after 3 s before it is called unknown', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.signal.mockRejectedValue(gone);
    const sending = orderScreening.hint(hint);
    await vi.advanceTimersByTimeAsync(2_999);
    expect(temporal.listWorkflowExecutions).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(await sending).toEqual({ outcome: 'unknown' });
    expect(temporal.listWorkflowExecutions).toHaveBeenCalledTimes(3);
  });

  it('is temporal-unavailable when the signal fails, and is signaled the next time', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.signal.mockRejectedValueOnce(unavailable);
    await expect(orderScreening.hint(hint)).rejects.toMatchObject({ code: 'temporal-unavailable' });
    expect(await orderScreening.hint(hint)).toEqual({ outcome: 'accepted' });
    expect(temporal.signal).toHaveBeenCalledTimes(2);
  });

  it('that names nothing is unknown at once', async () => {
    const { orderScreening, temporal } = aClient();
    expect(await orderScreening.hint({ source: 'webhook' })).toEqual({ outcome: 'unknown' });
    expect(temporal.listWorkflowExecutions).not.toHaveBeenCalled();
  });
});

describe('hints within a spacing', () => {
  it('that name different things make one that names none of them', async () => {
    const { orderScreening, signals } = aClient();
    const other = '11111111-2222-4333-8444-555555555555';
    for (const one of [hint, hint, { ...hint, transactionId: other, decision: 'fail' }, hint]) {
      await orderScreening.hint({ decision: 'pass', ...one });
    }
    await vi.advanceTimersByTimeAsync(2_000);
    expect(signals()[1]).toEqual({ name: 'reviewHint', source: 'webhook', receivedAt: expect.any(String) });
  });

  it('are sent when the client closes; it tells how many could not be', async () => {
    const { orderScreening, temporal, signals } = aClient();
    for (const orderId of ['1', '1', '2', '2']) await orderScreening.hint({ orderId, source: 'webhook' });
    expect(signals()).toHaveLength(2);
    temporal.signal.mockRejectedValueOnce(unavailable);
    expect(await orderScreening.close()).toEqual({ unsent: 1 });
    expect(signals()).toHaveLength(4);
  });
});

describe('rechecks', () => {
  it('have the spacing of hints, and wait for no hint', async () => {
    const { orderScreening, signals } = aClient();
    await orderScreening.hint({ orderId: 'order-1', source: 'webhook' });
    for (const _time of [1, 2, 3]) {
      expect(await orderScreening.recheck({ orderId: 'order-1' })).toEqual({ status: 'requested' });
    }
    expect(signals().map(({ name }) => name)).toEqual(['reviewHint', 'recheck']);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(signals().map(({ name }) => name)).toEqual(['reviewHint', 'recheck', 'recheck']);
  });
});
