import { describe, expect, it, vi } from 'vitest';
import { type CardStash, CardStashError, createCardStash } from '../../../src/card-stash/index.ts';
import { readScreenRequest } from '../../../src/client/read-requests.ts';
import { PayloadCodecError } from '../../../src/codec/index.ts';
import { EarlyAnswers } from '../../../src/starter.ts';
import { anIntegration, finding } from '../../fixtures/integrations.ts';
import { answered } from '../../fixtures/orders.ts';
import { aPreGatewayTransaction, aTransaction, TEST_CARD } from '../../fixtures/transactions.ts';
import { aCheckoutAnswer } from '../../server/api/fake-order-screening.ts';
import {
  aClient,
  alreadyStarted,
  described,
  gone,
  noAnswer,
  refused,
  sent,
  taken,
  tellEarly,
  unavailable,
} from '../fake-temporal.ts';
import { unreadAsUpdate, unreadAtStart } from '../unread-request.ts';

const request = { orderId: '1', transaction: aPreGatewayTransaction() };
const preGateway = { workflow: 'pre-gateway' } as const;
const { fingerprint } = readScreenRequest(request, finding(anIntegration(preGateway)));
const answer = aCheckoutAnswer({ fingerprint });
const unreachable = () => Promise.reject(new CardStashError('unreachable', 'The card stash did not answer'));

/** A client with a stash that says which cards it holds. */
function aClientWithCards(broken: Partial<CardStash> = {}, earlyAnswers?: EarlyAnswers) {
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
    ...broken,
  };
  return { cards, held, ...aClient(preGateway, cards, earlyAnswers) };
}

