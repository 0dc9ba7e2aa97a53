import { describe, expect, it } from 'vitest';
import type { Attempt, State } from './evidence.ts';
import type { HistoryFacts } from './history-facts.ts';
import { anAttempt, aPlan, aRead, aState, ID, moment, START, someFacts } from './made-up.ts';
import { expectedAction, fallbackAction } from './oracle.ts';
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

/** What no planted fault of the simulation asks, which judges its lives with the same oracle. */
describe('the action that an order must have', () => {
  it('at the checkout without a decision follows the rule for the amount', () => {
    expect(fallbackAction(policyOf('default'), 100)).toBe('hold');
    expect(fallbackAction(policyOf('default'), 99)).toBe('proceed');
  });

  const reviewAtGateway = (attempt: Partial<Attempt>) => expected('gateway', ['review', 'proceed'], attempt);
  const passAndCancel = (outcome: { status: string; finishedAt?: string }) =>
    expected('canceling', ['pass', 'proceed'], {}, { actions: [{ ...cancel, ...outcome }] });

  it.each([
    [
      'a pass goes back to review',
      expected('canceling', ['pass', 'proceed'], { readings: [reading('review', 5)] }),
      'hold',
    ],
    [
      'a decision comes after a fallback',
      expected('alerting', ['pending', 'proceed'], { readings: [reading('review', 9)] }),
      'hold',
    ],
    ['a cancel is under way', passAndCancel({ status: 'running' }), 'proceed'],
    ['a cancel was withdrawn', passAndCancel({ status: 'withdrawn', finishedAt: moment(3) }), 'proceed'],
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
      'the gateway approves a review',
      reviewAtGateway({ gateway: { result: 'pass', at: moment(5) } }),
      'hold',
    ],
    [
      'the gateway erred before the pass',
      reviewAtGateway({ gateway: { result: 'error', at: moment(5) }, readings: [reading('pass', 9)] }),
      'hold',
    ],
  ])('%s', (_case, action, must) => {
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

  it('of one moment in two tasks: the task decides', () => {
    expect(both(15.616, took(3, 4))).toBe('decline');
  });
});
