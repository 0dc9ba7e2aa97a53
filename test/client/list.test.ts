import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { ServiceError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { queryOf } from '../../src/client/list-orders.ts';
import type { ListRequest } from '../../src/client/types.ts';
import { orderOfWorkflowId } from '../../src/orders/ids.ts';
import { aClient } from './fake-temporal.ts';

const unavailable = new ServiceError('Failed', {
  cause: Object.assign(new Error('grpc'), { code: 14, details: 'grpc', metadata: {} }),
});

describe('a list of orders', () => {
  it('asks visibility by every filter, and quotes what it is given', () => {
    expect(queryOf({ integration: "a' OR 'b\\", phase: 'review', decision: 'pass', attention: true })).toBe(
      "WorkflowType = 'screenOrder' AND ExecutionStatus != 'ContinuedAsNew' AND " +
        "ScreeningIntegration = 'a\\' OR \\'b\\\\' AND ScreeningPhase = 'review' AND " +
        "ScreeningDecision = 'pass' AND NeedsAttention = true",
    );
  });

  it.each<[ListRequest, string]>([
    [{ queued: true, open: true }, "ExecutionStatus = 'Running'"],
    [{ queued: true }, "(ScreeningPhase = 'review' OR NeedsAttention = true)"],
    [{ integrations: ['shop', "b's"] }, "(ScreeningIntegration = 'shop' OR ScreeningIntegration = 'b\\'s')"],
    [{ open: false }, "ExecutionStatus != 'Running'"],
    [{ cancelBy: 'none' }, 'CancelBy IS NULL'],
    [{ cancelBy: { from: 'a', until: 'b' } }, "CancelBy >= 'a' AND CancelBy < 'b' AND CancelBy IS NOT NULL"],
    [{ amount: { from: 10.5, until: 20 } }, 'OrderAmount >= 10.5 AND OrderAmount < 20'],
    [{ amount: { from: 0 } }, 'OrderAmount >= 0'],
    [{ started: { until: 'b' } }, "StartTime < 'b'"],
    [
      { find: "#I'ABC" },
      "((WorkflowId = 'order:default:I\\'ABC') OR InvoiceNumber = '#I\\'ABC' OR InvoiceNumber = 'I\\'ABC' OR TransactionId = '#i\\'abc')",
    ],
    [{ find: 'X', integration: 'shop' }, "((WorkflowId = 'order:shop:X') OR InvoiceNumber = 'X'"],
    [{ find: 'X', integrations: ['a', 'b'] }, "(WorkflowId = 'order:a:X' OR WorkflowId = 'order:b:X')"],
  ])('of %o asks visibility for %s', (request, condition) => {
    expect(queryOf(request)).toContain(condition);
  });

  it.each<[unknown, string]>([
    [{ started: { from: '2026-11-01' } }, 'started.from'],
    [{ cancelBy: { until: 'soon' } }, 'cancelBy.until'],
    [{ amount: { from: Number.NaN } }, 'amount.from'],
    [{ amount: { until: "1 OR ScreeningPhase = 'review'" } }, 'amount.until'],
    [{ attention: "true OR ScreeningPhase = 'review'" }, 'attention'],
    [{ integrations: 'shop' }, 'integrations'],
    [{ phase: 'canary' }, 'phase'],
    [{ limit: -1 }, 'limit'],
    [{ limit: 5_000 }, 'limit'],
  ])('is refused with the path, and asked of nobody: %o', async (wrong, path) => {
    const { orderScreening, temporal } = aClient();
    const refused = { code: 'invalid-request', details: { errors: [{ path }] } };
    await expect(orderScreening.list(wrong as ListRequest)).rejects.toMatchObject(refused);
    await expect(orderScreening.count(wrong as ListRequest)).rejects.toMatchObject(refused);
    expect(temporal.listWorkflowExecutions).not.toHaveBeenCalled();
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

  it('goes on in another process of the namespace, and in none of another', async () => {
    const [here, there, elsewhere] = [aClient(), aClient(), aClient()];
    const nextPageToken = Buffer.from('token');
    for (const { temporal } of [here, there, elsewhere]) {
      temporal.listWorkflowExecutions.mockResolvedValue({ executions: [], nextPageToken });
    }
    elsewhere.temporal.describeNamespace.mockResolvedValue({ namespaceInfo: { id: randomUUID() } });
    const { cursor } = await here.orderScreening.list();
    await expect(there.orderScreening.list({ cursor })).resolves.toEqual({ orders: [], cursor });
    await expect(elsewhere.orderScreening.list({ cursor })).rejects.toMatchObject({
      code: 'invalid-request',
    });
    expect(here.temporal.describeNamespace).toHaveBeenCalledOnce();
  });

  it('takes no cursor that a caller made: not of another answer’s token, nor with a check of its own', async () => {
    const { orderScreening, temporal } = aClient();
    const token = Buffer.from('{"RunID":"made up"}');
    const hashes = [createHash('sha256').update(queryOf({})).update(token).digest(), randomBytes(32)];
    const made = [8, 16, 32].flatMap((bytes) =>
      hashes.map((hash) => Buffer.concat([hash.subarray(0, bytes), token])),
    );
    for (const cursor of [Buffer.alloc(0), Buffer.alloc(16), token, ...made]) {
      const asked = orderScreening.list({ cursor: cursor.toString('base64url') });
      await expect(asked).rejects.toMatchObject({ code: 'invalid-request' });
    }
    expect(temporal.listWorkflowExecutions).not.toHaveBeenCalled();
  });

  it('asks again for what makes its cursors when Temporal did not answer', async () => {
    const { orderScreening, temporal } = aClient();
    const nextPageToken = Buffer.from('token');
    temporal.listWorkflowExecutions.mockResolvedValue({ executions: [], nextPageToken });
    temporal.describeNamespace.mockRejectedValueOnce(unavailable);
    await expect(orderScreening.list()).rejects.toMatchObject({ code: 'temporal-unavailable' });
    expect(await orderScreening.list()).toMatchObject({ cursor: expect.any(String) });
  });

  it('reads the order from its workflow id', () => {
    expect(orderOfWorkflowId('order:default:a:b')).toEqual({ integration: 'default', orderId: 'a:b' });
    expect(orderOfWorkflowId('portal:default:cancel:1')).toBeUndefined();
  });
});
