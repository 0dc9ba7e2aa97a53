/** Random lives of an order: how its integration is set up, and what happens one after another. */
import fc from 'fast-check';
import type { Policy } from '../../src/orders/policy.ts';
import type { Decision, GatewayResult } from '../../src/orders/words.ts';
import { aPolicy, DAY, HOUR, MINUTE } from '../fixtures/policies.ts';
import type { Mood, NextCreate, PortalMood } from './scripted-service.ts';

export type Moment = 'reminder' | 'recheck' | 'last stretch' | 'after window' | 'retry over';

export type Step =
  | { do: 'wait'; ms: number }
  | { do: 'wait until'; what: Moment }
  | { do: 'service decides'; decision: Decision | 'unknown' }
  | { do: 'service turns'; to: Mood }
  | { do: 'portal turns'; to: PortalMood }
  | { do: 'next create'; is: NextCreate }
  | { do: 'decision'; back: 0 | 1 | -1; content: Content; id: boolean }
  | { do: 'retry'; ahead: 0 | 1 | 2; content: Content; id: boolean }
  | { do: 'gateway-result'; result: GatewayResult; back: 0 | 1 }
  | { do: 'cancel' | 'report-fraud'; tx: 'unnamed' | 'newest' | 'first' | 'unknown' }
  | { do: 'chargeback'; number: 1 | 2; force: boolean }
  | { do: 'customer-code' }
  | { do: 'hint'; by: 'update' | 'signal'; tx: 'unnamed' | 'newest' | 'another'; says: Decision }
  | { do: 'recheck' | 'acknowledge' };

/** Whether a request says the content it was first sent with. */
export type Content = 'same' | 'other' | 'unsaid';

export interface Life {
  policy: Partial<Policy>;
  first: NextCreate;
  mood: Mood;
  steps: Step[];
}

const is = <T>(...values: T[]) => fc.constantFrom(...values);
const often = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });

const nextCreate = fc.oneof(
  often(6, is<NextCreate>('pass', 'review', 'fail')),
  often(3, is<NextCreate>('fraudulent', 'error', 'refused')),
  often(3, is<NextCreate>('lost', 'lost-pass', 'lost-review', 'lost-fail')),
);

const policy: fc.Arbitrary<Partial<Policy>> = fc.record({
  workflow: is('pre-gateway', 'pre-acceptance', 'post-acceptance'),
  whenUnavailable: is('hold', 'proceed', 'decline'),
  reviewBeforeGateway: is('proceed', 'hold'),
  onUnresolvedReview: is('alert', 'cancel'),
  recheckLeadTimeMs: is(12 * HOUR, 0),
  autoCancel: fc.boolean(),
  passive: fc.integer({ min: 0, max: 9 }).map((one) => one === 9),
  cancelWindowMs: is(5 * DAY, 2 * DAY),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  often(
    4,
    fc.record({
      do: fc.constant('wait' as const),
      ms: is(5_000, 90_000, 20 * MINUTE, 2 * HOUR, 13 * HOUR, 50 * HOUR),
    }),
  ),
  often(
    3,
    fc.record({
      do: fc.constant('wait until' as const),
      what: is<Moment>('reminder', 'recheck', 'last stretch', 'after window', 'retry over'),
    }),
  ),
  often(
    5,
    fc.record({
      do: fc.constant('service decides' as const),
      decision: is<Decision | 'unknown'>(
        'pass',
        'fail',
        'review',
        'fraudulent',
        'pass',
        'fail',
        'error',
        'unknown',
      ),
    }),
  ),
  often(
    2,
    fc.record({ do: fc.constant('service turns' as const), to: is<Mood>('ok', 'ok', 'down', 'wrong-key') }),
  ),
  often(
    1,
    fc.record({
      do: fc.constant('portal turns' as const),
      to: is<PortalMood>('ok', 'refuse', 'unconfirmed'),
    }),
  ),
  often(2, fc.record({ do: fc.constant('next create' as const), is: nextCreate })),
  often(
    1,
    fc.record({
      do: fc.constant('decision' as const),
      back: is<0 | 1 | -1>(0, 0, 1, -1),
      content: is<Content>('same', 'other', 'unsaid'),
      id: fc.boolean(),
    }),
  ),
  often(
    4,
    fc.record({
      do: fc.constant('retry' as const),
      ahead: is<0 | 1 | 2>(1, 1, 1, 0, 2),
      content: is<Content>('same', 'same', 'other', 'unsaid'),
      id: fc.boolean(),
    }),
  ),
  often(
    4,
    fc.record({
      do: fc.constant('gateway-result' as const),
      result: is<GatewayResult>('pass', 'pass', 'fail', 'error'),
      back: is<0 | 1>(0, 0, 0, 1),
    }),
  ),
  often(
    2,
    fc.record({
      do: is<'cancel' | 'report-fraud'>('cancel', 'report-fraud'),
      tx: is<'unnamed' | 'newest' | 'first' | 'unknown'>('unnamed', 'unnamed', 'newest', 'first', 'unknown'),
    }),
  ),
  often(
    1,
    fc.record({ do: fc.constant('chargeback' as const), number: is<1 | 2>(1, 2), force: fc.boolean() }),
  ),
  often(1, fc.record({ do: fc.constant('customer-code' as const) })),
  often(
    3,
    fc.record({
      do: fc.constant('hint' as const),
      by: is<'update' | 'signal'>('update', 'signal'),
      tx: is<'unnamed' | 'newest' | 'another'>('unnamed', 'newest', 'newest', 'another'),
      says: is<Decision>('pass', 'fail'),
    }),
  ),
  often(2, fc.record({ do: is<'recheck' | 'acknowledge'>('recheck', 'acknowledge') })),
);

/** Mostly one step; sometimes a cancel right where it is about to be too late, which chance alone seldom finds. */
const chapter: fc.Arbitrary<Step[]> = fc.oneof(
  often(
    14,
    step.map((one) => [one]),
  ),
  often(
    1,
    is<Moment>('last stretch', 'last stretch', 'after window').map((what): Step[] => [
      { do: 'wait until', what },
      { do: 'cancel', tx: 'unnamed' },
    ]),
  ),
);

export const life: fc.Arbitrary<Life> = fc.record({
  policy,
  first: fc.oneof(often(14, nextCreate), often(1, is<NextCreate>('skipped'))),
  mood: is<Mood>('ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'down', 'wrong-key'),
  steps: fc
    .array(chapter, { minLength: 5, maxLength: 12, size: 'max' })
    .map((list) => list.flat().slice(0, 15)),
});

/** The policy of a life: pauses are long, so that days cost few polls. */
export function policyOf({ policy: given }: Life): Policy {
  return aPolicy({
    ...given,
    poll: { firstMs: MINUTE, factor: 1.5, maxMs: 3 * HOUR },
    reviewLimitMs: 8 * DAY,
  });
}

/** A life in a few lines, for a person. */
export function tell(one: Life): string {
  const words = (step: Step) =>
    Object.entries(step)
      .map(([key, value]) => (key === 'do' ? value : `${key} ${value}`))
      .join(', ');
  const set = Object.entries(one.policy).map(([key, value]) => `${key}: ${value}`);
  return [
    `policy ${set.join(', ')}`,
    `first create: ${one.first}, the service is ${one.mood}`,
    ...one.steps.map((step, index) => `${index + 1}. ${words(step)}`),
  ].join('\n');
}
