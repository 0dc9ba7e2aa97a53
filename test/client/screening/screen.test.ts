import type { WithStartWorkflowOperation } from '@temporalio/client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readScreenRequest } from '../../../src/client/read-requests.ts';
import { PayloadCodecError } from '../../../src/codec/index.ts';
import type { ScreenOrderInput } from '../../../src/contract/messages.ts';
import type { OrderState } from '../../../src/contract/order/state.ts';
import { instant } from '../../../src/contract/words.ts';
import { anIntegration, finding } from '../../fixtures/integrations.ts';
import { aClosedOrder, CLOSED_TRANSACTION, sinceStart } from '../../fixtures/orders.ts';
import { aTransaction } from '../../fixtures/transactions.ts';
import { aCheckoutAnswer } from '../../server/api/fake-order-screening.ts';
import {
  aClient,
  aClientOf,
  alreadyStarted,
  described,
  failed,
  noAnswer,
  refused,
  sent,
  startedWith,
  taken,
} from '../fake-temporal.ts';

const request = { orderId: '#1001', transaction: aTransaction() };
const { fingerprint } = readScreenRequest(request, finding(anIntegration()));
const answer = aCheckoutAnswer({ fingerprint });

afterEach(() => void vi.useRealTimers());

/** What the first call sent: the update, and how it starts the order. */
function firstCall({ executeUpdateWithStart }: ReturnType<typeof aClient>['temporal']) {
  const [[, options]] = executeUpdateWithStart.mock.calls as unknown as [
    [
      unknown,
      { updateId: string; args: unknown[]; startWorkflowOperation: WithStartWorkflowOperation<never> },
    ],
  ];
  const { options: start, workflowTypeOrFunc } = options.startWorkflowOperation;
  const [input] = (start as unknown as { args: [ScreenOrderInput] }).args;
  return { ...options, start, input, type: workflowTypeOrFunc };
}

describe('the first attempt', () => {
  it('asks once more, by an id of its own, when others who sent different content may be meant by the refusal', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.executeUpdateWithStart
      .mockRejectedValueOnce(refused('attempt-mismatch'))
      .mockResolvedValueOnce(answer);
    expect(await orderScreening.screen(request)).toMatchObject({ decision: 'pass', action: 'proceed' });
    expect(temporal.executeUpdateWithStart.mock.calls[1]).toMatchObject([
      { name: 'decision' },
      { updateId: expect.not.stringContaining('decision') },
    ]);
    temporal.executeUpdateWithStart.mockRejectedValue(refused('attempt-mismatch'));
    await expect(orderScreening.screen(request)).rejects.toMatchObject({ code: 'attempt-mismatch' });
    expect(temporal.executeUpdateWithStart).toHaveBeenCalledTimes(4);
  });

  it('starts the order and asks for its decision in one call', async () => {
    vi.useFakeTimers({ now: Date.parse('2026-03-01T10:00:00Z'), toFake: ['Date'] });
    const { orderScreening, temporal } = aClient();
    temporal.executeUpdateWithStart.mockResolvedValue(answer);
    expect(await orderScreening.screen(request)).toMatchObject({ decision: 'pass', action: 'proceed' });
    const { updateId, args, start, input, type } = firstCall(temporal);
    expect({ updateId, args, type }).toEqual({
      updateId: 'decision-1',
      args: [{ type: 'decision', updateId: 'decision-1', body: { attempt: 1, fingerprint } }],
      type: 'screenOrder',
    });
    expect(start).toMatchObject({
      workflowId: 'order:default:1001',
      taskQueue: 'order-screening',
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      staticSummary: 'Order 1001, 125.5 USD, pre-acceptance',
    });
    const answerBy = '2026-03-01T10:00:09.000Z';
    expect(input).toMatchObject({ orderId: '1001', integration: 'default', fingerprint, answerBy });
    expect(input).not.toHaveProperty('workflow');
    const shown = (start.typedSearchAttributes as { key: { name: string }; value: unknown }[]).map(
      ({ key, value }) => [key.name, value],
    );
    expect(Object.fromEntries(shown)).toMatchObject({
      ScreeningPhase: 'screening',
      ScreeningIntegration: 'default',
      InvoiceNumber: ['1001'],
      OrderAmount: 125.5,
      NeedsAttention: false,
    });
  });

  it('keeps its summary within 200 bytes', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.executeUpdateWithStart.mockResolvedValue({ ...answer, fingerprint: undefined });
    await orderScreening.screen({ ...request, orderId: '注'.repeat(64) });
    const summary = String(firstCall(temporal).start.staticSummary);
    expect(Buffer.byteLength(summary)).toBe(200);
    expect(summary).toMatch(/^Order 注{64}, $/);
  });
});

it('whose answer these keys cannot decrypt has the action of the policy: the order may have been screened', async () => {
  const { orderScreening, temporal } = aClient({ whenUnavailable: 'proceed' });
  temporal.executeUpdateWithStart.mockRejectedValue(new PayloadCodecError('unknown-payload-key', 'k2'));
  const unreadable = { code: 'record-unreadable', details: { action: 'proceed', recorded: false } };
  await expect(orderScreening.screen(request)).rejects.toMatchObject(unreadable);
});

