import { describe, expect, it } from 'vitest';
import { type IntegrationWorkflow, UNAVAILABLE_ACTIONS } from '../../../src/contract/words.ts';
import { applyScreening } from '../../../src/order/screening/apply-screening.ts';
import {
  anOrder,
  answered,
  attention,
  found,
  MINUTE,
  sinceStart,
  unanswered,
} from '../../fixtures/orders.ts';

const WORKFLOWS: IntegrationWorkflow[] = ['pre-gateway', 'pre-acceptance', 'post-acceptance'];
const SKIPPED = { kind: 'skipped', rule: 0 } as const;

/** The action and phase of each answer, for each of WORKFLOWS. */
const WITH_DECISION = [
  ['pass', 'pass', ['proceed awaiting-gateway', 'proceed decided', 'proceed decided']],
  ['review', 'review', ['proceed awaiting-gateway', 'hold review', 'hold review']],
  ['fail', 'fail', ['decline declined', 'decline declined', 'cancel decided']],
  ['fraudulent', 'fraudulent', ['decline declined', 'decline declined', 'cancel decided']],
  ['skipped', SKIPPED, ['proceed decided', 'proceed decided', 'proceed decided']],
] as const;
const WITHOUT_DECISION = {
  hold: ['hold screening', 'hold screening', 'hold screening'],
  proceed: ['proceed screening', 'proceed screening', 'proceed screening'],
  decline: ['decline declined', 'decline declined', 'hold screening'],
};

const ROWS = UNAVAILABLE_ACTIONS.flatMap((whenUnavailable) =>
  [
    ...WITH_DECISION,
    ['error', 'error', WITHOUT_DECISION[whenUnavailable]] as const,
    ['pending', unanswered(), WITHOUT_DECISION[whenUnavailable]] as const,
  ].flatMap(([decision, outcome, means]) =>
    WORKFLOWS.map(
      (workflow, index) => [decision, workflow, whenUnavailable, means[index] ?? '', outcome] as const,
    ),
  ),
);

describe('the answer to a checkout', () => {
  it('has a row for each decision, integration workflow and policy', () => {
    expect(ROWS).toHaveLength(7 * 3 * 3);
  });

  it.each(ROWS)(
    '%s in %s, without a decision %s, is %s',
    (decision, workflow, whenUnavailable, means, outcome) => {
      const order = anOrder(outcome, { workflow, whenUnavailable });
      const { action, phase } = order;
      expect([order.decision, `${action} ${phase}`, order.wouldBe]).toEqual([decision, means, undefined]);
      expect(order.message).toBe(action === 'decline' ? 'Please try another way to pay.' : undefined);

      const passive = anOrder(outcome, { workflow, whenUnavailable, passive: true });
      expect(passive).toMatchObject({ decision, action: 'proceed', wouldBe: action });
      expect(passive.message).toBeUndefined();
      expect(passive.phase).not.toBe('declined');
    },
  );

  it('holds a review before the gateway when the policy says so', () => {
    const order = anOrder('review', { workflow: 'pre-gateway', reviewBeforeGateway: 'hold' });
    expect(order).toMatchObject({ action: 'hold', phase: 'review' });
  });

  it('shows the service’s own message of a fail', () => {
    const order = anOrder({ ...answered('fail'), message: 'Call us.' });
    expect([order.message, order.attempts[0]?.answer?.message]).toEqual(['Call us.', 'Call us.']);
  });
});

it.each([
  ['fail', {}, ['order.decided', 'order.attention'], ['failed-after-window']],
  ['fail', { passive: true }, ['order.decided'], []],
  ['pass', {}, ['order.decided'], []],
] as const)('a first %s after the cancel window, with %j, sends %j', (decision, policy, events, codes) => {
  const order = anOrder(unanswered(), { cancelWindowMs: MINUTE, ...policy });
  const moment = { source: 'catch-up', now: sinceStart(2 * MINUTE) } as const;
  expect(applyScreening(order, found(decision), moment)).toEqual(events);
  expect(attention(order)).toEqual(codes);
});
