import { describe, expect, it } from 'vitest';
import type { GatewayResultRequest } from '../../../src/contract/messages.ts';
import type { OrderState } from '../../../src/contract/order/state.ts';
import type { Decision, GatewayResult } from '../../../src/contract/words.ts';
import {
  applyGatewayResult,
  gatewayRefusal,
  gatewayReplyAfterEnd,
} from '../../../src/order/concerns/gateway.ts';
import { applyReading, autoCancelDue } from '../../../src/order/decide.ts';
import { opened } from '../../../src/order/messages/check-messages.ts';
import { addAttempt, setPhase } from '../../../src/order/record.ts';
import { applyScreening } from '../../../src/order/screening/apply-screening.ts';
import { describe as inWords } from '../../../src/order/view/describe.ts';
import {
  anOrder,
  answered,
  around,
  attention,
  DAY,
  HOUR,
  MINUTE,
  NOT_SENT,
  START,
  screen,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from '../../fixtures/orders.ts';
import { aLife, checkedOut, HINT, type Life, screened } from '../life.ts';

const NOW = sinceStart(MINUTE);
const CATCH_UP = { source: 'catch-up', now: NOW } as const;
const PRE = { workflow: 'pre-gateway' } as const;
const PROCEEDING = { ...PRE, whenUnavailable: 'proceed' } as const;

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

  it('of a passive order is answered with the action that would be', () => {
    const life = screened('pass', { ...PRE, passive: true }).gateway('fail');
    expect(life.replies).toMatchObject([{ gateway: { action: 'proceed', wouldBe: 'decline' } }]);
  });

  it('that contradicts itself raises attention for each attempt', () => {
    const life = screened('pass', PRE).gateway('fail').gateway('pass').retry(2, HOUR);
    life.retried('pass', HOUR).gateway('pass', HOUR, 2).gateway('fail', HOUR, 2).gateway('error', HOUR, 2);
    expect(life.attention).toEqual(['gateway-contradiction', 'gateway-contradiction']);
  });

  it('fail ends the attention to a review that is unresolved', () => {
    const life = screened('review', { ...PRE, reviewBeforeGateway: 'proceed' }).until(4.6 * DAY);
    expect(life.attention).toEqual(['gateway-late', 'review-unresolved']);
    expect(life.gateway('fail', 4.6 * DAY)).toMatchObject({ phase: 'declined', attention: [] });
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

  it('holds a pass as long as it is error', () => {
    const order = anOrder('review', PRE);
    report(order, 'error');
    applyReading(order, { kind: 'read', decision: 'pass' }, 'poll', NOW);
    expect(order).toMatchObject({ decision: 'pass', action: 'hold', phase: 'awaiting-gateway' });
  });

  it('holds an order without a decision as long as it is error', () => {
    const held = () => screened(NOT_SENT, PROCEEDING).gateway('error');
    expect(held().caughtUp('pass', 2 * HOUR)).toMatchObject({ decision: 'pass', action: 'hold' });
    expect(held().until(DAY)).toMatchObject({ decision: 'error', action: 'hold' });
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

  it.each<[GatewayResult, Decision, string, string]>([
    ['pass', 'pass', 'proceed', 'decided'],
    ['pass', 'review', 'hold', 'review'],
    ['pass', 'fail', 'cancel', 'decided'],
    // It ended the screening.
    ['fail', 'fail', 'decline', 'declined'],
  ])('%s is kept until the decision %s comes: that means %s, phase %s', (result, decision, action, phase) => {
    const order = anOrder(unanswered(), PROCEEDING);
    report(order, result);
    const waits = result === 'pass' ? { phase: 'screening', action: 'proceed' } : { phase: 'declined' };
    expect(order).toMatchObject(waits);
    applyScreening(order, answered(decision), CATCH_UP);
    expect(order).toMatchObject({ decision, action, phase });
  });

  it('means the only attempt, and has nothing else, where the caller says null for what is left out', () => {
    const body = { result: 'pass', attempt: null, authcode: null, transactionId: null };
    const { request: said } = opened('gateway-result', { updateId: 'u-1', body });
    const life = screened('pass', PRE).ask(said, MINUTE);
    expect(life.replies).toMatchObject([{ gateway: { attempt: 1, result: 'pass' } }]);
    expect(life.calls('gateway').map(({ request }) => request.gateway)).toEqual([{ result: 'pass' }]);
  });

  it.each<[string, () => OrderState, GatewayResultRequest, string]>([
    ['after acceptance', () => anOrder('pass'), { result: 'pass' }, 'gateway-result-out-of-turn'],
    ['a declined order', () => anOrder('fail', PRE), { result: 'pass' }, 'gateway-result-out-of-turn'],
    ['an unknown attempt', () => anOrder('pass', PRE), { attempt: 3, result: 'pass' }, 'unknown-attempt'],
    ['an earlier attempt', retried, { attempt: 1, result: 'pass' }, 'gateway-result-out-of-turn'],
    ['no attempt named among several', retried, { result: 'pass' }, 'attempt-required'],
    ['a canceled order that ended', ended, { result: 'pass' }, 'order-closed'],
  ])('for %s is refused', (_case, order, request, code) => {
    expect(gatewayRefusal(around(order()), request)?.code).toBe(code);
  });
});

describe.each<[GatewayResult]>([['pass'], ['fail'], ['error']])(
  'a late %s of an order that passed and then failed',
  (result) => {
    const request = { result };
    /** The payment was allowed, then the decision turned. */
    const turned = (policy: object = {}) => {
      const life = screened('pass', { ...PRE, ...policy });
      expect(life).toMatchObject({ action: 'proceed', phase: 'awaiting-gateway' });
      return life.take(HINT).read('fail', HOUR);
    };

    it('is sent on, and the order still means cancel', () => {
      const life = turned({ autoCancel: false }).gateway(result, 2 * HOUR);
      expect(life.replies).toMatchObject([{ gateway: { attempt: 1, ...request, action: 'cancel' } }]);
      expect(life.calls('gateway')).toMatchObject([
        { request: { transactionId: TRANSACTION_ID, gateway: request } },
      ]);
      life.end({ kind: 'gateway', outcome: { kind: 'sent' } }, 2 * HOUR);
      expect(life.state).toMatchObject({
        decision: 'fail',
        action: 'cancel',
        attempts: [{ gateway: { sent: sinceStart(2 * HOUR) } }],
      });
    });

    it('is sent on while its cancel runs, after it, and after the order’s end', () => {
      const canceled = () => turned({ autoCancel: true }).portalEnds('done');
      for (const life of [turned({ autoCancel: true }), canceled()]) {
        life.gateway(result, 2 * HOUR);
        expect(life.replies).toMatchObject([{ gateway: { ...request, action: 'cancel' } }]);
        expect(life.calls('gateway')).toMatchObject([{ request: { gateway: request } }]);
      }
      const { state } = canceled().until(30 * DAY);
      expect(state).toMatchObject({ phase: 'canceled', endedAt: expect.any(String) });
      const reply = gatewayReplyAfterEnd(state, request, NOW);
      expect(reply).toMatchObject({ sendFor: TRANSACTION_ID, gateway: { ...request, action: 'cancel' } });
    });
  },
);

it('a repeated result of an earlier attempt is answered with that attempt’s decision, action and transaction', () => {
  const life = screened('pass', PRE).gateway('fail').retry(2, HOUR).retried('review', HOUR);
  life.gateway('fail', HOUR, 1).gateway('pass', HOUR, 2);
  expect(life.replies.slice(-2)).toMatchObject([
    { gateway: { attempt: 1, decision: 'pass', action: 'decline', transactionId: TRANSACTION_ID } },
    { gateway: { attempt: 2, decision: 'review', transactionId: 'second', result: 'pass' } },
  ]);
});

it.each([
  ['pass', 'review', 'proceed', ['hold', 'review']],
  ['pass', 'fail', 'proceed', ['cancel', 'decided']],
  ['pass', unanswered(), 'decline', ['hold', 'screening']],
  ['error', unanswered(), 'decline', ['hold', 'screening']],
  ['error', unanswered(), 'proceed', ['hold', 'screening']],
] as const)(
  'a %s outlives a further attempt’s answer: %j, or %s, is %j',
  (result, outcome, whenUnavailable, means) => {
    const life = screened('fail', { ...PRE, whenUnavailable, reviewBeforeGateway: 'proceed' }).retry(2, 0);
    life.gateway(result, MINUTE, 2).retried(outcome, HOUR);
    expect([life.action, life.phase]).toEqual(means);
  },
);

it('a result of an earlier attempt is not sent on after the order’s end', () => {
  const order = retried();
  setPhase(order, 'closed', NOW);
  order.endedAt = NOW;
  const reply = gatewayReplyAfterEnd(order, { attempt: 1, result: 'pass' }, NOW);
  expect(reply).toMatchObject({ refusal: { code: 'order-closed' } });
});

describe('a result that contradicts the recorded one', () => {
  const said = (life: Life, result: GatewayResult, minute: number) =>
    life.gateway(result, minute * MINUTE).replies.at(-1);

  it.each([
    ['fail', 'pass', 'declined', 'refund'],
    ['pass', 'fail', 'decided', 'cancel'],
    ['pass', 'error', 'decided', 'payment'],
  ] as const)(
    '%s and then %s: the first one stays, attention names both, and the error says what to do',
    (first, second, phase, advice) => {
      const life = screened('pass', { ...PRE, events: 'all' });
      const recorded = said(life, first, 1);
      expect(recorded).toMatchObject({ gateway: { result: first } });
      const told = said(life, second, 2);
      const refusal = { code: 'gateway-result-mismatch', message: expect.stringContaining(advice) };
      expect(told).toMatchObject({ refusal });
      const words = expect.stringMatching(new RegExp(`\\b${first}\\b.*\\b${second}\\b`));
      expect(life.state).toMatchObject({ phase, attention: [{ code: 'gateway-contradiction', words }] });
      const contradictions = [{ result: second, at: sinceStart(2 * MINUTE) }];
      expect(life.state.attempts[0]?.gateway).toMatchObject({ result: first, contradictions });
      expect(inWords(life.order.state)).toContain(`but was later reported as ${second}`);
      // Again: the same error, and nothing is recorded.
      expect([said(life, second, 3), said(life, first, 3)]).toEqual([told, recorded]);
      expect(life.outbox.filter((type) => type === 'order.attention')).toHaveLength(1);
      expect(life.calls('gateway').map(({ request }) => request.gateway.result)).toEqual([first]);
    },
  );
});

function retried(): OrderState {
  const order = anOrder('fail', PRE);
  addAttempt(order, {}, NOW);
  screen(order, answered('pass', 'second'));
  return order;
}

function ended(): OrderState {
  const order = anOrder('pass', PRE);
  setPhase(order, 'canceled', NOW);
  order.endedAt = NOW;
  return order;
}

describe('before the gateway, an order that a skip rule matches', () => {
  const SKIPPED = { kind: 'skipped', rule: 0 } as const;

  it('is declined by the gateway’s fail', () => {
    const life = screened(SKIPPED, PRE).gateway('fail', MINUTE);
    expect(life.replies[0]).toMatchObject({ gateway: { phase: 'declined', action: 'decline' } });
  });

  it('is held by the gateway’s error, with attention, until there is another result', () => {
    const life = screened(SKIPPED, PRE).gateway('error', MINUTE);
    expect([life.action, life.attention]).toEqual(['hold', ['gateway-error']]);
    expect(life.gateway('pass', 2 * MINUTE).told).toEqual(['answered', 'answered']);
  });

  it('after a checkout that broke down waits for the gateway’s result', () => {
    const life = aLife(PRE).checkOut(undefined);
    life.caughtUp(unanswered(), MINUTE, checkedOut('pass', PRE).policy).caughtUp(SKIPPED, 2 * MINUTE);
    expect(life.action).toBe('proceed');
    expect(life.gateway('pass', 3 * MINUTE).told).toEqual(['answered']);
  });
});