it('an order without card data isn’t asked for its answer before it is started', async () => {
  const { orderScreening, temporal } = aClient();
  temporal.executeUpdateWithStart.mockResolvedValue({ ...answer, fingerprint: undefined });
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

  it.each([1, 2])('isn’t put there for attempt %i that the order took under a second id', async (attempt) => {
    const { orderScreening, temporal, cards } = aClientWithCards();
    temporal.pollUpdate.mockRejectedValue(refused('attempt-mismatch'));
    temporal.startUpdate.mockResolvedValue(taken({ ...answer, attempt }));
    expect(await orderScreening.screen({ ...request, attempt })).toMatchObject({ attempt, decision: 'pass' });
    expect(sent(temporal.startUpdate)).toMatchObject([
      { name: 'decision', args: [{ attempt, fingerprint }] },
    ]);
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

  it.each([
    ['that doesn’t answer in time', () => Promise.resolve(taken(noAnswer)), 0],
    ['that no worker takes', () => Promise.reject(noAnswer), 0],
    ['that Temporal doesn’t take', () => Promise.reject(unavailable), 0],
    ['that refuses the attempt', () => Promise.resolve(taken(refused('unknown-attempt'))), 1],
    ['that has ended', () => Promise.reject(gone), 1],
  ])(
    'of an attempt with an outdated refusal is put there unless it may have an answer: an order %s',
    async (_what, asked, puts) => {
      const { orderScreening, temporal, cards } = aClientWithCards();
      temporal.pollUpdate.mockRejectedValue(refused('attempt-mismatch'));
      temporal.startUpdate.mockImplementationOnce(asked).mockResolvedValue(taken({ ...answer, attempt: 2 }));
      const screened = orderScreening.screen({ ...request, attempt: 2 });
      if (puts === 0) await expect(screened).rejects.toMatchObject({ code: 'temporal-unavailable' });
      else expect(await screened).toMatchObject({ decision: 'pass' });
      expect(cards.put).toHaveBeenCalledTimes(puts);
    },
  );

  it('is put there where the earlier call for the attempt was told to come again', async () => {
    const { orderScreening, temporal, cards } = aClientWithCards();
    temporal.pollUpdate.mockRejectedValue(refused('checkout-under-way'));
    temporal.executeUpdateWithStart.mockResolvedValue(answer);
    await orderScreening.screen(request);
    expect(cards.put).toHaveBeenCalledOnce();
  });

  // After the answers pending and error it is screened again.
  it.each([
    ['pass', 0],
    ['review', 0],
    ['pending', 1],
    ['error', 1],
  ] as const)(
    'is forgotten when the order turns out to have an answer: %s, %i kept',
    async (decision, kept) => {
      const { orderScreening, temporal, cards, held } = aClientWithCards();
      temporal.executeUpdateWithStart.mockResolvedValue({ ...answer, decision });
      await orderScreening.screen(request);
      expect(cards.put).toHaveBeenCalledOnce();
      expect([...held]).toHaveLength(kept);
    },
  );

  it('stays until the record is written when the answer comes before it', async () => {
    const earlyAnswers = new EarlyAnswers();
    const { orderScreening, temporal, held } = aClientWithCards({}, earlyAnswers);
    temporal.start.mockImplementation(async () => {
      tellEarly(earlyAnswers, answered('pass'), { workflowId: 'order:default:1', runId: 'run-1' });
      return { eagerlyStarted: true, firstExecutionRunId: 'run-1' };
    });
    expect(await orderScreening.screen(request)).toMatchObject({ decision: 'pass' });
    expect(temporal.executeUpdateWithStart).not.toHaveBeenCalled();
    expect([...held]).toHaveLength(1);
  });
});

it('a card that is put in the stash loses its code after an authorization, and the answer says so', async () => {
  const { orderScreening } = aClientWithCards();
  const card = { orderId: '1', ...TEST_CARD };
  expect(await orderScreening.putCard(card)).toEqual({
    cardRef: expect.any(String),
    expiresAt: expect.any(String),
  });
  const { warnings } = await orderScreening.putCard({ ...card, workflow: 'post-acceptance' });
  expect(warnings).toEqual([{ path: 'cardCode', message: expect.stringContaining('pre-gateway') }]);
});

it('an order after the payment gateway is screened without its card while the card stash is unreachable, and the answer says so', async () => {
  const { orderScreening, temporal } = aClientWithCards({ put: unreachable });
  temporal.executeUpdateWithStart.mockResolvedValue({ ...answer, fingerprint: undefined });
  const transaction = { ...aTransaction(), ...request.transaction };
  const { warnings } = await orderScreening.screen({ ...request, transaction, workflow: 'post-acceptance' });
  expect(warnings).toContainEqual({
    path: 'transaction.payment.creditCard.cardNumber',
    message: expect.stringContaining('card stash'),
  });
});

describe('the card of an attempt that is refused', () => {
  it('is forgotten, unless the attempt may be sent again: an earlier try may have been taken', async () => {
    const { orderScreening, temporal, held } = aClientWithCards();
    temporal.executeUpdateWithStart.mockResolvedValueOnce({ ...answer, fingerprint: 'another' });
    await expect(orderScreening.screen(request)).rejects.toMatchObject({ code: 'attempt-mismatch' });
    expect([...held]).toEqual([]);
    temporal.executeUpdateWithStart.mockRejectedValue(refused('busy'));
    await expect(orderScreening.screen(request)).rejects.toMatchObject({ code: 'busy' });
    expect([...held]).toHaveLength(1);
    temporal.executeUpdateWithStart.mockRejectedValue(new PayloadCodecError('unknown-payload-key', 'k2'));
    await expect(orderScreening.screen(request)).rejects.toMatchObject({ code: 'record-unreadable' });
    expect([...held]).toHaveLength(2);
  });

  const wrongKey = new PayloadCodecError('damaged-payload', 'k2');
  // A worker with a wrong key also encrypts its refusal with it.
  it.each([
    ['lacks the payload key', unreadAsUpdate(), unreadAtStart(), 'temporal-unavailable'],
    ['has a wrong payload key', wrongKey, wrongKey, 'record-unreadable'],
  ])(
    'stays when a worker %s, and the same request starts the order anew',
    async (_what, asked, end, code) => {
      const { orderScreening, temporal, held } = aClientWithCards();
      const { executeUpdateWithStart } = temporal;
      executeUpdateWithStart.mockRejectedValue(asked);
      const unread = { code, details: { action: 'hold', recorded: false } };
      await expect(orderScreening.screen(request)).rejects.toMatchObject(unread);
      expect([...held]).toHaveLength(1);
      temporal.describe.mockResolvedValue(described('FAILED'));
      temporal.result.mockRejectedValue(end);
      executeUpdateWithStart.mockReset().mockRejectedValueOnce(alreadyStarted).mockResolvedValueOnce(answer);
      expect(await orderScreening.screen(request)).toMatchObject({ decision: 'pass' });
    },
  );

  it('doesn’t hide the refusal when it can’t be forgotten', async () => {
    const forget = vi.fn(unreachable);
    const { orderScreening, temporal } = aClientWithCards({ forget });
    temporal.executeUpdateWithStart.mockRejectedValue(refused('order-closed'));
    await expect(orderScreening.screen(request)).rejects.toMatchObject({ code: 'order-closed' });
    expect(forget).toHaveBeenCalledOnce();
  });

  it('and the attempt are not sent while the card stash is unreachable, and may be sent again', async () => {
    const { orderScreening, temporal } = aClientWithCards({ put: unreachable });
    const unavailable = { code: 'card-stash-unavailable', message: expect.stringContaining('send the same') };
    await expect(orderScreening.screen(request)).rejects.toMatchObject(unavailable);
    await expect(orderScreening.putCard({ orderId: '1', ...TEST_CARD })).rejects.toMatchObject(unavailable);
    expect(temporal.executeUpdateWithStart).not.toHaveBeenCalled();
  });
});