describe('without a worker', () => {
  function aClientWithoutWorker(settings: Parameters<typeof aClient>[0] = {}) {
    const client = aClientOf(undefined, 'RUNNING', {}, settings);
    client.temporal.executeUpdateWithStart.mockRejectedValue(noAnswer);
    return client;
  }

  const byAmount = [{ amountBelow: 100, action: 'proceed' } as const, { action: 'decline' } as const];
  const message = 'Please try another way to pay.';
  it.each([
    ['hold', {}, { action: 'hold', phase: 'screening' }],
    ['proceed', {}, { action: 'proceed', phase: 'screening' }],
    ['decline', {}, { action: 'decline', phase: 'declined', message }],
    ['decline', { workflow: 'post-acceptance' }, { action: 'hold', phase: 'screening' }],
    ['decline', { passive: true }, { action: 'proceed', phase: 'screening', wouldBe: 'decline' }],
    [byAmount, {}, { action: 'decline', phase: 'declined' }],
  ] as const)('policy %j with %j answers pending and %j', async (whenUnavailable, settings, expected) => {
    const { orderScreening } = aClientWithoutWorker({ whenUnavailable, ...settings });
    const pending = { decision: 'pending', reason: 'no-worker', ...expected };
    expect(await orderScreening.screen(request)).toMatchObject(pending);
  });

  it('an order that waits with another content is a mismatch: nobody would screen this one', async () => {
    const { orderScreening, temporal } = aClientWithoutWorker({ whenUnavailable: 'proceed' });
    temporal.fetchHistory.mockResolvedValue(startedWith({ fingerprint: 'another' }));
    await expect(orderScreening.screen(request)).rejects.toMatchObject({ code: 'attempt-mismatch' });
    temporal.fetchHistory.mockResolvedValue(startedWith({ fingerprint }));
    expect(await orderScreening.screen(request)).toMatchObject({ decision: 'pending', action: 'proceed' });
  });

  it('an order that only an adoption started is not pending: if the adoption is refused, nothing is screened', async () => {
    const { orderScreening, temporal } = aClientWithoutWorker({ whenUnavailable: 'proceed' });
    const adopt = { transactionId: CLOSED_TRANSACTION, screenedAt: sinceStart(0) };
    temporal.fetchHistory.mockResolvedValue(startedWith({ adopt }));
    const error = { code: 'temporal-unavailable', details: { action: 'proceed', recorded: false } };
    await expect(orderScreening.screen(request)).rejects.toMatchObject(error);
  });

  it('an order that policy skips is told so: the worker that comes later will say the same', async () => {
    const skip = [{ amountBelow: 500 }];
    const { orderScreening } = aClientWithoutWorker({ whenUnavailable: 'decline', skip });
    expect(await orderScreening.screen(request)).toEqual({
      orderId: '1001',
      integration: 'default',
      attempt: 1,
      decision: 'skipped',
      action: 'proceed',
      phase: 'decided',
    });
  });

  const startedTask = { pendingWorkflowTask: { state: 2 } };
  const afterTask = { historyLength: 4, pendingWorkflowTask: { state: 1 } };
  it.each([
    ['was not started', undefined],
    ['has a decision', described('RUNNING', { phase: 'review', decision: 'review' })],
    ['was declined', described('RUNNING', { phase: 'declined', decision: 'pending' })],
    ['is closed', described('COMPLETED', { phase: 'closed', decision: 'pass' })],
    ['a worker has just now, and may still answer otherwise', described('RUNNING', startedTask)],
    ['a worker may have answered before it died', described('RUNNING', afterTask)],
    ['a worker may still answer in time', described('RUNNING'), { answerBy: instant(Date.now() + 60_000) }],
  ])('an order that %s is not called pending', async (_case, seen, input: Partial<ScreenOrderInput> = {}) => {
    const { orderScreening, temporal } = aClient();
    temporal.executeUpdateWithStart.mockRejectedValue(noAnswer);
    temporal.fetchHistory.mockResolvedValue(startedWith(input));
    if (seen !== undefined) temporal.describe.mockResolvedValue(seen);
    await expect(orderScreening.screen(request)).rejects.toMatchObject({ code: 'temporal-unavailable' });
  });
});

