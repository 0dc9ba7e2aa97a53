/** Faults that need a story of their own, each beside a story that only looks like it. */
import { expect, it } from 'vitest';
import type { AttentionCode, Decision, GatewayResult } from '../../src/contract/words.ts';
import { instant } from '../../src/contract/words.ts';
import { aPolicy, HOUR, MINUTE } from '../fixtures/policies.ts';
import {
  anAnswer,
  anArrival,
  aRequest,
  asksFor,
  becoming,
  books,
  CREATE,
  ID,
  START,
  TRANSACTION,
} from './a-passed-order.ts';
import type { BookedCall } from './asked.ts';
import type { BookedRequest } from './books.ts';
import { judgeBooks } from './judge.ts';

type Told = NonNullable<Parameters<typeof books>[0]>;

const OTHER = '00000000-0000-4000-8000-000000000002';
const again = (ms: number) => ({ ...CREATE, sentAt: START + ms, endedAt: START + ms + 20 });
const lost = { ...CREATE, heard: 'unknown' as const };
const looksUp = (ms: number, found: Partial<BookedRequest> = { heard: 'not-found' }) =>
  aRequest(ms, { operation: 'status-by-invoice', ...found });
const attempts = [1, 2].map((number) => ({ number, skip: false, card: false }));
const ofSecond = { attempt: 2, transactionId: OTHER };

/** A pass becomes a fail that only events of these types show. */
const failShownBy = (events: 'all' | 'changes', ...types: string[]): Told => ({
  ...becoming(['pass', 30], ['fail', HOUR]),
  policy: aPolicy({ events, autoCancel: false, recheckLeadTimeMs: 0 }),
  requests: [CREATE, aRequest(2 * HOUR, { decision: 'fail' })],
  arrivals: types.map((type, index) =>
    anArrival(index + 1, type, 3 * HOUR + index, { decision: 'fail', attempt: 1, transactionId: ID }),
  ),
  record: { decision: 'fail', action: 'hold', events: types.length },
});

/** A second attempt stays pending after a lookup by the shared number finds its transaction. */
const pendingAfter = (...before: BookedRequest[]): Told => ({
  attempts,
  transactions: [{ ...TRANSACTION, id: OTHER, attempt: 2 }],
  requests: [
    ...before,
    { ...again(20_000), heard: 'unknown', ...ofSecond },
    looksUp(31_000, { transactionId: OTHER }),
  ],
  calls: [
    {
      ...anAnswer(36_000, { ...ofSecond, decision: 'pending', action: 'hold' }),
      sentAt: START + 35_900,
    },
  ],
});

/** A caller cancels without naming a transaction, and these are canceled. */
const canceled = (
  ids: readonly string[],
  portal: BookedCall['portal'] = { status: 'done' },
  decision: Decision = 'pass',
): Told => ({
  transactions: [TRANSACTION, { ...TRANSACTION, id: OTHER, createdAt: START + MINUTE }],
  requests: [
    CREATE,
    aRequest(MINUTE, { transactionId: OTHER, decision }),
    ...ids.map((transactionId) =>
      aRequest(2 * MINUTE, {
        transactionId,
        operation: 'cancel-transaction',
        heard: 'done',
        committed: true,
      }),
    ),
  ],
  calls: [
    anAnswer(80),
    {
      kind: 'portal',
      request: { fields: { kind: 'cancel' } },
      sentAt: START + 90_000,
      at: START + HOUR,
      portal,
    },
  ],
});
/** A caller names the transaction to cancel, which takes effect after an hour. Another one is found then, and maybe canceled. */
const foundLater = (attempt: number, ms: number, canceledAt?: number): Told => {
  const cancelOf = (transactionId: string, at: number) =>
    aRequest(at, { transactionId, operation: 'cancel-transaction', heard: 'done', committed: true });
  return {
    transactions: [TRANSACTION, { ...TRANSACTION, id: OTHER, attempt, createdAt: START + 50 }],
    requests: [
      CREATE,
      cancelOf(ID, HOUR),
      aRequest(ms, { transactionId: OTHER }),
      ...(canceledAt === undefined ? [] : [cancelOf(OTHER, canceledAt)]),
    ],
    calls: [anAnswer(80), asksFor({ kind: 'cancel', transactionId: ID }, HOUR - MINUTE)],
    record: { phase: 'canceled' },
  };
};
const toldOfFirst = { status: 'done', transactionId: ID } as const;

/** A create that is sent again three hours after an error, of which a fail was read before a reset to that moment. */
const createdAfterReset = (to: number): Told => ({
  requests: [{ ...CREATE, decision: 'error' }, aRequest(HOUR, { decision: 'fail' }), again(3 * HOUR)],
  world: { resets: [{ to: START + to, at: START + 2 * HOUR }] },
});

