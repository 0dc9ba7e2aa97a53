import { describe, expect, it } from 'vitest';
import { PORTAL_ACTION } from '../../src/contract/messages.ts';
import type { FaultKind } from '../../src/sandbox/fault-plan.ts';
import { ACTIVITY_OPTIONS } from '../../src/workflows/perform.ts';
import { NOBODY } from '../fixtures/integrations.ts';
import { act, aPortalRequest, type Before, fieldsOf, IN_DOUBT, KINDS, UNDONE } from './portal-support.ts';
import {
  aWorld,
  expectNoSecret,
  failureOf,
  fromNow,
  KEY_KNOWN,
  noOrders,
  plan,
  requests,
  screened,
  theTransaction,
  withSandbox,
} from './support.ts';

withSandbox();

const LOST = ['reset-after-commit', '5xx-after-commit', 'truncated-reply', 'malformed-body'] as const;
const isLost = (answer: string) => LOST.some((lost) => lost === answer);
const afterNothing = (attempt: number) =>
  attempt === 1 ? {} : { heartbeatDetails: { reported: attempt - 1 } };
const NOTHING_DONE = { attempt: 2, heartbeatDetails: { reported: 1 } };

/** A world that can't ask Temporal which workflows have ended. */
function withoutList() {
  const isDone = async () => {
    throw new Error('UNAVAILABLE');
  };
  return aWorld({}, { orders: { ...noOrders, isDone } });
}

/** How a try ends, by what the service answers: after nothing was done, and in doubt. What fails is tried again. */
const ENDS: [answer: FaultKind | 'success', undone: object, inDoubt?: object][] = [
  ['success', { kind: 'done', code: '200', message: expect.any(String) }],
  [
    'refused-in-body',
    { kind: 'refused', code: '403', message: 'Refused' },
    { kind: 'unconfirmed', message: 'Refused' },
  ],
  ['403', { kind: 'forbidden' }, { kind: 'forbidden', maybeDone: true }],
  ['429', { type: 'rate-limited', nonRetryable: false }],
  ...LOST.map((lost): [FaultKind, object] => [lost, { nonRetryable: false }]),
];

describe.each(KINDS)('%s', (kind, operation, done) => {
  const once = kind === 'chargeback';
  const unconfirmed = { kind: 'unconfirmed' };

  it.each(ENDS)('that is answered by %s', async (answer, undone, inDoubt = undone) => {
    const transactionId = await screened(aWorld());
    if (answer !== 'success') plan(operation, answer);
    const told: unknown[] = [];
    const end = ([, changes, attempt]: Before | (typeof IN_DOUBT)[number]) =>
      act(aPortalRequest(kind, { transactionId, ...changes }), attempt, told).catch(
        (failure: unknown) => failure,
      );
    const expected = once && isLost(answer) ? unconfirmed : undone;
    for (const before of UNDONE) {
      const ended = await end(before);
      expect(ended, before[0]).toMatchObject(expected);
      expectNoSecret(ended);
    }
    // The next try learns that this one did nothing, if that is certain.
    const certain = answer === '403' || answer === '429';
    expect(told).toEqual(certain ? [{ reported: 1 }, { reported: 2 }] : []);
    const sent = requests(operation);
    told.length = 0;
    for (const before of IN_DOUBT) {
      expect(await end(before), before[0]).toMatchObject(once ? unconfirmed : inDoubt);
    }
    // After a try that was lost it stays in doubt, whatever this one did.
    const firstTries = IN_DOUBT.filter(([, , { attempt }]) => attempt === undefined);
    expect(told).toEqual(certain && !once ? firstTries.map(() => ({ reported: 1 })) : []);
    expect(requests(operation)).toBe(once ? sent : sent + IN_DOUBT.length);
    if (answer === 'success') expect(done(theTransaction())).toBeGreaterThanOrEqual(1);
  });
});

it.each([
  ...IN_DOUBT,
  ['a try after one that did nothing', { maybeDone: true }, NOTHING_DONE, true] as const,
])(
  'a chargeback that a person forces is sent in doubt, and not again after its own tries: %s',
  async (_what, changes, attempt, known) => {
    const fields = { ...fieldsOf('chargeback'), force: true };
    const request = aPortalRequest('chargeback', {
      ...changes,
      fields,
      transactionId: await screened(aWorld()),
    });
    expect(await act(request, attempt)).toMatchObject({ kind: known ? 'done' : 'unconfirmed' });
    expect(theTransaction().chargebacks).toHaveLength(known ? 1 : 0);
  },
);

it('a chargeback is sent again when its integration is gone', async () => {
  const heartbeats: unknown[] = [];
  const request = aPortalRequest('chargeback', { integration: 'elsewhere' });
  const failure = await failureOf(act(request, {}, heartbeats));
  expect(failure).toMatchObject({ type: 'unknown-integration', nextRetryDelay: 1_000 });
  expect(heartbeats).toEqual([{ reported: 1 }]);
});

it.each([
  [1, 1_000],
  [4, 8_000],
  [40, 300_000],
])('the pauses grow: %i tries, %i ms', async (attempt, nextRetryDelay) => {
  const details = { attempt, ...afterNothing(attempt) };
  const closed = aWorld({ portalBaseUrl: `${NOBODY}/api/v1/transaction-update` });
  for (const [kind, operation] of KINDS) {
    // Whatever Retry-After says, it must not become a flood.
    plan(operation, '429', { retryAfter: 0 });
    expect((await failureOf(act(aPortalRequest(kind), details))).nextRetryDelay).toBe(nextRetryDelay);
    const failure = await failureOf(act(aPortalRequest(kind), details, [], closed));
    expect(failure).toMatchObject({ type: 'connection-refused', nextRetryDelay });
  }
});

