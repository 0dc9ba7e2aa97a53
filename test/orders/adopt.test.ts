/** An order that is adopted: started from a transaction that was screened without us. */
import { describe, expect, it } from 'vitest';
import type { Policy } from '../../src/contract/policy.ts';
import type { Adoption } from '../../src/contract/state.ts';
import type { Decision } from '../../src/contract/words.ts';
import { adoptionErrors, adoptRefusal, startRefusal } from '../../src/orders/check-messages.ts';
import { checkoutRequest } from '../../src/orders/checkout.ts';
import {
  anOrder,
  aPolicy,
  attention,
  DAY,
  found,
  HOUR,
  MINUTE,
  START,
  sinceStart,
  TRANSACTION_ID,
} from '../fixtures/orders.ts';
import { aLife, HINT, type Life, screened, told } from './life.ts';

const OTHER_ID = '7b1e3c5e-2222-4f0e-9a53-2f6f4b5d0c11';
const WINDOW = 5 * DAY;

function anAdoption(adoption: Partial<Adoption> = {}): Adoption {
  return { transactionId: TRANSACTION_ID, screenedAt: sinceStart(-DAY), ...adoption };
}

/** An adoption whose read is under way. */
function adopting(adoption: Partial<Adoption> = {}): Life {
  return aLife({ adopt: anAdoption(adoption) });
}

/** An order that was adopted with this decision. */
function adopted(
  decision: Decision,
  policy: Partial<Policy> = {},
  adoption: Partial<Adoption> = {},
  life = adopting(adoption),
): Life {
  return screened(found(decision), policy, life);
}

const read = (decision: Decision) => ({ kind: 'read' as const, decision });
const polled = (life: Life, decision: Decision, at: number) =>
  life.end({ kind: 'poll', outcome: read(decision) }, at);
const hinted = (life: Life, decision: Decision, at: number) =>
  life.take(HINT).end({ kind: 'read', outcome: read(decision) }, at);
const asks = { kind: 'adopt', request: { transactionId: TRANSACTION_ID } } as const;

describe('an order that is adopted', () => {
  it('reads its transaction, and answers with what follows; its window counts from the screening', () => {
    const life = adopting();
    const ticket = life.ask(asks, 0);
    expect(checkoutRequest(life.order)).toMatchObject({ adopt: anAdoption() });
    adopted('review', {}, {}, life);
    const cancelBy = sinceStart(WINDOW - DAY);
    expect(life.replies.get(ticket)).toMatchObject({
      checkout: {
        decision: 'review',
        action: 'hold',
        phase: 'review',
        transactionId: TRANSACTION_ID,
        cancelBy,
      },
    });
    expect(life.underWay).toEqual([`poll:${TRANSACTION_ID}:review:1`]);
  });

  it('is known in UTC whatever the offset of its screening’s moment', () => {
    const life = adopted('review', {}, { screenedAt: '2026-03-02T08:00:00+02:00' });
    const sentFrom = '2026-03-02T06:00:00.000Z';
    expect(life.order.state.transactions).toMatchObject([
      { found: 'adopted', sentFrom, sentUntil: sentFrom },
    ]);
  });

  it('gives the same answer again, and refuses another transaction', () => {
    const life = adopted('review');
    polled(life, 'pass', MINUTE);
    const ticket = life.ask(asks, 2 * MINUTE);
    expect(life.replies.get(ticket)).toMatchObject({ checkout: { decision: 'review', action: 'hold' } });
    expect(adoptRefusal(life.order.state, { transactionId: OTHER_ID })?.code).toBe('order-exists');
  });

  it('gives a checkout for the same order the answer of the adoption', () => {
    const life = adopted('review');
    const ticket = life.ask({ kind: 'decision', request: { attempt: 1, fingerprint: 'f' } }, MINUTE);
    expect(life.replies.get(ticket)).toMatchObject({ checkout: { transactionId: TRANSACTION_ID } });
  });

  it('takes no other attempt', () => {
    const life = adopted('review', { workflow: 'pre-gateway' }, { gatewayResult: 'fail' });
    expect(life.order.state).toMatchObject({ phase: 'declined', action: 'decline' });
    const retry = { attempt: 2, transaction: {} };
    expect(told(life, life.ask({ kind: 'retry', request: retry }, MINUTE))).toBe('retry-out-of-turn');
    expect(life.calls('retry-screening')).toEqual([]);
  });

  it('that cannot be read is refused: it never goes on to a create', () => {
    const life = adopting();
    life.checkOut(undefined);
    expect(life.refusal?.code).toBe('screening-service-unavailable');
    expect(life.underWay).toEqual([]);
  });

  it('attaches a customer code only with an e-mail, since its customer is not known', () => {
    const life = adopted('review');
    const fields = { kind: 'customer-code', customerCode: 'c-1' } as const;
    expect(told(life, life.ask({ kind: 'portal', fields }, 1))).toBe('invalid-request');
    life.ask({ kind: 'portal', fields: { ...fields, email: 'jane@example.com' } }, 2);
    expect(life.underWay).toContain('portal:1');
  });
});

