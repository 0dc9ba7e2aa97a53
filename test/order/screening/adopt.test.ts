/** An order that is adopted: started from a transaction that was screened without us. */
import { describe, expect, it } from 'vitest';
import type { Adoption } from '../../../src/contract/order/state.ts';
import type { Policy } from '../../../src/contract/policy.ts';
import type { Decision } from '../../../src/contract/words.ts';
import { adoptionErrors } from '../../../src/order/messages/check-messages.ts';
import { checkoutRequest } from '../../../src/order/screening/checkout.ts';
import { orderAttributes, searchAttributesOf } from '../../../src/order/view/search-attributes.ts';
import {
  aPolicy,
  DAY,
  found,
  HOUR,
  MINUTE,
  START,
  sinceStart,
  TRANSACTION_ID,
} from '../../fixtures/orders.ts';
import { aLife, HINT, type Life, screened } from '../life.ts';

const PRE = { workflow: 'pre-gateway' } as const;
const ADOPT = { kind: 'adopt', request: { transactionId: TRANSACTION_ID } } as const;

function anAdoption(adoption: Partial<Adoption> = {}): Adoption {
  return { transactionId: TRANSACTION_ID, screenedAt: sinceStart(-DAY), ...adoption };
}

/** An adoption whose read is under way. */
function adopting(adoption: Partial<Adoption> = {}): Life {
  return aLife({ adopt: anAdoption(adoption) });
}

function adopted(decision: Decision, policy: Partial<Policy> = {}, adoption: Partial<Adoption> = {}): Life {
  return screened(found(decision), policy, adopting(adoption));
}

describe('an order that is adopted', () => {
  it('reads its transaction, and answers with what follows; its window and the review limit count from the screening', () => {
    const life = adopting().ask(ADOPT, 0);
    expect(checkoutRequest(life.order)).toMatchObject({ adopt: anAdoption() });
    screened(found('review'), {}, life);
    const [transactionId, cancelBy] = [TRANSACTION_ID, sinceStart(4 * DAY)];
    const checkout = { decision: 'review', action: 'hold', phase: 'review', transactionId, cancelBy };
    expect(life.replies).toMatchObject([{ checkout }]);
    expect(life.underWay).toEqual([`poll:${TRANSACTION_ID}:review:1`]);
    expect(life.until(29 * DAY - 1).phase).toBe('review');
    expect(life.until(29 * DAY).phase).toBe('closed');
  });

  it('is known in UTC whatever the offset of its screening’s moment', () => {
    const { state } = adopted('review', {}, { screenedAt: '2026-03-02T08:00:00+02:00' });
    const sentFrom = '2026-03-02T06:00:00.000Z';
    expect(state.transactions).toMatchObject([{ found: 'adopted', sentFrom, sentUntil: sentFrom }]);
  });

  it.each(['A-7', '1001~2'])(
    'is looked up and found by the invoice number that it names, unchanged: %s',
    (number) => {
      const transaction = { amount: '12.50', order: { invoiceNumber: number } };
      const life = aLife({ adopt: anAdoption(), transaction });
      expect(checkoutRequest(life.order)).toMatchObject({ invoiceNumber: number });
      screened(found('review'), { invoicePerAttempt: true }, life);
      expect(life.state.transactions).toMatchObject([{ invoiceNumber: number }]);
      const { name, type } = orderAttributes.invoiceNumber;
      const attributes = searchAttributesOf(life.order);
      expect(attributes).toContainEqual({ key: { name, type }, value: [number] });
    },
  );

  it('gives a checkout for the same order the answer of the adoption', () => {
    const life = adopted('review').polled('pass', MINUTE).ask(ADOPT, HOUR);
    life.ask({ kind: 'decision', request: { attempt: 1, fingerprint: 'f' } }, HOUR);
    const checkout = { decision: 'review', action: 'hold', transactionId: TRANSACTION_ID };
    expect(life.replies).toMatchObject([{ checkout }, { checkout }]);
  });

  it('takes no other attempt', () => {
    const life = adopted('review', PRE, { gatewayResult: 'fail' }).retry(2, MINUTE);
    expect(life).toMatchObject({ phase: 'declined', told: ['retry-out-of-turn'], underWay: [] });
  });

  it('that cannot be read is refused: it never goes on to a create', () => {
    const life = adopting().checkOut(undefined);
    expect(life.refusal?.code).toBe('screening-service-unavailable');
    expect(life.underWay).toEqual([]);
  });

  it('attaches a customer code only with an e-mail, since its customer is not known', () => {
    const email = 'jane@example.com';
    const life = adopted('review').portal('customer-code');
    life.portal({ kind: 'customer-code', customerCode: 'c-1', email });
    expect(life.told).toEqual(['invalid-request', 'waits']);
  });
});

