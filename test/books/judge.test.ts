import { describe, expect, it } from 'vitest';
import { aPolicy, DAY, HOUR, MINUTE } from '../fixtures/policies.ts';
import { anAnswer, anArrival, aRequest, books, CREATE, ID, START, TRANSACTION } from './a-passed-order.ts';
import type { BookedCall, Books } from './books.ts';
import { judgeBooks } from './judge.ts';

const OTHER = '00000000-0000-4000-8000-000000000002';
const second = { ...TRANSACTION, id: OTHER, attempt: 2, invoice: 'order-1~2' };
const [decided, closed] = [anArrival(1, 'order.decided', 200), anArrival(2, 'order.closed', 120 * HOUR)];

const failsLater = {
  transactions: [
    {
      ...TRANSACTION,
      decisions: [...TRANSACTION.decisions, { decision: 'fail' as const, at: START + HOUR }],
    },
  ],
  requests: [CREATE, aRequest(2 * HOUR, { decision: 'fail' })],
};
const failed = anAnswer(3 * HOUR, { decision: 'fail', action: 'decline' });
const cancelAt = (ms: number) =>
  aRequest(ms, { operation: 'cancel-transaction', heard: 'done', sent: { kind: 'cancel' }, committed: true });
const chargeback = { kind: 'chargeback', reason_code: '10.4', due_date: '2026-04-01' } as const;
const chargebackAt = (ms: number, heard: 'done' | 'unknown' | 'refused') =>
  aRequest(ms, { operation: 'submit-chargeback', heard, sent: chargeback });
const asks = (ms: number): BookedCall => ({
  asks: 'portal',
  fields: chargeback,
  status: 'requested',
  sentAt: START + ms,
  at: START + ms + 10,
});
const reports = (result: 'pass' | 'fail'): BookedCall => ({
  asks: 'gateway-result',
  attempt: 1,
  result,
  taken: true,
  sentAt: START + MINUTE,
  at: START + MINUTE + 10,
});
const reported = (sent: 'pass' | 'fail') =>
  aRequest(MINUTE + 100, { operation: 'gateway-response', heard: 'done', sent, committed: true });
const preGateway = aPolicy({ workflow: 'pre-gateway', recheckLeadTimeMs: 0 });

