import { describe, expect, it } from 'vitest';
import type { OrderEvidence } from './evidence.ts';
import type { HistoryFacts } from './history-facts.ts';
import {
  anAttempt,
  anEntry,
  aPlan,
  aRead,
  aTransactionRecord,
  evidenceOf,
  moment,
  START,
  withFacts,
  withState,
} from './made-up.ts';
import { cancelRecord, failed, fine, plan, QUIET } from './made-up-canceled.ts';
import { type Circumstances, judge } from './verdict.ts';

const readAt = (at: number, sequence = 2, fault: string | null = null) =>
  anEntry(plan, {
    sequence,
    operation: 'status-by-url',
    wallAt: moment(at),
    fault,
    outcome: { status: fault === null ? 200 : 503, code: null, decision: 'fail' },
  });
const at = (seconds: number) => START + seconds * 1_000;
const underWay = { screens: false, scheduledAt: at(1) };

/** An order that passed. The service says `fail` since its third second, told it so in the tenth, and failed to in the fortieth. */
function told(facts: Partial<HistoryFacts> = {}, ledger = [anEntry(plan), readAt(10), readAt(40, 3, '503')]) {
  const evidence = { ...fine, transactions: [aTransactionRecord(plan, failed)], ledger };
  return withFacts(evidence, facts);
}

type Outage = Circumstances['outages'][number];

function kinds(evidence: OrderEvidence, killed?: Outage): string[] {
  const outages = killed === undefined ? [] : [killed];
  return judge(evidence, { ...QUIET, outages }).map(({ kind }) => kind);
}

describe('an answer that the order does not know of', () => {
  it('is a fault when nothing explains it', () => {
    expect(kinds(told())).toEqual(['wrong decision']);
    expect(kinds(told({ readsUnderWay: [{ ...underWay, lastTryAt: at(40), endedAt: at(41) }] }))).toEqual([
      'wrong decision',
    ]);
  });

  it.each<[string, Outage['what'], number, number, string[]]>([
    ['its worker was killed before the next try', 'worker', 12, 14, []],
    ['the server was away', 'Temporal', 9, 11, []],
    ['a worker was killed only after the next try', 'worker', 41, 43, ['wrong decision']],
    ['a worker was back before it was asked', 'worker', 7, 9, ['wrong decision']],
    ['an API without a worker was killed', 'API', 9, 14, ['wrong decision']],
  ])('%s', (_case, what, from, until, found) => {
    const retried = told({ readsUnderWay: [{ ...underWay, lastTryAt: at(40), endedAt: at(41) }] });
    expect(kinds(retried, { what, from: at(from), until: at(until) })).toEqual(found);
  });

  it('was asked for by a try that the server waited for in vain', () => {
    const again = told({
      readsUnderWay: [{ ...underWay, lastTryAt: at(39), endedAt: at(41) }],
      recordedReads: [aRead(39, 41, { decision: 'pass', triedAgainAfterLoss: true })],
    });
    expect(kinds(again)).toEqual([]);
  });

  it.each<[string, Partial<HistoryFacts>]>([
    ['in a task that was lost', { lostTasks: [{ from: at(9), to: at(20) }] }],
    [
      'by a read that the order stopped',
      { readsUnderWay: [{ ...underWay, stoppedAt: at(10.1), endedAt: at(10.1) }] },
    ],
    ['by a try whose end says that it had no answer', { recordedReads: [withoutAnswer()] }],
    [
      'by a read whose end came after the order was over',
      { recordedReads: [aRead(9, 50, { decision: 'fail', task: 3 })] },
    ],
    [
      'by a read that had begun before a newer one ended',
      {
        recordedReads: [
          aRead(9, 12, { decision: 'fail', task: 1, began: at(9) }),
          aRead(10, 11, { task: 1, began: at(9.5), at: at(11) }),
        ],
      },
    ],
  ])('is explained when it was asked for %s', (_case, facts) => {
    expect(kinds(told(facts))).toEqual([]);
  });

  it('is explained by a read that was under way when the order ended, unless it asked again', () => {
    const facts = { readsUnderWay: [underWay] };
    expect(kinds(told(facts, [anEntry(plan), readAt(40)]))).toEqual([]);
    expect(kinds(told(facts, [anEntry(plan), readAt(10), readAt(40, 3, '503')]))).toEqual(['wrong decision']);
  });

  it('was asked for by a hint’s task that left no trace, as order 506 of seed 347202 has it: the hint’s sender was told so', () => {
    const hint = (status: number, sequence = 1) =>
      anEntry(plan, {
        operation: 'webhook',
        sequence,
        wallAt: moment(9),
        outcome: { status, code: null, decision: 'fail' },
      });
    const asked = (...hints: ReturnType<typeof hint>[]) =>
      kinds(told({}, [anEntry(plan), ...hints, readAt(10), readAt(40, 4, '503')]));
    expect(asked(hint(503))).toEqual([]);
    expect(asked(hint(202))).toEqual(['wrong decision']);
    expect(asked(hint(503, 3))).toEqual(['wrong decision']);
    const inATask = {
      tasks: [
        { from: at(9.9), to: at(10.1) },
        { from: at(45), to: at(45.02) },
      ],
      overInTask: 1,
    };
    expect(kinds(told(inATask, [anEntry(plan), hint(503), readAt(10), readAt(40, 4, '503')]))).toEqual([
      'wrong decision',
    ]);
  });

  it('was brought by a poll that the policy’s cancel stopped in the task that knew of its end, as order 268 of seed 758138 has it', () => {
    const known = (requestedAt: number, by = 'policy', task = 1) => {
      const evidence = told({
        recordedReads: [aRead(9, 12, { decision: 'fail', task: 1, began: at(9), at: at(9) })],
        portalTries: [{ kind: 'cancel', task, scheduledAt: at(13) }],
      });
      const { state } = evidence.run;
      const actions = [{ ...cancelRecord, by, status: 'too-late', requestedAt: moment(requestedAt) }];
      return { ...evidence, run: { ...evidence.run, ...(state && { state: { ...state, actions } }) } };
    };
    expect(kinds(known(8))).not.toContain('wrong decision');
    expect(kinds(known(9.5))).toContain('wrong decision');
    expect(kinds(known(8, 'caller'))).toContain('wrong decision');
    expect(kinds(known(8, 'policy', 2))).toContain('wrong decision');
  });

  it('is no fault after the moment at which the order was over, and one a millisecond before', () => {
    expect(kinds(told({}, [anEntry(plan), readAt(40, 2, '503'), readAt(45, 3)]))).toEqual([]);
    expect(kinds(told({}, [anEntry(plan), readAt(40, 2, '503'), readAt(44.999, 3)]))).toEqual([
      'wrong decision',
    ]);
  });
});

