import {
  ServiceError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, NamespaceNotFoundError, RetryState } from '@temporalio/common';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { queryOf } from '../../src/client/read-orders.ts';
import { within } from '../../src/client/temporal-errors.ts';
import { orderOfWorkflowId } from '../../src/orders/ids.ts';
import type { GatewayResultAnswer } from '../../src/orders/messages.ts';
import { aClient, aClosedOrder, CLOSED_TRANSACTION, described, refused } from './fake-temporal.ts';

const order = { orderId: 'order-1' };
const closed = new WorkflowNotFoundError('completed', 'order', undefined);
const noAnswer = new WorkflowUpdateRPCTimeoutOrCancelledError('deadline exceeded');
const unavailable = new ServiceError('Failed', { cause: grpcError(14) });

function grpcError(code: number): Error {
  return Object.assign(new Error('grpc'), { code, details: 'grpc', metadata: {} });
}

afterEach(() => {
  vi.useRealTimers();
});

describe('reading an order', () => {
  it('asks an open one by query, and a closed one for its result', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockResolvedValue(described('RUNNING'));
    temporal.query.mockResolvedValue(aClosedOrder({}, { phase: 'review' }));
    expect(await orderScreening.get(order)).toMatchObject({ phase: 'review' });
    temporal.describe.mockResolvedValue(described('COMPLETED'));
    temporal.query.mockRejectedValue(new Error('no worker'));
    temporal.result.mockResolvedValue(aClosedOrder());
    expect(await orderScreening.get(order)).toMatchObject({ phase: 'closed' });
  });

  it.each([
    [ApplicationFailure.create({ type: 'card-data-in-request', message: 'x' }), 'card-data-in-request'],
    [undefined, 'order-closed'],
  ])('whose workflow ended with %s is %s', async (cause, code) => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockResolvedValue(described('COMPLETED'));
    temporal.result.mockRejectedValue(
      new WorkflowFailedError('failed', cause, RetryState.NON_RETRYABLE_FAILURE),
    );
    await expect(orderScreening.get(order)).rejects.toMatchObject({ code });
  });

  it.each([unavailable, grpcError(4), grpcError(1)])('is temporal-unavailable on %s', async (error) => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockRejectedValue(error);
    await expect(orderScreening.get(order)).rejects.toMatchObject({ code: 'temporal-unavailable' });
    temporal.describeNamespace.mockRejectedValue(error);
    await expect(orderScreening.ping()).rejects.toMatchObject({ code: 'temporal-unavailable' });
  });

  it('is temporal-unavailable, in words of its own, when Temporal doesn’t know the namespace', async () => {
    const { orderScreening, temporal } = aClient();
    const words = { code: 'temporal-unavailable', message: expect.stringContaining('TEMPORAL_NAMESPACE') };
    temporal.describe.mockRejectedValue(new NamespaceNotFoundError('typo'));
    await expect(orderScreening.get(order)).rejects.toMatchObject(words);
    temporal.listWorkflowExecutions.mockRejectedValue(grpcError(5));
    await expect(orderScreening.list()).rejects.toMatchObject(words);
  });

  it('is no such error when the request itself was wrong', async () => {
    const { orderScreening, temporal } = aClient();
    const wrong = new ServiceError('Failed', { cause: grpcError(3) });
    temporal.describe.mockRejectedValue(wrong);
    await expect(orderScreening.get(order)).rejects.toBe(wrong);
  });
});

