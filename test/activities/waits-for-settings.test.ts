/** What activities do while an operator has to correct the settings of their integration. */
import { ApplicationFailureCategory } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { act, aPortalRequest, KINDS } from './portal-support.ts';
import {
  aCatchUp,
  aLookUp,
  aRead,
  aWorld,
  failureOf,
  fromNow,
  outcomeOf,
  plan,
  UNKNOWN_ID,
  withSandbox,
} from './support.ts';

withSandbox();

const background = () => aWorld().background;
const known = { integration: 'default', transactionId: UNKNOWN_ID, forbiddenKnown: false };
const passed = { ...known, known: 'pass', troubleKnown: false, cancelBy: fromNow(60_000) } as const;
const polled = { ...passed, known: 'review', pauses: { firstMs: 1_000, factor: 1, maxMs: 1_000 } } as const;
const answered = { ...known, gateway: { result: 'pass' } } as const;

type Operation = Parameters<typeof plan>[0];
type Call = (changes: { integration?: string; forbiddenKnown?: boolean }) => Promise<unknown>;
const CALLS: [string, Operation, Call][] = [
  ['catchUp', 'create-transaction', (how) => outcomeOf(background().catchUp, aCatchUp('pass', how))],
  ['lookUp', 'status-by-invoice', (how) => outcomeOf(background().lookUp, aLookUp(how))],
  ['readStatus', 'status-by-url', (how) => outcomeOf(aWorld().reads.readStatus, aRead({ ...known, ...how }))],
  [
    'readStatusLast',
    'status-by-url',
    (how) => outcomeOf(aWorld().polls.readStatusLast, { ...passed, ...how }),
  ],
  [
    'pollStatus',
    'status-by-url',
    (how) => outcomeOf(aWorld().polls.pollStatus, { ...polled, ...how }, { attempt: 2 }),
  ],
  [
    'sendGatewayResponse',
    'gateway-response',
    (how) => outcomeOf(background().sendGatewayResponse, { ...answered, ...how }),
  ],
  ...KINDS.map(([kind, operation]): [string, Operation, Call] => [
    kind,
    operation,
    (how) => act(aPortalRequest(kind, how)),
  ]),
];

describe.each(CALLS)('%s', (_name, operation, call) => {
  it('reports a wrong key once, then tries slowly and counts no failure', async () => {
    plan(operation, '403');
    expect(await call({})).toEqual({ kind: 'forbidden' });
    expect(await failureOf(call({ forbiddenKnown: true }))).toMatchObject({
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