/** One fault of each kind, and how it shows. */
const PLANTED: [kind: string, how: string, books: Books][] = [
  [
    'skip rule',
    'skipped although no rule matches',
    books({ calls: [anAnswer(80, { decision: 'skipped' })] }),
  ],
  [
    'skip rule',
    'sent although a rule matches',
    books({ attempts: [{ number: 1, skip: true, card: false }] }),
  ],
  ['answer', 'a transaction that does not exist', books({ calls: [anAnswer(80, { transactionId: OTHER })] })],
  [
    'answer',
    'the transaction of another attempt',
    books({ transactions: [TRANSACTION, second], calls: [anAnswer(80, { transactionId: OTHER })] }),
  ],
  ['answer', 'a decision that was never heard', books({ calls: [anAnswer(80, { decision: 'review' })] })],
  [
    'answer',
    'an error without a reason',
    books({ calls: [anAnswer(80, { decision: 'error', action: 'hold' })] }),
  ],
  [
    'answer',
    'pending although it was heard',
    books({ calls: [anAnswer(6_000, { decision: 'pending', action: 'hold' })] }),
  ],
  ['answer', 'an action that the policy does not mean', books({ calls: [anAnswer(80, { action: 'hold' })] })],
  [
    'contradiction',
    'two answers',
    books({
      calls: [anAnswer(80), { ...failed, sentAt: START + 80 }],
      ...failsLater,
    }),
  ],
  [
    'second create',
    'after a create that may have arrived',
    books({
      requests: [
        { ...CREATE, heard: 'unknown' },
        { ...CREATE, sentAt: START + 60, endedAt: START + 90 },
      ],
    }),
  ],
  ['not on record', 'a transaction is missing', books({ record: { transactions: [] } })],
  ['not in the books', 'a transaction is made up', books({ transactions: [] })],
  [
    'wrong attempt',
    'a transaction of another attempt',
    books({ transactions: [{ ...TRANSACTION, attempt: 2 }] }),
  ],
  [
    'cancel late',
    'after the window',
    books({ ...failsLater, requests: [...failsLater.requests, cancelAt(121 * HOUR)] }),
  ],
  ['cancel unwanted', 'of a pass', books({ requests: [CREATE, cancelAt(HOUR)] })],
  ['cancel missing', 'of a fail', books(failsLater)],
  [
    'window too long',
    'it ends after that of the screening service',
    books({ record: { transactions: [{ id: ID, attempt: 1, cancelBy: START + 121 * HOUR }] } }),
  ],
  [
    'window too short',
    'it counts from before the create was sent',
    books({ record: { transactions: [{ id: ID, attempt: 1, cancelBy: START + 119 * HOUR }] } }),
  ],
  [
    'attention missing: portal-refused',
    'a chargeback was refused',
    books({ requests: [CREATE, chargebackAt(HOUR, 'refused')], calls: [anAnswer(80), asks(HOUR - 10)] }),
  ],
  [
    'attention stale: portal-refused',
    'nothing was refused',
    books({ record: { attention: ['portal-refused'] } }),
  ],
  ['attention stale: no-decision', 'a decision was told', books({ record: { attention: ['no-decision'] } })],
  [
    'attention without a cause: wrong-key',
    'no call was answered 403',
    books({ shown: [{ at: START + HOUR, phase: 'decided', attention: ['wrong-key'] }] }),
  ],
  [
    'attention missing: wrong-key',
    'a call was answered 403 until another hour',
    books({
      requests: [CREATE, aRequest(HOUR, { heard: 'forbidden' }), aRequest(2 * HOUR)],
      shown: [{ at: START + HOUR + MINUTE, phase: 'decided', attention: [] }],
    }),
  ],
  ['no end', 'it ends months later', books({ endedAt: START + 200 * DAY })],
  [
    'chargeback twice',
    'after one whose end is unknown',
    books({
      requests: [CREATE, chargebackAt(HOUR, 'unknown'), chargebackAt(HOUR + MINUTE, 'done')],
      calls: [anAnswer(80), asks(HOUR - 10)],
    }),
  ],
  [
    'sent again',
    'a gateway result that was accepted',
    books({
      policy: preGateway,
      requests: [CREATE, reported('pass'), { ...reported('pass'), sentAt: START + 2 * MINUTE }],
      calls: [anAnswer(80), reports('pass')],
    }),
  ],
  [
    'too many reads',
    'within two seconds',
    books({ requests: [CREATE, ...Array.from({ length: 9 }, (_, index) => aRequest(HOUR + index * 100))] }),
  ],
  [
    'event wrong',
    'a decision that never was',
    books({
      arrivals: [
        anArrival(1, 'order.decided', 200, { decision: 'fail', attempt: 1, transactionId: ID }),
        closed,
      ],
    }),
  ],
  [
    'event wrong',
    'it comes again with other content',
    books({
      arrivals: [decided, { ...decided, event: { ...decided.event, type: 'order.attention' } }, closed],
    }),
  ],
  ['event out of order', 'the second comes first', books({ arrivals: [closed, decided] })],
  ['event lost', 'the last one never came', books({ arrivals: [decided] })],
  [
    'gateway result wrong',
    'one that was never reported',
    books({
      policy: preGateway,
      requests: [CREATE, reported('fail')],
      calls: [anAnswer(80), reports('pass')],
    }),
  ],
  [
    'gateway result lost',
    'it was never sent on',
    books({ policy: preGateway, calls: [anAnswer(80), reports('pass')] }),
  ],
  ['action wrong', 'nothing changed the answer', books({ record: { action: 'hold' } })],
  [
    'decision missed',
    'a review that became a pass',
    books({
      transactions: [
        {
          ...TRANSACTION,
          decisions: [
            { decision: 'review', at: START + 30 },
            { decision: 'pass', at: START + HOUR },
          ],
        },
      ],
      requests: [{ ...CREATE, decision: 'review' }],
      calls: [anAnswer(80, { decision: 'review', action: 'hold' })],
      record: { decision: 'review', action: 'hold' },
    }),
  ],
  [
    'event wrong',
    'a reading that is older than the last one shown',
    books({
      requests: [
        CREATE,
        aRequest(HOUR, { decision: 'fail', endedAt: START + HOUR + 5_000 }),
        aRequest(HOUR + 1_000),
      ],
      arrivals: [
        decided,
        anArrival(2, 'order.decision_changed', HOUR + 6_000, {
          decision: 'fail',
          attempt: 1,
          transactionId: ID,
        }),
      ],
      shown: [{ at: START + HOUR + 1_100, phase: 'decided', attention: [], readAt: START + HOUR + 1_020 }],
    }),
  ],
  [
    'done and denied',
    'a chargeback that was done is refused on record',
    books({
      requests: [CREATE, { ...chargebackAt(HOUR, 'unknown'), committed: true }],
      calls: [anAnswer(80), asks(HOUR - 10)],
      record: {
        actions: [{ number: 1, kind: 'chargeback', transactionId: ID, status: 'refused', by: 'caller' }],
      },
    }),
  ],
  ['read owed', 'a hint is not followed by a read', books({ news: [{ at: START + HOUR, what: 'hint' }] })],
];