/** The callers of two attempts wait that long; the creates are answered after 40 ms and 2.02 s. */
const waits = (firstMs: number, secondMs: number, told?: number): Told => ({
  policy: aPolicy({ events: 'changes', recheckLeadTimeMs: 0 }),
  answerBy: START + firstMs,
  arrivals:
    told === undefined ? [] : [anArrival(1, 'order.decided', 2_100, { decision: 'pass', attempt: told })],
  attempts,
  transactions: [TRANSACTION, { ...TRANSACTION, id: OTHER, attempt: 2, invoice: 'order-1~2' }],
  requests: [CREATE, { ...again(2_000), ...ofSecond }],
  calls: [
    anAnswer(80),
    {
      ...anAnswer(2_100, ofSecond),
      sentAt: START + 1_990,
      kind: 'retry',
      request: { attempt: 2, transaction: {}, answerBy: instant(START + secondMs) },
    },
  ],
});

/** A gateway result is never sent. */
const notSent = (attention: AttentionCode[], resultsNotSent: string[] = []): Told => {
  const paid = { attempt: 1, result: 'pass' } as const;
  const reports = { request: paid, gateway: paid, sentAt: START + MINUTE, at: START + MINUTE + 10 };
  return {
    policy: aPolicy({ workflow: 'pre-gateway', recheckLeadTimeMs: 0 }),
    calls: [anAnswer(80), { kind: 'gateway-result', ...reports }],
    record: { attention, resultsNotSent },
  };
};

/** A gateway result, reported so late, is sent for the older transaction of its attempt. The order ended after an hour. */
const sentForOlder = (ms: number, readMs = ms + MINUTE): Told => {
  const { record, calls = [], ...others } = notSent([]);
  const [checkout = anAnswer(80), report = checkout] = calls;
  const cancelBy = START + HOUR;
  return {
    ...others,
    calls: [checkout, { ...report, sentAt: START + ms, at: START + ms + 10 }],
    requests: [
      CREATE,
      aRequest(readMs, { transactionId: OTHER }),
      aRequest(ms, { operation: 'gateway-response', sent: 'pass', committed: true }),
    ],
    record: {
      ...record,
      newest: OTHER,
      endedAt: START + HOUR,
      transactions: [ID, OTHER].map((id) => ({ id, attempt: 1, cancelBy })),
    },
  };
};

/** Attempt 1 is paid again as attempt 2, and the gateway reports these of the first one, the first of them before that. */
const paidAgain = (results: GatewayResult[], ...gatewayMatters: string[]): Told => {
  const report = (attempt: number, result: GatewayResult, ms: number): BookedCall => ({
    ...{ kind: 'gateway-result', request: { attempt, result }, gateway: { result } },
    ...{ sentAt: START + ms, at: START + ms + 10 },
  });
  const second = { ...anAnswer(MINUTE, ofSecond), sentAt: START + MINUTE - 10 };
  return {
    policy: aPolicy({ workflow: 'pre-gateway', recheckLeadTimeMs: 0 }),
    attempts,
    calls: [
      ...[anAnswer(80), second, report(2, 'pass', 2 * MINUTE)],
      ...results.map((result, index) => report(1, result, MINUTE / 2 + index * HOUR)),
    ],
    record: { attempts: 2, gatewayMatters },
  };
};

/** A customer code that the first attempt's caller asks for, and maybe that of the second one, is sent so many times, all of them late. */
const codeSent = (times: number, ...askedFor: (1 | 2)[]): Told => ({
  attempts,
  calls: [
    anAnswer(80),
    { ...anAnswer(HOUR, ofSecond), sentAt: START + HOUR - 10 },
    ...askedFor.map((attempt) =>
      asksFor({ kind: 'customer-code', customerCode: 'c-1' }, attempt * HOUR - MINUTE),
    ),
  ],
  requests: [
    CREATE,
    ...Array.from({ length: times }, (_, index) =>
      aRequest(3 * HOUR + index * MINUTE, {
        operation: 'customer-code',
        heard: 'done',
        committed: true,
        sent: { kind: 'customer-code', customerCode: 'c-1', email: 'jane@example.com' },
      }),
    ),
  ],
});

const reportedAfterEnd: Told = {
  record: { actions: [{ number: 1, kind: 'report-fraud', transactionId: ID, status: 'refused' }] },
  requests: [
    CREATE,
    aRequest(HOUR, { operation: 'report-fraud', heard: 'done', committed: true, apart: true }),
  ],
};

const found = (told: Told) => judgeBooks(books(told)).map(({ kind, facts }) => `${kind}: ${facts}`);

