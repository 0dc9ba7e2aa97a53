import { describe, expect, it } from 'vitest';
import {
  type Action,
  type Decision,
  type IntegrationWorkflow,
  type Phase,
  UNAVAILABLE_ACTIONS,
  type UnavailableAction,
} from '../../src/contract/words.ts';
import { applyReading } from '../../src/orders/apply-reading.ts';
import { applyScreening } from '../../src/orders/apply-screening.ts';
import {
  anOrder,
  answered,
  attention,
  found,
  MINUTE,
  screen,
  sinceStart,
  unanswered,
} from '../fixtures/orders.ts';

type Row = [Decision | 'pending' | 'skipped', IntegrationWorkflow, UnavailableAction, Action, Phase];

const pre: IntegrationWorkflow = 'pre-gateway';
const acc: IntegrationWorkflow = 'pre-acceptance';
const post: IntegrationWorkflow = 'post-acceptance';

/** What each answer means at checkout: decision, integration workflow, `whenUnavailable`, action, phase. */
const AT_CHECKOUT: Row[] = UNAVAILABLE_ACTIONS.flatMap((policy): Row[] => [
  ['pass', pre, policy, 'proceed', 'awaiting-gateway'],
  ['pass', acc, policy, 'proceed', 'decided'],
  ['pass', post, policy, 'proceed', 'decided'],
  ['review', pre, policy, 'proceed', 'awaiting-gateway'],
  ['review', acc, policy, 'hold', 'review'],
  ['review', post, policy, 'hold', 'review'],
  ['fail', pre, policy, 'decline', 'declined'],
  ['fail', acc, policy, 'decline', 'declined'],
  ['fail', post, policy, 'cancel', 'decided'],
  ['fraudulent', pre, policy, 'decline', 'declined'],
  ['fraudulent', acc, policy, 'decline', 'declined'],
  ['fraudulent', post, policy, 'cancel', 'decided'],
  ['skipped', pre, policy, 'proceed', 'decided'],
  ['skipped', acc, policy, 'proceed', 'decided'],
  ['skipped', post, policy, 'proceed', 'decided'],
]);
for (const decision of ['error', 'pending'] as const) {
  for (const workflow of [pre, acc, post]) {
    AT_CHECKOUT.push([decision, workflow, 'hold', 'hold', 'screening']);
    AT_CHECKOUT.push([decision, workflow, 'proceed', 'proceed', 'screening']);
  }
  AT_CHECKOUT.push([decision, pre, 'decline', 'decline', 'declined']);
  AT_CHECKOUT.push([decision, acc, 'decline', 'decline', 'declined']);
  AT_CHECKOUT.push([decision, post, 'decline', 'hold', 'screening']);
}

function outcomeOf(decision: Row[0]) {
  if (decision === 'pending') return unanswered();
  return decision === 'skipped' ? ({ kind: 'skipped', rule: 0 } as const) : decision;
}

describe('the answer to a checkout', () => {
  it('has a row for each decision, integration workflow and policy', () => {
    expect(new Set(AT_CHECKOUT.map((row) => row.slice(0, 3).join())).size).toBe(7 * 3 * 3);
    expect(AT_CHECKOUT).toHaveLength(63);
  });

  it.each(AT_CHECKOUT)(
    '%s in %s, without a decision %s, is %s and %s',
    (decision, workflow, whenUnavailable, action, phase) => {
      const order = anOrder(outcomeOf(decision), { workflow, whenUnavailable });
      expect(order).toMatchObject({ decision, action, phase });
      expect(order.wouldBe).toBeUndefined();
      expect(order.message).toBe(action === 'decline' ? 'Please try another way to pay.' : undefined);
    },
  );

  it.each(AT_CHECKOUT)(
    '%s in %s, without a decision %s, is proceed in passive mode and would be %s',
    (decision, workflow, whenUnavailable, action) => {
      const order = anOrder(outcomeOf(decision), { workflow, whenUnavailable, passive: true });
      expect(order).toMatchObject({ decision, action: 'proceed', wouldBe: action });
      expect(order.message).toBeUndefined();
      expect(order.phase).not.toBe('declined');
    },
  );

  it('holds a review before the gateway when the policy says so', () => {
    const order = anOrder('review', { workflow: 'pre-gateway', reviewBeforeGateway: 'hold' });
    expect(order).toMatchObject({ action: 'hold', phase: 'review' });
  });

  it('shows the service’s own message of a fail', () => {
    const order = anOrder({ ...answered('fail'), message: 'Call us.' });
    expect(order.message).toBe('Call us.');
    expect(order.attempts[0]?.answer?.message).toBe('Call us.');
  });
});

describe('a decision after a review', () => {
  const later: [Decision, IntegrationWorkflow, Action, Phase][] = [pre, acc, post].flatMap((workflow) => [
    ['pass', workflow, 'proceed', workflow === pre ? 'awaiting-gateway' : 'decided'],
    ['fail', workflow, 'cancel', 'decided'],
    ['fraudulent', workflow, 'cancel', 'decided'],
  ]);

  it.each(later)('%s in %s is %s and %s', (decision, workflow, action, phase) => {
    const order = anOrder('review', { workflow });
    const events = applyReading(order, { kind: 'read', decision }, 'poll', sinceStart(MINUTE));
    expect(order).toMatchObject({ decision, action, phase });
    expect(events).toEqual(['order.review_resolved']);
  });

  it.each(later)(
    '%s in %s changes nothing in passive mode but what it would be',
    (decision, workflow, action) => {
      const order = anOrder('review', { workflow, passive: true });
      applyReading(order, { kind: 'read', decision }, 'poll', sinceStart(MINUTE));
      expect(order).toMatchObject({ decision, action: 'proceed', wouldBe: action });
    },
  );
});

describe('a first decision that comes when the cancel window has closed', () => {
  it.each([
    ['fail', {}, ['order.decided', 'order.attention'], ['failed-after-window']],
    ['fail', { passive: true }, ['order.decided'], []],
    ['pass', {}, ['order.decided'], []],
  ] as const)('%s with %j is told to a person: %j', (decision, policy, events, codes) => {
    const order = anOrder(unanswered(), { cancelWindowMs: MINUTE, ...policy });
    const moment = { source: 'catch-up', now: sinceStart(2 * MINUTE) } as const;
    expect(applyScreening(order, found(decision), moment)).toEqual(events);
    expect(attention(order)).toEqual(codes);
  });
});

describe('another attempt', () => {
  it('is answered on its own, by the same table', async () => {
    const { addAttempt } = await import('../../src/orders/record.ts');
    const order = anOrder('fail');
    addAttempt(order, {}, sinceStart(MINUTE));
    expect(order).toMatchObject({ phase: 'screening', decision: 'pending', action: 'hold' });
    expect(order.message).toBeUndefined();
    expect(screen(order, answered('pass', 'second', MINUTE), MINUTE)).toEqual(['order.decided']);
    expect(order).toMatchObject({ phase: 'decided', decision: 'pass', action: 'proceed' });
    expect(order.attempts.map((one) => one.answer?.action)).toEqual(['decline', 'proceed']);
  });
});