describe('nothing is canceled by itself because of what was so at the adoption', () => {
  it.each(['fail', 'fraudulent'] as const)('a %s is held, with attention', (decision) => {
    const life = adopted(decision);
    expect(life.order.state).toMatchObject({ phase: 'decided', action: 'hold', actions: [] });
    expect(attention(life.order.state)).toEqual(['failed-at-adoption']);
    life.until(WINDOW);
    expect(life.calls('portal')).toEqual([]);
    expect(life.order.state.phase).toBe('closed');
  });

  it.each(['fail', 'fraudulent'] as const)('a fail that is read as %s again changes nothing', (decision) => {
    const life = hinted(adopted('fail'), decision, HOUR);
    expect(life.order.state).toMatchObject({ action: 'hold', actions: [] });
  });

  it('a person cancels it; that ends the attention', () => {
    const life = adopted('fail');
    life.ask({ kind: 'portal', fields: { kind: 'cancel' } }, HOUR);
    life.end({ kind: 'portal', outcome: { kind: 'done' } }, HOUR);
    expect(life.order.state.phase).toBe('canceled');
    expect(attention(life.order.state)).toEqual([]);
  });

  it('a fail that becomes a pass may proceed, and one after that is canceled', () => {
    const life = hinted(adopted('fail'), 'pass', HOUR);
    expect(life.order.state).toMatchObject({ action: 'proceed', actions: [] });
    expect(attention(life.order.state)).toEqual([]);
    hinted(life, 'fail', 2 * HOUR);
    expect(life.order.state.actions).toMatchObject([{ kind: 'cancel', by: 'policy' }]);
  });

  it('a fail that a person decided about needs attention no more', () => {
    for (const action of ['proceed', 'cancel'] as const) {
      const life = adopted('fail');
      life.ask({ kind: 'override', request: { action, reason: 'looked into it' } }, HOUR);
      expect(attention(life.order.state)).toEqual([]);
    }
  });

  it('a review that was due already is attention, also where the policy cancels such reviews', () => {
    const screenedAt = sinceStart(-WINDOW + HOUR);
    const life = adopted('review', { onUnresolvedReview: 'cancel' }, { screenedAt });
    expect(attention(life.order.state)).toEqual(['review-unresolved']);
    life.until(2 * HOUR);
    expect(life.order.state).toMatchObject({ phase: 'review', action: 'hold', actions: [] });
  });

  it('a review that comes due later is canceled where the policy says so', () => {
    const life = adopted('review', { onUnresolvedReview: 'cancel' });
    life.until(4 * DAY - 12 * HOUR);
    expect(life.order.state.actions).toMatchObject([{ kind: 'cancel', by: 'policy' }]);
  });
});

describe('in pre-gateway', () => {
  it.each([
    ['review', 'pass', 'hold', 'review'],
    ['pass', 'pass', 'proceed', 'decided'],
    ['fail', 'pass', 'hold', 'decided'],
    ['review', 'fail', 'decline', 'declined'],
    ['pass', 'error', 'hold', 'awaiting-gateway'],
  ] as const)(
    '%s with the gateway’s %s means %s, and the result is not sent on',
    (decision, gatewayResult, action, phase) => {
      const life = adopted(decision, { workflow: 'pre-gateway' }, { gatewayResult });
      expect(life.order.state).toMatchObject({ action, phase });
      // Whoever went to the gateway has sent its result on.
      expect(life.calls('gateway')).toEqual([]);
    },
  );
});

describe('an adoption', () => {
  const faultsOf = (adoption: Partial<Adoption>, policy: Partial<Policy> = {}) =>
    adoptionErrors(anAdoption(adoption), aPolicy(policy), START).map(({ path }) => path);

  it.each<[Partial<Adoption>, Partial<Policy>, string[]]>([
    [{}, {}, []],
    [{ screenedAt: sinceStart(1) }, {}, ['screenedAt']],
    [{ screenedAt: sinceStart(-30 * DAY) }, {}, []],
    [{ screenedAt: sinceStart(-30 * DAY - 1) }, {}, ['screenedAt']],
    [{}, { workflow: 'pre-gateway' }, ['gatewayResult']],
    [{ gatewayResult: 'pass' }, { workflow: 'pre-gateway' }, []],
    [{ gatewayResult: 'pass' }, {}, ['gatewayResult']],
  ])('%j under %j has fieldErrors at %j', (adoption, policy, fieldErrors) => {
    expect(faultsOf(adoption, policy)).toEqual(fieldErrors);
  });

  it.each([{}, { transactionId: TRANSACTION_ID }, 'x', anAdoption({ screenedAt: 'yesterday' })])(
    'starts no order as %j',
    (adopt) => {
      const input = { orderId: '1', transaction: {}, adopt: adopt as Adoption };
      expect(startRefusal(input, 'order:default:1')?.code).toBe('invalid-request');
      expect(startRefusal({ ...input, adopt: anAdoption() }, 'order:default:1')).toBeUndefined();
    },
  );

  it('of an order that was screened here is answered for its own transaction only', () => {
    const order = anOrder('review');
    expect(adoptRefusal(order, { transactionId: TRANSACTION_ID })).toBeUndefined();
    expect(adoptRefusal(order, { transactionId: OTHER_ID })?.code).toBe('order-exists');
  });
});
