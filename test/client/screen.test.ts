import {
  type WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { RetryState } from '@temporalio/common';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CardStashError, createCardStash } from '../../src/cards/index.ts';
import { readScreenRequest } from '../../src/client/read-requests.ts';
import type { ScreenOrderInput } from '../../src/contract/messages.ts';
import { aCheckoutAnswer } from '../api/fake-order-screening.ts';
import { aClosedOrder } from '../fixtures/orders.ts';
import { aPreGatewayTransaction, aTransaction, TEST_CARD } from '../fixtures/transactions.ts';
import { aClient, described, refused, startedWith } from './fake-temporal.ts';

const request = { orderId: '#1001', transaction: aTransaction() };
const noAnswer = new WorkflowUpdateRPCTimeoutOrCancelledError('deadline exceeded');
const alreadyClosed = new WorkflowExecutionAlreadyStartedError('closed', 'order:default:1001', 'screenOrder');

afterEach(() => {
  vi.useRealTimers();
});

function sent(temporal: ReturnType<typeof aClient>['temporal']) {
  const [, options] = temporal.executeUpdateWithStart.mock.calls[0] as unknown as [
    unknown,
    { updateId: string; args: unknown[]; startWorkflowOperation: WithStartWorkflowOperation<never> },
  ];
  const { options: start, workflowTypeOrFunc } = options.startWorkflowOperation;
  const [input] = (start as unknown as { args: [ScreenOrderInput] }).args;
  return { ...options, start, input, type: workflowTypeOrFunc };
}

