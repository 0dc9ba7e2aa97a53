import { describe, expect, it } from 'vitest';
import type { GatewayResultRequest } from '../../src/contract/messages.ts';
import type { OrderState } from '../../src/contract/state.ts';
import type { Decision, GatewayResult } from '../../src/contract/words.ts';
import { applyReading } from '../../src/orders/apply-reading.ts';
import { applyScreening } from '../../src/orders/apply-screening.ts';
import { applyGatewayResult, gatewayRefusal } from '../../src/orders/concerns/gateway.ts';
import { autoCancelDue } from '../../src/orders/decide.ts';
import { applyPortalOutcome, queueAction } from '../../src/orders/portal-records.ts';
import { requestOf } from '../../src/orders/read-message.ts';
import { addAttempt, setPhase } from '../../src/orders/record.ts';
import {
  anOrder,
  answered,
  around,
  attention,
  HOUR,
  MINUTE,
  START,
  screen,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from '../fixtures/orders.ts';
import { type Life, screened } from './life.ts';

const NOW = sinceStart(MINUTE);
const PRE = { workflow: 'pre-gateway' } as const;

function report(order: OrderState, result: GatewayResult): string[] {
  const request = { result };
  expect(gatewayRefusal(around(order), request)).toBeUndefined();
  return applyGatewayResult(order, request, NOW);
}

describe('the gateway’s result', () => {
  it.each([
    ['pass', 'pass', 'proceed', 'decided'],
    ['pass', 'fail', 'decline', 'declined'],
    ['pass', 'error', 'hold', 'awaiting-gateway'],
    ['review', 'pass', 'hold', 'review'],
    ['review', 'fail', 'decline', 'declined'],
    ['review', 'error', 'hold', 'awaiting-gateway'],
  ] as const)('for a %s that says %s means %s, phase %s', (decision, result, action, phase) => {
    const order = anOrder(decision, PRE);
    expect(report(order, result)).toEqual(result === 'error' ? ['order.attention'] : []);
    expect(order).toMatchObject({ decision, action, phase });
    expect(autoCancelDue(order, START)).toBe(false);
  });

  it.each(['pass', 'fail'] as const)('error is replaced by a later %s', (result) => {
    const order = anOrder('pass', PRE);
    report(order, 'error');
    expect(attention(order)).toEqual(['gateway-error']);
    report(order, result);
    expect(attention(order)).toEqual([]);
    expect(order.attempts[0]?.gateway).toEqual({ result, at: NOW });
    expect(order.action).toBe(result === 'pass' ? 'proceed' : 'decline');
  });

  it('that replaces an error while there is no decision brings back the action given at checkout', () => {
    const order = anOrder(unanswered(), { ...PRE, whenUnavailable: 'proceed' });
    report(order, 'error');
    expect(order.action).toBe('hold');
    report(order, 'pass');
    expect(order).toMatchObject({ action: 'proceed', phase: 'screening' });
  });

  it.each([false, true])(
    'comes too late to change the cancel of an order that failed meanwhile, passive: %s',
    (passive) => {
      const order = anOrder('review', { ...PRE, passive });
      applyReading(order, { kind: 'read', decision: 'fail' }, 'poll', NOW);
      report(order, 'pass');
      expect(order).toMatchObject({ [passive ? 'wouldBe' : 'action']: 'cancel', phase: 'decided' });
      expect(order.attempts[0]?.gateway?.sent).toBeUndefined();
    },
  );

  it('of a canceled order is taken, too, and changes nothing', () => {
    const order = anOrder('pass', PRE);
    applyPortalOutcome(order, queueAction(order, { kind: 'cancel' }, 'caller', NOW), { kind: 'done' }, NOW);
    report(order, 'fail');
    expect(order).toMatchObject({ action: 'cancel', phase: 'canceled' });
    expect(order.attempts[0]?.gateway).toEqual({ result: 'fail', at: NOW });
  });

  it('is kept until the decision comes, which then counts', () => {
    const later: [Decision, string, string][] = [
      ['pass', 'proceed', 'decided'],
      ['review', 'hold', 'review'],
      ['fail', 'cancel', 'decided'],
    ];
    for (const [decision, action, phase] of later) {
      const order = anOrder(unanswered(), { ...PRE, whenUnavailable: 'proceed' });
      report(order, 'pass');
      expect(order).toMatchObject({ phase: 'screening', action: 'proceed' });
      const moment = { source: 'catch-up', now: NOW } as const;
      applyScreening(order, answered(decision), moment);
      expect(order).toMatchObject({ action, phase });
    }
  });

  it('of a decline ends the screening; a decision that comes all the same is only recorded', () => {
    const order = anOrder(unanswered(), { ...PRE, whenUnavailable: 'proceed' });
    report(order, 'fail');
    const moment = { source: 'catch-up', now: NOW } as const;
    expect(applyScreening(order, answered('fail'), moment)).toEqual([]);
    expect(order).toMatchObject({ phase: 'declined', action: 'decline', decision: 'fail' });
  });

  it('keeps a passive order at proceed', () => {
    const order = anOrder('pass', { ...PRE, passive: true });
    report(order, 'fail');
    expect(order).toMatchObject({ action: 'proceed', wouldBe: 'decline', phase: 'declined' });
  });

  it('that the order held before the gateway passes later: it goes to the gateway then', () => {
    for (const order of [
      anOrder('review', { ...PRE, reviewBeforeGateway: 'hold' }),
      anOrder(unanswered(), { ...PRE, whenUnavailable: 'hold' }),
    ]) {
      const moment = { source: 'catch-up', now: NOW } as const;
      if (order.decision === 'pending') applyScreening(order, answered('pass'), moment);
      else applyReading(order, { kind: 'read', decision: 'pass' }, 'poll', NOW);
      expect(order).toMatchObject({ decision: 'pass', action: 'proceed', phase: 'awaiting-gateway' });
    }
  });

  it('means the only attempt, and has nothing else, where the caller says null for what is left out', () => {
    const life = screened('pass', PRE);
    const said = JSON.parse('{"result":"pass","attempt":null,"authcode":null,"transactionId":null}');
    const ticket = life.ask(requestOf('gateway-result', said), MINUTE);
    expect(life.replies.get(ticket)).toMatchObject({ gateway: { attempt: 1, result: 'pass' } });
    expect(life.calls('gateway').map(({ request }) => request.gateway)).toEqual([{ result: 'pass' }]);
  });

  it.each<[string, () => OrderState, GatewayResultRequest, string]>([
    ['after acceptance', () => anOrder('pass'), { result: 'pass' }, 'gateway-result-out-of-turn'],
    ['a declined order', () => anOrder('fail', PRE), { result: 'pass' }, 'gateway-result-out-of-turn'],
    ['an unknown attempt', () => anOrder('pass', PRE), { attempt: 3, result: 'pass' }, 'unknown-attempt'],
    ['an earlier attempt', retried, { attempt: 1, result: 'pass' }, 'gateway-result-out-of-turn'],
    ['no attempt named among several', retried, { result: 'pass' }, 'attempt-required'],
    ['a closed order', () => ended('closed'), { result: 'pass' }, 'order-closed'],
    ['a canceled order', () => ended('canceled'), { result: 'pass' }, 'order-closed'],
  ])('for %s is refused', (_case, order, request, code) => {
    expect(gatewayRefusal(around(order()), request)?.code).toBe(code);
  });
});

describe('a result that was sent on', () => {
  /** An order whose first transaction has no decision, and which is screened again; its gateway passed. */
  const screenedAgain = () => {
    const life = screened('error', { ...PRE, whenUnavailable: 'proceed' });
    life.ask({ kind: 'gateway-result', request: { result: 'pass' } }, 0);
    return life;
  };
  const sentFor = (life: Life) => life.calls('gateway').map(({ request }) => request.transactionId);
  const SENT = { kind: 'gateway', outcome: { kind: 'sent' } } as const;

  it('is sent for the next transaction, too, when the order is screened again', () => {
    const life = screenedAgain().end(SENT, 0).until(MINUTE);
    life.end({ kind: 'catch-up', outcome: answered('pass', 'second') }, MINUTE);
    expect(sentFor(life)).toEqual([TRANSACTION_ID, 'second']);
    life.end(SENT, HOUR);
    expect(life.order.state.attempts[0]?.gateway?.sent).toBe(sinceStart(HOUR));
    expect(life.underWay).toEqual([]);
  });

  it('for the transaction before, while the next one came, leaves it to be sent for that', () => {
    const life = screenedAgain().until(MINUTE);
    life.end({ kind: 'catch-up', outcome: answered('pass', 'second') }, MINUTE);
    expect(sentFor(life)).toEqual([TRANSACTION_ID]);
    life.end(SENT, HOUR);
    expect(sentFor(life)).toEqual([TRANSACTION_ID, 'second']);
  });

  it('and refused, or met a wrong key, asks for attention', () => {
    const life = screenedAgain().end({ kind: 'gateway', outcome: { kind: 'forbidden' } }, 0);
    expect(attention(life.order.state)).toEqual(['wrong-key']);
    expect(life.order.state.attempts[0]?.gateway?.sent).toBeUndefined();
    life.end({ kind: 'gateway', outcome: { kind: 'refused', words: 'No.' } }, 0);
    expect(life.order.state.attempts[0]?.gateway?.sent).toBe('recorded');
    expect(attention(life.order.state)).toEqual(['gateway-refused']);
  });
});

function retried(): OrderState {
  const order = anOrder('fail', PRE);
  addAttempt(order, {}, NOW);
  screen(order, answered('pass', 'second'));
  return order;
}

/** Returns an order that has ended in this phase. */
function ended(phase: 'closed' | 'canceled'): OrderState {
  const order = anOrder('pass', PRE);
  setPhase(order, phase, NOW);
  order.endedAt = NOW;
  return order;
}