describe('a reading', () => {
  const later = (to: number) =>
    withFacts(
      withState(
        plan,
        {
          decision: 'review',
          action: 'hold',
          attempts: [
            anAttempt(plan, {
              readings: [...anAttempt(plan).readings, { decision: 'review', at: moment(4), source: 'poll' }],
            }),
          ],
        },
        {
          transactions: [
            aTransactionRecord(plan, {
              decision: 'review',
              decisions: [
                { decision: 'pass', at: moment(0), by: 'screening' },
                { decision: 'review', at: moment(8), by: 'analyst' },
              ],
            }),
          ],
          ledger: [
            anEntry(plan),
            { ...readAt(10), outcome: { status: 200, code: null, decision: 'review' } },
          ],
        },
      ),
      { recordedReads: [aRead(9.9, to, { decision: 'review', at: at(4), began: at(3.9) })] },
    );

  it('may carry an earlier moment than the service’s word only when its try waited for a worker', () => {
    expect(kinds(later(10.1))).not.toContain('wrong decision');
    expect(kinds(later(9.95))).toContain('wrong decision');
  });
});

describe('an order that a person had canceled before its recheck was due', () => {
  // Found with seed 70702, order 456: the cancel's end was on record a second before the recheck, its task came two seconds after.
  const alerting = aPlan('alerting', { amount: 133, analysts: [{ afterMs: 8_129, decision: 'fail' }] });
  const about = anAttempt(alerting).transactionId;
  const action = {
    number: 1,
    kind: 'cancel',
    status: 'done',
    by: 'caller',
    requestedAt: moment(10.083),
    finishedAt: moment(20.951),
    ...(about !== undefined && { transactionId: about }),
  };
  const order = (endedAt: number) =>
    withFacts(
      {
        ...evidenceOf(alerting),
        ...withState(alerting, {
          phase: 'canceled',
          phaseSince: moment(20.951),
          action: 'cancel',
          actions: [action],
          events: { sequence: 2, delivered: 2, waiting: 0 },
        }),
        transactions: [
          aTransactionRecord(alerting, {
            decision: 'fail',
            decisions: [
              { decision: 'pass', at: moment(0), by: 'screening' },
              { decision: 'fail', at: moment(9.063), by: 'analyst' },
            ],
            canceledAt: moment(17.754),
          }),
        ],
        ledger: [anEntry(alerting)],
      },
      {
        tasks: [0, 16.231, 20.8].map((from) => ({ from: at(from), to: at(from + 0.2) })),
        overInTask: 2,
        portalTries: [
          {
            kind: 'cancel',
            task: 1,
            scheduledAt: at(16.692),
            lastTryAt: at(17.287),
            endedAt: at(endedAt),
            outcome: 'done',
            ...(about !== undefined && { transactionId: about }),
          },
        ],
      },
    );

  it('has nothing left to read for', () => {
    expect(kinds(order(17.933))).not.toContain('wrong decision');
  });

  it('unless the cancel’s end came after the recheck was due', () => {
    expect(kinds(order(20.1))).toContain('wrong decision');
  });
});

function withoutAnswer() {
  const { decision: _none, ...read } = aRead(9, 11);
  return read;
}
