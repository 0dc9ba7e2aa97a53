import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CheckoutRequest, ScreeningOutcome } from '../../src/contract/activity-contract.ts';
import type { ScreenOrderInput } from '../../src/contract/messages.ts';
import { DECISIONS } from '../../src/contract/words.ts';
import { answerBeforeRecord, applyCheckout, checkoutRequest } from '../../src/orders/checkout.ts';
import { newOrder } from '../../src/orders/record.ts';
import {
  answered,
  type aPolicy,
  DAY,
  HOUR,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from '../fixtures/orders.ts';
import { property } from '../support/property.ts';
import { checkedOut } from './life.ts';

const input: ScreenOrderInput = { orderId: 'order-1', transaction: {}, fingerprint: 'f' };
const request: CheckoutRequest = {
  orderId: 'order-1',
  integration: 'default',
  transaction: {},
  invoiceNumber: 'order-1',
  knownTransactionIds: [],
  startedAt: sinceStart(0),
  begun: sinceStart(40),
};

const PASSED = answered('pass', TRANSACTION_ID, 40);

const beforeRecord = (outcome: ScreeningOutcome, policy: Parameters<typeof aPolicy>[0] = {}) =>
  answerBeforeRecord(input, request, checkedOut(outcome, policy, 40));

describe('an answer before the record', () => {
  it('is the whole answer that the record will have', () => {
    expect(beforeRecord({ ...PASSED, insights: { trust: { '1': { name: 'a' } } } })).toEqual({
      orderId: 'order-1',
      integration: 'default',
      attempt: 1,
      decision: 'pass',
      action: 'proceed',
      phase: 'decided',
      transactionId: TRANSACTION_ID,
      cancelBy: sinceStart(5 * DAY + 40),
      fingerprint: 'f',
      insights: { trust: { '1': { name: 'a' } } },
    });
  });

  it('is not given without a definite answer of the service', () => {
    expect(beforeRecord(unanswered())).toBeUndefined();
    expect(beforeRecord(answered('error'))).toBeUndefined();
    expect(beforeRecord({ kind: 'forbidden' })).toBeUndefined();
    expect(beforeRecord({ kind: 'skipped', rule: 0 })).toBeUndefined();
    expect(beforeRecord({ kind: 'refused', reason: 'refused' })).toBeUndefined();
    expect(beforeRecord({ ...PASSED, found: true })).toBeUndefined();
  });

  it('is not given to a customer who is declined: only the order on record takes another attempt', () => {
    expect(beforeRecord(answered('fail'))).toBeUndefined();
    expect(beforeRecord(answered('fail'), { workflow: 'post-acceptance' })).toMatchObject({
      action: 'cancel',
    });
    expect(beforeRecord(answered('fail'), { passive: true })).toMatchObject({
      action: 'proceed',
      wouldBe: 'decline',
    });
  });

  it('is not given where an order without a decision is declined: should the record be lost, it would be', () => {
    expect(beforeRecord(answered('pass'), { whenUnavailable: 'decline' })).toBeUndefined();
    const post = { whenUnavailable: 'decline', workflow: 'post-acceptance' } as const;
    expect(beforeRecord(answered('pass'), post)).toMatchObject({ action: 'proceed' });
  });

  property([
    fc.constantFrom(...DECISIONS),
    fc.constantFrom('pre-acceptance' as const, 'post-acceptance' as const, 'pre-gateway' as const),
    fc.constantFrom('hold' as const, 'proceed' as const, 'decline' as const),
    fc.boolean(),
    fc.integer({ min: 0, max: HOUR }),
  ])(
    'says nothing else than the record, whenever that is written',
    (decision, workflow, whenUnavailable, passive, laterMs) => {
      const policy = { workflow, whenUnavailable, passive };
      const told = answerBeforeRecord(input, request, checkedOut(decision, policy, 40));
      const order = newOrder({ ...input, integration: 'default' }, request.startedAt);
      checkoutRequest(order);
      applyCheckout(order, checkedOut(decision, policy, 40 + laterMs));
      const recorded = order.state.attempts[0]?.answer;
      const declined = recorded?.action === 'decline' || whenUnavailable === 'decline';
      if (told === undefined) expect(decision === 'error' || declined).toBe(true);
      else expect(told).toEqual(recorded);
    },
  );
});
