import { describe, expect, it } from 'vitest';
import { causeOf, type OrderEvidence } from './evidence.ts';
import {
  aDiary,
  anArrival,
  anAttempt,
  anEntry,
  aRead,
  aTransactionRecord,
  ID,
  moment,
  START,
  withFacts,
  withState,
} from './made-up.ts';
import {
  canceled,
  cancelRecord,
  failed,
  fine,
  plan,
  QUIET,
  toldFail,
  uncanceled,
} from './made-up-canceled.ts';
import { PLANTED } from './planted.ts';
import { ANOMALIES, judge } from './verdict.ts';

function kinds(evidence: OrderEvidence, circumstances = QUIET): string[] {
  return judge(evidence, circumstances).map(({ kind }) => kind);
}

describe('an order with which nothing is wrong', () => {
  it.each([
    ['that passed', fine],
    ['that was canceled', canceled],
  ])('%s has no anomaly', (_case, evidence) => {
    expect(judge(evidence, QUIET)).toEqual([]);
  });
});

describe('a planted anomaly is found', () => {
  it.each(PLANTED)('%s: %s', (kind, _how, evidence, circumstances) => {
    expect(kinds(evidence, circumstances)).toContain(kind);
  });

  it('of every kind', () => {
    expect(new Set(PLANTED.map(([kind]) => kind))).toEqual(new Set(ANOMALIES));
  });
});

