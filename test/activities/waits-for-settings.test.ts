/** What activities do while an operator has to correct the settings of their integration. */
import { ApplicationFailureCategory } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
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
const polled = { ...passed, known: 'review', pauses: { firstMs: 1_000, factor: 1, maxMs: 1_000 } } as const;
const answered = { ...known, gateway: { result: 'pass' } } as const;

type Operation = Parameters<typeof plan>[0];
type Call = (changes?: { integration?: string }, attempt?: Attempt) => Promise<unknown>;
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
