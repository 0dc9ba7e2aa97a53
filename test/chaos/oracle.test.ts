import { describe, expect, it } from 'vitest';
import type { Attempt, State } from './evidence.ts';
import type { HistoryFacts } from './history-facts.ts';
import { anAttempt, aPlan, aRead, aState, ID, moment, START, someFacts } from './made-up.ts';
import { checkoutAction, expectedAction, fallbackAction } from './oracle.ts';
import { type IntegrationName, policyOf } from './policies.ts';

const reading = (decision: string, at: number, source = 'poll') => ({ decision, at: moment(at), source });
const answered = (decision: string, action: string) => ({ decision, action, phase: 'screening' });
const cancel = { number: 1, kind: 'cancel', transactionId: ID, by: 'caller', requestedAt: moment(2) };

/** The action that an order must have after its checkout and what came later. */
function expected(
  integration: IntegrationName,
  checkout: [decision: string, action: string],
  attempt: Partial<Attempt> = {},
  state: Partial<State> = {},
): string {
  const plan = aPlan(integration);
  const readings = [reading(checkout[0], 0, 'checkout'), ...(attempt.readings ?? [])];
  const made = anAttempt(plan, { ...attempt, readings, answer: answered(...checkout) });
  return expectedAction(plan, aState(plan, { ...state, attempts: [made] }));
}

describe('the checkout', () => {
  it.each([
    ['gateway', 'review', 'proceed'],
    ['holding', 'review', 'hold'],
    ['gateway', 'fail', 'decline'],
    ['canceling', 'review', 'hold'],
    ['canceling', 'fraudulent', 'decline'],
    ['accepted', 'fail', 'cancel'],
    ['accepted', 'pass', 'proceed'],
    ['alerting', 'pending', 'proceed'],
    ['alerting', 'error', 'proceed'],
    ['declining', 'pending', 'decline'],
    ['accepted', 'pending', 'hold'],
    ['canceling', 'skipped', 'proceed'],
  ] as const)('of %s for %s says %s', (integration, decision, action) => {
    expect(checkoutAction(policyOf(integration), decision, 150)).toBe(action);
  });

  it('without a decision follows the rule for the amount', () => {
    expect(fallbackAction(policyOf('default'), 100)).toBe('hold');
    expect(fallbackAction(policyOf('default'), 99)).toBe('proceed');
  });
});

describe('later', () => {
  it.each([
    [
      'a review passes',
      expected('canceling', ['review', 'hold'], { readings: [reading('pass', 5)] }),
      'proceed',
    ],
    [
      'a review fails',
      expected('canceling', ['review', 'hold'], { readings: [reading('fail', 5)] }),
      'cancel',
    ],
    [
      'a pass goes back to review',
      expected('canceling', ['pass', 'proceed'], { readings: [reading('review', 5)] }),
      'hold',
    ],
    [
      'a fail that becomes a pass stays canceled',
      expected('canceling', ['review', 'hold'], { readings: [reading('fail', 5), reading('pass', 6)] }),
      'cancel',
    ],
    [
      'a refused customer stays refused',
      expected('canceling', ['fail', 'decline'], { readings: [reading('pass', 5)] }),
      'decline',
    ],
    [
      'an error replaces nothing',
      expected('canceling', ['pass', 'proceed'], { readings: [reading('error', 5)] }),
      'proceed',
    ],
    [
      'a decision comes after a fallback',
      expected('alerting', ['pending', 'proceed'], { readings: [reading('review', 9)] }),
      'hold',
    ],
    [
      'a transaction turns up after a declined fallback',
      expected('declining', ['pending', 'decline'], { readings: [reading('pass', 9, 'look-up')] }),
      'decline',
    ],
    [
      'a cancel was asked',
      expected(
        'canceling',
        ['pass', 'proceed'],
        {},
        { actions: [{ ...cancel, status: 'refused', finishedAt: moment(3) }] },
      ),
      'cancel',
    ],
    [
      'a cancel is under way',
      expected('canceling', ['pass', 'proceed'], {}, { actions: [{ ...cancel, status: 'running' }] }),
      'proceed',
    ],
    [
      'an unresolved review is given up',
      expected('canceling', ['review', 'hold'], {}, { passed: ['review-lead'] }),
      'cancel',
    ],
    [
      'an unresolved review is only told of',
      expected('alerting', ['review', 'hold'], {}, { passed: ['review-lead'] }),
      'hold',
    ],
    [
      'the review limit',
      expected('gateway', ['review', 'proceed'], {}, { passed: ['review-limit'] }),
      'hold',
    ],
    ['passive', expected('passive', ['fail', 'proceed']), 'proceed'],
  ])('%s', (_case, action, must) => {
    expect(action).toBe(must);
  });

  const gateway = (result: string, at = 5) => ({ gateway: { result, at: moment(at) } });

  it.each([
    ['approves a review', expected('gateway', ['review', 'proceed'], gateway('pass')), 'hold'],
    ['declines', expected('gateway', ['pass', 'proceed'], gateway('fail')), 'decline'],
    ['errs', expected('gateway', ['pass', 'proceed'], gateway('error')), 'hold'],
    [
      'erred before the pass',
      expected('gateway', ['review', 'proceed'], { ...gateway('error'), readings: [reading('pass', 9)] }),
      'hold',
    ],
    [
      'approves after the review failed',
      expected('gateway', ['review', 'proceed'], { ...gateway('pass', 9), readings: [reading('fail', 5)] }),
      'cancel',
    ],
    [
      'declines before the review fails',
      expected('gateway', ['review', 'proceed'], { ...gateway('fail'), readings: [reading('fail', 9)] }),
      'decline',
    ],
    [
      'approves while there is no decision',
      expected('gateway', ['pending', 'proceed'], gateway('pass')),
      'proceed',
    ],
  ])('the gateway %s', (_case, action, must) => {
    expect(action).toBe(must);
  });
});

