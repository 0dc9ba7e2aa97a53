import {
  ServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { aClient, CLOSED_TRANSACTION, refused } from './fake-temporal.ts';

const closed = new WorkflowNotFoundError('completed', 'order', undefined);
const noAnswer = new WorkflowUpdateRPCTimeoutOrCancelledError('deadline exceeded');
const unavailable = new ServiceError('Failed', {
  cause: Object.assign(new Error('grpc'), { code: 14, details: 'grpc', metadata: {} }),
});

afterEach(() => {
  vi.useRealTimers();
});

describe('a hint', () => {
  const hint = { orderId: '#order-1', transactionId: CLOSED_TRANSACTION, source: 'webhook' };
  const page = {
    executions: [{ execution: { workflowId: 'order:default:other' } }],
    nextPageToken: new Uint8Array(),
  };

  it('is asked of the order of its invoice number, and sent to it as a signal when it is wanted', async () => {
    const { orderScreening, temporal, handles } = aClient();
    temporal.executeUpdate.mockRejectedValue(refused('hint-wanted'));
    temporal.signal.mockResolvedValue(undefined);
    for (const _time of [1, 2]) {
      expect(await orderScreening.hint({ ...hint, decision: 'fail' })).toEqual({ outcome: 'accepted' });
    }
    expect(new Set(handles)).toEqual(new Set(['order:default:order-1']));
    const sent = {
      source: 'webhook',
      transactionId: CLOSED_TRANSACTION,
      decision: 'fail',
      receivedAt: expect.any(String),
    };
    const [, options] = temporal.executeUpdate.mock.calls[0] as unknown as [unknown, { args: unknown[] }];
    expect(options.args).toEqual([sent]);
    expect(temporal.signal).toHaveBeenCalledTimes(2);
    expect(temporal.signal).toHaveBeenCalledWith(expect.objectContaining({ name: 'reviewHint' }), sent);
  });

  it('keeps nothing of it that is card data, and is not refused for that', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.executeUpdate.mockRejectedValue(refused('hint-wanted'));
    temporal.signal.mockResolvedValue(undefined);
    const disguised = {
      transactionId: '4111 1111 1111 1111',
      decision: '5555 5555 5555 4444',
    };
    expect(await orderScreening.hint({ ...hint, ...disguised })).toEqual({ outcome: 'accepted' });
    expect(JSON.stringify([temporal.executeUpdate.mock.calls, temporal.signal.mock.calls])).not.toMatch(
      /4111|5555/,
    );
  });

  it('is unknown when the order ends before the signal comes', async () => {
    vi.useFakeTimers();
    const { orderScreening, temporal } = aClient();
    temporal.executeUpdate.mockRejectedValue(refused('hint-wanted'));
    temporal.signal.mockRejectedValue(closed);
    const { transactionId: _none, ...named } = hint;
    expect(await orderScreening.hint(named)).toEqual({ outcome: 'unknown' });
  });

  it('that the order refuses as one too many is accepted', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.executeUpdate.mockRejectedValue(refused('hint-not-needed'));
    expect(await orderScreening.hint(hint)).toEqual({ outcome: 'accepted' });
    expect(temporal.signal).not.toHaveBeenCalled();
  });

  it('goes to the order that owns its transaction, in whatever case, though another order has the invoice number as its id', async () => {
    const { orderScreening, temporal, handles } = aClient();
    temporal.executeUpdate.mockResolvedValue({ accepted: true });
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
    temporal.executeUpdate.mockRejectedValueOnce(closed).mockResolvedValue({ accepted: true });
    temporal.listWorkflowExecutions.mockResolvedValue(page);
    const { transactionId: _none, ...named } = hint;
    expect(await orderScreening.hint(named)).toEqual({ outcome: 'accepted' });
    expect(handles).toEqual(['order:default:other', 'order:default:order-1']);
    const [{ query }] = temporal.listWorkflowExecutions.mock.calls[0] as unknown as [{ query: string }];
    expect(query).toContain("InvoiceNumber = 'order-1'");
  });

  it('arrives by the order’s id when the list of orders cannot be asked', async () => {
    const { orderScreening, temporal, handles } = aClient();
    temporal.executeUpdate.mockResolvedValue({ accepted: true });
    temporal.listWorkflowExecutions.mockRejectedValue(unavailable);
    expect(await orderScreening.hint(hint)).toEqual({ outcome: 'accepted' });
    expect(handles).toEqual(['order:default:order-1']);
  });

  it('is looked for again after 3 s before it is called unknown', async () => {
    vi.useFakeTimers();
    const { orderScreening, temporal } = aClient();
    const sending = orderScreening.hint(hint);
    await vi.advanceTimersByTimeAsync(2_999);
    expect(temporal.listWorkflowExecutions).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(await sending).toEqual({ outcome: 'unknown' });
    expect(temporal.listWorkflowExecutions).toHaveBeenCalledTimes(3);
  });

  it('is left as a signal when no worker answers, once per order and minute; a further one is refused', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { orderScreening, temporal } = aClient();
    temporal.executeUpdate.mockRejectedValue(noAnswer);
    temporal.signal.mockResolvedValue(undefined);
    expect(await orderScreening.hint(hint)).toEqual({ outcome: 'accepted' });
    await expect(orderScreening.hint(hint)).rejects.toMatchObject({ code: 'busy' });
    expect(temporal.signal).toHaveBeenCalledTimes(1);
    await orderScreening.hint({ ...hint, orderId: 'order-2' });
    expect(temporal.signal).toHaveBeenCalledTimes(2);
    vi.setSystemTime(Date.now() + 60_000);
    await orderScreening.hint(hint);
    expect(temporal.signal).toHaveBeenCalledTimes(3);
  });

  it('is temporal-unavailable when the signal fails too, and is signalled the next time', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.executeUpdate.mockRejectedValue(noAnswer);
    temporal.signal.mockRejectedValueOnce(unavailable).mockResolvedValue(undefined);
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