it.each(['performPortalAction', 'deliverEvents', 'pollStatus'] as const)(
  'a try of %s that is lost is repeated soon, however many came before: only what a try reports makes the pauses grow',
  (name) => {
    const { initialInterval, backoffCoefficient } = ACTIVITY_OPTIONS[name].retry;
    expect(backoffCoefficient).toBe(1);
    expect(initialInterval).toBeLessThanOrEqual(10_000);
  },
);

describe('an action in a workflow of its own that was started again', () => {
  const startedAgain = async (request: ReturnType<typeof aPortalRequest>, isInDoubt: boolean) => {
    const orders = { ...noOrders, isInDoubt: async () => isInDoubt };
    const transactionId = await screened(aWorld());
    return act({ ...request, transactionId }, { workflowType: PORTAL_ACTION }, [], aWorld({}, { orders }));
  };

  it('is not sent if it is a chargeback that the run before may have submitted, unless it is forced', async () => {
    const chargeback = aPortalRequest('chargeback');
    expect(await startedAgain(chargeback, true)).toEqual({ kind: 'unconfirmed' });
    expect(requests('submit-chargeback')).toBe(0);
    expect(await startedAgain(chargeback, false)).toMatchObject({ kind: 'done' });
    const fields = { ...fieldsOf('chargeback'), force: true };
    expect(await startedAgain({ ...chargeback, fields }, true)).toMatchObject({ kind: 'done' });
  });

  it.each(KINDS.filter(([kind]) => kind !== 'chargeback'))('is sent if it is a %s', async (kind) => {
    expect(await startedAgain(aPortalRequest(kind), true)).toMatchObject({ kind: 'done' });
  });
});

describe('while Temporal can’t tell whether the same action has ended before', () => {
  const OWN = { workflowType: PORTAL_ACTION };

  const OTHERS = KINDS.filter(([kind]) => kind !== 'cancel');

  it.each(OTHERS)('a %s is not sent, and the pauses grow', async (kind, operation) => {
    for (const [attempt, nextRetryDelay] of [
      [1, 1_000],
      [4, 8_000],
    ] as const) {
      const details = { attempt, ...afterNothing(attempt), ...OWN };
      for (const force of kind === 'chargeback' ? [{}, { force: true }] : [{}]) {
        const request = aPortalRequest(kind, { fields: { ...fieldsOf(kind), ...force } });
        const failure = await failureOf(act(request, details, [], withoutList()));
        expect(failure).toMatchObject({ type: 'unexpected', nextRetryDelay });
      }
    }
    expect(requests(operation)).toBe(0);
  });

  it('a cancel whose window is over waits: it is too late, unless it was done before', async () => {
    const late = aPortalRequest('cancel', { notAfter: fromNow(-1) });
    expect(await failureOf(act(late, OWN, [], withoutList()))).toMatchObject({ nextRetryDelay: 1_000 });
  });

  it('a cancel in its window is sent, and is unconfirmed when it is refused', async () => {
    const transactionId = await screened(aWorld());
    const end = () => act(aPortalRequest('cancel', { transactionId }), OWN, [], withoutList());
    expect(await end()).toMatchObject({ kind: 'done' });
    plan('cancel-transaction', 'refused-in-body');
    expect(await end()).toEqual({ kind: 'unconfirmed', message: 'Refused' });
  });
});

describe('the last moment of a cancel', () => {
  const cancel = (leftMs: number, changes: Parameters<typeof aPortalRequest>[1] = {}) =>
    aPortalRequest('cancel', { notAfter: fromNow(leftMs), ...changes });

  it('once passed lets nothing be sent', async () => {
    const end = (changes: object, attempt = {}) => act(cancel(-1, changes), attempt);
    for (const [what, changes, attempt] of UNDONE) {
      expect(await end(changes, attempt), what).toEqual({ kind: 'too-late' });
    }
    for (const [what, changes, attempt] of IN_DOUBT) {
      expect(await end(changes, attempt), what).toEqual({ kind: 'unconfirmed' });
    }
    expect(await end({ notAfter: 'no moment' })).toEqual({ kind: 'too-late' });
    expect(requests('cancel-transaction')).toBe(0);
  });

  it('ends a request that is on its way', async () => {
    plan('cancel-transaction', 'hang-before-commit');
    const request = cancel(300);
    const failure = await failureOf(act(request));
    const overdue = Date.now() - Date.parse(request.notAfter ?? '');
    expect(failure).toMatchObject({ type: 'timeout', nonRetryable: false });
    expect(failure.nextRetryDelay).toBeLessThanOrEqual(5);
    expect(overdue).toBeGreaterThanOrEqual(-5);
    expect(overdue).toBeLessThan(500);
  });

  it.each([
    ['5xx-before-commit', {}],
    ['429', { retryAfter: 600 }],
    ['403', {}],
  ] as const)('is never slept through after %s, nor while the integration is gone', async (fault, more) => {
    plan('cancel-transaction', fault, more);
    const twelfth = { ...KEY_KNOWN, attempt: 12, heartbeatDetails: { reported: 11 } };
    for (const integration of ['default', 'elsewhere']) {
      const request = cancel(20_000, { integration });
      const { nextRetryDelay } = await failureOf(act(request, twelfth));
      expect(nextRetryDelay).toBeLessThanOrEqual(10_000);
      expect(nextRetryDelay).toBeGreaterThan(7_500);
    }
  });

  it.each([
    ['leaves a second between two tries', 1_800, 1_000],
    ['changes nothing while it is far', 3_600_000, 600_000],
  ])('%s', async (_what, leftMs, pause) => {
    plan('cancel-transaction', '429', { retryAfter: 600 });
    expect((await failureOf(act(cancel(leftMs)))).nextRetryDelay).toBe(pause);
  });
});