it.each<[fault: string, when: string, told: Told]>([
  [
    '1 order.closed of attempt 1 shows fail after pass, which no event announced',
    'of changes',
    failShownBy('changes', 'order.closed'),
  ],
  ['event missing: the record shows fail after pass', 'without any', failShownBy('changes')],
  [
    '1 order.closed of attempt 1 shows fail after undefined, which no event announced',
    'of all',
    failShownBy('all', 'order.closed'),
  ],
  ['pending, though heard', 'by a lookup in time', pendingAfter(lost, looksUp(12_000))],
  ['pending, though heard', 'the first create was refused', pendingAfter({ ...lost, heard: 'refused' })],
  ['cancel missing', 'only the older one is canceled', canceled([ID])],
  ['cancel missing', 'the newer one had a decision, though another was named', canceled([ID], toldOfFirst)],
  ['cancel missing', 'one of the canceled attempt is found later', foundLater(1, 2 * HOUR)],
  ['cancel unwanted', 'of one that was known beside the canceled one', foundLater(1, MINUTE, 2 * HOUR)],
  ['cancel unwanted', 'of another attempt', foundLater(2, 2 * HOUR, 2 * HOUR + 1_000)],
  ['second create', 'after one that may have arrived', { requests: [lost, again(60)] }],
  [
    'second create',
    'after a lookup that came before it may have arrived',
    { requests: [lost, looksUp(10_031), again(11_000)] },
  ],
  ['second create', 'where a reset went back to after what was told', createdAfterReset(70 * MINUTE)],
  ['event missing: pass of attempt 1, heard at', 'its caller had left', waits(39, 2_020)],
  ['event missing: pass of attempt 2, heard at', 'its caller had left', waits(40, 2_019)],
  ['gateway result lost', 'attention names another transaction', notSent(['gateway-not-sent'], ['another'])],
  ['gateway result lost', 'other attention', notSent(['gateway-contradiction'])],
  ['gateway result lost', 'it is sent for an older transaction', sentForOlder(MINUTE)],
  ['gateway result lost', 'after the end, too', sentForOlder(2 * HOUR, MINUTE)],
  ['sent again', 'a code of one attempt', codeSent(2, 1)],
  ['sent again', 'a code that was asked for twice at one attempt', codeSent(2, 2, 2)],
  ['sent again', 'a code of two attempts, a third time', codeSent(3, 1, 2)],
  ['attention missing: gateway-error', 'another attempt is paid', paidAgain(['error'])],
  ['attention missing: gateway-contradiction', 'both attempts are paid', paidAgain(['error', 'pass'])],
  [
    'attention stale: gateway-error',
    'another attempt’s may stand',
    paidAgain(['error', 'fail'], 'gateway-error:1'),
  ],
])('a planted fault is found: %s, %s', (fault, _when, told) => {
  expect(found(told)).toContainEqual(expect.stringContaining(fault));
});

it.each<[fault: string, when: string, told: Told]>([
  [
    'event missing',
    'a change has its event',
    failShownBy('changes', 'order.decision_changed', 'order.closed'),
  ],
  ['pending, though heard', 'the first create may be it', pendingAfter(lost)],
  ['pending, though heard', 'by a lookup too early', pendingAfter(lost, looksUp(9_000))],
  ['cancel missing', 'both are canceled', canceled([ID, OTHER])],
  ['cancel ', 'what is found later is canceled, too', foundLater(1, 2 * HOUR, 2 * HOUR + 1_000)],
  ['cancel ', 'it was known beside the canceled one', foundLater(1, MINUTE)],
  // The caller was told of the older one.
  ['cancel missing', 'the newer one never had a decision', canceled([ID], toldOfFirst, 'error')],
  [
    'second create',
    'the first one’s end may be known before it was noted',
    { requests: [lost, looksUp(10_031), again(11_000)], world: { notedLateMs: 9 } },
  ],
  ['second create', 'a reset forgets what was told', createdAfterReset(MINUTE)],
  ['heard at', 'both callers were waiting', waits(40, 2_020)],
  ['heard at', 'it was sent', waits(40, 2_019, 2)],
  ['gateway result lost', 'attention names its transaction', notSent(['gateway-not-sent'], [ID])],
  ['gateway result lost', 'the newer one was found after the end', sentForOlder(2 * HOUR)],
  ['sent again', 'a code of two attempts is sent for each', codeSent(2, 1, 2)],
  ['done and denied', 'it was done after the order’s end', reportedAfterEnd],
  ['attention', 'an attempt’s error stands though the next is paid', paidAgain(['error'], 'gateway-error:1')],
  ['attention', 'of two payments', paidAgain(['error', 'pass'], 'gateway-contradiction:1')],
  ['attention', 'the earlier payment failed', paidAgain(['error', 'fail'])],
])('is no fault: %s, where %s', (fault, _when, told) => {
  expect(found(told)).not.toContainEqual(expect.stringContaining(fault));
});