describe('a gateway result', () => {
  const answer = (result: GatewayResultAnswer['result']) => ({ result, action: 'proceed' });
  const sentIds = ({ temporal }: ReturnType<typeof aClient>) =>
    (temporal.executeUpdate.mock.calls as unknown as [unknown, { updateId: string }][]).map(
      ([, { updateId }]) => updateId,
    );

  it('is sent under the id of its attempt', async () => {
    const client = aClient();
    client.temporal.executeUpdate.mockResolvedValue(answer('pass'));
    await client.orderScreening.recordGatewayResult(order, { attempt: 2, result: 'pass' });
    expect(sentIds(client)).toEqual(['gateway-2']);
  });

  it('without an attempt is for the only one, and refused when there are several', async () => {
    const client = aClient();
    client.temporal.describe.mockResolvedValue(described('RUNNING'));
    client.temporal.query.mockResolvedValue(aClosedOrder());
    client.temporal.executeUpdate.mockResolvedValue(answer('pass'));
    await client.orderScreening.recordGatewayResult(order, { result: 'pass' });
    expect(sentIds(client)).toEqual(['gateway-1']);
    const [attempt] = aClosedOrder().attempts;
    client.temporal.query.mockResolvedValue({ attempts: [attempt, attempt] });
    const sending = client.orderScreening.recordGatewayResult(order, { result: 'pass' });
    await expect(sending).rejects.toMatchObject({ code: 'attempt-required' });
  });

  it('that differs from the recorded one is a mismatch', async () => {
    const client = aClient();
    client.temporal.executeUpdate.mockResolvedValue(answer('fail'));
    const sending = client.orderScreening.recordGatewayResult(order, { attempt: 1, result: 'pass' });
    await expect(sending).rejects.toMatchObject({ code: 'gateway-result-mismatch' });
    expect(sentIds(client)).toEqual(['gateway-1']);
  });

  it('replaces a recorded error under an id of its own', async () => {
    const client = aClient();
    client.temporal.executeUpdate.mockResolvedValueOnce(answer('error')).mockResolvedValue(answer('pass'));
    const sending = client.orderScreening.recordGatewayResult(order, { attempt: 1, result: 'pass' });
    expect(await sending).toMatchObject({ result: 'pass' });
    expect(sentIds(client)).toEqual(['gateway-1', 'gateway-1-after-error']);
  });
});

describe('what a closed order takes no more', () => {
  it.each([
    ['a gateway result', 'recordGatewayResult', { attempt: 1, result: 'pass' }],
    ['an acknowledgement', 'acknowledge', { reason: 'x' }],
    ['a recheck', 'recheck', undefined],
  ] as const)('%s is order-closed, and of an unknown order unknown-order', async (_what, method, request) => {
    const { orderScreening, temporal } = aClient();
    const send = orderScreening[method] as (...args: unknown[]) => Promise<unknown>;
    await expect(send(order, request)).rejects.toMatchObject({ code: 'unknown-order' });
    temporal.describe.mockResolvedValue(described('COMPLETED'));
    temporal.result.mockResolvedValue(aClosedOrder());
    await expect(send(order, request)).rejects.toMatchObject({ code: 'order-closed' });
  });
});