describe('a later attempt', () => {
  it('is an update, and never called pending: nothing of it is recorded, or the order may answer otherwise', async () => {
    const { orderScreening, temporal } = aClientOf(undefined);
    temporal.startUpdate.mockRejectedValueOnce(noAnswer).mockResolvedValue(taken(noAnswer));
    for (const _time of [1, 2]) {
      await expect(orderScreening.screen({ ...request, attempt: 3 })).rejects.toMatchObject({
        code: 'temporal-unavailable',
      });
    }
    expect(sent(temporal.startUpdate)[0]).toMatchObject({
      name: 'retry',
      updateId: 'retry-3',
      args: [{ attempt: 3, answerBy: expect.stringMatching(/^\d{4}-.*Z$/) }],
    });
  });

  it.each([
    ['that it names', { workflow: 'post-acceptance' }, 'post-acceptance'],
    ['of the integration', {}, 'pre-acceptance'],
  ])('is sent with the workflow by which it was checked: the one %s', async (_case, named, workflow) => {
    const { orderScreening, temporal } = aClientOf(undefined);
    temporal.startUpdate.mockResolvedValue(taken({ ...answer, attempt: 2 }));
    await orderScreening.screen({ ...request, ...named, attempt: 2 });
    expect(sent(temporal.startUpdate)).toMatchObject([{ args: [{ attempt: 2, workflow }] }]);
  });

  it.each(['retry-out-of-turn', 'attempt-mismatch'] as const)(
    'asks once more, by an id of its own, when the id may have kept an old %s',
    async (code) => {
      const { orderScreening, temporal } = aClientOf(undefined);
      const third = { ...answer, attempt: 3 };
      temporal.startUpdate.mockResolvedValueOnce(taken(refused(code))).mockResolvedValueOnce(taken(third));
      expect(await orderScreening.screen({ ...request, attempt: 3 })).toMatchObject({ attempt: 3 });
      expect(sent(temporal.startUpdate)).toMatchObject([
        { updateId: 'retry-3' },
        {
          name: 'retry',
          updateId: expect.not.stringContaining('retry'),
          args: [{ attempt: 3, fingerprint }],
        },
      ]);
      temporal.startUpdate.mockRejectedValue(refused(code));
      await expect(orderScreening.screen({ ...request, attempt: 3 })).rejects.toMatchObject({ code });
      expect(temporal.startUpdate).toHaveBeenCalledTimes(4);
    },
  );
});

describe('an order whose start was refused', () => {
  const codes = [
    'unknown-integration',
    'invalid-request',
    'card-data-in-request',
    // Of a refused adoption.
    'unknown-transaction',
    'screening-service-unavailable',
  ] as const;
  it.each(codes)('with %s starts again, although its update id keeps the refusal', async (code) => {
    const { orderScreening, temporal } = aClientOf(undefined, 'FAILED');
    temporal.result.mockRejectedValue(failed(code));
    temporal.executeUpdateWithStart
      .mockRejectedValueOnce(refused(code))
      .mockRejectedValueOnce(alreadyStarted)
      .mockResolvedValueOnce(answer);
    expect(await orderScreening.screen(request)).toMatchObject({ decision: 'pass' });
    const asked = temporal.executeUpdateWithStart.mock.calls as unknown[][];
    expect(asked.map(([, options]) => options)).toMatchObject([
      { updateId: 'decision-1' },
      { updateId: expect.not.stringContaining('decision') },
      {
        updateId: expect.not.stringContaining('decision'),
        startWorkflowOperation: { options: { workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY' } },
      },
    ]);
  });

  it.each(codes)('with %s again after that gets the refusal', async (code) => {
    const { orderScreening, temporal } = aClientOf(undefined, 'FAILED');
    temporal.result.mockRejectedValue(failed(code));
    temporal.executeUpdateWithStart
      .mockRejectedValue(refused(code))
      .mockRejectedValueOnce(refused(code))
      .mockRejectedValueOnce(alreadyStarted);
    await expect(orderScreening.screen(request)).rejects.toMatchObject({ code });
    expect(temporal.executeUpdateWithStart).toHaveBeenCalledTimes(3);
  });
});

describe('an order that is closed', () => {
  function aClosedClient(record?: OrderState) {
    const client = aClientOf(record, 'COMPLETED');
    client.temporal.executeUpdateWithStart.mockRejectedValue(alreadyStarted);
    return client;
  }

  it('answers from its record when the content is the same, else it is a mismatch', async () => {
    const screen = (attempt: Parameters<typeof aClosedOrder>[0]) =>
      aClosedClient(aClosedOrder(attempt)).orderScreening.screen(request);
    expect(await screen({ fingerprint, answer })).toEqual({ ...answer, fingerprint: undefined });
    const other = screen({ fingerprint: 'another', answer });
    await expect(other).rejects.toMatchObject({ code: 'attempt-mismatch' });
    await expect(screen({ answer })).rejects.toMatchObject({ code: 'order-closed' });
  });

  it('and was adopted answers any content from its record', async () => {
    const adopted = { transactionId: CLOSED_TRANSACTION, screenedAt: sinceStart(0) };
    const { orderScreening } = aClosedClient(aClosedOrder({ answer }, { adopted }));
    const { fingerprint: _none, ...expected } = answer;
    expect(await orderScreening.screen(request)).toMatchObject(expected);
    const second = orderScreening.screen({ ...request, attempt: 2 });
    await expect(second).rejects.toMatchObject({ code: 'order-closed' });
  });

  it('because it was refused when it was started is no fault of a request that is right', async () => {
    const { orderScreening, temporal } = aClosedClient();
    const details = { errors: [{ path: 'x', message: 'must not' }] };
    temporal.result.mockRejectedValue(failed('card-data-in-request', details));
    await expect(orderScreening.screen(request)).rejects.toMatchObject({ code: 'order-closed', details: {} });
  });
});