describe('what is excused', () => {
  it('a task whose history could not be fetched, since Temporal was down: no other failure of that kind', () => {
    // As it stood in the histories of seeds 887346 and 722954.
    const down =
      'Fetching history failed: Status { code: Unavailable, message: "tcp connect error", source: … }';
    const failed = (message: string) => causeOf({ cause: 14, failure: { message } });
    const { run } = fine;
    const judged = (cause: string) =>
      kinds({ ...fine, run: { ...run, history: { ...run.history, failedTasks: { [cause]: 1 } } } });
    expect(judged(failed(down))).toEqual([]);
    expect(judged(failed(`a word in front: ${down}`))).toEqual(['workflow failed']);
    expect(judged(failed('Fetching history failed: Status { code: NotFound }'))).toEqual(['workflow failed']);
  });

  const outage = {
    outages: [{ what: 'worker' as const, from: START + 10_000, until: START + 12_000 }],
    restless: new Set<string>(),
    unreplayable: new Map<string, string>(),
  };

  it('a cancel that the service refused', () => {
    const refused = uncanceled(
      { actions: [{ ...cancelRecord, status: 'refused' }] },
      {
        ledger: [
          ...toldFail,
          anEntry(plan, {
            operation: 'cancel-transaction',
            outcome: { status: 200, code: 404, decision: 'fail' },
            fault: 'refused-in-body',
            committed: false,
          }),
        ],
      },
    );
    expect(kinds(refused)).toEqual([]);
  });

  it('a cancel that was too late because a worker was killed meanwhile', () => {
    const late = uncanceled({ actions: [{ ...cancelRecord, status: 'too-late' }] });
    expect(kinds(late, outage)).toEqual([]);
  });

  it('a cancel for which no task came before the last moment', () => {
    const tried = uncanceled({ actions: [{ ...cancelRecord, status: 'too-late' }] });
    const cancel = { kind: 'cancel', transactionId: ID, task: 1, scheduledAt: START + 42_000 };
    const facts = (lastTryAt: number) => withFacts(tried, { portalTries: [{ ...cancel, lastTryAt }] });
    expect(kinds(facts(START + 42_550))).toEqual([]);
    expect(kinds(facts(START + 42_549))).toEqual(['cancel missing']);
  });

  it('a cancel that nothing could begin, since no task of the order ended before the last moment, as order 945 of seed 931266 has it', () => {
    const asked = uncanceled({ actions: [{ ...cancelRecord, status: 'too-late', requestedAt: moment(40) }] });
    const ended = (to: number) => {
      const tasks = [0.02, to, 45.02].map((at) => ({ from: START, to: START + at * 1_000 }));
      return kinds(withFacts(asked, { tasks }));
    };
    expect(ended(44.551)).toEqual([]);
    expect(ended(44.549)).toEqual(['cancel missing']);
    expect(ended(39.9)).toEqual([]);
  });

  it('a cancel that waited for a create whose end came while the task that took it was under way', () => {
    const asked = withState(plan, {
      ...canceled.run.state,
      actions: [{ ...cancelRecord, by: 'caller', requestedAt: moment(1) }],
    });
    const of = (from: number, to: number) => ({ scheduledAt: START + from, endedAt: START + to });
    const ended = (at: number) =>
      kinds(
        withFacts(
          { ...canceled, run: asked.run },
          {
            tasks: [0, 1, 4].map((from) => ({ from: START + from * 1_000, to: START + from * 1_000 + 20 })),
            portalTries: [
              { kind: 'customer-code', task: 0, ...of(20, 4_900) },
              { kind: 'cancel', transactionId: ID, task: 2, ...of(4_020, 4_900) },
            ],
            readsUnderWay: [{ screens: true, ...of(20, at) }],
          },
        ),
      );
    expect(ended(1_010)).toEqual([]);
    expect(ended(999)).toEqual(['cancel missing']);
  });

  it('a cancel that left in time and was read late, as order 227 of seed 70702 was', () => {
    const read = anEntry(plan, { operation: 'cancel-transaction', sequence: 9, wallAt: moment(47) });
    const left = (at: number) => ({ ...fine, ledger: [read], departures: { 9: Date.parse(moment(at)) } });
    expect(kinds(left(44))).not.toContain('cancel sent late');
    expect(kinds(left(46))).toContain('cancel sent late');
  });

  it('a recheck of whose time nothing told the order in the window, as order 556 of seed 528173 was not told', () => {
    const unread = { ...fine, transactions: [aTransactionRecord(plan, failed)] };
    const task = { from: START + 43_655, to: START + 44_336 };
    const begun = (at: number, ...more: (typeof task)[]) => {
      const tasks = [
        { from: START, to: START + 20 },
        task,
        ...more,
        { from: START + 45_000, to: START + 45_020 },
      ];
      return kinds(
        withFacts(unread, { tasks, overInTask: tasks.length - 1, overdueTimers: [START + at * 1_000] }),
      );
    };
    expect(begun(44.336)).toEqual([]);
    // A task came after it, or it told of something else.
    expect(begun(44.336, { from: START + 44_400, to: START + 44_500 })).toEqual(['wrong decision']);
    expect(begun(1)).toEqual(['wrong decision']);
  });

  it('a recheck whose read was begun before it was due and ended after, as the life of seed 104938425 had it', () => {
    const unread = { ...fine, transactions: [aTransactionRecord(plan, failed)] };
    const tasks = [
      { from: START, to: START + 20 },
      { from: START + 44_000, to: START + 44_020 },
    ];
    const read = (at: number) => {
      const { decision: _unreadable, ...one } = aRead(38, at, { at: START + at * 1_000 });
      return kinds(withFacts(unread, { tasks, recordedReads: [one] }));
    };
    expect(read(38.5)).toEqual(['wrong decision']);
    expect(read(44.5)).toEqual([]);
  });

  it('a cancel that a person took back', () => {
    expect(kinds(uncanceled({ actions: [{ ...cancelRecord, status: 'withdrawn' }] }))).toEqual([]);
  });

  it('two chargebacks with other evidence, but not one that only says the default', () => {
    const sent = { transaction_id: ID, reason_code: '10.4', due_date: '2034-01-31' };
    const books = (second: object) =>
      withState(
        plan,
        { actions: [{ ...cancelRecord, kind: 'chargeback' }] },
        { transactions: [aTransactionRecord(plan, { chargebacks: [sent, { ...sent, ...second }] })] },
      );
    expect(kinds(books({ notes: 'the signature' }))).toEqual([]);
    expect(kinds(books({ inquiry: 'true' }))).toEqual([]);
    expect(kinds(books({ inquiry: 'false' }))).toEqual(['chargeback sent twice']);
  });

  it('attention that comes while the order ends, but nothing else after its end', () => {
    const endingWith = (type: string) => ({
      ...withState(plan, { events: { sequence: 3, delivered: 3, waiting: 0 } }),
      arrivals: [...fine.arrivals, anArrival(plan, 3, { type })],
    });
    expect(kinds(endingWith('order.attention'))).toEqual([]);
    expect(kinds(endingWith('order.decision_changed'))).toEqual(['event wrong']);
  });

  it('a pending that became the decision when it was asked again, unless it declined', () => {
    const [answer] = fine.diary.answers;
    const pending = { decision: 'pending', action: 'hold', phase: 'screening' };
    const asked = (first: object): OrderEvidence => ({
      ...withState(plan, { attempts: [anAttempt(plan, { answer: { ...pending, ...first } })] }),
      diary: aDiary(plan, {
        answers: [answer].flatMap((one) =>
          one
            ? [
                { ...one, ...pending, ...first },
                { ...one, at: one.at + 1 },
              ]
            : [],
        ),
      }),
    });
    expect(kinds(asked({}))).toEqual([]);
    expect(kinds(asked({ action: 'decline' }))).toContain('contradicting answers');
  });

  it('the repeat of an event', () => {
    expect(kinds({ ...fine, arrivals: [...fine.arrivals, anArrival(plan, 1)] })).toEqual([]);
  });
});
