import { expect, it } from 'vitest';
import { aPolicy, DAY, HOUR, MINUTE } from '../fixtures/policies.ts';
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
const second = { ...TRANSACTION, id: OTHER, attempt: 2, invoice: 'order-1~2' };
const [decided, closed] = [anArrival(1, 'order.decided', 200), anArrival(2, 'order.closed', 120 * HOUR)];
const answered = anAnswer(80);
const preGateway = aPolicy({ workflow: 'pre-gateway', recheckLeadTimeMs: 0 });
const readAhead = aPolicy({ recheckLeadTimeMs: 12 * HOUR });
const sends = (events: 'all' | 'changes') => aPolicy({ events, recheckLeadTimeMs: 0 });

const failsLater = {
  ...becoming(['pass', 30], ['fail', HOUR]),
  requests: [CREATE, aRequest(2 * HOUR, { decision: 'fail' })],
};
const shows = (ms: number, attention: 'wrong-key'[], readMs = 0) => ({
  shown: [{ at: START + ms, phase: 'decided', attention, readAt: START + readMs }],
});
const window = (cancelBy: number) => ({ transactions: [{ id: ID, attempt: 1, cancelBy: START + cancelBy }] });
const endedIn = (action: 'decline' | 'cancel', later: 'proceed' | 'hold') =>
  [action, later].map((said, index) =>
    anArrival(index + 1, 'order.decided', 200 * (index + 1), { ...decided.event.data, action: said }),
  );

const cancelAt = (ms: number) =>
  aRequest(ms, { operation: 'cancel-transaction', heard: 'done', sent: { kind: 'cancel' }, committed: true });
const chargeback = { kind: 'chargeback', reason_code: '10.4', due_date: '2026-04-01' } as const;
const chargebackAt = (ms: number, heard: 'done' | 'unknown' | 'refused') =>
  aRequest(ms, { operation: 'submit-chargeback', heard, sent: chargeback });
const reported = (sent: 'pass' | 'fail', ms = MINUTE + 100) =>
  aRequest(ms, { operation: 'gateway-response', heard: 'done', sent, committed: true });
const withChargeback = (...requests: BookedRequest[]) => ({
  requests: [CREATE, ...requests],
  calls: [answered, asksFor(chargeback, HOUR - 10)],
});
const aTime = (ms: number) => ({ sentAt: START + ms, endedAt: START + ms + 20 });

const aMinuteIn = { sentAt: START + MINUTE, at: START + MINUTE + 10 };
const paid = { attempt: 1, result: 'pass' } as const;
const reports: BookedCall = { kind: 'gateway-result', request: paid, gateway: paid, ...aMinuteIn };
const proceed = { action: 'proceed', reason: 'by hand' } as const;
const overrides: BookedCall = { kind: 'override', request: proceed, ...aMinuteIn };
/** The same call is answered 403, and an hour later otherwise. */
const forbidden = (operation: 'status' | 'customer-code') => ({
  ...shows(HOUR + MINUTE, []),
  requests: [CREATE, aRequest(HOUR, { operation, heard: 'forbidden' }), aRequest(2 * HOUR, { operation })],
});

/** A review that passes, and is read, when its window has closed, and before the order ends. */
const passedAfterWindow = (action: 'hold' | 'cancel'): Told => ({
  ...becoming(['review', 30], ['pass', 121 * HOUR]),
  endedAt: START + 31 * DAY,
  closedAt: START + 31 * DAY,
  calls: [anAnswer(80, { decision: 'review', action: 'hold' })],
  requests: [{ ...CREATE, decision: 'review' }, aRequest(121 * HOUR)],
  arrivals: [],
  policy: aPolicy({ events: false, onUnresolvedReview: 'cancel' }),
  record: {
    ...window(120 * HOUR + 30),
    ...{ decision: 'review', action, attention: ['review-unresolved'], newest: ID, events: 0 },
  },
});

