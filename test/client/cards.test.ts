import { WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import { describe, expect, it, vi } from 'vitest';
import { type CardStash, createCardStash } from '../../src/cards/index.ts';
import { readScreenRequest } from '../../src/client/read-requests.ts';
import type { CheckoutRequest } from '../../src/contract/activity-contract.ts';
import { EarlyAnswers } from '../../src/starter.ts';
import { aCheckoutAnswer } from '../api/fake-order-screening.ts';
import { anIntegration, finding } from '../fixtures/integrations.ts';
import { answered, aPolicy, sinceStart } from '../fixtures/orders.ts';
import { aPreGatewayTransaction, aTransaction } from '../fixtures/transactions.ts';
import { aClient, described, refused } from './fake-temporal.ts';

const request = { orderId: '1', transaction: aPreGatewayTransaction() };
const preGateway = { workflow: 'pre-gateway' } as const;
const { fingerprint } = readScreenRequest(request, finding(anIntegration(preGateway)));
const answer = aCheckoutAnswer({ fingerprint });
const screening: CheckoutRequest = {
  orderId: '1',
  integration: 'default',
  transaction: {},
  invoiceNumber: '1',
  knownTransactionIds: [],
  startedAt: sinceStart(0),
  begun: sinceStart(0),
};
const moment = { began: sinceStart(0), at: sinceStart(0) };
const noAnswer = new WorkflowUpdateRPCTimeoutOrCancelledError('deadline exceeded');

/** A client with a stash that says which cards it holds. */
function aClientWithCards(earlyAnswers?: EarlyAnswers) {
  const stash = createCardStash('memory:');
  const held = new Set<string>();
  const cards: CardStash = {
    ...stash,
    put: vi.fn<CardStash['put']>(async (entry) => {
      const put = await stash.put(entry);
      held.add(put.cardRef);
      return put;
    }),
    forget: vi.fn<CardStash['forget']>(async (cardRef) => void held.delete(cardRef)),
  };
  return { cards, held, ...aClient(preGateway, cards, earlyAnswers) };
}

it('an order without card data isn’t asked for its answer before it is started', async () => {
  const { orderScreening, temporal } = aClient();
  temporal.executeUpdateWithStart.mockResolvedValue(aCheckoutAnswer({ fingerprint: undefined as never }));
  await orderScreening.screen({ orderId: '1', transaction: aTransaction() });
  expect(temporal.pollUpdate).not.toHaveBeenCalled();
});

describe('a card', () => {
  it.each([1, 2])('isn’t put in the stash for attempt %i when it is answered already', async (attempt) => {
    const { orderScreening, temporal, cards } = aClientWithCards();
    temporal.pollUpdate.mockResolvedValue({ ...answer, attempt });
    expect(await orderScreening.screen({ ...request, attempt })).toMatchObject({ attempt, decision: 'pass' });
    expect(temporal.pollUpdate).toHaveBeenCalledWith(attempt === 1 ? 'decision-1' : 'retry-2');
    expect(cards.put).not.toHaveBeenCalled();
    expect(temporal.executeUpdateWithStart).not.toHaveBeenCalled();
    expect(temporal.startUpdate).not.toHaveBeenCalled();
  });

  it('isn’t put there for an attempt that was sent with another content', async () => {
    const { orderScreening, temporal, cards } = aClientWithCards();
    temporal.pollUpdate.mockResolvedValue({ ...answer, fingerprint: 'another' });
    await expect(orderScreening.screen(request)).rejects.toMatchObject({ code: 'attempt-mismatch' });
    expect(cards.put).not.toHaveBeenCalled();
  });

  it('isn’t put there while an earlier call for the attempt waits for a worker', async () => {
    const { orderScreening, temporal, cards } = aClientWithCards();
    temporal.pollUpdate.mockRejectedValue(noAnswer);
    temporal.describe.mockResolvedValue(described('RUNNING'));
    expect(await orderScreening.screen(request)).toMatchObject({ decision: 'pending', reason: 'no-worker' });
    await expect(orderScreening.screen({ ...request, attempt: 2 })).rejects.toMatchObject({
      code: 'temporal-unavailable',
    });
    expect(cards.put).not.toHaveBeenCalled();
  });

  it.each(['pass', 'fail', 'review', 'fraudulent', 'skipped'] as const)(
    'is forgotten at once when the order turns out to have the answer %s on record',
    async (decision) => {
      const { orderScreening, temporal, cards, held } = aClientWithCards();
      temporal.executeUpdateWithStart.mockResolvedValue({ ...answer, decision });
      await orderScreening.screen(request);
      expect(cards.put).toHaveBeenCalledOnce();
      expect([...held]).toEqual([]);
    },
  );

  it.each(['pending', 'error'] as const)(
    'stays while the answer is %s: it is screened again',
    async (decision) => {
      const { orderScreening, temporal, held } = aClientWithCards();
      temporal.executeUpdateWithStart.mockResolvedValue({ ...answer, decision });
      await orderScreening.screen(request);
      expect([...held]).toHaveLength(1);
    },
  );

  it('is put there where the earlier call for the attempt was told to come again', async () => {
    const { orderScreening, temporal, cards } = aClientWithCards();
    temporal.pollUpdate.mockRejectedValue(refused('checkout-under-way'));
    temporal.executeUpdateWithStart.mockResolvedValue(answer);
    await orderScreening.screen(request);
    expect(cards.put).toHaveBeenCalledOnce();
  });

  it('stays until the record is written when the answer comes before it', async () => {
    const earlyAnswers = new EarlyAnswers();
    const { orderScreening, temporal, held } = aClientWithCards(earlyAnswers);
    const run = { workflowId: 'order:default:1', runId: 'run-1' };
    temporal.start.mockImplementation(async () => {
      earlyAnswers.tell(run, screening, { policy: aPolicy(), outcome: answered('pass'), ...moment });
      return { eagerlyStarted: true, firstExecutionRunId: run.runId };
    });
    expect(await orderScreening.screen(request)).toMatchObject({ decision: 'pass' });
    expect(temporal.executeUpdateWithStart).not.toHaveBeenCalled();
    expect([...held]).toHaveLength(1);
  });
});