describe('a hint', () => {
  const hint = { orderId: '#order-1', transactionId: CLOSED_TRANSACTION, source: 'webhook' };
  const page = {
    executions: [{ execution: { workflowId: 'order:default:other' } }],
    nextPageToken: new Uint8Array(),
  };

  it('goes to the order of its invoice number as an update', async () => {
    const { orderScreening, temporal, handles } = aClient();
    temporal.executeUpdate.mockResolvedValue({ accepted: true });
    expect(await orderScreening.hint({ ...hint, decision: 'fail' })).toEqual({ outcome: 'accepted' });
    expect(handles).toEqual(['order:default:order-1']);
    const [, options] = temporal.executeUpdate.mock.calls[0] as unknown as [unknown, { args: unknown[] }];
    expect(options.args).toEqual([
      {
        source: 'webhook',
        transactionId: CLOSED_TRANSACTION,
        decision: 'fail',
        receivedAt: expect.any(String),
      },
    ]);
  });

  it('that the order refuses as one too many is accepted', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.executeUpdate.mockRejectedValue(refused('hint-not-needed'));
    expect(await orderScreening.hint(hint)).toEqual({ outcome: 'accepted' });
    expect(temporal.signal).not.toHaveBeenCalled();
  });

  it('is found by transaction id when no order has the invoice number', async () => {
    const { orderScreening, temporal, handles } = aClient();
    temporal.executeUpdate.mockRejectedValueOnce(closed).mockResolvedValue({ accepted: true });
    temporal.listWorkflowExecutions.mockResolvedValue(page);
    expect(await orderScreening.hint(hint)).toEqual({ outcome: 'accepted' });
    expect(handles).toEqual(['order:default:order-1', 'order:default:other']);
    const [{ query }] = temporal.listWorkflowExecutions.mock.calls[0] as unknown as [{ query: string }];
    expect(query).toContain(`TransactionId = '${CLOSED_TRANSACTION}'`);
    expect(query).toContain("ScreeningIntegration = 'default'");
  });

  it('is looked for again after 3 s before it is called unknown', async () => {
    vi.useFakeTimers();
    const { orderScreening, temporal } = aClient();
    const sending = orderScreening.hint(hint);
    await vi.advanceTimersByTimeAsync(2_999);
    expect(temporal.listWorkflowExecutions).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await sending).toEqual({ outcome: 'unknown' });
    expect(temporal.listWorkflowExecutions).toHaveBeenCalledTimes(2);
  });

  it('is left as a signal when no worker answers, once an order and minute', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { orderScreening, temporal } = aClient();
    temporal.executeUpdate.mockRejectedValue(noAnswer);
    temporal.signal.mockResolvedValue(undefined);
    for (const _time of [1, 2]) expect(await orderScreening.hint(hint)).toEqual({ outcome: 'accepted' });
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

describe('a list of orders', () => {
  it('asks visibility by every filter, and quotes what it is given', () => {
    expect(queryOf({ integration: "a' OR 'b\\", phase: 'review', decision: 'pass', attention: true })).toBe(
      "WorkflowType = 'screenOrder' AND ExecutionStatus != 'ContinuedAsNew' AND " +
        "ScreeningIntegration = 'a\\' OR \\'b\\\\' AND ScreeningPhase = 'review' AND " +
        "ScreeningDecision = 'pass' AND NeedsAttention = true",
    );
  });

  it('goes on from its cursor, with the same filters only', async () => {
    const { orderScreening, temporal } = aClient();
    const nextPageToken = Buffer.from('token');
    temporal.listWorkflowExecutions.mockResolvedValue({ executions: [], nextPageToken });
    const { cursor } = await orderScreening.list({ phase: 'review' });
    await orderScreening.list({ phase: 'review', cursor });
    expect(temporal.listWorkflowExecutions).toHaveBeenLastCalledWith(
      expect.objectContaining({ nextPageToken }),
    );
    for (const wrong of [
      { cursor },
      { phase: 'review', cursor: 'abc' },
      { phase: 'review', cursor: '' },
    ] as const) {
      await expect(orderScreening.list(wrong)).rejects.toMatchObject({
        code: 'invalid-request',
        details: { errors: [{ path: 'cursor' }] },
      });
    }
  });

  it('reads the order from its workflow id', () => {
    expect(orderOfWorkflowId('order:default:a:b')).toEqual({ integration: 'default', orderId: 'a:b' });
    expect(orderOfWorkflowId('portal:default:cancel:1')).toBeUndefined();
  });
});

it('no call to Temporal outlasts its deadline, though the connection goes on trying', async () => {
  vi.useFakeTimers();
  const { temporal } = aClient();
  const client = { withDeadline: (_deadline: number, call: () => Promise<unknown>) => call() } as never;
  const call = within(client, Date.now() + 1_000, () => new Promise(() => temporal));
  const outcome = expect(call).rejects.toMatchObject({ name: 'DeadlinePassed' });
  await vi.advanceTimersByTimeAsync(1_100);
  await outcome;
});