describe('the first attempt', () => {
  it('starts the order and asks for its decision in one call', async () => {
    vi.useFakeTimers({ now: Date.parse('2026-03-01T10:00:00Z'), toFake: ['Date'] });
    const { orderScreening, temporal, integration } = aClient();
    const { fingerprint } = readScreenRequest(request, () => integration);
    temporal.executeUpdateWithStart.mockResolvedValue(aCheckoutAnswer({ fingerprint }));
    expect(await orderScreening.screen(request)).toMatchObject({ decision: 'pass', action: 'proceed' });
    const { updateId, args, start, input, type } = sent(temporal);
    expect({ updateId, args, type }).toEqual({
      updateId: 'decision-1',
      args: [{ attempt: 1, fingerprint }],
      type: 'screenOrder',
    });
    expect(start).toMatchObject({
      workflowId: 'order:default:1001',
      taskQueue: 'order-screening',
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      staticSummary: 'Order 1001, 125.5 USD, pre-acceptance',
    });
    expect(input).toMatchObject({
      orderId: '1001',
      integration: 'default',
      fingerprint,
      answerBy: '2026-03-01T10:00:09.000Z',
    });
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

  it('starts nothing when the request has faults', async () => {
    const { orderScreening, temporal } = aClient();
    const screening = orderScreening.screen({ ...request, transaction: {} });
    await expect(screening).rejects.toMatchObject({ code: 'invalid-request' });
    expect(temporal.executeUpdateWithStart).not.toHaveBeenCalled();
  });

  it('puts full card data in the stash and sends its name alone', async () => {
    const cards = createCardStash('memory:');
    const { orderScreening, temporal } = aClient({ workflow: 'pre-gateway' }, cards);
    const decision = 'pending';
    temporal.executeUpdateWithStart.mockResolvedValue(
      aCheckoutAnswer({ decision, fingerprint: undefined as never }),
    );
    await orderScreening.screen({ orderId: '1', transaction: aPreGatewayTransaction() });
    const { input } = sent(temporal);
    const cardRef = input.cardRef ?? '';
    expect(await cards.get({ integration: 'default', orderId: '1', cardRef })).toEqual(TEST_CARD);
    expect(JSON.stringify(input)).not.toContain(TEST_CARD.cardNumber);
  });

  it('with another content than the first time is a mismatch, and its card is forgotten', async () => {
    const cards = createCardStash('memory:');
    const forget = vi.spyOn(cards, 'forget');
    const { orderScreening, temporal } = aClient({ workflow: 'pre-gateway' }, cards);
    temporal.executeUpdateWithStart.mockResolvedValue(aCheckoutAnswer({ fingerprint: 'another' }));
    const screening = orderScreening.screen({ orderId: '1', transaction: aPreGatewayTransaction() });
    await expect(screening).rejects.toMatchObject({ code: 'attempt-mismatch' });
    expect(forget).toHaveBeenCalledWith(sent(temporal).input.cardRef);
  });

  it('that may be sent again keeps its card: an earlier try may have been taken', async () => {
    const cards = createCardStash('memory:');
    const forget = vi.spyOn(cards, 'forget');
    const { orderScreening, temporal } = aClient({ workflow: 'pre-gateway' }, cards);
    temporal.executeUpdateWithStart.mockRejectedValue(refused('busy'));
    const screening = orderScreening.screen({ orderId: '1', transaction: aPreGatewayTransaction() });
    await expect(screening).rejects.toMatchObject({ code: 'busy' });
    expect(forget).not.toHaveBeenCalled();
  });

  it('and its card are not sent while the card stash is unreachable, and may be sent again', async () => {
    const put = vi.fn().mockRejectedValue(new CardStashError('unreachable', 'The card stash did not answer'));
    const cards = { ...createCardStash('memory:'), put };
    const { orderScreening, temporal } = aClient({ workflow: 'pre-gateway' }, cards);
    const unavailable = { code: 'card-stash-unavailable', message: expect.stringContaining('send the same') };
    const screening = orderScreening.screen({ orderId: '1', transaction: aPreGatewayTransaction() });
    await expect(screening).rejects.toMatchObject(unavailable);
    await expect(orderScreening.putCard({ orderId: '1', ...TEST_CARD })).rejects.toMatchObject(unavailable);
    expect(temporal.executeUpdateWithStart).not.toHaveBeenCalled();
  });

  it('that is refused says so, although its card could not be forgotten', async () => {
    const forget = vi
      .fn()
      .mockRejectedValue(new CardStashError('unreachable', 'The card stash did not answer'));
    const cards = { ...createCardStash('memory:'), forget };
    const { orderScreening, temporal } = aClient({ workflow: 'pre-gateway' }, cards);
    temporal.executeUpdateWithStart.mockRejectedValue(refused('order-closed'));
    const screening = orderScreening.screen({ orderId: '1', transaction: aPreGatewayTransaction() });
    await expect(screening).rejects.toMatchObject({ code: 'order-closed' });
    expect(forget).toHaveBeenCalledOnce();
  });

  it("that the order refuses is the order's own error, with its details", async () => {
    const { orderScreening, temporal } = aClient();
    const details = { errors: [{ path: 'transaction.x', message: 'must be y' }] };
    temporal.executeUpdateWithStart.mockRejectedValue(refused('card-data-in-request', details));
    const screening = orderScreening.screen(request);
    await expect(screening).rejects.toMatchObject({
      code: 'card-data-in-request',
      message: 'In words.',
      details,
    });
  });

  it('keeps its summary within 200 bytes', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.executeUpdateWithStart.mockResolvedValue(aCheckoutAnswer({ fingerprint: undefined as never }));
    await orderScreening.screen({ ...request, orderId: '注'.repeat(64) });
    const summary = String(sent(temporal).start.staticSummary);
    expect(Buffer.byteLength(summary)).toBe(200);
    expect(summary).toMatch(/^Order 注{64}, $/);
  });
});

describe('without a worker', () => {
  it.each([
    ['hold', {}, { action: 'hold', phase: 'screening' }],
    ['proceed', {}, { action: 'proceed', phase: 'screening' }],
    ['decline', {}, { action: 'decline', phase: 'declined', message: 'Please try another way to pay.' }],
    ['decline', { workflow: 'post-acceptance' }, { action: 'hold', phase: 'screening' }],
    ['decline', { passive: true }, { action: 'proceed', phase: 'screening', wouldBe: 'decline' }],
    [
      [{ amountBelow: 100, action: 'proceed' }, { action: 'decline' }],
      {},
      { action: 'decline', phase: 'declined' },
    ],
  ] as const)('policy %j with %j answers pending and %j', async (whenUnavailable, settings, answer) => {
    const rules =
      typeof whenUnavailable === 'string' ? whenUnavailable : whenUnavailable.map((rule) => ({ ...rule }));
    const { orderScreening, temporal } = aClient({ whenUnavailable: rules, ...settings });
    temporal.executeUpdateWithStart.mockRejectedValue(noAnswer);
    temporal.describe.mockResolvedValue(described('RUNNING'));
    expect(await orderScreening.screen(request)).toMatchObject({
      decision: 'pending',
      reason: 'no-worker',
      ...answer,
    });
  });

  it('an order that waits with another content is a mismatch: nobody would screen this one', async () => {
    const { orderScreening, temporal, integration } = aClient({ whenUnavailable: 'proceed' });
    const { fingerprint } = readScreenRequest(request, () => integration);
    temporal.executeUpdateWithStart.mockRejectedValue(noAnswer);
    temporal.describe.mockResolvedValue(described('RUNNING'));
    temporal.fetchHistory.mockResolvedValue(startedWith({ fingerprint: 'another' }));
    await expect(orderScreening.screen(request)).rejects.toMatchObject({ code: 'attempt-mismatch' });
    temporal.fetchHistory.mockResolvedValue(startedWith({ fingerprint }));
    expect(await orderScreening.screen(request)).toMatchObject({ decision: 'pending', action: 'proceed' });
  });

  it('an order that policy skips is told so: the worker that comes later will say the same', async () => {
    const { orderScreening, temporal } = aClient({
      whenUnavailable: 'decline',
      skip: [{ amountBelow: 500 }],
    });
    temporal.executeUpdateWithStart.mockRejectedValue(noAnswer);
    temporal.describe.mockResolvedValue(described('RUNNING'));
    const answer = await orderScreening.screen(request);
    expect(answer).toMatchObject({ decision: 'skipped', action: 'proceed', phase: 'decided' });
    expect(answer).not.toHaveProperty('message');
    expect(answer).not.toHaveProperty('reason');
  });

  it.each([
    ['was not started', undefined],
    ['has a decision', described('RUNNING', 'review', 'review')],
    ['was declined', described('RUNNING', 'declined', 'pending')],
    ['is closed', described('COMPLETED', 'closed', 'pass')],
    [
      'a worker has just now, and may still answer otherwise',
      { ...described('RUNNING'), raw: { pendingWorkflowTask: { state: 2 } } },
    ],
    [
      'a worker may have answered before it died',
      { ...described('RUNNING'), raw: { pendingWorkflowTask: { state: 1 } }, historyLength: 4 },
    ],
  ])('an order that %s is not called pending', async (_case, description) => {
    const { orderScreening, temporal } = aClient();
    temporal.executeUpdateWithStart.mockRejectedValue(noAnswer);
    if (description !== undefined) temporal.describe.mockResolvedValue(description);
    await expect(orderScreening.screen(request)).rejects.toMatchObject({ code: 'temporal-unavailable' });
  });

  it('a later attempt that no worker took is not called pending: nothing of it is recorded', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.startUpdate.mockRejectedValue(noAnswer);
    temporal.describe.mockResolvedValue(described('RUNNING'));
    const retrying = orderScreening.retry({ ...request, attempt: 2 });
    await expect(retrying).rejects.toMatchObject({ code: 'temporal-unavailable' });
  });
});