describe('the judge of the books', () => {
  it('finds nothing wrong with an order that passed', () => {
    expect(judgeBooks(books())).toEqual([]);
  });

  it('finds nothing wrong with one that is open when the books are closed', () => {
    const { endedAt: _open, ...open } = books({
      closedAt: START + HOUR,
      requests: [CREATE],
      arrivals: [decided],
      record: { phase: 'decided', events: 1 },
    });
    expect(judgeBooks(open)).toEqual([]);
  });

  it('lets a cancel of unknown outcome change the action', () => {
    const cancel = { asks: 'portal', fields: { kind: 'cancel' }, sentAt: START, at: START + 90 } as const;
    const kinds = (refusal: 'outcome-unknown' | 'unknown-transaction') =>
      judgeBooks(books({ calls: [anAnswer(80), { ...cancel, refusal }], record: { action: 'cancel' } })).map(
        ({ kind }) => kind,
      );
    expect(kinds('outcome-unknown')).toEqual([]);
    expect(kinds('unknown-transaction')).toEqual(['action wrong']);
  });

  it('compares no answer with one that was not given yet when it was asked for', () => {
    const crossed = books({ calls: [anAnswer(80), { ...failed, sentAt: START + 79 }], ...failsLater });
    expect(judgeBooks(crossed).filter(({ kind }) => kind === 'contradiction')).toEqual([]);
  });

  it('lets a window end earlier by what the notes are late', () => {
    const shorter = { id: ID, attempt: 1, cancelBy: START - 400 + 120 * HOUR };
    const kinds = (notedLateMs: number) =>
      judgeBooks(books({ record: { transactions: [shorter] }, world: { notedLateMs } })).map(
        ({ kind }) => kind,
      );
    expect(kinds(0)).toEqual(['window too short']);
    expect(kinds(500)).toEqual([]);
  });

  it('leaves out what was asked for after the end, on no order’s record', () => {
    const apart = { ...chargebackAt(121 * HOUR, 'refused'), apart: true as const };
    expect(judgeBooks(books({ requests: [CREATE, apart], calls: [anAnswer(80), asks(120 * HOUR)] }))).toEqual(
      [],
    );
  });

  it.each(PLANTED)('finds a planted fault: %s, %s', (kind, _how, planted) => {
    expect(judgeBooks(planted).map((one) => one.kind)).toContain(kind);
  });
});
