import { describe, expect, it } from 'vitest';
import { orderOfWorkflowId, orderWorkflowId } from '../../../src/contract/ids.ts';
import type { Phase } from '../../../src/contract/words.ts';
import { bytesOf } from '../../../src/order/bounds.ts';
import { applyGatewayResult } from '../../../src/order/concerns/gateway.ts';
import { overrideRefusal } from '../../../src/order/concerns/operators.ts';
import { applyReading } from '../../../src/order/decide.ts';
import { addAttempt, setPhase } from '../../../src/order/record.ts';
import { describe as inWords } from '../../../src/order/view/describe.ts';
import { searchAttributesOf } from '../../../src/order/view/search-attributes.ts';
import {
  aNewOrder,
  anOrder,
  DAY,
  MINUTE,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from '../../fixtures/orders.ts';
import { screened } from '../life.ts';

const PRE = { workflow: 'pre-gateway' } as const;
const PHASES: Phase[] = [
  'screening',
  'awaiting-gateway',
  'review',
  'declined',
  'decided',
  'canceled',
  'closed',
];

describe('an order in words', () => {
  it.each([
    [undefined, 'pass, not sent yet'],
    ['not-sent', 'pass, not sent to the screening service'],
    ['recorded', 'pass'],
  ] as const)('says whether a gateway result that is %s was sent', (sent, words) => {
    const order = anOrder('pass', PRE);
    const [attempt] = order.attempts;
    if (attempt) attempt.gateway = { result: 'pass', at: sinceStart(0), ...(sent && { sent }) };
    expect(inWords(order)).toContain(`gateway’s result: ${words}\n`);
  });

  it.each(PHASES)(
    'says in %s what it is, what comes next, and what can be done, and never a raw value',
    (phase) => {
      for (const outcome of ['pass', 'fail', 'review', 'error', unanswered()] as const) {
        const order = anOrder(outcome, { ...PRE, passive: outcome === 'fail' });
        applyGatewayResult(order, { result: 'error' }, sinceStart(0));
        applyReading(order, { kind: 'unreadable', words: 'It is gone.' }, 'poll', sinceStart(0));
        setPhase(order, phase, sinceStart(0));
        const text = inWords(order);
        expect(text).toMatch(/^## .*### Needs attention.*### What you can do/s);
        expect(text).not.toMatch(/undefined|null|NaN|\[object|@|example\.com|order-1/);
      }
    },
  );

  it.each(PHASES)('offers an override in %s if the order takes one', (phase) => {
    for (const passive of [false, true]) {
      const { state } = screened('pass', { ...PRE, passive });
      setPhase(state, phase, sinceStart(0));
      if (phase === 'closed') state.endedAt = sinceStart(0);
      const isTaken = overrideRefusal(state, { action: 'proceed' }) === undefined;
      const text = inWords(state);
      expect(/override/i.test(text)).toBe(isTaken);
      if (passive) expect(text).not.toMatch(/report fraud|cancel the order|cancel while/i);
    }
  });
});

describe('search attributes', () => {
  it('keep the newest ids within 2 KiB, above which Temporal terminates the workflow', () => {
    const { state } = screened('error');
    const [transaction] = state.transactions;
    if (transaction === undefined) throw new Error('the order has no transaction');
    const ids = Array.from(
      { length: 100 },
      (_, index) => `7B1E3C5E-1111-4F0E-9A53-${`${index}`.padStart(12, '0')}`,
    );
    state.transactions = ids.map((id) => ({ ...transaction, id }));
    for (let number = 2; number <= 20; number += 1) {
      addAttempt(state, {}, sinceStart(number)).invoiceNumber = '注'.repeat(60) + number;
    }
    const shown = searchAttributesOf({ state, asked: { transaction: {} } });
    const values = new Map(shown.map(({ key, value }) => [key.name, value]));
    for (const value of values.values()) expect(bytesOf(value)).toBeLessThanOrEqual(2_048);
    expect(values.get('TransactionId')).toEqual(ids.slice(-51).map((id) => id.toLowerCase()));
    expect(values.get('InvoiceNumber')).toContain(`${'注'.repeat(60)}20`);
  });

  it('show phase, decision, action, integration, transaction, window, attention and amount, and nothing personal', () => {
    const order = anOrder('review');
    const shown = searchAttributesOf({ state: order, asked: { transaction: { amount: '12.50' } } });
    expect(Object.fromEntries(shown.map(({ key, value }) => [key.name, value]))).toMatchObject({
      ScreeningPhase: 'review',
      ScreeningDecision: 'review',
      ScreeningAction: 'hold',
      ScreeningIntegration: 'default',
      InvoiceNumber: ['order-1'],
      TransactionId: [TRANSACTION_ID],
      CancelBy: new Date(sinceStart(5 * DAY)),
      NeedsAttention: false,
      OrderAmount: 12.5,
    });
  });

  it('keep the invoice number of a screening that was repeated', () => {
    const { order } = screened('error').until(MINUTE);
    const shown = searchAttributesOf(order).find(({ key }) => key.name === 'InvoiceNumber');
    expect(shown?.value).toEqual(['order-1', 'order-1~1.2']);
  });

  it('leave out what isn’t known', () => {
    const names = searchAttributesOf({ state: aNewOrder(), asked: { transaction: {} } }).map(
      ({ key }) => key.name,
    );
    for (const name of ['InvoiceNumber', 'TransactionId', 'CancelBy', 'OrderAmount'])
      expect(names).not.toContain(name);
  });
});

describe('ids', () => {
  it('the same order id in two integrations names two orders', () => {
    expect(orderWorkflowId('shop', '1001')).not.toBe(orderWorkflowId('default', '1001'));
    const order = { integration: 'shop', orderId: 'a:b' };
    expect(orderOfWorkflowId(orderWorkflowId('shop', 'a:b'))).toEqual(order);
    expect(orderOfWorkflowId('portal:default:cancel:1')).toBeUndefined();
  });
});