describe('a later attempt', () => {
  it('is sent as an update of its own, and is not called pending: the order may still answer otherwise', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.startUpdate.mockResolvedValue({ result: () => Promise.reject(noAnswer) });
    temporal.describe.mockResolvedValue(described('RUNNING'));
    await expect(orderScreening.screen({ ...request, attempt: 3 })).rejects.toMatchObject({
      code: 'temporal-unavailable',
    });
    const [definition, options] = temporal.startUpdate.mock.calls[0] as unknown as [
      { name: string },
      { updateId: string },
    ];
    expect(definition.name).toBe('retry');
    expect(options.updateId).toBe('retry-3');
  });

  it('of an unknown order is unknown-order', async () => {
    const { orderScreening } = aClient();
    await expect(orderScreening.screen({ ...request, attempt: 2 })).rejects.toMatchObject({
      code: 'unknown-order',
    });
  });
});

describe('an order that is closed', () => {
  it('answers from its record when the content is the same, else it is a mismatch', async () => {
    const { orderScreening, temporal, integration } = aClient();
    const { fingerprint } = readScreenRequest(request, () => integration);
    temporal.executeUpdateWithStart.mockRejectedValue(alreadyClosed);
    temporal.describe.mockResolvedValue(described('COMPLETED'));
    const answer = aCheckoutAnswer({ fingerprint });
    temporal.result.mockResolvedValue(aClosedOrder({ fingerprint, answer }));
    expect(await orderScreening.screen(request)).toEqual(answer);
    temporal.result.mockResolvedValue(aClosedOrder({ fingerprint: 'another', answer: aCheckoutAnswer() }));
    await expect(orderScreening.screen(request)).rejects.toMatchObject({ code: 'attempt-mismatch' });
    temporal.result.mockResolvedValue(aClosedOrder({ answer: aCheckoutAnswer() }));
    await expect(orderScreening.screen(request)).rejects.toMatchObject({ code: 'order-closed' });
  });

  it('because it was refused when it was started is no fault of a request that is right', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.executeUpdateWithStart.mockRejectedValue(alreadyClosed);
    temporal.describe.mockResolvedValue(described('COMPLETED'));
    const { cause } = refused('card-data-in-request', { errors: [{ path: 'x', message: 'must not' }] });
    temporal.result.mockRejectedValue(
      new WorkflowFailedError('refused', cause, RetryState.NON_RETRYABLE_FAILURE),
    );
    await expect(orderScreening.screen(request)).rejects.toMatchObject({
      code: 'order-closed',
      details: {},
    });
  });
});