describe('nothing is canceled by itself because of what was so at the adoption', () => {
  it.each(['fail', 'fraudulent'] as const)('a %s is held, with attention', (decision) => {
    const life = adopted(decision);
    expect(life.attention).toEqual(['failed-at-adoption']);
    life.take(HINT).read(decision === 'fail' ? 'fraudulent' : 'fail', HOUR);
    expect(life).toMatchObject({ phase: 'decided', action: 'hold' });
    expect(life.until(5 * DAY)).toMatchObject({ phase: 'closed', actions: [] });
  });

  it('a fail needs attention until a person decides about it', () => {
    for (const action of ['proceed', 'cancel'] as const)
      expect(adopted('fail').override(action).attention).toEqual([]);
    const canceled = adopted('fail').portal('cancel').portalEnds('done');
    expect(canceled).toMatchObject({ phase: 'canceled', attention: [] });
  });

  it('a fail that becomes a pass may proceed, and one after that is canceled', () => {
    const life = adopted('fail').take(HINT).read('pass', HOUR);
    expect(life.state).toMatchObject({ action: 'proceed', actions: [], attention: [] });
    life.take(HINT).read('fail', 2 * HOUR);
    expect(life.state.actions).toMatchObject([{ kind: 'cancel', by: 'policy' }]);
  });

  it('a review that was due already is attention, also where the policy cancels such reviews', () => {
    const screenedAt = sinceStart(HOUR - 5 * DAY);
    const life = adopted('review', { onUnresolvedReview: 'cancel' }, { screenedAt });
    expect(life.attention).toEqual(['review-unresolved']);
    expect(life.until(2 * HOUR)).toMatchObject({ phase: 'review', action: 'hold', actions: [] });
  });

  it.each([
    ['a pass', (life: Life) => life, 'pass'],
    ['a review that passed', (life: Life) => life.polled('pass', MINUTE), 'review'],
  ] as const)(
    '%s and then became a review is canceled by the policy that cancels such',
    (_what, before, decision) => {
      const screenedAt = sinceStart(HOUR - 5 * DAY);
      const life = before(adopted(decision, { onUnresolvedReview: 'cancel' }, { screenedAt }));
      life.take(HINT).read('review', 10 * MINUTE);
      expect(life.state).toMatchObject({ action: 'cancel', actions: [{ kind: 'cancel', by: 'policy' }] });
    },
  );
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
      const life = adopted(decision, PRE, { gatewayResult });
      expect(life.state).toMatchObject({ action, phase });
      expect(life.calls('gateway')).toEqual([]);
    },
  );
});

describe('an adoption', () => {
  it.each<[Partial<Adoption>, Partial<Policy>, string[]]>([
    [{}, {}, []],
    // Another system's clock may be ahead of ours.
    [{ screenedAt: sinceStart(60_000) }, {}, []],
    [{ screenedAt: sinceStart(60_001) }, {}, ['screenedAt']],
    [{ screenedAt: sinceStart(-30 * DAY) }, {}, []],
    [{ screenedAt: sinceStart(-30 * DAY - 1) }, {}, ['screenedAt']],
    [{}, PRE, ['gatewayResult']],
    [{ gatewayResult: 'pass' }, PRE, []],
    [{ gatewayResult: 'pass' }, {}, ['gatewayResult']],
  ])('%j under %j has errors at %j', (adoption, policy, paths) => {
    const errors = adoptionErrors(anAdoption(adoption), aPolicy(policy), START);
    expect(errors.map(({ path }) => path)).toEqual(paths);
  });
});