describe('the gateway’s fail and the service’s', () => {
  // Found with seed 70702, order 407: a poll's end and the gateway's second result came in one task, at 15.616 s.
  const both = (readAt: number, known?: HistoryFacts) => {
    const plan = aPlan('gateway', { amount: 115, attempts: ['review'] });
    const made = anAttempt(plan, {
      decision: 'fail',
      readings: [reading('review', 0.159, 'checkout'), reading('fail', readAt)],
      answer: answered('review', 'proceed'),
      gateway: { result: 'fail', at: moment(15.616), sent: moment(23.288) },
    });
    return expectedAction(plan, aState(plan, { attempts: [made] }), known);
  };
  const took = (task: number, readInTask: number) =>
    someFacts({
      gatewayResults: [
        { attempt: 1, result: 'error', task: 1, at: START + 4_540 },
        { attempt: 1, result: 'fail', task, at: START + 15_616 },
      ],
      recordedReads: [aRead(5.994, 12.022, { decision: 'fail', task: readInTask, at: START + 6_500 })],
    });

  it('at the same moment: what was read comes before what was reported', () => {
    expect(both(15.616)).toBe('cancel');
    expect(both(15.616, took(3, 3))).toBe('cancel');
  });

  it('one after the other: the first decides', () => {
    expect(both(6.5)).toBe('cancel');
    expect(both(15.617)).toBe('decline');
  });

  it('of one moment in two tasks: the task decides', () => {
    expect(both(15.616, took(3, 4))).toBe('decline');
  });
});

describe('a cancel', () => {
  it.each([
    ['that was refused means cancel', 'refused', 'cancel'],
    ['whose outcome is unknown means cancel', 'unconfirmed', 'cancel'],
    ['that was withdrawn changes nothing', 'withdrawn', 'proceed'],
  ])('%s', (_case, status, action) => {
    const asked = { ...cancel, status, finishedAt: moment(3) };
    expect(expected('canceling', ['pass', 'proceed'], {}, { actions: [asked] })).toBe(action);
  });
});

describe('a gateway result that replaced another', () => {
  it('ends the hold of the first, which the history has', () => {
    const known = someFacts({
      gatewayResults: [{ attempt: 1, result: 'error', task: 1, at: START + 2_000 }],
    });
    const plan = aPlan('gateway');
    const made = anAttempt(plan, {
      readings: [reading('review', 0, 'checkout'), reading('pass', 3)],
      answer: answered('review', 'proceed'),
      gateway: { result: 'pass', at: moment(5) },
    });
    expect(expectedAction(plan, aState(plan, { attempts: [made] }), known)).toBe('proceed');
  });
});
