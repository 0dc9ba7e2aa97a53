/** How long activities wait while an operator has to correct a setting, or the screening service does not answer. */
import { ApplicationFailureCategory } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { DAY, HOUR } from '../fixtures/policies.ts';
import { act, aPortalRequest, KINDS } from './portal-support.ts';
import {
  type Attempt,
  aCatchUp,
  aLookUp,
  aRead,
  aWorld,
  failureOf,
  fromNow,
  KEY_KNOWN,
  outcomeOf,
  plan,
  UNKNOWN_ID,
  withSandbox,
} from './support.ts';

withSandbox();

const background = () => aWorld().background;
const known = { integration: 'default', attempt: 1, transactionId: UNKNOWN_ID };
const passed = { ...known, known: 'pass', troubleKnown: false, cancelBy: fromNow(60_000) } as const;
const polled = {
  ...passed,
  known: 'review',
  pauses: { firstMs: 60_000, factor: 1.5, maxMs: 900_000 },
  leadMs: 0,
} as const;
const answered = { ...known, gateway: { result: 'pass' } } as const;

type Operation = Parameters<typeof plan>[0];
type Call = (changes?: { integration?: string; cancelBy?: string }, attempt?: Attempt) => Promise<unknown>;
const CALLS: [string, Operation, Call][] = [
  [
    'catchUp',
    'create-transaction',
    (how, run) => outcomeOf(background().catchUp, aCatchUp('pass', how), run),
  ],
  ['lookUp', 'status-by-invoice', (how, run) => outcomeOf(background().lookUp, aLookUp(how), run)],
  [
    'readStatus',
    'status-by-url',
    (how, run) => outcomeOf(aWorld().reads.readStatus, aRead({ ...known, ...how }), run),
  ],
  [
    'readStatusLast',
    'status-by-url',
    (how, run) => outcomeOf(aWorld().polls.readStatusLast, { ...passed, ...how }, run),
  ],
  [
    'pollStatus',
    'status-by-url',
    (how, run) => outcomeOf(aWorld().polls.pollStatus, { ...polled, ...how }, { attempt: 2, ...run }),
  ],
  [
    'sendGatewayResponse',
    'gateway-response',
    (how, run) => outcomeOf(background().sendGatewayResponse, { ...answered, ...how }, run),
  ],
  ...KINDS.map(([kind, operation]): [string, Operation, Call] => [
    kind,
    operation,
    (how, run) => act(aPortalRequest(kind, how), run),
  ]),
];

describe.each(CALLS)('%s', (_name, operation, call) => {
  it('reports a wrong key once, then tries slowly and counts no failure', async () => {
    plan(operation, '403');
    expect(await call()).toEqual({ kind: 'forbidden' });
    expect(await failureOf(call({}, KEY_KNOWN))).toMatchObject({
      type: 'forbidden',
      nextRetryDelay: 60_000,
      category: ApplicationFailureCategory.BENIGN,
    });
  });

  it('is tried again while its integration is gone', async () => {
    const failure = await failureOf(call({ integration: 'elsewhere' }));
    expect(failure).toMatchObject({ type: 'unknown-integration', nonRetryable: false });
  });
});

it.each<[call: string, retryAfter: number, leftMs: number, pauseMs: number, attempt?: number]>([
  ['lookUp', 3_600, 1_900, 1_000],
  ['readStatus', 3_600, 1_900, 1_000],
  ['readStatusLast', 9, DAY, 9_000],
  ['readStatusLast', 3_600, DAY, HOUR],
  ['readStatusLast', 3_600, 3_000_000, 1_500_000],
  ['readStatusLast', 3_600, 1_900, 1_000],
  ['readStatusLast', 3_600, -1, HOUR],
  ['readStatusLast', 0, 1_900, 1_000, 10],
  ['readStatusLast', 0, DAY, 300_000, 10],
  ['pollStatus', 600, 5 * DAY, 600_000],
  ['pollStatus', 5, 5 * DAY, 90_000],
  ['pollStatus', 600, 1_900, 1_000],
  ['pollStatus', 600, -1, HOUR],
])(
  '%s obeys a Retry-After of %i s, but with %i ms left does not sleep through the cancel window: %i ms',
  async (name, retryAfter, leftMs, pauseMs, attempt) => {
    const [, operation, call] = CALLS.find(([one]) => one === name) ?? expect.fail();
    plan(operation, retryAfter === 0 ? '5xx-before-commit' : '429', { retryAfter });
    const failure = await failureOf(call({ cancelBy: fromNow(leftMs) }, attempt ? { attempt } : {}));
    expect(failure.nextRetryDelay).toBeLessThanOrEqual(pauseMs);
    expect(failure.nextRetryDelay).toBeGreaterThanOrEqual(0.99 * pauseMs);
  },
);

it('pollStatus does not sleep through the time at which an open review is acted on either', async () => {
  plan('status-by-url', '429', { retryAfter: 3_600 });
  const request = { ...polled, leadMs: HOUR, cancelBy: fromNow(1.5 * HOUR) };
  const { nextRetryDelay } = await failureOf(outcomeOf(aWorld().polls.pollStatus, request, { attempt: 2 }));
  expect(nextRetryDelay).toBeLessThanOrEqual(HOUR / 4);
});
