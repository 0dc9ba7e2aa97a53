import { DefaultLogger, type LogEntry } from '@temporalio/worker';
import { expect, it } from 'vitest';
import { CardStashError, type CardStashErrorReason, createCardStash } from '../../src/cards/index.ts';
import { aTransaction, TEST_CARD } from '../fixtures/transactions.ts';
import { aCheckout, aWorld, checkOut, expectNoSecret, requests, withSandbox } from './support.ts';

withSandbox();

const REASONS: CardStashErrorReason[] = ['unreachable', 'refused', 'unknown-key'];
const quoting = `redis://127.0.0.1:6379 ${TEST_CARD.cardNumber}`;
const cases: [string, Error][] = [
  ...REASONS.map((reason): [string, Error] => [reason, new CardStashError(reason, quoting)]),
  ['unexpected', new Error(quoting)],
];

it.each(cases)(
  'a card that the stash does not give is logged with the reason alone: %s',
  async (reason, error) => {
    const lines: LogEntry[] = [];
    const logger = new DefaultLogger('INFO', (entry) => void lines.push(entry));
    const get = () => Promise.reject(error);
    const world = aWorld({}, { cards: { ...createCardStash('memory:'), get } });
    const { avsResultCode: _avs, cvvResultCode: _cvv, ...transaction } = aTransaction();
    const request = aCheckout('pass', {
      workflow: 'pre-gateway',
      transaction: { ...transaction, payment: { creditCard: { last4: '1111' } } },
      cardRef: 'card_1',
    });
    const { outcome } = await checkOut(world, request, { logger });
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'card-stash' });
    expect(lines).toMatchObject([{ level: 'WARN', meta: { reason, integration: 'default' } }]);
    expectNoSecret(lines.map(({ message, meta }) => ({ message, meta })));
    expect(requests('create-transaction')).toBe(0);
  },
);