/** A fault of each kind, and how it shows. */
it.each<[kind: string, how: string, told: Told]>([
  ['skip rule', 'skipped although no rule matches', { calls: [anAnswer(80, { decision: 'skipped' })] }],
  ['skip rule', 'sent although a rule matches', { attempts: [{ number: 1, skip: true, card: false }] }],
  ['answer', 'a transaction that does not exist', { calls: [anAnswer(80, { transactionId: OTHER })] }],
  [
    'answer',
    'the transaction of another attempt',
    { transactions: [TRANSACTION, second], calls: [anAnswer(80, { transactionId: OTHER })] },
  ],
  ['answer', 'a decision that was never heard', { calls: [anAnswer(80, { decision: 'review' })] }],
  ['answer', 'an error without a reason', { calls: [anAnswer(80, { decision: 'error', action: 'hold' })] }],
  [
    'answer',
    'pending although it was heard',
    { calls: [anAnswer(6_000, { decision: 'pending', action: 'hold' })] },
  ],
  ['answer', 'an action that the policy does not mean', { calls: [anAnswer(80, { action: 'hold' })] }],
  [
    'answer',
    'such an action of a second attempt, long after the first caller waited',
    {
      answerBy: START + 100,
      attempts: [1, 2].map((number) => ({ number, skip: false, card: false })),
      transactions: [TRANSACTION, second],
      requests: [CREATE, { ...CREATE, ...aTime(2_000), attempt: 2, transactionId: OTHER }],
      calls: [
        answered,
        { ...anAnswer(2_100, { attempt: 2, transactionId: OTHER, action: 'hold' }), sentAt: START + 1_990 },
      ],
    },
  ],
  [
    'contradiction',
    'two answers',
    {
      ...failsLater,
      calls: [
        answered,
        { ...anAnswer(3 * HOUR, { decision: 'fail', action: 'decline' }), sentAt: START + 80 },
      ],
    },
  ],
  [
    'contradiction',
    'proceed for an attempt that another has replaced',
    {
      attempts: [1, 2].map((number) => ({ number, skip: false, card: false })),
      calls: [
        anAnswer(80, { decision: 'pending', action: 'hold' }),
        { ...anAnswer(2_100, { attempt: 2 }), sentAt: START + 1_990 },
        { ...anAnswer(3_100, { decision: 'error' }), sentAt: START + 3_000 },
      ],
    },
  ],
  ['not in the books', 'a transaction is made up', { transactions: [] }],
  ['wrong attempt', 'one of another attempt', { transactions: [{ ...TRANSACTION, attempt: 2 }] }],
  ['cancel unwanted', 'of a pass', { requests: [CREATE, cancelAt(HOUR)] }],
  ['cancel missing', 'of a fail', failsLater],
  ['window too short', 'it counts from before the create was sent', { record: window(120 * HOUR - 400) }],
  [
    'attention missing: portal-refused',
    'a chargeback was refused',
    withChargeback(chargebackAt(HOUR, 'refused')),
  ],
  ['attention stale: portal-refused', 'nothing was refused', { record: { attention: ['portal-refused'] } }],
  ['attention stale: review-unresolved', 'a review has passed', passedAfterWindow('hold')],
  ['attention stale: no-decision', 'a decision was told', { record: { attention: ['no-decision'] } }],
  ['attention without a cause: wrong-key', 'no call was answered 403', shows(HOUR, ['wrong-key'])],
  ['attention missing: wrong-key', 'a call was answered 403 until another hour', forbidden('status')],
  [
    'attention missing: wrong-key',
    'so was a portal action, after a person decided',
    { ...forbidden('customer-code'), calls: [answered, overrides] },
  ],
  ['no end', 'it ends months later', { endedAt: START + 200 * DAY }],
  [
    'sent again',
    'a gateway result that was accepted',
    {
      policy: preGateway,
      requests: [CREATE, reported('pass'), reported('pass', 2 * MINUTE)],
      calls: [answered, reports],
    },
  ],
  [
    'event wrong',
    'a decision that never was',
    {
      arrivals: [anArrival(1, 'order.decided', 200, { ...decided.event.data, decision: 'fail' }), closed],
    },
  ],
  [
    'event wrong',
    'it comes again with other content',
    { arrivals: [decided, { ...decided, event: { ...decided.event, type: 'order.attention' } }, closed] },
  ],
  ['event wrong', 'proceed after a decline', { arrivals: endedIn('decline', 'proceed') }],
  ['event wrong', 'hold after a cancel', { arrivals: endedIn('cancel', 'hold') }],
  ['event missing', 'the end, of all', { policy: sends('all'), arrivals: [decided], record: { events: 1 } }],
  ['event missing', 'every one, of all', { policy: sends('all'), arrivals: [], record: { events: 0 } }],
  [
    'event missing',
    'the end, of changes of which there was one',
    { policy: sends('changes'), arrivals: [decided], record: { events: 1 } },
  ],
  [
    'event unwanted',
    'the end, of changes of which there was none',
    {
      policy: sends('changes'),
      arrivals: [anArrival(1, 'order.closed', 120 * HOUR)],
      record: { events: 1 },
    },
  ],
  [
    'action wrong',
    'a cancel that was refused changed it',
    {
      calls: [answered, asksFor({ kind: 'cancel' }, 90, 'unknown-transaction')],
      record: { action: 'cancel' },
    },
  ],
  [
    'decision missed',
    'a review that became a pass',
    {
      ...becoming(['review', 30], ['pass', HOUR]),
      requests: [{ ...CREATE, decision: 'review' }],
      calls: [anAnswer(80, { decision: 'review', action: 'hold' })],
      record: { decision: 'review', action: 'hold' },
    },
  ],
  [
    'done and denied',
    'a chargeback that was done is refused on record',
    {
      ...withChargeback({ ...chargebackAt(HOUR, 'unknown'), committed: true }),
      record: { actions: [{ number: 1, kind: 'chargeback', transactionId: ID, status: 'refused' }] },
    },
  ],
  [
    'read owed',
    'a pass whose window ends is read only before',
    { policy: readAhead, requests: [CREATE, aRequest(100 * HOUR)] },
  ],
  ['read owed', 'or too late', { policy: readAhead, requests: [CREATE, aRequest(110 * HOUR)] }],
  [
    'read owed',
    'a recheck waits for longer than the next try of a read that fails',
    {
      news: [{ at: START + 16 * MINUTE, what: 'recheck' }],
      requests: [
        CREATE,
        ...[1, 3, 7, 15].map((minute) => aRequest(minute * MINUTE, { heard: 'unknown' })),
        aRequest(24 * MINUTE),
      ],
    },
  ],
  [
    'read owed',
    'a hint waits for longer than an answer before it asked to',
    {
      news: [{ at: START + 2 * MINUTE, what: 'hint' }],
      requests: [
        CREATE,
        aRequest(MINUTE, { heard: 'not-done', askedToWaitMs: 20 * MINUTE }),
        aRequest(24 * MINUTE),
      ],
    },
  ],
])('a planted fault is found: %s, %s', (kind, _how, told) => {
  expect(judgeBooks(books(told)).map((one) => one.kind)).toContain(kind);
});

/** Beside the simulation's lives, none of which notes anything late, or asks after its end. */
it.each<[what: string, told: Told]>([
  ['that passed', {}],
  [
    'that was read again when its window had closed',
    {
      requests: [
        CREATE,
        aRequest(119 * HOUR, { heard: 'unreadable' }),
        aRequest(120 * HOUR + 500, { decision: 'pass' }),
      ],
      record: { attention: ['status-error'] },
    },
  ],
  [
    'whose window ends earlier by what the notes are late',
    { record: window(120 * HOUR - 400), world: { notedLateMs: 500 } },
  ],
  ['whose review policy canceled, and that passed when its window had closed', passedAfterWindow('cancel')],
  [
    'whose refusal came after the end, and is on no record',
    {
      requests: [CREATE, { ...chargebackAt(121 * HOUR, 'refused'), apart: true }],
      calls: [answered, asksFor(chargeback, 120 * HOUR)],
    },
  ],
])('nothing is wrong with an order %s', (_what, told) => {
  expect(judgeBooks(books(told))).toEqual([]);
});
