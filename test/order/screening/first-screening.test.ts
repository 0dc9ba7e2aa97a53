import { describe, expect, it } from 'vitest';
import type { CheckoutRequest, ScreeningOutcome } from '../../../src/contract/activity-contract.ts';
import type { CheckoutAnswer } from '../../../src/contract/answers.ts';
import type { ScreenOrderInput } from '../../../src/contract/messages.ts';
import type { Policy } from '../../../src/contract/policy.ts';
import { answerBeforeRecord } from '../../../src/order/screening/checkout.ts';
import { answered, DAY, sinceStart, TRANSACTION_ID, unanswered } from '../../fixtures/orders.ts';
import { checkedOut, screened } from '../life.ts';

const input: ScreenOrderInput = { orderId: 'order-1', transaction: {}, fingerprint: 'f' };
const request: CheckoutRequest = {
  orderId: 'order-1',
  integration: 'default',
  attempt: 1,
  transaction: {},
  invoiceNumber: 'order-1',
  knownTransactionIds: [],
  startedAt: sinceStart(0),
  begun: sinceStart(40),
};
const insights = { trust: { '1': { name: 'a' } } };
const PASSED = { ...answered('pass', TRANSACTION_ID, 40), insights };
const POST = { workflow: 'post-acceptance' } as const;
const DECLINING = { whenUnavailable: 'decline' } as const;

describe('an answer before the record', () => {
  it.each<[string, ScreeningOutcome, Partial<Policy>, Partial<CheckoutAnswer> | undefined]>([
    ['is given with a pass', PASSED, {}, { decision: 'pass', action: 'proceed' }],
    ['is not given without an answer', unanswered(), {}, undefined],
    ['is not given with an error', answered('error'), {}, undefined],
    ['is not given with a wrong key', { kind: 'forbidden' }, {}, undefined],
    ['is not given to a skipped order', { kind: 'skipped', rule: 0 }, {}, undefined],
    ['is not given to a refused order', { kind: 'refused', reason: 'refused' }, {}, undefined],
    ['is not given with a found transaction', { ...PASSED, found: true }, {}, undefined],
    // Only the order on record takes another attempt.
    ['is not given to a customer who is declined', answered('fail'), {}, undefined],
    ['is given with a cancel', answered('fail'), POST, { action: 'cancel' }],
    ['is given where the policy is passive', answered('fail'), { passive: true }, { wouldBe: 'decline' }],
    // Should the record be lost, the order would be declined.
    ['is not given where an order without a decision is declined', PASSED, DECLINING, undefined],
    ['is given after acceptance', PASSED, { ...DECLINING, ...POST }, { action: 'proceed' }],
  ])('%s', (_what, outcome, policy, answer) => {
    const given = answerBeforeRecord(input, request, checkedOut(outcome, policy, 40));
    if (answer === undefined) expect(given).toBeUndefined();
    else expect(given).toMatchObject(answer);
  });

  it('is the whole answer that the record will have', () => {
    expect(answerBeforeRecord(input, request, checkedOut(PASSED, {}, 40))).toEqual({
      orderId: 'order-1',
      integration: 'default',
      attempt: 1,
      decision: 'pass',
      action: 'proceed',
      phase: 'decided',
      transactionId: TRANSACTION_ID,
      cancelBy: sinceStart(5 * DAY + 40),
      fingerprint: 'f',
      insights,
    });
  });
});

describe('a checkout after a reset to the order’s start', () => {
  const reset: ScreeningOutcome = { kind: 'unanswered', reason: 'order-reset', unseenSince: sinceStart(0) };

  it.each(['decline', 'proceed'] as const)(
    'holds the order although the policy would %s: its caller was answered before',
    (whenUnavailable) => {
      const life = screened(reset, { whenUnavailable });
      expect(life.state).toMatchObject({ phase: 'screening', decision: 'pending', action: 'hold' });
      expect(life.calls('catch-up')).toHaveLength(1);
    },
  );
});
